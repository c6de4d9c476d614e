// The keys of the task page. What they do is in keymap.js; changing them, in dialogs.js.
import { form, sendSkip, submit, toggleAside } from "./answering.js";
import { closeDialog, openDialog } from "./dialogs.js";
import { actionOf, keymap, normal } from "./keymap.js";
import { task } from "./page.js";
import { goTo } from "./place.js";
import { closeProfile, isOver, toggleProfile } from "./profile.js";
import { read, readProfile, readsOn } from "./reading.js";

const root = document.documentElement;
const skip = () => document.getElementById("skip");

const isText = (element) =>
  element?.isContentEditable ||
  element?.matches?.("textarea, select, input:not([type=radio], [type=checkbox], [type=button])");

// These take Enter for themselves.
const isButton = (element) => element?.closest?.("button, a, summary, [popover], [type=checkbox]");

const isLetter = (key) => key.toLowerCase() !== key.toUpperCase();

const press = (input) => {
  input.focus({ preventScroll: true });
  input.click();
};

const acts = {
  submit: () => (skip()?.open ? sendSkip() : submit()),
  skip: () => toggleAside("skip"),
  comment: () => toggleAside("comment"),
  flag: () => toggleAside("flags"),
  undo: () => task().querySelector('[data-action="undo"]')?.click(),
  profile: toggleProfile,
  "read-on": () => read(1),
  "read-back": () => read(-1),
  "read-profile": readProfile,
  guidelines: () => openDialog("guidelines-dialog"),
  help: () => openDialog("help"),
};

// Held, they go on.
const isReading = (key) => actionOf(key)?.startsWith("read-");

const DIALOGS = { guidelines: "guidelines-dialog", help: "help" };

const act = (key) => {
  const action = actionOf(key);
  const open = document.querySelector("dialog[open]");
  if (open) {
    // Its own key closes a dialog; others wait until it is closed.
    if (DIALOGS[action] !== open.id) return false;
    closeDialog(open);
    return true;
  }
  if (skip()?.open && /^\d$/.test(key)) {
    const reason = skip().querySelectorAll("[name=skip_reason]")[key - 1];
    if (reason) press(reason);
    return Boolean(reason);
  }
  // While it is gone back to the answer before.
  if (form()?.inert && action !== "undo" && !isReading(key)) return false;
  if (!action) return false;
  if (acts[action]) {
    acts[action]();
    return true;
  }
  // While a reason for skipping is looked for, choices rest.
  if (skip()?.open) return false;
  const input = task().querySelector(`input[data-action="${CSS.escape(action)}"]`);
  if (input) press(input);
  return Boolean(input);
};

const enter = (event) => {
  if (!form() || document.querySelector("dialog[open]") || isButton(event.target)) return;
  if (event.target.closest?.("#flags")) return;
  // Also when held: else a focused radio button would submit by itself.
  event.preventDefault();
  if (!event.repeat && !form().inert) acts.submit();
};

const escape = (event) => {
  if (document.querySelector("dialog[open], :popover-open")) return;
  if (isOver()) {
    closeProfile();
    event.preventDefault();
    return;
  }
  if (form()?.inert) {
    acts.undo();
    return;
  }
  const aside = event.target.closest?.("details.aside");
  const open = aside?.open ? aside : skip()?.open ? skip() : undefined;
  if (open) {
    // What was written stays in sight, and so does its field.
    if (!open.querySelector("textarea")?.value) open.open = false;
    goTo();
    event.preventDefault();
  } else if (isText(event.target)) {
    goTo();
  } else {
    task().querySelector('.banner [data-action="undo"]')?.click();
  }
};

document.addEventListener("keydown", (event) => {
  // 229: some browsers report a key of an input method so and not as composing.
  if (event.defaultPrevented || event.isComposing || event.keyCode === 229 || !task()) return;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Escape") {
    if (!event.repeat) escape(event);
    return;
  }
  if (root.dataset.shortcuts !== "on" || isText(event.target)) return;
  if (event.key === "Enter") {
    if (!event.shiftKey) enter(event);
    return;
  }
  if (readsOn(event)) {
    event.preventDefault();
    return;
  }
  // Signs and some layouts' digits are on Shift.
  if (event.shiftKey && isLetter(event.key)) return;
  if (event.repeat && !isReading(normal(event.key))) return;
  if (act(normal(event.key))) event.preventDefault();
});

const hintOf = (element) =>
  (element.matches("input") ? element.closest("label") : element).querySelector(".key-hint");

// While a reason for skipping is looked for, the keys of what would be sent otherwise rest.
const isResting = (element) =>
  skip()?.open && element.matches('.submit, [data-action^="choice-"], [data-action^="sure-"]');

// Hints say which keys hold now, for the eye and for assistive technology.
const showKeys = () => {
  const keys = keymap();
  for (const element of document.querySelectorAll("#task [data-action], #task [data-hint]")) {
    const action = element.dataset.action ?? element.dataset.hint;
    const key = keys.get(action) ?? "";
    const hint = hintOf(element);
    if (hint) {
      hint.textContent = key;
      hint.hidden = !key;
    }
    const spoken = action === "submit" ? ["Enter", key] : [key];
    if (root.dataset.shortcuts === "on" && key && !isResting(element)) {
      element.setAttribute("aria-keyshortcuts", spoken.filter(Boolean).join(" "));
    } else {
      element.removeAttribute("aria-keyshortcuts");
    }
  }
};

document.addEventListener("keys-changed", showKeys);
document.addEventListener("setting-changed", showKeys);
document.addEventListener("htmx:afterSwap", showKeys);
// Does not bubble.
document.addEventListener("toggle", ({ target }) => target.id === "skip" && showKeys(), true);
showKeys();
