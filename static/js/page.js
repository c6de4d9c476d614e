// What scripts share: words and saying them, the pair on screen, the token. Holds no state.
const body = document.body;
const root = document.documentElement;

export const user = body.dataset.user ?? "";

export const task = () => document.getElementById("task");

// The pair on screen and its form, under the name that drafts and waiting answers are kept by.
export const here = () => {
  const form = task()?.querySelector("form.answer");
  const { seat, revision = "0" } = task()?.dataset ?? {};
  if (!form || !seat || !user) return null;
  return { form, seat, revision, name: `${user}:${seat}:${revision}`, data: task().dataset };
};

export const taskAddress = () => `/campaigns/${task().dataset.campaign}/task/`;

export const words = (name, values = {}) => {
  const element = document.getElementById("words").content.querySelector(`[data-words="${name}"]`);
  const text = element.textContent.replace(/\s+/g, " ").trim();
  return text.replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
};

export const say = (text) => document.dispatchEvent(new CustomEvent("say", { detail: text }));

const TO_THE_MINUTE = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
export const TO_THE_SECOND = { ...TO_THE_MINUTE, second: "2-digit" };

// A moment of the day, in the page's language.
export const clock = (moment, form = TO_THE_MINUTE) =>
  new Intl.DateTimeFormat(root.lang, form).format(moment);

// Good news goes by itself.
const SHOWN_MS = 10_000;

const box = () => document.getElementById("problem");

// Takes a message away: the one of that name, or whichever there is.
export const hush = (name) => {
  if (name && box().dataset.name !== name) return;
  box().hidden = true;
  box().replaceChildren();
  delete box().dataset.name;
};

const button = (text, run) => {
  const element = document.createElement("button");
  element.type = "button";
  element.className = "button";
  element.textContent = text;
  element.addEventListener("click", run);
  return element;
};

// A message that stays, of kind bad, warn or ok. `action` is a button in it: the name of what it
// says, and what it does.
export const tell = (name, { kind = "bad", values, action } = {}) => {
  const text = document.createElement("p");
  text.textContent = words(name, values);
  const parts = [text];
  if (action) parts.push(button(words(action.words), action.run));
  parts.push(button(words("dismiss"), () => hush()));
  const hadFocus = box().contains(document.activeElement);
  // What can wait is said when the reader pauses.
  box().setAttribute("role", kind === "bad" ? "alert" : "status");
  box().dataset.kind = kind;
  box().dataset.name = name;
  box().hidden = false;
  box().replaceChildren(...parts);
  if (hadFocus) box().querySelector("button").focus();
  if (kind === "ok") setTimeout(hush, SHOWN_MS, name);
};

// Signing in rotates the token, maybe in another tab: the cookie has the valid one.
export const token = () =>
  document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ??
  document.querySelector('input[name="csrfmiddlewaretoken"]')?.value ??
  "";

export const LIMIT_MS = 20_000;

export const now = () => ({ page: performance.now(), wall: Date.now() });

// Only differences count: clocks may be wrong, and a page's own stands still while a laptop sleeps.
export const since = (moment) => Math.max(performance.now() - moment.page, Date.now() - moment.wall);

// Who is signed in, by the server's word; null where no page of ours answers. Renews the token.
export const visit = async () => {
  try {
    const response = await fetch(body.dataset.login, {
      cache: "no-store",
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    return response.ok && "login" in page.body.dataset ? (page.body.dataset.user ?? "") : null;
  } catch {
    return null;
  }
};

export const swap = (html) => {
  // As htmx does for its own requests: who remembers where the reader was listens to it.
  htmx.trigger(task(), "htmx:beforeSwap", { target: task() });
  htmx.swap("#task", html, { swapStyle: "outerHTML" });
  // Somebody else has signed in meanwhile: the rest of the page is not theirs.
  if (task().dataset.user && task().dataset.user !== user) location.reload();
};

// Not for swaps of a part of it, such as a flag that was sent.
export const onTaskSwap = (run) =>
  document.addEventListener("htmx:afterSwap", ({ target }) => target.id === "task" && run());

const SIGNS = ["pointerdown", "pointermove", "keydown", "wheel", "scroll", "touchmove", "input"];

// Somebody is at work. Capturing, since the scrolling of a pane does not bubble.
export const onSignOfLife = (run) => {
  for (const kind of SIGNS) {
    document.addEventListener(kind, run, { capture: true, passive: true });
  }
};
