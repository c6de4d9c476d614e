// The settings of this browser, its time zone, and moments in it.
const root = document.documentElement;

const store = (name, value) => {
  root.dataset[name] = value;
  try {
    localStorage.setItem(name, value);
  } catch {
    // Storage is switched off: the choice lasts as long as the page.
  }
  document.dispatchEvent(new CustomEvent("setting-changed"));
};

const show = () => {
  for (const radio of document.querySelectorAll('input[name="theme"]')) {
    radio.checked = radio.value === root.dataset.theme;
  }
  for (const box of document.querySelectorAll('[data-setting="shortcuts"]')) {
    box.checked = root.dataset.shortcuts === "on";
  }
};

document.addEventListener("change", ({ target }) => {
  if (target.name === "theme") store("theme", target.value);
  if (target.dataset.setting === "shortcuts") store("shortcuts", target.checked ? "on" : "off");
});

// Another tab may have changed them.
addEventListener("storage", ({ key, newValue }) => {
  if (key === "theme") root.dataset.theme = newValue ?? "system";
  if (key === "shortcuts") root.dataset.shortcuts = newValue ?? "on";
  show();
  document.dispatchEvent(new CustomEvent("setting-changed"));
});

const forms = {
  time: { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  date: { dateStyle: "medium" },
  both: {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  },
};

// By it the server groups days, and words moments before scripts do.
const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
if (timeZone && !document.cookie.split("; ").includes(`timezone=${timeZone}`)) {
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `timezone=${timeZone}; path=/; max-age=31536000; samesite=lax${secure}`;
}

// The server may not have known the zone; the title says UTC.
const localise = () => {
  for (const moment of document.querySelectorAll("time[data-form]:not([data-local])")) {
    const format = new Intl.DateTimeFormat(root.lang, forms[moment.dataset.form]);
    moment.textContent = format.format(new Date(moment.dateTime));
    moment.dataset.local = "";
  }
};

const refresh = () => {
  show();
  localise();
};

document.addEventListener("htmx:afterSwap", refresh);
refresh();
