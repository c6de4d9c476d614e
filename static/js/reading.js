// Reading by key: both responses move together, each by the same share of its window.
import { task } from "./page.js";
import { toggleProfile } from "./profile.js";

// A few lines stay in sight, to go on from.
const SHARE = 0.85;

const narrow = matchMedia("(width < 56.25rem)");

// False when there was nothing left to move.
const move = (element, direction) => {
  const before = element.scrollTop;
  element.scrollBy({ top: direction * SHARE * element.clientHeight, behavior: "instant" });
  return element.scrollTop !== before;
};

// Where they do not scroll by themselves, or are at their end, it is for the page to scroll.
export const moveResponses = (direction) =>
  !narrow.matches &&
  [...(task()?.querySelectorAll(".pane") ?? [])]
    .map((pane) => move(pane, direction))
    .some(Boolean);

export const read = (direction) => {
  if (!moveResponses(direction)) move(document.scrollingElement, direction);
};

// After its end it begins again.
export const readProfile = () => {
  const card = task()?.querySelector(".persona-card");
  if (!card) return;
  if (narrow.matches && !card.closest("[data-over]")) toggleProfile();
  else if (!move(card, 1)) card.scrollTop = 0;
};

// Whatever takes these keys for itself, or scrolls by itself, keeps them.
const takesThem = (element) =>
  element.matches(".pane *, .pane, .persona-card, .persona-card *") ||
  element.closest("dialog, button, a, summary, select, textarea, [popover], .aside-body") ||
  (element.matches("input") && !element.matches("[type=radio]:checked"));

const directionOf = ({ key, shiftKey }) => {
  if (key === " ") return shiftKey ? -1 : 1;
  return shiftKey ? 0 : { PageDown: 1, PageUp: -1 }[key];
};

// True when it was such a key, and something has moved.
export const readsOn = (event) => {
  const direction = directionOf(event);
  if (!direction || takesThem(event.target) || document.querySelector("dialog[open]")) return false;
  return moveResponses(direction);
};
