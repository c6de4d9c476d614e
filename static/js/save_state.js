// What is known of the answer on screen: in the task bar, on its button, and once aloud.
import { clock, here, onTaskSwap, say, task, TO_THE_SECOND, words } from "./page.js";

// Words for the button while the answer is on its way.
const BUTTONS = {
  sending: "button-sending",
  "waiting-network": "button-waiting-network",
  "waiting-server": "button-waiting-server",
  "waiting-unkept": "button-waiting-network",
  "waiting-sign-in": "button-waiting-sign-in",
  "waiting-other-user": "button-waiting-sign-in",
};
// An answer is mostly stored before anybody could read that it is being sent.
const SOON_MS = 200;

const usual = new WeakMap();
let state = "";
export const isWaiting = () => state.startsWith("waiting");
let isOfSkip = false;
let soon;

const label = (button, text) => {
  if (!button) return;
  if (!usual.has(button)) usual.set(button, [...button.childNodes]);
  if (text) button.replaceChildren(text);
  else button.replaceChildren(...usual.get(button));
};

// Empty while nothing is stored.
export const savedWords = () => {
  const at = Date.parse(task()?.querySelector(".task-bar").dataset.savedAt ?? "");
  return Number.isNaN(at) ? "" : words("saved", { time: clock(at, TO_THE_SECOND) });
};

// On a narrow window the task bar may be far away: also in the line that stays.
const showWaiting = (text) => {
  const line = task()?.querySelector(".switch-state");
  if (line) line.textContent = text;
};

const showSaved = () => {
  const line = task()?.querySelector(".save-state");
  if (!line) return;
  line.dataset.state = "saved";
  line.textContent = savedWords();
};

const apply = (name) => {
  state = name;
  showWaiting(isWaiting() ? words(name) : "");
  const line = task()?.querySelector(".save-state");
  if (name && name !== "sending") {
    if (line) {
      line.dataset.state = name;
      line.textContent = words(name);
    }
    if (name !== "sending-last") say(words(name));
  } else if (!name) {
    showSaved();
  }
  const form = here()?.form;
  if (!form) return;
  for (const button of form.querySelectorAll(".submit, .skip-submit")) {
    const isPressed = button.matches(".skip-submit") === isOfSkip;
    label(button, BUTTONS[name] && isPressed ? words(BUTTONS[name]) : "");
  }
};

// One of the names of words above, "restored", "sending-last" or "undo-soon" while the answer to the
// pair before is on its way, or nothing: what is saved.
export const showState = (name, { isSkip = false } = {}) => {
  clearTimeout(soon);
  if (name === state && isSkip === isOfSkip) return;
  isOfSkip = isSkip;
  if (name.startsWith("sending")) soon = setTimeout(apply, SOON_MS, name);
  else apply(name);
};

// In a task bar that has just come, with the answer to the pair before stored.
export const showStateAgain = () => {
  const name = ["sending-last", "undo-soon"].includes(state) ? "" : state;
  clearTimeout(soon);
  apply(name);
};

onTaskSwap(() => {
  clearTimeout(soon);
  state = "";
  showSaved();
});
showSaved();
