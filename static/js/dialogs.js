// Native dialogs: help with its keys, and the guidelines.
import { actionOf, isUsable, keymap, normal, rebind, reset } from "./keymap.js";
import { task } from "./page.js";
import { goTo } from "./place.js";

const help = document.getElementById("help");
const guidelines = document.getElementById("guidelines-dialog");

export const closeDialog = (dialog) => dialog.close();

export const openDialog = (id) => {
  const dialog = document.getElementById(id);
  if (dialog.open) return;
  if (dialog === help) listKeys();
  dialog.showModal();
  if (dialog === guidelines) load();
};

document.addEventListener("click", (event) => {
  const opener = event.target.closest?.("[data-opens]");
  // With a modifier a link opens as its user wants.
  if (opener && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    openDialog(opener.dataset.opens);
  }
  // The dialog itself is what shows around its content: the backdrop.
  if (event.target === help || event.target === guidelines) event.target.close();
});

for (const dialog of [help, guidelines]) {
  dialog.addEventListener("close", () => {
    // What had the focus may have been replaced meanwhile.
    const { activeElement } = document;
    if (!activeElement || activeElement === document.body || dialog.contains(activeElement)) goTo();
  });
}

// The guidelines, once -------------------------------------------------------------------------

let loaded = false;

const show = (state) => {
  for (const part of guidelines.querySelectorAll("[data-state]")) {
    part.hidden = part.dataset.state !== state;
  }
};

const load = async () => {
  if (loaded) return;
  show("loading");
  try {
    const response = await fetch(guidelines.dataset.source, {
      headers: { "HX-Request": "true" },
      redirect: "error",
    });
    if (!response.ok) throw new Error(response.statusText);
    // Written by the server, which has cleaned the text; scripts would not run in it anyway.
    guidelines.querySelector('[data-state="loaded"]').innerHTML = await response.text();
    loaded = true;
    show("loaded");
  } catch {
    show("failed");
  }
};

// The keys ------------------------------------------------------------------------------------

const message = help.querySelector("[data-key-message]");
const words = help.querySelector("[data-key-words]").content;
const blank = help.querySelector("[data-key-row]").content.querySelector("tr");
let waiting;

const tell = (name, values = {}, kind = "") => {
  const text = words.querySelector(`[data-words="${name}"]`).textContent;
  message.textContent = text.replace(/\{(\w+)\}/g, (_, value) => values[value]);
  message.dataset.kind = kind;
};

const nameOf = (action) =>
  help.querySelector(`[data-key-action="${action}"]`)?.dataset.name ?? action;

const row = (action, name, label) => {
  const made = document.importNode(blank, true);
  made.dataset.keyAction = action;
  made.dataset.name = `${name}: ${label}`;
  made.querySelector("th").textContent = label;
  return made;
};

const heading = (text) => {
  const made = document.createElement("tr");
  const cell = document.createElement("th");
  cell.colSpan = 2;
  cell.scope = "colgroup";
  cell.className = "group";
  cell.textContent = text;
  made.append(cell);
  return made;
};

// The questions of this campaign, as they stand on the page.
const listChoices = () => {
  const rows = [];
  for (const fieldset of task()?.querySelectorAll("form.answer fieldset:has([data-action])") ?? []) {
    const question = fieldset.querySelector("legend").firstChild.textContent.trim();
    rows.push(heading(question));
    for (const input of fieldset.querySelectorAll("[data-action]")) {
      const label = input.closest("label").querySelector("span:not([aria-hidden])");
      rows.push(row(input.dataset.action, question, label.textContent.trim()));
    }
  }
  help.querySelector('[data-keys="choices"]').replaceChildren(...rows);
};

const showKeys = () => {
  const keys = keymap();
  for (const line of help.querySelectorAll("tr[data-key-action]")) {
    const { keyAction } = line.dataset;
    line.dataset.name ??= line.querySelector("th").textContent.trim();
    line.hidden = keyAction === "skip" && !keys.has("skip");
    line.querySelector("kbd").textContent = keys.get(keyAction) ?? "–";
    const button = line.querySelector("button");
    button.setAttribute("aria-label", `${line.dataset.name}: ${keys.get(keyAction) ?? "–"}`);
  }
};

const listKeys = () => {
  stopWaiting();
  message.textContent = "";
  listChoices();
  showKeys();
};

const stopWaiting = () => {
  waiting?.setAttribute("aria-pressed", "false");
  waiting = undefined;
};

const startWaiting = (button) => {
  stopWaiting();
  waiting = button;
  button.setAttribute("aria-pressed", "true");
  tell("press", { action: button.closest("tr").dataset.name });
};

help.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-rebind]");
  if (button === waiting) return;
  if (button) startWaiting(button);
  else stopWaiting();
  if (target.closest("[data-reset-keys]")) {
    reset();
    tell("reset");
  }
});

help.addEventListener("close", stopWaiting);

// Capturing: while a key is being chosen, it does nothing else.
help.addEventListener(
  "keydown",
  (event) => {
    if (!waiting) return;
    if (["Shift", "Control", "Alt", "Meta", "CapsLock", "AltGraph"].includes(event.key)) return;
    if (event.key === "Tab") {
      stopWaiting();
      tell("kept");
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    if (event.repeat) return;
    const { keyAction, name } = waiting.closest("tr").dataset;
    const key = normal(event.key);
    if (event.key === "Escape") {
      stopWaiting();
      tell("kept");
      return;
    }
    if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey || !isUsable(key)) {
      tell("unusable", {}, "refused");
      return;
    }
    const holder = actionOf(key);
    if (holder && holder !== keyAction) {
      tell("taken", { key, action: nameOf(holder) }, "refused");
      return;
    }
    stopWaiting();
    rebind(keyAction, key);
    tell("changed", { key, action: name });
  },
  true,
);

document.addEventListener("keys-changed", showKeys);
