// Which key does what on this page: the user's own choices first, then the usual ones.
const STORE = "pf:keys";

// Choices of the first four questions; a response, the other, a tie.
const ROWS = [
  ["1", "2", "3"],
  ["q", "w", "e"],
  ["a", "s", "d"],
  ["z", "x", "c"],
];
const PLACES = ["1", "2", "tie"];

// Those after the first are for campaigns with so many questions that their choices need it.
const USUAL = {
  submit: ["f"],
  skip: ["s", "r"],
  undo: ["z", "b"],
  comment: ["c", "t"],
  flag: ["v"],
  profile: ["p"],
  guidelines: ["g"],
  help: ["?"],
  "read-on": ["d", "j"],
  "read-back": ["e", "r", "k"],
  "read-profile": ["x", "y"],
  "sure-1": ["4"],
  "sure-2": ["5"],
  "sure-3": ["6"],
};

// Where storage is switched off, as long as the page.
let unstored = {};

const own = () => {
  try {
    const read = JSON.parse(localStorage.getItem(STORE) ?? "{}");
    return read && typeof read === "object" && !Array.isArray(read) ? read : {};
  } catch {
    return unstored;
  }
};

const keep = (keys) => {
  unstored = keys;
  try {
    localStorage.setItem(STORE, JSON.stringify(keys));
  } catch {
    // Switched off or full.
  }
  document.dispatchEvent(new CustomEvent("keys-changed"));
};

const usual = (action) => {
  const [kind, row, place] = action.split("-");
  if (kind !== "choice") return USUAL[action] ?? [];
  const key = ROWS[row - 1]?.[PLACES.indexOf(place)];
  return key ? [key] : [];
};

// In the order in which they get their keys: the page's choices, then the rest.
const actions = () => {
  const inputs = [...document.querySelectorAll("#task input[data-action]")];
  const rest = Object.keys(USUAL).filter(
    (action) =>
      !action.startsWith("sure-") &&
      (action !== "skip" || document.getElementById("skip") || !inputs.length),
  );
  return [...inputs.map((input) => input.dataset.action), ...rest];
};

export const isUsable = (key) => [...key].length === 1 && key.trim() !== "";

// Letters are the same key with and without Shift.
export const normal = (key) => ([...key].length === 1 ? key.toLowerCase() : key);

// Of each action that is offered here, its key; without one where all of its own are taken.
export const keymap = () => {
  const chosen = own();
  const keys = new Map();
  const taken = new Set();
  const give = (action, key) => {
    if (!key || typeof key !== "string" || taken.has(key)) return;
    keys.set(action, key);
    taken.add(key);
  };
  const offered = actions();
  for (const action of offered) give(action, chosen[action]);
  for (const action of offered) {
    if (!keys.has(action)) give(action, usual(action).find((key) => !taken.has(key)));
  }
  return keys;
};

export const actionOf = (key) => {
  for (const [action, its] of keymap()) if (its === key) return action;
  return undefined;
};

export const rebind = (action, key) => keep({ ...own(), [action]: key });

export const reset = () => keep({});

addEventListener("storage", ({ key }) => {
  if (key === STORE) document.dispatchEvent(new CustomEvent("keys-changed"));
});
