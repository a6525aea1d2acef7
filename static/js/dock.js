// The dock: logs and terminals that stay open across page navigation. Each tab shows a page in a frame. The
// frame is loaded when the tab is first shown on a page, and stays until the user leaves that page.

import { forget, remember, remembered } from "./dockstore.js";

const { $, word, announce, toast } = window.quarterdeck;
const MOST = 8;
const LEAST_HEIGHT = 120;
const STEP = 24;
const root = document.documentElement;
const phone = matchMedia("(max-width: 47.99rem)");
const dock = $("dock");
const list = dock.querySelector("[role=tablist]");
const panels = dock.querySelector("[data-dock-panels]");
const handle = dock.querySelector("[role=separator]");
const tool = (name) => dock.querySelector(`[data-dock-tool="${name}"]`);
const { owner } = document.querySelector(".shell").dataset;

let held = remembered();
if (held.owner !== owner) {
  forget();
  held = { ...remembered(), owner };
}
held.state = root.dataset.dock ?? "open";

const tabOf = (id) => held.tabs.find((one) => one.id === id);
const button = (id) => $(`dock-tab-${id}`);
const panel = (id) => $(`dock-panel-${id}`);
const frame = (id) => panel(id)?.querySelector("iframe");
const covers = () => held.state === "full" || (phone.matches && held.state === "open");

/** The URL of the full page, and of its dock version. */
function addresses(given) {
  const url = new URL(given, location);
  url.hash = "";
  url.searchParams.delete("frame");
  url.searchParams.delete("list");
  const page = url.pathname + url.search;
  url.searchParams.set("frame", "dock");
  return { page, slim: url.pathname + url.search, ours: url.origin === location.origin };
}

// ---- rendering

function show() {
  const { tabs, active, state, height } = held;
  if (tabs.length) remember(held);
  else forget();
  if (tabs.length) root.dataset.dock = state;
  else delete root.dataset.dock;
  if (tabs.length) root.style.setProperty("--dock-height", `${height}px`);
  else root.removeAttribute("style");
  for (const { id } of tabs) {
    const current = id === active;
    button(id).setAttribute("aria-selected", current);
    button(id).tabIndex = current ? 0 : -1;
    panel(id).inert = !current || state === "bar";
    panel(id).toggleAttribute("data-current", current);
  }
  if (tabOf(active)) tool("page").href = tabOf(active).url;
  tool("bar").setAttribute("aria-expanded", state !== "bar");
  tool("full").setAttribute("aria-pressed", state === "full");
  handle.setAttribute("aria-valuemin", LEAST_HEIGHT);
  handle.setAttribute("aria-valuemax", most());
  handle.setAttribute("aria-valuenow", Math.min(most(), height));
  // Parts covered by the dock must not be focusable.
  const covered = tabs.length > 0 && covers();
  $("main").inert = covered;
  for (const part of document.querySelectorAll(".shell > :not(#main)")) part.inert = covered && phone.matches;
  if (tabOf(active) && state !== "bar") look(active);
}

/** ID of the tab that the user has just opened. */
let asked = "";
/** Load the frame of a tab, unless this page has already loaded it. */
function look(id) {
  unmark(id);
  if (frame(id)) return;
  const one = tabOf(id);
  const made = document.createElement("iframe");
  // A unique name, so that the Back button doesn't restore another page's frame.
  made.name = `dock-${id}-${Date.now()}`;
  made.title = one.name;
  made.dataset.tab = id;
  if (id === asked) made.dataset.asked = "";
  asked = "";
  made.addEventListener("load", () => arrived(made));
  made.src = addresses(one.url).slim;
  panel(id).prepend(made);
}

function arrived(made) {
  const id = made.dataset.tab;
  const one = tabOf(id);
  const { dockName, dockKind } = made.contentDocument?.body?.dataset ?? {};
  made.toggleAttribute("data-there", made.contentDocument !== null);
  panel(id).querySelector("[data-dock-failed]").hidden = made.contentDocument !== null;
  if (!one || dockName === undefined) return;
  one.url = addresses(made.contentWindow.location).page;
  Object.assign(one, { name: dockName, kind: dockKind });
  name(one);
  show();
}

function name({ id, name: text, kind }) {
  button(id).querySelector("[data-dock-name]").textContent = text;
  for (const icon of button(id).querySelectorAll("[data-dock-icon]")) icon.hidden = icon.dataset.dockIcon !== kind;
  if (frame(id)) frame(id).title = text;
}

function build(one) {
  const [tab, box] = [...$("dock-one").content.cloneNode(true).children];
  Object.assign(tab, { id: `dock-tab-${one.id}` });
  Object.assign(box, { id: `dock-panel-${one.id}` });
  tab.dataset.tab = one.id;
  tab.setAttribute("aria-controls", box.id);
  box.setAttribute("aria-labelledby", tab.id);
  box.querySelector("[data-dock-again]").addEventListener("click", () => {
    frame(one.id).remove();
    show();
  });
  list.append(tab);
  panels.append(box);
  name(one);
}

// ---- tab marks: new lines or the end of a stream in a background tab

const seen = (id) => id === held.active && held.state !== "bar" && !document.hidden;

function mark(id, what) {
  if (seen(id)) return;
  const sign = button(id)?.querySelector("[data-dock-mark]");
  if (!sign || sign.dataset.dockMark === "ended") return;
  sign.dataset.dockMark = what;
  sign.textContent = what === "ended" ? word("dockEnded") : word("dockNews");
}

function unmark(id) {
  const sign = button(id).querySelector("[data-dock-mark]");
  sign.dataset.dockMark = "";
  sign.textContent = "";
}

document.addEventListener("visibilitychange", () => tabOf(held.active) && seen(held.active) && unmark(held.active));

// ---- actions

function open(given, about) {
  const { page, ours } = addresses(given);
  if (!ours) return;
  const known = held.tabs.find(({ url, opened }) => page === url || page === opened);
  if (!known && held.tabs.length >= MOST) return toast(word("dockFull", { n: MOST }));
  const id = known?.id ?? Math.random().toString(36).slice(2, 10);
  if (!known) {
    held.tabs.push({ id, url: page, opened: page, ...about });
    build(held.tabs.at(-1));
    asked = id;
  }
  activate(id);
  announce(word("dockOpened", { name: tabOf(id).name }));
}

function activate(id) {
  held.active = id;
  if (held.state === "bar") move("open");
  else show();
  button(id).scrollIntoView({ block: "nearest", inline: "nearest" });
}

function close(id) {
  const at = held.tabs.findIndex((one) => one.id === id);
  const focused = dock.contains(document.activeElement);
  if (frame(id)?.contentDocument) frame(id).contentWindow.dispatchEvent(new Event("dockclose"));
  held.tabs.splice(at, 1);
  button(id).remove();
  panel(id).remove();
  // Discard the state that the frame saved when it was removed.
  forget(id);
  if (held.active === id) held.active = (held.tabs[at] ?? held.tabs.at(-1))?.id ?? "";
  // The next tab opens with the default state.
  if (!held.tabs.length) held.state = "open";
  show();
  if (focused) (button(held.active) ?? $("main")).focus();
}

function closeAll() {
  for (const { id } of [...held.tabs]) close(id);
}

/** Set the state to "bar", "open" or "full", with an animation. */
function move(state) {
  dock.dataset.moves = "";
  held.state = state;
  show();
}
dock.addEventListener("transitionend", ({ target }) => target === dock && delete dock.dataset.moves);

const most = () => Math.max(LEAST_HEIGHT, innerHeight - 160);
function resize(height) {
  held.height = Math.round(Math.min(most(), Math.max(LEAST_HEIGHT, height)));
  held.state = "open";
  show();
}

// ---- focus

let from = null;
function enter() {
  from = document.activeElement;
  button(held.active).focus();
}

function leave() {
  if (covers()) move(phone.matches ? "bar" : "open");
  const back = from?.isConnected && from !== document.body ? from : $("main");
  from = null;
  back.focus();
}

function inside() {
  const one = frame(held.active);
  if (!one?.contentDocument || held.state === "bar") return leave();
  one.focus();
  one.contentWindow.quarterdeck?.docked?.focus();
}

// ---- event handlers

const TOOLS = {
  bar: () => move(held.state === "bar" ? "open" : "bar"),
  full: () => move(held.state === "full" ? "open" : "full"),
  close: () => close(held.active),
  closeAll,
};

document.addEventListener("click", ({ target }) => {
  const opener = target.closest("[data-below]");
  if (!opener) return;
  opener.closest("[popover]")?.hidePopover();
  open(opener.dataset.below, { name: opener.dataset.belowName, kind: opener.dataset.belowKind });
});

dock.addEventListener("click", ({ target }) => {
  const { tab } = target.closest("[role=tab]")?.dataset ?? {};
  if (tab && target.closest("[data-dock-x]")) close(tab);
  else if (tab) activate(tab);
  else TOOLS[target.closest("button[data-dock-tool]")?.dataset.dockTool]?.();
});
// The middle mouse button closes a tab; prevent autoscroll.
list.addEventListener("mousedown", (event) => event.button === 1 && event.preventDefault());
list.addEventListener("auxclick", (event) => {
  const tab = event.target.closest("[role=tab]");
  if (event.button === 1 && tab) close(tab.dataset.tab);
});

function step(tab, to) {
  const all = [...list.children];
  const next = all[(to + all.length) % all.length];
  tab.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

list.addEventListener("keydown", (event) => {
  const tab = event.target.closest("[role=tab]");
  const at = [...list.children].indexOf(tab);
  const action = {
    ArrowRight: () => step(tab, at + 1),
    ArrowLeft: () => step(tab, at - 1),
    Home: () => step(tab, 0),
    End: () => step(tab, -1),
    Delete: () => close(tab.dataset.tab),
  }[event.key];
  if (!action || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  action();
});
// When the focus leaves the tab list, restore the active tab as its Tab stop.
list.addEventListener("focusout", ({ relatedTarget }) => list.contains(relatedTarget) || show());

dock.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  event.stopPropagation();
  if (held.state === "full") move("open");
  else leave();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "F6" || event.ctrlKey || event.altKey || event.metaKey || !held.tabs.length) return;
  if (document.querySelector("dialog[open]")) return;
  event.preventDefault();
  if (dock.contains(document.activeElement)) inside();
  else enter();
});

handle.addEventListener("pointerdown", (event) => {
  event.preventDefault();
  handle.setPointerCapture(event.pointerId);
});
handle.addEventListener("pointermove", (event) => handle.hasPointerCapture(event.pointerId) && resize(innerHeight - event.clientY));
handle.addEventListener("keydown", (event) => {
  const now = Math.min(most(), held.height);
  const height = { ArrowUp: now + STEP, ArrowDown: now - STEP, Home: LEAST_HEIGHT, End: most() }[event.key];
  if (height === undefined) return;
  event.preventDefault();
  resize(height);
});

panels.addEventListener("docktell", ({ target, detail }) => {
  if (detail === "leave") leave();
  else mark(target.dataset.tab, detail);
});

document.addEventListener("submit", ({ target }) => {
  if (!target.matches("[data-logout]")) return;
  closeAll();
});

addEventListener("resize", show);
// A page from the back/forward cache shows an outdated dock.
addEventListener("pageshow", ({ persisted }) => persisted && (held.tabs.length || remembered().tabs.length) && location.reload());

held.tabs.forEach(build);
if (!tabOf(held.active)) held.active = held.tabs[0]?.id ?? "";
show();
