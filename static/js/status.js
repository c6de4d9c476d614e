// The polite live region: what a swap has changed ([data-announce]), and what other scripts say.
const status = document.getElementById("status");

const announcement = () =>
  [...document.querySelectorAll("[data-announce]")]
    .map((element) => element.dataset.announce.replace(/\s+/g, " ").trim())
    .join(" ");

// What belongs to one turn is said together, since each new text silences the one before.
let said = [];

const say = (words) => {
  if (!words) return;
  if (!said.length) {
    queueMicrotask(() => {
      status.textContent = said.join(" ");
      said = [];
    });
  }
  said.push(words);
};

let last = announcement();

document.addEventListener("htmx:afterSwap", () => {
  const words = announcement();
  if (words === last) return;
  last = words;
  say(words);
});

document.addEventListener("say-again", () => say(last));
document.addEventListener("say", ({ detail }) => say(detail));
