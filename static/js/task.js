// The task page: keys, the profile's drawer, and where one is after a swap.
const wide = matchMedia("(width >= 62rem)");
// Two responses side by side and the profile above them: open, it would push them below the fold.
const tight = matchMedia("(56.25rem <= width < 62rem)");
const root = document.documentElement;
const task = () => document.getElementById("task");
const form = () => task()?.querySelector("form.answer");

const say = (name) => {
  const text = document.getElementById("words").content.querySelector(`[data-words="${name}"]`);
  document.dispatchEvent(new CustomEvent("say", { detail: text.textContent.trim() }));
};

// Beside the task the profile cannot be folded, and its heading is no button.
const fitProfile = () => {
  const profile = task()?.querySelector("details.persona");
  if (!profile) return;
  if (wide.matches) profile.open = true;
  if (tight.matches) profile.open = false;
  profile.querySelector("summary").tabIndex = wide.matches ? -1 : 0;
};

wide.addEventListener("change", fitProfile);
tight.addEventListener("change", fitProfile);

// A refused answer comes back with the same pair: its texts stay where they were read.
let before = { seat: "", panes: [] };

document.addEventListener("htmx:beforeSwap", () => {
  before = {
    seat: task()?.dataset.seat,
    panes: [...document.querySelectorAll("#task .pane")].map(({ id, scrollTop }) => [id, scrollTop]),
    page: scrollY,
  };
});

document.addEventListener("htmx:afterSwap", () => {
  fitProfile();
  if (task().dataset.seat !== before.seat) {
    scrollTo(0, 0);
    return;
  }
  for (const [id, top] of before.panes) document.getElementById(id).scrollTop = top;
  scrollTo(0, before.page);
});

// Once htmx has moved the focus; it does so without scrolling.
document.addEventListener("htmx:afterSettle", () => {
  task().querySelector(".field-wrong")?.scrollIntoView({ block: "nearest" });
});

const groups = () => {
  const names = new Set([...form().querySelectorAll("input[data-key]")].map(({ name }) => name));
  return [...names].map((name) => [...form().elements[name]]);
};

const firstUnanswered = () => groups().find((group) => !group.some(({ checked }) => checked));

const typing = (element) =>
  element?.isContentEditable ||
  element?.matches?.("textarea, select, input:not([type=radio], [type=checkbox])");

const acting = (element) => element?.closest?.("button, a, summary, [popover], [type=checkbox]");

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (root.dataset.shortcuts !== "on" || !form()) return;
  // 229: some browsers report a key of an input method so and not as composing.
  if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return;
  if (event.ctrlKey || event.altKey || event.metaKey || typing(target)) return;
  // Some layouts have their digits on Shift.
  if (event.shiftKey && !/^\d$/.test(key)) return;
  if (key === "Enter") {
    if (acting(target)) return;
    // Also when held: else a focused radio button would submit by itself.
    event.preventDefault();
    if (!event.repeat) submit();
    return;
  }
  if (event.repeat) return;
  const choice = form().querySelector(`input[data-key="${CSS.escape(key.toLowerCase())}"]`);
  if (!choice) return;
  event.preventDefault();
  choice.focus({ preventScroll: true });
  choice.click();
});

const submit = () => {
  const missing = firstUnanswered();
  if (missing) {
    missing[0].focus();
    say("incomplete");
    return;
  }
  form().requestSubmit(form().querySelector(".submit"));
};

fitProfile();
