// Keyboard shortcuts. Letters are identified by their physical key. Ignored while the user types.

const { $, copy, pause, update, peek, peeked, follow, unpeek } = window.quarterdeck;
const current = () => document.activeElement?.closest("tbody > tr");
const search = () => {
  $("q")?.focus();
  $("q")?.select();
};

const enter = () => current()?.querySelector("th.name a")?.click();
const up = () => document.querySelector("[data-up]")?.click();

function step(by) {
  const rows = [...document.querySelectorAll("#results tbody > tr")];
  const at = rows.indexOf(current() ?? peeked());
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  follow(next);
}

/** The actions of the focused row, or those of the page. */
const acts = () => current() ?? document.querySelector(".acts");

/** Open the actions menu of the row or page, and focus its first item. Escape closes it. */
function menu() {
  const button = acts()?.querySelector("[popovertarget]");
  button?.click();
  const items = $(button?.getAttribute("popovertarget"))?.querySelectorAll("a, button") ?? [];
  [...items].find((item) => item.checkVisibility())?.focus();
}

/** Open a log or terminal of the row or page in the dock. */
const below = (kind) => acts()?.querySelector(`[data-below-kind="${kind}"]`)?.click();

/** Focus the bulk actions. */
const bulk = () => $("bulk")?.hidden === false && $("bulk").querySelector("button:not([hidden])").focus();

// `g` followed by a letter opens a list in the current cluster or project, or a platform page.
const LISTS = { KeyP: "pods", KeyD: "deployments", KeyS: "services", KeyN: "nodes" };
const PAGES = { KeyO: "/dashboard", KeyW: "/workspaces" };
const SOON = 1500;
let going = -Infinity;
function go(code) {
  going = -Infinity;
  const { base, project } = document.querySelector(".shell").dataset;
  const narrowed = project && code !== "KeyN" ? `?${new URLSearchParams({ namespace: project })}` : "";
  if (code in LISTS) location.assign(`${base}/${LISTS[code]}${narrowed}`);
  else if (code in PAGES) location.assign(PAGES[code]);
}

const CODES = {
  KeyG: ({ timeStamp }) => (going = timeStamp),
  KeyJ: () => step(1),
  KeyK: () => step(-1),
  KeyF: pause,
  KeyO: enter,
  KeyU: () => (document.querySelector("[data-up]") ? up() : $("updates")?.hidden === false && update()),
  KeyY: () => current() && copy(current().querySelector("[data-copy]")),
  KeyB: bulk,
  Period: menu,
  "Shift+KeyL": () => below("log"),
  "Shift+KeyT": () => below("terminal"),
  "Shift+KeyD": () => current()?.querySelector(".menu-item[href$='/actions/delete']")?.click(),
};
const SIGNS = { "/": search, "?": () => $("help").showModal() };

document.addEventListener("keydown", (event) => {
  const { target, key, code, timeStamp } = event;
  // An input that was just hidden keeps the focus for a moment.
  const typing = target.closest("input, textarea, select, [contenteditable], dialog") && target.checkVisibility();
  if (key === "Escape" && !document.querySelector(":popover-open, dialog[open]")) {
    const row = typing ? null : unpeek();
    if (row) return row.focus();
    target.blur();
    if (!typing) up();
  }
  // The browser handles Enter on links and buttons.
  if (key === "Enter" && target.matches("tbody > tr")) enter();
  if (typing || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  // Use the time of the keystroke, because a busy page handles it later.
  if (timeStamp - going < SOON) {
    event.preventDefault();
    return void go(code);
  }
  const action = SIGNS[key] ?? CODES[(event.shiftKey ? "Shift+" : "") + code];
  // The browser handles Space on buttons and links.
  if (key === " " && !event.shiftKey && target.matches("#results tbody > tr")) {
    event.preventDefault();
    return void (peek(target) || enter());
  }
  if (!action) return;
  event.preventDefault();
  action(event);
});

document.addEventListener("click", ({ target }) => {
  const { step: by } = target.closest("[data-step]")?.dataset ?? {};
  if (by) step(Number(by));
});
