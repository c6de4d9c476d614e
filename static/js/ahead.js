// The next pair: fetched while this one is read, so that it is there when this one is answered.
import { here, LIMIT_MS, now, onTaskSwap, say, since, swap, task, token } from "./page.js";
import { savedWords, showStateAgain } from "./save_state.js";
import { outboxKey, read } from "./store.js";

const SOON_MS = 300;
// Not while the browser is busy with the pair that it has just got.
const soon = (run) => {
  if (window.requestIdleCallback) requestIdleCallback(() => run(), { timeout: SOON_MS });
  else setTimeout(run, SOON_MS);
};

// The seat for which it was asked: once is enough, also where the answer is that there is none.
let askedFor = "";
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
  const heldAt = now();
  try {
    const response = await fetch(place.form.dataset.ahead, {
      method: "POST",
      headers: { "HX-Request": "true", "X-CSRFToken": token() },
      redirect: "manual",
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    // 204 where none can be spared; on anything else the answer itself brings to light what it is.
    if (response.status !== 200) return;
    const html = await response.text();
    if (here()?.seat !== place.seat) return;
    next = { after: place.seat, html, heldAt, leaseMs: 1000 * Number(place.data.leaseSeconds) };
    // For whoever looks from outside, such as a measurement.
    task().dataset.hasNext = "";
  } catch {
    // Without a network the next pair comes with the answer to this one.
  }
};

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
  soon(fetchNext);
};

document.addEventListener("lease-renewed", ({ detail }) => {
  if (next) next.heldAt = detail;
});

onTaskSwap(() => soon(fetchNext));
soon(fetchNext);
