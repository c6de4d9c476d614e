// Buttons that copy what stands in the field before them, to be taken elsewhere ([data-copies]).
import { say, words } from "./page.js";

// The one whose text is in the clipboard, and what it said before.
let copied;

const show = (button, text) => {
  button.firstElementChild.textContent = text;
};

document.addEventListener("click", async ({ target }) => {
  const button = target.closest?.("[data-copies]");
  if (!button) return;
  const field = button.previousElementSibling;
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    // Forbidden, or not there without HTTPS.
    field.focus();
    field.select();
    say(words("to-be-copied"));
    return;
  }
  if (copied) show(copied.button, copied.text);
  copied = { button, text: button.firstElementChild.textContent };
  show(button, words("copied"));
  say(words("copied"));
});
