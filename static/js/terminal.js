// A terminal. Both byte streams are numbered, so that it resumes after a disconnect or page load. The console
// keeps the shell for a minute.

import { forget, keep, take } from "./terminalkept.js";
import { harmless, ready, Screen, unfinished } from "./terminalscreen.js";

const { word, announce, toast, docked } = window.quarterdeck;
const box = document.querySelector("[data-terminal-url]");
const part = (name) => document.querySelector(`[data-terminal-${name}]`);
const [state, again, ask, search] = ["state", "again", "ask", "search"].map(part);
const control = document.querySelector('[data-key="Control"]');

/**
 * Bytes to render before an acknowledgment, its maximum delay in milliseconds, and the limit of bytes sent
 * but not confirmed.
 */
const ANSWER = 32 * 1024;
const SOON = 50;
const WINDOW = 64 * 1024;
const PIECE = 16 * 1024;
/** Maximum bytes of queued input, and of a paste. */
const MOST = 2 * 1024 * 1024;
/** Number of recent output bytes to keep, some of which may have to be rendered again. */
const TAIL = 256;
const MOST_BUSY = 6;

const here = location.pathname + location.search + location.hash;
let socket = null;
let id = "";
let begun = false;
let reads = true;
let over = false;
let tries = 0;
// Number of "too many" errors: the sockets of the previous page may still be open.
let busy = 0;
// Byte offsets: received, rendered, and acknowledged output.
let came = 0;
let drawn = 0;
let answered = 0;
let answering = 0;
let shells = 0;
let tail = new Uint8Array();
// Input that the program hasn't received, starting at offset `first`, and the offset of the next byte to
// send.
let typed = new Uint8Array();
let first = 0;
let sent = 0;

function joined(one, other) {
  const made = new Uint8Array(one.length + other.length);
  made.set(one);
  made.set(other, one.length);
  return made;
}

await ready();
const screen = new Screen(box, {
  typed: (bytes) => type(bytes.length === 1 && control.getAttribute("aria-pressed") === "true" ? withControl(bytes) : bytes),
  resized: (size) => begun && say({ size }),
  paste,
  copy,
  find: () => { search.hidden = false; search.querySelector("input").select(); },
  leave: () => part("find").focus(),
});

// Input

function withControl(bytes) {
  control.setAttribute("aria-pressed", "false");
  return bytes[0] > 0x3f ? Uint8Array.of(bytes[0] & 0x1f) : bytes;
}

function type(bytes) {
  if (over || !reads) return;
  if (typed.length + bytes.length > MOST) return toast(word("terminal-full"));
  typed = joined(typed, bytes);
  send();
}

function send() {
  while (begun && sent < first + typed.length && sent - first < WINDOW) {
    const piece = typed.slice(sent - first, Math.min(sent - first + PIECE, WINDOW));
    socket.send(piece);
    sent += piece.length;
  }
}

function taken(number) {
  typed = typed.slice(Math.max(0, number - first));
  first = Math.max(first, number);
}

async function paste(given) {
  const text = harmless(given);
  if (!text) return;
  if (text.length > MOST / 4) return toast(word("terminal-full"));
  if (text.includes("\n") && !screen.takesPastes && !(await agrees(text))) return screen.focus();
  screen.paste(text);
  screen.focus();
}

function agrees(text) {
  part("lines").textContent = text.length > 2000 ? `${text.slice(0, 2000)}…` : text;
  ask.returnValue = "";
  ask.showModal();
  return new Promise((answer) => ask.addEventListener("close", () => answer(ask.returnValue === "paste"), { once: true }));
}

async function copy() {
  const text = screen.selection;
  if (!text) return;
  try {
    await navigator.clipboard.writeText(text);
    announce(word("terminal-copied"));
  } catch {
    toast(word("terminal-no-clipboard"));
  }
}

// Output

function draw(bytes) {
  const shell = shells;
  came += bytes.length;
  docked?.news();
  screen.write(bytes, () => {
    if (shell !== shells) return;
    drawn += bytes.length;
    tail = joined(tail, bytes).slice(-TAIL);
    if (drawn - answered >= ANSWER) answer();
    else answering ||= setTimeout(answer, SOON);
  });
}

function answer() {
  clearTimeout(answering);
  answering = 0;
  if (begun && drawn > answered) {
    answered = drawn;
    say({ ack: drawn });
  }
}

function tell(text, { button = "", quiet = false } = {}) {
  state.textContent = text;
  again.textContent = button;
  again.hidden = !button;
  if (!quiet) announce(text);
}

// Websocket

function say(message) {
  if (begun && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

function hear({ data }) {
  if (typeof data !== "string") return draw(new Uint8Array(data));
  const { terminal, taken: number, ended, error } = JSON.parse(data);
  if (terminal) begin(terminal);
  if (number !== undefined) {
    taken(number);
    send();
  }
  if (ended) end(ended.message, word("terminal-new"), ended.missing);
  if (error) fail(error);
}

function begin(terminal) {
  const had = id;
  begun = true;
  tries = busy = 0;
  id = terminal.id;
  reads = terminal.reads;
  screen.lineEnds = !terminal.tty;
  if (terminal.new || terminal.at > came) {
    if (had) screen.note(word(terminal.new ? "terminal-is-new" : "terminal-gap"));
    shells += 1;
    came = drawn = answered = terminal.at;
    tail = new Uint8Array();
  }
  // Input for one shell must not reach another one. Discard input that the process doesn't read.
  if ((terminal.new && had) || !reads) typed = new Uint8Array();
  else if (!terminal.new) taken(terminal.typed);
  first = sent = terminal.typed;
  tell(word(terminal.new && had ? "terminal-is-new" : "terminal-open", { name: terminal.container }), { quiet: !had });
  if (!reads) tell(word("terminal-deaf"));
  send();
}

/** The shell has ended. Discard its queued input; later input is for the next shell. */
function gone() {
  id = "";
  typed = new Uint8Array();
}

function end(text, button, missing) {
  over = true;
  gone();
  part("missing").hidden = !missing;
  screen.note(text);
  tell(text, { button });
  docked?.ended();
}

function fail({ code, message }) {
  if (code === 401) forget();
  // A temporary error: retry.
  if (code === 503 || (code === 429 && (busy += 1) <= MOST_BUSY)) {
    tries ||= 1;
    return tell(message);
  }
  over = true;
  if (code !== 409) gone();
  tell(message, { button: word(code === 409 && id ? "terminal-here" : "terminal-retry") });
}

function open() {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const opened = new WebSocket(`${scheme}//${location.host}${box.dataset.terminalUrl}`);
  socket = opened;
  opened.binaryType = "arraybuffer";
  opened.addEventListener("open", () => {
    const lang = document.documentElement.lang;
    opened.send(JSON.stringify({ begin: lang, size: screen.size, page: box.dataset.page, ...(id ? { id, at: came } : {}) }));
  });
  opened.addEventListener("message", hear);
  opened.addEventListener("close", () => {
    begun = false;
    if (over || opened !== socket) return;
    if (tries === 0) tell(word("terminal-lost"));
    tries += 1;
    setTimeout(open, (0.5 + Math.random() / 2) * Math.min(5000, 250 * 2 ** tries));
  });
}

again.addEventListener("click", () => {
  over = false;
  part("missing").hidden = true;
  tell(word("terminal-opening"));
  open();
  screen.focus();
});

// Page unload

addEventListener("pagehide", () => {
  if (id) {
    const rest = unfinished(tail);
    keep(here, { id, at: drawn, first, typed: typed.slice(0, WINDOW), rest, screen: screen.kept(), account: box.dataset.account });
  }
  begun = false;
  socket?.close();
});

// The dock tab is closed, so the shell is no longer needed.
addEventListener("dockclose", () => {
  say({ end: true });
  over = true;
  id = "";
});

// A page from the back/forward cache has lost its websocket.
addEventListener("pageshow", ({ persisted }) => { if (persisted) location.reload(); });

const kept = take(here, box.dataset.account);
if (kept) {
  ({ id, first, typed } = kept);
  came = drawn = answered = kept.at;
  tail = kept.rest;
  screen.write(kept.screen);
  screen.write(kept.rest);
}

// Toolbar

part("find").addEventListener("click", () => { search.hidden = false; search.querySelector("input").focus(); });
part("found").addEventListener("click", () => { search.hidden = true; screen.focus(); });
search.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = search.querySelector("input").value;
  if (text && !screen.find(text, event.submitter?.value === "back")) announce(word("terminal-not-found"));
});
search.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  event.stopPropagation();
  part("found").click();
});
part("copy").addEventListener("click", copy);
part("paste").addEventListener("click", async () => {
  try {
    await paste(await navigator.clipboard.readText());
  } catch {
    toast(word("terminal-no-clipboard"));
  }
});

const reader = part("reader");
function read(on) {
  screen.reader = on;
  reader.setAttribute("aria-pressed", on);
  localStorage.setItem("terminal-reader", on ? "1" : "");
}
reader.addEventListener("click", () => read(reader.getAttribute("aria-pressed") !== "true"));
if (localStorage.getItem("terminal-reader")) read(true);

for (const button of document.querySelectorAll("[data-key]")) {
  // Keep the focus on the terminal, so that the phone's keyboard stays open.
  button.addEventListener("pointerdown", (event) => event.preventDefault());
  button.addEventListener("click", () => {
    if (button === control) control.setAttribute("aria-pressed", control.getAttribute("aria-pressed") !== "true");
    else screen.press(button.dataset.key);
    screen.focus();
  });
}

open();
if (docked) docked.focus = () => screen.focus();
// After navigation, leave the focus on the new page.
if (!docked || docked.asked) screen.focus();
