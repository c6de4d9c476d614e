// The polite live region says what a swap has changed: [data-announce] of the new content.
const status = document.getElementById("status");

const announcement = () =>
  [...document.querySelectorAll("[data-announce]")]
    .map((element) => element.dataset.announce.replace(/\s+/g, " ").trim())
    .join(" ");

let last = announcement();

document.addEventListener("htmx:afterSwap", () => {
  const words = announcement();
  if (words === last) return;
  last = words;
  status.textContent = words;
});

// Other scripts say things by this event.
document.addEventListener("say", ({ detail }) => {
  status.textContent = detail;
});
