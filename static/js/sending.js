// What htmx sends for other parts of a page: what failed is said, and what was entered stays.
import { hush, tell, token } from "./page.js";

const { login } = document.body.dataset;

const wasSignedOut = (address) => address && new URL(address, location).pathname === login;

// Disabling a button takes its focus away; when nothing was swapped it gets it back.
const focused = new WeakMap();

const refocus = ({ detail }) => {
  const before = focused.get(detail.elt);
  if (before?.isConnected) before.focus();
};

const failed = (event, name) => {
  if (event.detail.elt.matches("[data-polls]")) {
    tell("stale", { kind: "warn" });
    return;
  }
  tell(name);
  setTimeout(refocus, 0, event);
};

document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (detail.elt.matches("[data-polls]")) return;
  // Before its button is disabled.
  if (detail.elt.contains(document.activeElement)) {
    focused.set(detail.elt, document.activeElement);
  }
  hush();
});
document.addEventListener("htmx:afterSwap", () => hush("stale"));
document.addEventListener("htmx:sendError", (event) => failed(event, "offline"));
document.addEventListener("htmx:timeout", (event) => failed(event, "offline"));
document.addEventListener("htmx:responseError", (event) => {
  const { status } = event.detail.xhr;
  const names = { 404: "gone", 413: "too-large" };
  failed(event, status >= 500 ? "failed" : (names[status] ?? "refused"));
});

document.addEventListener("htmx:beforeSwap", (event) => {
  // An answer's swap has no request of htmx.
  if (!wasSignedOut(event.detail.xhr?.responseURL)) return;
  // A session has ended, and this is the page to sign in on.
  event.detail.shouldSwap = false;
  event.detail.isError = false;
  const { requestConfig } = event.detail;
  const detail = { from: focused.get(requestConfig.elt), isUnsent: requestConfig.verb === "post" };
  document.dispatchEvent(new CustomEvent("signed-out", { detail }));
});

// Signing in again rotates the key of forms, maybe in another tab: the cookie has the valid one.
document.addEventListener(
  "submit",
  ({ target }) => {
    const field = target.querySelector('input[name="csrfmiddlewaretoken"]');
    if (field) field.value = token();
  },
  true,
);
