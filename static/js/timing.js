// How long the pair has been on screen, and how much of it somebody was at work; spans, no clocks.
import { here, onSignOfLife, onTaskSwap } from "./page.js";
import { draftKey, keepDraft, read } from "./store.js";

const SAVE_MS = 5_000;

// The pair that is measured: what earlier pages measured (`before`), and since when this one does.
let pair = null;
let savedAt = 0;

const isVisible = () => document.visibilityState === "visible";

// From the last sign of life until now, as far as that was no idling.
const tail = (now) => (pair.lifeAt === null ? 0 : Math.min(now - pair.lifeAt, pair.idleMs));

const start = () => {
  const place = here();
  if (place && place.name === pair?.name) return;
  const kept = place && read(draftKey(place.name))?.times;
  const before = { opened: 0, active: 0, first: null, ...kept };
  const seenAt = isVisible() ? performance.now() : null;
  pair = place && {
    name: place.name,
    idleMs: 1000 * Number(place.data.idleSeconds || 60),
    before,
    first: before.first,
    active: 0,
    seenAt,
    lifeAt: seenAt,
  };
};

const measure = () => {
  const now = performance.now();
  return {
    opened: pair.before.opened + (pair.seenAt === null ? 0 : now - pair.seenAt),
    active: pair.before.active + pair.active + tail(now),
    first: pair.first,
  };
};

const save = () => {
  if (!pair) return;
  savedAt = performance.now();
  keepDraft(pair.name, { times: measure() });
};

onSignOfLife(() => {
  if (!pair || !isVisible()) return;
  const now = performance.now();
  pair.active += tail(now);
  pair.seenAt ??= now;
  pair.lifeAt = now;
  if (now - savedAt > SAVE_MS) save();
});

document.addEventListener("visibilitychange", () => {
  if (!pair) return;
  const now = performance.now();
  if (isVisible()) {
    pair.seenAt ??= now;
    pair.lifeAt = now;
  } else {
    pair.active += tail(now);
    pair.lifeAt = null;
    save();
  }
});

// The first choice or word; what a script fills in is not trusted.
document.addEventListener("input", ({ target, isTrusted }) => {
  if (!pair || !isTrusted || pair.first !== null || target.form !== here()?.form) return;
  pair.first = measure().opened;
  save();
});

document.addEventListener("formdata", ({ target, formData }) => {
  if (!pair || target !== here()?.form) return;
  const { opened, first, active } = measure();
  formData.set("opened_ms", Math.round(opened));
  formData.set("active_ms", Math.round(active));
  if (first !== null) formData.set("first_ms", Math.round(first));
});

addEventListener("pagehide", save);
document.addEventListener("htmx:beforeSwap", save);
onTaskSwap(start);
start();
