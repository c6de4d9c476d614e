// What a reader has moved, opened or typed survives a swap: scroll regions, details and fields by id.
let kept = [];

const kinds = [
  {
    select: "[data-keep-scroll][id]",
    read: ({ scrollTop, scrollLeft }) => ({ scrollTop, scrollLeft }),
    write: (element, value) => Object.assign(element, value),
  },
  {
    select: "details[id]",
    read: ({ open }) => open,
    write: (element, value) => {
      element.open = value;
    },
  },
  {
    select: "input[id]:not([type=hidden])",
    // Undefined is not written: a field that nobody touched follows the server.
    read: ({ value, defaultValue }) => (value === defaultValue ? undefined : value),
    write: (element, value) => {
      element.value = value;
    },
  },
];

// A poll waits while nobody looks, and while somebody types in what it would replace.
document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt } = event.detail;
  if (!elt.matches("[data-polls]")) return;
  if (document.hidden || elt.contains(document.activeElement?.closest("input, textarea, select"))) {
    event.preventDefault();
  }
});

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  kept = [];
  if (!detail.elt.matches("[data-polls]")) return;
  for (const { select, read, write } of kinds) {
    for (const element of detail.target.querySelectorAll(select)) {
      const value = read(element);
      if (value !== undefined) kept.push({ id: element.id, write, value });
    }
  }
});

document.addEventListener("htmx:afterSwap", () => {
  for (const { id, write, value } of kept) {
    const element = document.getElementById(id);
    if (element) write(element, value);
  }
  kept = [];
});
