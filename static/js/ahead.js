// The next pair: fetched while this one is read, so that it is there when this one is answered.
import { here, LIMIT_MS, now, onTaskSwap, say, since, swap, task, token } from "./page.js";
import { savedWords, showState, showStateAgain } from "./save_state.js";
import { outboxKey, read } from "./store.js";

const SOON_MS = 300;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

// Not while the browser is busy with the pair that it has just got.
const soon = (run) => {
  if (window.requestIdleCallback) requestIdleCallback(() => run(), { timeout: SOON_MS });
  else setTimeout(run, SOON_MS);
};

// The seat for which the server has answered: once is enough, also where there is none.
let askedFor = "";
let pause = FIRST_PAUSE_MS;
let again;
// What follows the pair of the seat `after`, and since when its own seat is held.
let next = null;

// The pair on screen was at hand, and the server has not said yet that it is the rater's.
export const isAhead = () => task()?.dataset.isAhead !== undefined;

const isHeld = () => since(next.heldAt) < next.leaseMs;

const fetchNext = async () => {
  const place = here();
  if (!place?.form.dataset.ahead || isAhead() || askedFor === place.seat) return;
  if (read(outboxKey(place.name))) return;
  askedFor = place.seat;
  clearTimeout(again);
  const heldAt = now();
  try {
    const response = await fetch(place.form.dataset.ahead, {
      method: "POST",
      headers: { "HX-Request": "true", "X-CSRFToken": token() },
      redirect: "manual",
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    if (response.status >= 500 || response.status === 429) throw new Error("to be asked again");
    pause = FIRST_PAUSE_MS;
    // 204 where there is none; on anything else the answer itself brings to light what it is.
    if (response.status !== 200) return;
    const html = await response.text();
    if (here()?.seat !== place.seat) return;
    next = { after: place.seat, html, heldAt, leaseMs: 1000 * Number(place.data.leaseSeconds) };
    // For whoever looks from outside, such as a measurement.
    task().dataset.hasNext = "";
  } catch {
    // Until then the next pair comes with the answer to this one.
    askedFor = "";
    again = setTimeout(fetchNext, pause);
    pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
  }
};

// Undo of an answer that is not stored yet: as soon as it is, and nothing else until then.
let wantsUndo = false;

const wantUndo = (isWanted) => {
  wantsUndo = isWanted;
  here().form.inert = isWanted;
};

document.addEventListener("click", ({ target }) => {
  if (!target.closest?.("[data-asks-undo]") || !isAhead()) return;
  wantUndo(!wantsUndo);
  showState(wantsUndo ? "undo-soon" : "sending-last");
});

// True when the next pair was at hand and is on screen now.
export const showAhead = () => {
  const place = here();
  // Of a correction the next pair may be one that was answered since.
  if (!next || next.after !== place?.seat || place.revision !== "0" || !isHeld()) return false;
  swap(next.html);
  return true;
};

// The answer before has been decided on; the task bar for it, where there is one.
export const confirm = (bar) => {
  if (bar) htmx.swap("#task .task-bar", bar, { swapStyle: "outerHTML" });
  delete task().dataset.isAhead;
  next = null;
  showStateAgain();
  if (bar) {
    say(savedWords());
    // It was said when the pair came; what is said now would silence it.
    document.dispatchEvent(new Event("say-again"));
  }
  if (wantsUndo) {
    wantUndo(false);
    task().querySelector("a.undo")?.click();
  }
  soon(fetchNext);
};

document.addEventListener("lease-renewed", ({ detail }) => {
  if (next) next.heldAt = detail;
});

addEventListener("online", fetchNext);
onTaskSwap(() => {
  wantsUndo = false;
  soon(fetchNext);
});
soon(fetchNext);
