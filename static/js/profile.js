// The profile: beside the task where there is room, else opened over it from the line that stays.
import { goTo } from "./place.js";
import { task } from "./page.js";

const narrow = matchMedia("(width < 56.25rem)");
const profile = () => task()?.querySelector("details.persona");
let foldedBefore = false;
let openedBy;

export const isOver = () => Boolean(profile()?.hasAttribute("data-over"));

export const closeProfile = ({ refocus = true } = {}) => {
  if (!isOver()) return;
  profile().removeAttribute("data-over");
  if (foldedBefore) profile().open = false;
  profile().parentElement.style.minBlockSize = "";
  if (refocus) goTo(openedBy?.isConnected ? openedBy : undefined);
};

// Over the page, in which its own place stays as high as it was, so that nothing moves.
const openProfile = (opener) => {
  const place = profile().parentElement;
  place.style.minBlockSize = `${place.offsetHeight}px`;
  foldedBefore = !profile().open;
  openedBy = opener;
  profile().open = true;
  profile().setAttribute("data-over", "");
  profile().querySelector(".persona-card").focus({ preventScroll: true });
};

export const toggleProfile = () => {
  if (!profile()) return;
  if (isOver()) closeProfile();
  else if (narrow.matches) openProfile(document.activeElement);
  else if (profile().contains(document.activeElement)) goTo();
  else profile().querySelector(".persona-card").focus();
};

// Beside the task the profile cannot be folded, and its heading is no button.
export const fitProfile = () => {
  if (!profile()) return;
  if (!narrow.matches) {
    closeProfile({ refocus: false });
    profile().open = true;
  }
  profile().querySelector("summary").tabIndex = narrow.matches ? 0 : -1;
};

narrow.addEventListener("change", fitProfile);

document.addEventListener("click", (event) => {
  const opener = event.target.closest?.("[data-opens-profile]");
  if (opener) {
    event.preventDefault();
    openProfile(opener);
  } else if (isOver() && !event.target.closest(".persona-card")) {
    // Its heading, or anywhere outside.
    event.preventDefault();
    closeProfile();
  }
});

// Whoever goes on by Tab sees where they are. What is around it gets the focus by a tap outside.
document.addEventListener("focusin", ({ target }) => {
  if (!isOver() || profile().contains(target) || target.contains(profile())) return;
  closeProfile({ refocus: false });
});
