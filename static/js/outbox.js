// The outbox: an answer is kept here from the moment it is given until the server has it.
import { confirm, isAhead, showAhead } from "./ahead.js";
import { deliver, moment, page } from "./delivery.js";
import { here, hush, LIMIT_MS, say, swap, taskAddress, tell, user, words } from "./page.js";
import { isWaiting, savedWords, showState } from "./save_state.js";
import * as store from "./store.js";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
// Whoever is changing an answer that waits is not torn away from it in the middle of a word.
const EDIT_MS = 2_000;
// The answer is not stored, but the same pair may come back: what was entered stays a draft.
const MAY_COME_BACK = ["campaign_closed", "not_active"];

const PREFIX = store.outboxKey(`${user}:`);
const nameOf = (key) => key.slice(store.outboxKey("").length);
const isOnScreen = (key) => here() !== null && key === store.outboxKey(here().name);
const isSkip = (entry) => entry.fields.some(([name]) => name === "action");
const revisionOf = (entry) => Number(entry.fields.find(([name]) => name === "revision")?.[1] ?? 0);
const withRevision = (entry, revision) => [
  ...entry.fields.filter(([name]) => name !== "revision"),
  ["revision", String(revision)],
];

const SPANS = ["opened_ms", "first_ms", "active_ms", "revision"];
const answerIn = ({ fields }) => JSON.stringify(fields.filter(([name]) => !SPANS.includes(name)));
const isSame = (one, other) => answerIn(one) === answerIn(other);

// Other tabs of this browser.
const channel = new BroadcastChannel("pf");

/* Giving */

const entryOf = (form, action) => {
  const data = new FormData(form);
  data.delete("csrfmiddlewaretoken");
  if (action) data.set("action", action);
  // By its attribute: form.action is the button of that name.
  const address = form.getAttribute("action");
  const id = crypto.getRandomValues(new Uint32Array(2)).join();
  return { id, address, fields: [...data], tries: 0, ...moment() };
};

const isComplete = (form, entry) => {
  const given = new Set(entry.fields.map(([name]) => name));
  if (isSkip(entry)) return given.has("skip_reason");
  return [...form.querySelectorAll("input[required]")].every(
    ({ name }) => name === "skip_reason" || given.has(name),
  );
};

// A newer answer to the same pair takes the place of the one that waits.
const put = (key, entry) => {
  const earlier = store.read(key);
  if (earlier && isSame(earlier, entry)) return;
  // Should the server have stored the earlier one already, then this is a correction of it.
  const mayCorrect = Boolean(earlier && (earlier.tries || earlier.mayCorrect));
  const fields = earlier ? withRevision(entry, revisionOf(earlier)) : entry.fields;
  store.write(key, { ...entry, fields, mayCorrect });
};

// Then the next pair is not shown before the server has seen the answer.
const mayBeRefused = (form, entry) => {
  const comment = form.querySelector("#comment");
  const needsComment = isSkip(entry) && form.querySelector("[data-needs-comment]:checked");
  return needsComment || comment.value.length > Number(comment.dataset.limit);
};

const isOnlyOne = (key) => waitingKeys().every((other) => other === key) && !isWaiting();

let edited = -Infinity;

const give = (form, action) => {
  const entry = entryOf(form, action);
  if (!isComplete(form, entry)) return askWhatIsMissing(entry);
  const key = store.outboxKey(here().name);
  put(key, entry);
  edited = -Infinity;
  hush();
  isAsked = true;
  if (isOnlyOne(key) && !mayBeRefused(form, entry) && showAhead()) showState("sending-last");
  else if (!isWaiting()) showState("sending", { isSkip: isSkip(entry) });
  return pump();
};

// The server's words for it, once; it is not an answer that could be kept.
const askWhatIsMissing = async (entry) => {
  const asked = here().name;
  const result = await deliver(entry);
  if (here()?.name !== asked) return;
  if (result.html) swap(result.html);
  else if (result.kind === "signed-out") signedOut(true);
  else tell("incomplete", { kind: "warn" });
};

document.addEventListener("submit", (event) => {
  const { target, submitter } = event;
  if (target !== here()?.form) return;
  event.preventDefault();
  give(target, submitter?.name === "action" ? submitter.value : "");
});

// The second half of a double click may land on the next pair.
document.addEventListener(
  "click",
  (event) => {
    if (event.detail > 1 && event.target.closest?.("form.answer [type=submit]")) {
      event.preventDefault();
    }
  },
  true,
);

document.addEventListener("input", ({ target, isTrusted }) => {
  const place = here();
  if (!isTrusted || !place || target.form !== place.form) return;
  const key = store.outboxKey(place.name);
  place.form.dataset.touched = "";
  const earlier = store.read(key);
  if (!earlier) return;
  edited = performance.now();
  const action = earlier.fields.find(([name]) => name === "action")?.[1];
  put(key, entryOf(place.form, action));
  pump();
});

/* Sending */

let timer;
let failures = 0;
let isRunning = false;
let isRunAgain = false;
// Somebody has just pressed the button, and wants to know.
let isAsked = false;

const later = (pause) => {
  clearTimeout(timer);
  timer = setTimeout(pump, pause);
};

const backOff = () => {
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
  failures += 1;
  later(pause * (0.5 + Math.random() / 2));
};

// What was pressed just now goes first, but never before the pair that came before it.
const waitingKeys = () => {
  const order = isAhead() ? -1 : 1;
  return store
    .keys(PREFIX)
    .sort((one, other) => order * (Number(isOnScreen(other)) - Number(isOnScreen(one))));
};

// One tab at a time, so that none sends what another is sending.
const LOCK = `pf:sending:${user}`;

const exclusively = async (work) => {
  if (navigator.locks) return navigator.locks.request(LOCK, work);
  // Only pages of https have locks. A tab that is gone lets go after the limit of a request.
  const other = store.read(LOCK);
  const isTaken = other && other.page !== page && Math.abs(Date.now() - other.at) < 2 * LIMIT_MS;
  if (isTaken) return "network";
  store.write(LOCK, { page, at: Date.now() });
  try {
    return await work();
  } finally {
    store.remove(LOCK);
  }
};

const sendOne = async (key) => {
  const entry = store.read(key);
  if (!entry) return "done";
  store.write(key, { ...entry, tries: entry.tries + 1 });
  const shown = isAhead() && !isOnScreen(key) ? here()?.seat : "";
  const result = await deliver(entry, { isReplay: !isOnScreen(key) && !shown, shown });
  return settle(key, entry, result, shown);
};

const settle = (key, entry, result, shown) => {
  const { kind } = result;
  if (kind in WAITING) {
    wait(key, kind);
    return kind;
  }
  if (isSignedOut) document.dispatchEvent(new Event("signed-in"));
  const current = store.read(key);
  if (current && current.id !== entry.id) return "again";
  if (entry.mayCorrect && ["already_submitted", "changed_elsewhere"].includes(result.outcome)) {
    const fields = withRevision(entry, revisionOf(entry) + 1);
    store.write(key, { ...entry, fields, mayCorrect: false });
    return "again";
  }
  store.remove(key);
  if (shown) concludeBefore(result, shown);
  else if (isOnScreen(key)) conclude(result);
  else concludeReplay(result);
  if (kind === "outcome" && !MAY_COME_BACK.includes(result.outcome)) {
    // After the swap, which may have written down times.
    store.remove(store.draftKey(nameOf(key)));
    channel.postMessage({ kind: "decided", name: nameOf(key), answer: answerIn(entry) });
  }
  return "done";
};

let replayed = 0;

const sendAll = async () => {
  for (const key of waitingKeys()) {
    const pause = EDIT_MS - (performance.now() - edited);
    if (pause > 0 && isOnScreen(key)) {
      later(pause);
      continue;
    }
    let became;
    do became = await exclusively(() => sendOne(key));
    while (became === "again");
    if (became === "network" || became === "server") return backOff();
    // The other end is there, but not for this user: signing in, or coming back, tries again.
    if (became !== "done") return;
  }
  failures = 0;
  if (replayed) sayReplayed();
  // Another tab may have sent it.
  if (store.keys(PREFIX).length) return;
  hush("waits-one");
  hush("waits-some");
  if (isAhead()) confirm();
};

async function pump() {
  clearTimeout(timer);
  isRunAgain = true;
  if (isRunning) return;
  isRunning = true;
  try {
    while (isRunAgain) {
      isRunAgain = false;
      await sendAll();
      isAsked = false;
    }
  } finally {
    isRunning = false;
  }
}

/* What is said of it */

let isSignedOut = false;

const signedOut = (isAnswer) => {
  isSignedOut = true;
  document.dispatchEvent(new CustomEvent("signed-out", { detail: { isAnswer } }));
};

const WAITING = {
  network: "waiting-network",
  server: "waiting-server",
  "signed-out": "waiting-sign-in",
  "other-user": "waiting-other-user",
};

const wait = (key, kind) => {
  const shown = here() && store.outboxKey(here().name);
  if (key !== shown) {
    const number = store.keys(PREFIX).length;
    tell(number === 1 ? "waits-one" : "waits-some", { kind: "warn", values: { number } });
  }
  // It may wait behind the one before it.
  const entry = shown && store.read(shown);
  if (entry) {
    const name = store.isKept(shown) ? WAITING[kind] : "waiting-unkept";
    showState(name, { isSkip: isSkip(entry) });
  }
  if (kind === "signed-out") signedOut(isAsked);
};

// Where an earlier answer was corrected, a reload would show it again.
const leaveTheSeatsAddress = () => {
  if (location.pathname !== taskAddress()) history.replaceState(null, "", taskAddress());
};

const conclude = (result) => {
  if (result.kind === "outcome" || result.kind === "wrong") {
    swap(result.html);
    if (result.kind === "outcome") leaveTheSeatsAddress();
    if (result.isStored && savedWords()) say(savedWords());
    return;
  }
  showState("");
  const action = { words: "next-pair", run: showNext };
  if (result.kind === "gone") tell("answer-gone", { action });
  else tell(result.kind === "too-large" ? "too-large" : "answer-refused");
};

// Of the answer before the pair that was shown already: `shown` is the seat of that.
const concludeBefore = (result, shown) => {
  hush("waits-one");
  hush("waits-some");
  if (result.kind === "refused") {
    const action = { words: "back-to-it", run: () => location.reload() };
    tell("before-refused", { action });
  } else if (!result.html) concludeReplay(result);
  else if (!result.isBar) conclude(result);
  else if (here()?.seat === shown) confirm(result.html);
  // Another one was gone to meanwhile.
  else showNext();
};

const concludeReplay = ({ kind, outcome, isStored }) => {
  if (isStored) replayed += 1;
  else if (kind !== "outcome") tell("replay-refused");
  else if (MAY_COME_BACK.includes(outcome)) tell("replay-closed", { kind: "warn" });
  else tell("replay-not-needed", { kind: "warn" });
};

const sayReplayed = () => {
  hush("waits-one");
  hush("waits-some");
  const name = replayed === 1 ? "replayed-one" : "replayed-some";
  const values = { number: replayed };
  replayed = 0;
  // Not in the place of what is worse.
  if (document.getElementById("problem").hidden) tell(name, { kind: "ok", values });
  else say(words(name, values));
};

/* Other tabs */

const fetchNext = async () => {
  try {
    const response = await fetch(taskAddress(), {
      headers: { "HX-Request": "true" },
      redirect: "manual",
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    if (response.type === "opaqueredirect") signedOut(true);
    return response.ok ? await response.text() : null;
  } catch {
    return null;
  }
};

// True when it is there.
const showNext = async () => {
  hush();
  const html = await fetchNext();
  if (html === null) {
    tell("next-failed", { action: { words: "next-pair", run: showNext } });
    return false;
  }
  swap(html);
  leaveTheSeatsAddress();
  return true;
};

channel.addEventListener("message", ({ data }) => {
  if (data.kind === "signed-in" && data.user === user) {
    document.dispatchEvent(new Event("signed-in"));
  }
  if (data.kind !== "decided") return;
  const place = here();
  if (data.name !== place?.name) {
    pump();
    return;
  }
  const isOwnDraft = place.form.dataset.touched !== undefined;
  if (isOwnDraft && answerIn(entryOf(place.form, "")) !== data.answer) {
    tell("answered-elsewhere-otherwise", {
      kind: "warn",
      action: { words: "next-pair", run: showNext },
    });
    return;
  }
  showNext().then((isShown) => {
    if (!isShown) return;
    store.remove(store.draftKey(data.name));
    tell("answered-elsewhere", { kind: "ok" });
  });
});

document.addEventListener("signed-in", () => {
  isSignedOut = false;
  pump();
});
addEventListener("online", () => pump());
addEventListener("pageshow", ({ persisted }) => persisted && pump());
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") pump();
});

if (user) {
  const key = here() && store.outboxKey(here().name);
  const waiting = key && store.read(key);
  if (waiting) showState("sending", { isSkip: isSkip(waiting) });
  pump();
}
