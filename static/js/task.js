// The task page: the way between the texts, and where one is after a swap. The only script of the
// page that is not imported by others: under its hashed name it would be another one.
import "./copy.js";
import "./dialogs.js";
import "./keys.js";
import { goTo } from "./place.js";
import { task } from "./page.js";
import { fitProfile } from "./profile.js";

// Stacked responses -------------------------------------------------------------------------

// How far each has been read.
let readTo = {};

const seen = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      const link = task()?.querySelector(`[data-switch][href="#${target.querySelector("h2").id}"]`);
      if (isIntersecting) link?.setAttribute("aria-current", "true");
      else link?.removeAttribute("aria-current");
    }
  },
  // The line at two fifths of the window.
  { rootMargin: "-40% 0px -60% 0px" },
);

const watchResponses = () => {
  seen.disconnect();
  for (const response of task()?.querySelectorAll(".response") ?? []) seen.observe(response);
};

const topOf = (section) => section.getBoundingClientRect().top + scrollY;

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-switch]");
  if (!link || event.defaultPrevented) return;
  event.preventDefault();
  const current = task().querySelector('[data-switch][aria-current="true"]');
  const left = current && task().querySelector(current.hash).closest(".response");
  if (left) readTo[current.hash] = scrollY - topOf(left);
  const heading = task().querySelector(link.hash);
  const section = heading.closest(".response");
  heading.focus({ preventScroll: true });
  // The one in view again leads to its beginning.
  if (link === current || !(readTo[link.hash] > 0)) section.scrollIntoView();
  else scrollTo(0, topOf(section) + readTo[link.hash]);
});

// Undo is offered for a while -----------------------------------------------------------------

let undoEnds;

const watchUndo = () => {
  clearTimeout(undoEnds);
  const link = task()?.querySelector("a.undo");
  if (!link) return;
  undoEnds = setTimeout(
    () => {
      if (link === document.activeElement) goTo();
      link.remove();
    },
    1000 * Number(task().querySelector(".task-bar").dataset.undoSeconds),
  );
};

// After a swap --------------------------------------------------------------------------------

// A refused answer comes back with the same pair: its texts stay where they were read.
let before = { seat: "", panes: [], page: 0 };

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target?.id !== "task") return;
  before = {
    seat: task()?.dataset.seat,
    panes: [...document.querySelectorAll("#task .pane")].map(({ id, scrollTop }) => [id, scrollTop]),
    page: scrollY,
  };
});

const arrive = () => {
  fitProfile();
  watchResponses();
  watchUndo();
};

let shown = task();

document.addEventListener("htmx:afterSwap", ({ target }) => {
  if (target.matches(".task-bar")) watchUndo();
  if (task() === shown) return;
  shown = task();
  readTo = {};
  arrive();
  if (!before.seat || task().dataset.seat !== before.seat) {
    scrollTo(0, 0);
    return;
  }
  for (const [id, top] of before.panes) {
    const pane = document.getElementById(id);
    if (pane) pane.scrollTop = top;
  }
  scrollTo(0, before.page);
});

// Once htmx has moved the focus; it does so without scrolling.
document.addEventListener("htmx:afterSettle", () => {
  task()?.querySelector(".field-wrong, .explained")?.scrollIntoView({ block: "nearest" });
});

arrive();
