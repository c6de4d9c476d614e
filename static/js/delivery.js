// Sends one answer and says what became of it; touches neither the page nor what is kept.
import { LIMIT_MS, token, user, visit } from "./page.js";

// The monotonic clock of this page says nothing about moments of another.
export const page = `${performance.timeOrigin}:${Math.random()}`;

export const moment = () => ({ page, given: performance.now(), givenAt: Date.now() });

// Since the answer was given; a clock that was set back meanwhile makes it no less than nothing.
const waited = (entry) => {
  const span =
    entry.page === page ? performance.now() - entry.given : Date.now() - entry.givenAt;
  return Math.max(0, Math.round(span));
};

const STORED = ["accepted", "already_submitted", "kept_after_expiry", "revised"];

const post = async (entry, isReplay, shown) => {
  const body = new URLSearchParams(entry.fields);
  body.set("waited_ms", waited(entry));
  const response = await fetch(entry.address, {
    method: "POST",
    body,
    headers: {
      "HX-Request": "true",
      "X-CSRFToken": token(),
      ...(isReplay ? { "X-Replay": "1" } : {}),
      ...(shown ? { "X-Ahead": shown } : {}),
    },
    redirect: "manual",
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  return { response, html: await response.text() };
};

/* What became of it:
   outcome   the server has decided: `outcome`, `isStored`, and `html` of what is next, or of the
             task bar alone (`isBar`) where that is `shown` already
   wrong     something is missing or too long: `html` with the words
   gone, refused, too-large
   signed-out, other-user
   network, server   to be tried again */
export const deliver = async (entry, { isReplay = false, shown = "", isAgain = false } = {}) => {
  let sent;
  try {
    sent = await post(entry, isReplay, shown);
  } catch {
    return { kind: "network" };
  }
  const { response, html } = sent;
  const { status } = response;
  if (response.type === "opaqueredirect") return { kind: "signed-out" };
  if (status === 422) return { kind: "wrong", html };
  if (response.ok) {
    const outcome = response.headers.get("X-Outcome");
    // Not from us: a network that wants its own sign-in answers like this.
    if (!outcome) return { kind: "network" };
    const isBar = response.headers.has("X-Ahead");
    return { kind: "outcome", outcome, isStored: STORED.includes(outcome), html, isBar };
  }
  if (status === 413) return { kind: "too-large" };
  if (status >= 500 || status === 429 || status === 408) return { kind: "server" };
  if (status !== 403 && status !== 404) return { kind: "refused" };
  const who = await visit();
  if (who === null) return { kind: "server" };
  if (!who) return { kind: "signed-out" };
  if (who !== user) return { kind: "other-user" };
  if (status === 404) return { kind: "gone" };
  // The token may have been an old one, and the visit has brought a new one.
  return isAgain ? { kind: "refused" } : deliver(entry, { isReplay, shown, isAgain: true });
};
