// Sending: what failed is said, and nothing that was entered is lost.
const problem = document.getElementById("problem");
const words = document.getElementById("words").content;
const login = document.body.dataset.login;

const hide = () => {
  problem.hidden = true;
  problem.replaceChildren();
};

const tell = (name, kind = "bad") => {
  const text = words.querySelector(`[data-words="${name}"]`).cloneNode(true);
  const close = document.createElement("button");
  close.type = "button";
  close.className = "button";
  close.textContent = words.querySelector('[data-words="dismiss"]').textContent;
  close.addEventListener("click", hide);
  problem.dataset.kind = kind;
  problem.dataset.name = name;
  problem.hidden = false;
  problem.replaceChildren(text, close);
};

const wasSignedOut = (address) => address && new URL(address, location).pathname === login;

// Disabling a button takes its focus away; when nothing was swapped it gets it back.
const refocus = ({ detail }) => detail.elt.querySelector?.(".submit")?.focus();

const failed = (event, name) => {
  if (event.detail.elt.matches("[data-polls]")) {
    tell("stale", "warn");
    return;
  }
  tell(name);
  setTimeout(refocus, 0, event);
};

document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (!detail.elt.matches("[data-polls]")) hide();
});
document.addEventListener("htmx:afterSwap", () => {
  if (problem.dataset.name === "stale") hide();
});
document.addEventListener("htmx:sendError", (event) => failed(event, "offline"));
document.addEventListener("htmx:timeout", (event) => failed(event, "offline"));
document.addEventListener("htmx:responseError", (event) => {
  const { status } = event.detail.xhr;
  failed(event, status >= 500 ? "failed" : status === 404 ? "gone" : "refused");
});

document.addEventListener("htmx:beforeSwap", (event) => {
  if (!wasSignedOut(event.detail.xhr.responseURL)) return;
  // A session has ended, and this is the page to sign in on.
  event.detail.shouldSwap = false;
  event.detail.isError = false;
  tell("signed-out");
  setTimeout(refocus, 0, event);
});

// Signing in again rotates the key of forms, maybe in another tab: the cookie has the valid one.
document.addEventListener(
  "submit",
  ({ target }) => {
    const cookie = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/);
    const field = target.querySelector('input[name="csrfmiddlewaretoken"]');
    if (cookie && field) field.value = cookie[1];
  },
  true,
);

// The answer waits in this tab while its rater signs in.
const form = () => document.querySelector("#task form.answer");
const seat = () => document.getElementById("task")?.dataset.seat;
const KEY = "unsent-answer";

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-sign-in]");
  if (!link) return;
  event.preventDefault();
  if (form()) {
    const entries = [...new FormData(form())].filter(([name]) => name !== "csrfmiddlewaretoken");
    sessionStorage.setItem(KEY, JSON.stringify({ seat: seat(), entries }));
  }
  const next = encodeURIComponent(location.pathname + location.search);
  location.assign(`${login}?next=${next}`);
});

const restore = () => {
  const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  if (!kept || !form()) return;
  sessionStorage.removeItem(KEY);
  if (kept.seat !== seat()) return;
  for (const [name, value] of kept.entries) {
    const field = form().elements.namedItem(name);
    if (field) field.value = value;
  }
  const comment = form().elements.namedItem("comment");
  if (comment?.value) comment.closest("details").open = true;
  tell("restored", "warn");
};

document.addEventListener("lapsed", () => tell("lapsed", "warn"));
document.addEventListener("signed-out", () => tell("signed-out"));
restore();
