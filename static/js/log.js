// Follows a log. Lines are added to a ring buffer and rendered once per frame. Batches are acknowledged after
// rendering, but not while the log is paused and the ring is full, so that no lines are lost.

import { Ring, View, WrappedView, written } from "./loglines.js";

const { word, announce, docked } = window.quarterdeck;
const box = document.querySelector("[data-log-url]");
const tools = document.querySelector("[data-log-tools]");
const state = tools.querySelector("[data-log-state]");
const pause = tools.querySelector("[data-log-pause]");
const toEnd = tools.querySelector("[data-log-end]");
// Lines and messages of the static page that the followed log replaces, as soon as it has lines.
const stills = document.querySelectorAll("[data-log-still]");
const stillLines = document.querySelector("[data-log-lines]");
// Download links, hidden until lines exist.
const laters = document.querySelectorAll("[data-log-later]");
const number = (n) => n.toLocaleString(document.documentElement.lang);
const MOST_KEPT = 1000;
const MOST_KEPT_CHARS = 128 * 1024;
const SPACING = 250;
const MOST_BUSY = 6;

const ring = new Ring();
const view = new ("wrap" in box.dataset ? WrappedView : View)(box, ring, row);
let at = {};
let sources = [];
let dropped = 0;
let seen = 0;
let waiting = null;
let over = "";
// Reason for a temporary interruption.
let waits = "";
let tries = 0;
// Number of "too many" errors: the sockets of the previous page may still be open.
let busy = 0;
let socket = null;
let frame = 0;
// The last note of each source that has sent no lines since. Notes are repeated after a reconnect.
const said = new Map();
// Sources that have ended.
const ended = new Set();

const paused = () => pause.getAttribute("aria-pressed") === "true";

function row(line, place) {
  const item = document.createElement("div");
  item.className = line.note ? "log-line log-note" : "log-line";
  item.id = `line-${place}`;
  if (line.level) item.dataset.level = line.level;
  if (line.found && "marked" in box.dataset) item.dataset.found = "";
  if ("times" in box.dataset && line.stamp) {
    const time = document.createElement("a");
    time.className = "log-time";
    time.textContent = line.stamp.slice(11, 23);
    time.title = line.stamp;
    time.href = `${box.dataset.logLink}&at=${encodeURIComponent(line.stamp)}#${line.stamp}`;
    item.append(time);
  }
  if (sources.length > 1 && line.source) {
    const source = document.createElement("span");
    source.className = "log-source";
    source.textContent = line.source;
    item.append(source);
  }
  if (line.cut) {
    const cut = document.createElement("span");
    cut.className = "log-cut";
    cut.textContent = word("log-bytes", { n: number(line.cut) });
    if (line.stamp) {
      const whole = document.createElement("a");
      whole.className = "link";
      whole.textContent = word("log-whole");
      whole.href = `${box.dataset.logLink}&format=text&line=${encodeURIComponent(line.stamp)}`;
      whole.download = "";
      cut.append(" ", whole);
    }
    item.append(cut);
  }
  item.append(written(line.text, line.hits));
  return item;
}

function say() {
  const hidden = ring.end - seen;
  if (over || waits) state.textContent = over || waits;
  else if (paused()) state.textContent = waiting === null ? word("log-paused", { n: number(hidden) }) : word("log-held");
  else if (sources.length && sources.every((source) => ended.has(source))) state.textContent = word("log-ended");
  else if (dropped) state.textContent = word("log-dropped", { n: number(dropped) });
  else state.textContent = word("log-follows");
  toEnd.hidden = view.sticky && !paused();
  toEnd.textContent = hidden > 0 ? word("log-new", { n: number(hidden) }) : toEnd.dataset.label;
}

function draw() {
  frame = 0;
  if (!paused()) {
    view.draw();
    if (view.sticky) seen = ring.end;
  }
  say();
}

function soon() {
  frame ||= requestAnimationFrame(draw);
}

function add(lines) {
  const before = ring.first;
  for (const line of lines) {
    if (line.note && said.get(line.source) === line.text) continue;
    if (line.note) said.set(line.source, line.text);
    else said.delete(line.source);
    ring.push(line);
  }
  if (ring.first > before) {
    dropped += ring.first - before;
    view.moved(ring.first - before);
  }
}

function hear({ data }) {
  const message = JSON.parse(data);
  if (message.error) {
    const { code, message: text } = message.error;
    // The code decides about a reconnect, because the close code isn't always available.
    if (code >= 500 || (code === 429 && (busy += 1) <= MOST_BUSY)) waits = text;
    else over = text;
    announce(text);
    tools.hidden = false;
    if (over) docked?.ended();
    return soon();
  }
  if (message.sources) {
    sources = message.sources;
    tries = busy = 0;
    waits = "";
    tools.hidden = false;
    if (!stillLines) show();
    return soon();
  }
  const before = ring.end;
  const found = message.lines.map(([source, stamp, level, text, hit, , cut, hits]) => ({ source: sources[source], stamp, level, text, found: hit, cut, hits }));
  const notes = message.notes ?? [];
  add([...found, ...notes.map(([source, text]) => ({ source: sources[source], text: `── ${text} ──`, note: true }))]);
  if (found.length > 0) {
    show();
    for (const later of laters) later.hidden = false;
  }
  for (const { source } of found) ended.delete(source);
  for (const [source, , last] of notes) if (last) ended.add(sources[source]);
  Object.assign(at, message.at);
  if (docked) {
    note();
    if (ring.end > before) docked[sources.length === 1 && notes.some(([, , ended]) => ended) ? "ended" : "news"]();
  }
  if (paused() && ring.full) waiting = message.n;
  else answer(message.n);
  soon();
}

function answer(n) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ ack: n }));
}

function show() {
  box.hidden = false;
  tools.hidden = false;
  for (const still of stills) still.hidden = true;
}

function open() {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  socket = new WebSocket(`${scheme}//${location.host}${box.dataset.logUrl}`);
  socket.addEventListener("open", () => socket.send(JSON.stringify({ follow: document.documentElement.lang, at })));
  socket.addEventListener("message", hear);
  socket.addEventListener("close", ({ code }) => {
    waiting = null;
    // These close codes are final. After all others, reconnect and resume.
    if (over && (code !== 1013 || busy > MOST_BUSY)) return;
    waits ||= over || word("log-lost");
    over = "";
    soon();
    tries += 1;
    setTimeout(open, (0.5 + Math.random() / 2) * Math.min(5000, 250 * 2 ** tries));
  });
}

function goOn() {
  pause.setAttribute("aria-pressed", "false");
  if (waiting !== null) answer(waiting);
  waiting = null;
  soon();
}

function newest() {
  view.sticky = true;
  goOn();
}

pause.addEventListener("click", () => {
  if (paused()) return goOn();
  pause.setAttribute("aria-pressed", "true");
  say();
});
toEnd.dataset.label = toEnd.textContent;
toEnd.addEventListener("click", newest);

// Only user input stops following the newest lines. Scroll events alone don't suffice: new lines also scroll
// the box, and such an event can arrive after the user's input.
let leaving = false;
function letGo() {
  // All lines are visible, so there is nothing to scroll.
  if (box.scrollTop === 0) return;
  view.sticky = false;
  leaving = true;
}
function comeBack(key) {
  leaving = false;
  // If the box hasn't scrolled yet, it won't.
  if (key !== "End" && !view.atEnd()) return;
  view.sticky = true;
  soon();
}
box.addEventListener("wheel", ({ deltaY }) => { if (deltaY < 0) letGo(); else if (deltaY > 0) comeBack(); }, { passive: true });
box.addEventListener("keydown", ({ key }) => {
  if (["PageUp", "ArrowUp", "Home"].includes(key)) letGo();
  else if (["PageDown", "ArrowDown", "End", " "].includes(key)) comeBack(key);
});
box.addEventListener("pointerdown", ({ offsetX }) => { if (offsetX > box.clientWidth) letGo(); });
box.addEventListener("scroll", () => {
  const back = view.atEnd();
  if (!back) leaving = false;
  if (view.sticky) return;
  if (back && !leaving) {
    view.sticky = true;
    soon();
  } else if (!frame) frame = requestAnimationFrame(() => { frame = 0; view.draw(); say(); });
});
addEventListener("resize", () => {
  if (paused()) view.draw(true);
  soon();
});

// ---- dock: resume the log on the next page

// Resume positions at regular line intervals, and the current one.
const places = [];
function note() {
  const place = { end: ring.end, at: { ...at } };
  if (places.length > 1 && ring.end - places.at(-2).end < SPACING) places.pop();
  places.push(place);
  while (places.length > 1 && places[0].end <= ring.first) places.shift();
}

/** Keep the newest lines, or those around the visible ones. The server sends all later lines again. */
function keep() {
  const { top, bottom } = view.shown();
  const stays = paused() || !view.sticky;
  const { end, at: from } = (stays && places.find((place) => place.end >= bottom)) || places.at(-1) || { end: ring.end, at };
  const lines = [];
  let left = MOST_KEPT_CHARS;
  for (let place = end - 1; place >= ring.first && lines.length < MOST_KEPT && left > 0; place -= 1) {
    lines.unshift(ring.at(place));
    left -= lines[0].text.length;
  }
  const first = end - lines.length;
  docked.keep({ lines, at: from, sources, dropped: dropped + first - ring.first, top: top - first, seen: seen - first, sticky: view.sticky, paused: paused() });
}

function resume(kept) {
  ({ at, sources, dropped, seen } = kept);
  add(kept.lines);
  note();
  pause.setAttribute("aria-pressed", kept.paused);
  show();
  view.sticky = kept.sticky;
  if (kept.paused || !kept.sticky) view.goTo(kept.top);
  soon();
}

addEventListener("pagehide", () => {
  if (docked && ring.end) keep();
  socket?.close();
});
const kept = docked?.kept();
if (kept) resume(kept);
open();
