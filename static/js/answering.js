// Submitting, and what stands beside it: comment, skip, flag.
import { say, task, words } from "./page.js";
import { goTo } from "./place.js";

export const form = () => task()?.querySelector("form.answer");

const asideOf = (name) =>
  name === "comment" ? form()?.querySelector("details.comment") : document.getElementById(name);

export const toggleAside = (name) => {
  const aside = asideOf(name);
  if (!aside) return;
  if (aside.open && name !== "comment") {
    aside.open = false;
    goTo();
    return;
  }
  aside.open = true;
  const field =
    aside.querySelector("input:checked") ?? aside.querySelector("input[type=radio], textarea");
  field?.focus({ preventScroll: true });
  aside.scrollIntoView({ block: "nearest" });
};

// By the mouse: once it is unfolded.
document.addEventListener("click", ({ target }) => {
  const aside = target.closest?.("details.aside > summary")?.parentElement;
  const show = () => aside.open && aside.scrollIntoView({ block: "nearest" });
  aside?.addEventListener("toggle", show, { once: true });
});

const groups = () => {
  const radios = [...form().querySelectorAll('input[data-action^="choice-"]')];
  return [...new Set(radios.map(({ name }) => name))].map((name) =>
    radios.filter((radio) => radio.name === name),
  );
};

export const submit = () => {
  if (!form()) {
    task()?.querySelector(".next")?.click();
    return;
  }
  const missing = groups().find((group) => !group.some(({ checked }) => checked));
  if (missing) {
    missing[0].focus();
    say(words("incomplete"));
    return;
  }
  form().requestSubmit(form().querySelector(".submit"));
};

export const sendSkip = () => form().requestSubmit(form().querySelector(".skip-submit"));

// Enter on a reason means the skip, not the form's first button.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.repeat || event.isComposing || event.defaultPrevented) return;
  if (!event.target.matches?.("[name=skip_reason]")) return;
  event.preventDefault();
  sendSkip();
});

document.addEventListener("change", ({ target }) => {
  if (!target.closest?.("form.answer")) return;
  // Who answers after all does not skip.
  const skip = document.getElementById("skip");
  if (skip && target.dataset.action?.startsWith("choice-")) skip.open = false;
  if (target.matches("[data-needs-comment]")) form().querySelector("details.comment").open = true;
});

// A flag has been sent: said once, since its form is folded again.
document.addEventListener("htmx:afterSwap", () => {
  const flags = document.querySelector("#flags[data-say]");
  if (!flags) return;
  say(flags.dataset.say);
  delete flags.dataset.say;
});
