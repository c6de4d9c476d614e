// What this browser keeps. Where storage is off or full, the page's memory serves until it closes.
const memory = new Map();

export const read = (key) => {
  if (memory.has(key)) return structuredClone(memory.get(key));
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
};

export const write = (key, value) => {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    memory.delete(key);
  } catch {
    memory.set(key, structuredClone(value));
  }
};

export const remove = (key) => {
  memory.delete(key);
  try {
    localStorage.removeItem(key);
  } catch {
    // Nothing was stored.
  }
};

// False when the value is lost with the page.
export const isKept = (key) => !memory.has(key);

export const keys = (prefix) => {
  const found = new Set(memory.keys());
  try {
    for (const key of Object.keys(localStorage)) found.add(key);
  } catch {
    // Nothing was stored.
  }
  return [...found].filter((key) => key.startsWith(prefix)).sort();
};

export const draftKey = (name) => `pf:draft:${name}`;
export const outboxKey = (name) => `pf:outbox:${name}`;

// A part of a draft: the fields, or the times.
export const keepDraft = (name, part) =>
  write(draftKey(name), { ...read(draftKey(name)), ...part, at: Date.now() });
