// The lease: while somebody is at work on a pair it is held, and before it ends that is said.
import {
  clock,
  here,
  hush,
  LIMIT_MS,
  now,
  onSignOfLife,
  onTaskSwap,
  since,
  tell,
  token,
} from "./page.js";
import { outboxKey, read } from "./store.js";

// Asked again this much later when the network failed; the submit itself would tell.
const RETRY_MS = 15_000;
// With an eighth of the lease left it is said, but neither in the last moment nor all the time.
const LEAST_NOTICE_MS = 60_000;

// What is known of the pair on screen; null where none is held.
let lease = null;
let timer;

const noticeMs = () => Math.min(lease.ms / 3, Math.max(LEAST_NOTICE_MS, lease.ms / 8));

// Its answer is on the way or waits: once the server has it, there is nothing left to hold.
const isAnswered = () => read(outboxKey(lease.name)) !== null;

const hushWarnings = () => {
  hush("still-there");
  hush("lease-over");
};

const watch = () => {
  clearTimeout(timer);
  timer = setTimeout(warn, lease.ms - noticeMs());
};

const start = () => {
  const place = here();
  if (lease && place?.seat === lease.seat) return;
  clearTimeout(timer);
  hushWarnings();
  hush("lapsed");
  // A correction is of a pair that is kept for good.
  const isHeld = place?.revision === "0" && place.data.renew;
  lease = isHeld && {
    seat: place.seat,
    name: place.name,
    address: place.data.renew,
    ms: 1000 * Number(place.data.leaseSeconds),
    renewedAt: now(),
    isHeld,
    isWarned: false,
    isAsking: false,
    pausedUntil: 0,
  };
  if (lease) watch();
};

const warn = () => {
  lease.isWarned = true;
  const left = lease.ms - since(lease.renewedAt);
  // The machine has slept; whoever is back renews it by that.
  if (left <= 0 || isAnswered()) return;
  const time = clock(new Date(Date.now() + left));
  tell("still-there", { kind: "warn", values: { time }, action: { words: "keep-it", run: renew } });
  timer = setTimeout(end, left);
};

const end = () => {
  if (isAnswered()) return;
  tell("lease-over", { kind: "warn", action: { words: "keep-it", run: renew } });
};

const kept = (asked, wasOver) => {
  lease.renewedAt = asked;
  // With the one ahead.
  document.dispatchEvent(new CustomEvent("lease-renewed", { detail: asked }));
  hushWarnings();
  if (wasOver) tell("held-again", { kind: "ok" });
  lease.isWarned = false;
  watch();
};

const lost = () => {
  lease.isHeld = false;
  clearTimeout(timer);
  hushWarnings();
  tell("lapsed", { kind: "warn" });
};

const renew = async () => {
  const mine = lease;
  if (!mine || mine.isAsking || isAnswered()) return;
  mine.isAsking = true;
  const asked = now();
  const wasOver = since(mine.renewedAt) >= mine.ms;
  let status = 0;
  let isSignedOut = false;
  try {
    const response = await fetch(mine.address, {
      method: "POST",
      headers: { "X-CSRFToken": token() },
      redirect: "manual",
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    status = response.status;
    isSignedOut = response.type === "opaqueredirect";
  } catch {
    // Without an answer it is asked again, below.
  }
  mine.isAsking = false;
  // Given meanwhile, the answer itself brings to light how it stands.
  if (mine !== lease || isAnswered()) return;
  if (isSignedOut) {
    lease.pausedUntil = Infinity;
    document.dispatchEvent(new CustomEvent("signed-out"));
  } else if (status === 204) kept(asked, wasOver);
  else if (status === 409) lost();
  else lease.pausedUntil = performance.now() + RETRY_MS;
};

onSignOfLife(() => {
  if (!lease?.isHeld || document.visibilityState !== "visible") return;
  if (performance.now() < lease.pausedUntil) return;
  if (lease.isWarned || since(lease.renewedAt) >= lease.ms / 4) renew();
});

document.addEventListener("signed-in", () => {
  if (!lease) return;
  lease.pausedUntil = 0;
  renew();
});

onTaskSwap(start);
start();
