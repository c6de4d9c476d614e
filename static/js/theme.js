// Runs before the first paint: what this browser's user has chosen stands on <html>.
(() => {
  "use strict";
  const root = document.documentElement;
  const stored = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null; // storage is switched off: the defaults hold
    }
  };
  root.dataset.scripts = "on";
  root.dataset.theme = ["light", "dark"].includes(stored("theme")) ? stored("theme") : "system";
  root.dataset.shortcuts = stored("shortcuts") === "off" ? "off" : "on";
})();
