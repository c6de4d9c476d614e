// A session that ended: signing in again in place, and what waits is sent.
import { hush, LIMIT_MS, say, tell, token, user, visit, words } from "./page.js";

const dialog = document.getElementById("sign-in");
const form = dialog?.querySelector("form");
const channel = new BroadcastChannel("pf");

let isOut = false;
let isPutOff = false;
// A form that was sent in vain, and where the focus was.
let isUnsent = false;
let from;

const open = () => {
  hush("signed-out");
  // Where the focus was it comes back to when the dialog closes.
  if (!dialog.open) dialog.showModal();
  form?.elements.password.focus();
};

const remind = () => {
  // Said once: whoever is at its button would lose it.
  if (document.getElementById("problem").dataset.name === "signed-out") return;
  tell("signed-out", { kind: "warn", action: { words: "sign-in", run: open } });
};

// A dialog must not take the keys of somebody who is writing.
const isWriting = () => document.activeElement?.matches("textarea, input:not([type=radio])");

document.addEventListener("signed-out", ({ detail }) => {
  if (!dialog) return;
  isOut = true;
  isUnsent ||= Boolean(detail?.isUnsent);
  from = detail?.from ?? from;
  if (dialog.open) return;
  // Asked for by pressing a button, or found out by the way.
  if (detail?.isAnswer || !(isPutOff || isWriting())) open();
  else remind();
});

dialog?.addEventListener("close", () => {
  // A button that was disabled while the dialog opened is not what the browser goes back to.
  if (from?.isConnected) from.focus();
  from = undefined;
  if (!isOut) return;
  isPutOff = true;
  remind();
});

for (const button of dialog?.querySelectorAll("[data-close]") ?? []) {
  button.addEventListener("click", () => dialog.close());
}

document.addEventListener("signed-in", () => {
  isOut = false;
  isPutOff = false;
  hush("signed-out");
  if (dialog?.open) dialog.close();
  if (isUnsent) tell("unsent", { kind: "warn" });
  isUnsent = false;
});

const showError = (name) => {
  const { password } = form.elements;
  const line = document.createElement("p");
  line.id = "sign-in-error";
  line.className = "field-error";
  line.setAttribute("role", "alert");
  line.textContent = words(name);
  password.before(line);
  password.setAttribute("aria-invalid", "true");
  password.select();
};

const clearError = () => {
  document.getElementById("sign-in-error")?.remove();
  form.elements.password.removeAttribute("aria-invalid");
};

const post = () =>
  fetch(form.action, {
    method: "POST",
    body: new URLSearchParams(new FormData(form)),
    headers: { "X-CSRFToken": token() },
    redirect: "manual",
    signal: AbortSignal.timeout(LIMIT_MS),
  });

// What is wrong, by a name of words; nothing when it went well.
const signIn = async () => {
  try {
    let response = await post();
    if (response.status === 403) {
      // The token had gone with the session; the visit brings a new one.
      await visit();
      response = await post();
    }
    if (response.type === "opaqueredirect") return "";
    return response.ok ? "wrong-password" : "sign-in-failed";
  } catch {
    return "sign-in-offline";
  }
};

const button = form?.querySelector("[type=submit]");
const usual = button?.textContent;
let isBusy = false;

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (isBusy) return;
  isBusy = true;
  clearError();
  button.textContent = words("button-signing-in");
  const wrong = await signIn();
  button.textContent = usual;
  isBusy = false;
  if (wrong) {
    showError(wrong);
    return;
  }
  form.reset();
  document.dispatchEvent(new Event("signed-in"));
  channel.postMessage({ kind: "signed-in", user });
  say(words("signed-in"));
});
