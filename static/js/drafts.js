// Drafts: what was entered for the pair on screen is there again after a reload.
import { here, onTaskSwap } from "./page.js";
import { showState } from "./save_state.js";
import { draftKey, keepDraft, keys, outboxKey, read, remove } from "./store.js";

const KEPT_MS = 14 * 86_400_000;
// Of the page and the moment, and nobody entered them.
const NOT_ENTERED = ["csrfmiddlewaretoken", "revision", "opened_ms", "first_ms", "active_ms"];

const fieldsOf = (form) => [...new FormData(form)].filter(([name]) => !NOT_ENTERED.includes(name));

const prune = () => {
  for (const key of keys("pf:draft:")) {
    // Either way: a clock that was wrong must not keep them for ever.
    if (!(Math.abs(Date.now() - read(key)?.at) <= KEPT_MS)) remove(key);
  }
};

// Fills a form; what was changed by it.
const fill = (form, fields) => {
  const changed = [];
  for (const element of form.elements) {
    if (!element.name || element.matches("button, fieldset, [type=hidden]")) continue;
    const values = fields.filter(([name]) => name === element.name).map(([, value]) => value);
    if (element.matches("[type=radio], [type=checkbox]")) {
      if (element.checked === values.includes(element.value)) continue;
      element.checked = !element.checked;
    } else {
      if (element.value === (values[0] ?? "")) continue;
      element.value = values[0] ?? "";
    }
    changed.push(element);
  }
  return changed;
};

const restore = () => {
  const place = here();
  if (!place) return;
  const waiting = read(outboxKey(place.name));
  const fields = read(draftKey(place.name))?.fields ?? waiting?.fields;
  if (!fields) return;
  const changed = fill(place.form, fields);
  for (const element of changed) {
    if (element.matches("textarea") && element.value) {
      const folded = element.closest("details");
      if (folded) folded.open = true;
    }
    // Others notice; these events are not "trusted", which tells them from a person's.
    element.dispatchEvent(new Event("input", { bubbles: true }));
    element.dispatchEvent(new Event("change", { bubbles: true }));
  }
  if (changed.length && !waiting) showState("restored");
};

document.addEventListener("input", ({ target, isTrusted }) => {
  const place = here();
  if (!isTrusted || target.form !== place?.form) return;
  keepDraft(place.name, { fields: fieldsOf(place.form) });
});

onTaskSwap(restore);
prune();
restore();
