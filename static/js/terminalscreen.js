// The screen of a terminal: xterm.js, under our policy, and without what a program could do with it.

import { FitAddon, SearchAddon, SerializeAddon, Terminal } from "../vendor/xterm/xterm.js";

/** Lines that are kept, and those of them that come back after a page was loaded anew. */
const LINES = 5000;
const KEPT_LINES = 1000;
/** Milliseconds between two changes of the size. */
const RESIZE = 100;

/** What a program asks to be told, or to change, outside of its own screen: titles, colours, links, the clipboard. */
const OSC = [0, 1, 2, 4, 8, 10, 11, 12, 52, 104, 110, 111, 112];
/** Questions whose answers would be typed into the shell. Where the cursor is, editors of lines have to know. */
const CSI = [{ final: "c" }, { prefix: ">", final: "c" }, { prefix: "=", final: "c" }, { prefix: ">", final: "q" },
  { final: "t" }, { prefix: "?", final: "n" }, { intermediates: "$", final: "p" },
  { prefix: "?", intermediates: "$", final: "p" }];
const CURSOR = 6;

/** Stands in for a `style` element, which our policy has no room for: what is written into it counts as a sheet. */
function standIn(element) {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  element.hidden = true;
  Object.defineProperty(element, "textContent", { set: (text) => sheet.replaceSync(text) });
  return element;
}

function openIn(terminal, box) {
  const make = document.createElement.bind(document);
  document.createElement = (name, ...more) => (name === "style" ? standIn(make("i")) : make(name, ...more));
  try {
    terminal.open(box);
  } finally {
    delete document.createElement;
  }
}

// True colours are set as an attribute; by the object model they are no inline style.
const setAttribute = Element.prototype.setAttribute;
HTMLSpanElement.prototype.setAttribute = function (name, value) {
  if (name === "style") this.style.cssText = value;
  else setAttribute.call(this, name, value);
};

/** The console's own colours, as they are now. */
function theme() {
  const probe = document.createElement("i");
  probe.hidden = true;
  document.body.append(probe);
  const colour = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const found = {
    background: colour("sunken"), foreground: colour("ink"), cursor: colour("ink"), cursorAccent: colour("sunken"),
    selectionBackground: colour("accent"), selectionForeground: colour("sunken"),
    black: colour("ink-3"), brightBlack: colour("ink-3"), white: colour("ink-2"), brightWhite: colour("ink"),
  };
  for (const name of ["red", "green", "yellow", "blue", "magenta", "cyan"]) {
    found[name] = found[`bright${name[0].toUpperCase()}${name.slice(1)}`] = colour(`ansi-${name}`);
  }
  probe.remove();
  return found;
}

/** Text of a clipboard, without what could end the paste and go on as typed. */
export const harmless = (text) => text.replace(/\r\n?/g, "\n").replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");

/**
 * The end of what was drawn that is only the beginning of a character or of a sequence: whoever goes on elsewhere has to
 * begin with it.
 */
export function unfinished(bytes) {
  const escape = bytes.lastIndexOf(0x1b);
  if (escape >= 0) {
    const text = String.fromCharCode(...bytes.subarray(escape + 1));
    const whole = /^(\[[0-?]*[ -/]*[@-~]|\][^\x07]*(\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-OQ-WYZ\\`-~])/.test(text);
    if (!whole) return bytes.slice(escape);
  }
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back];
    if (byte < 0x80) break;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 0;
    if (length) return length > back ? bytes.slice(bytes.length - back) : bytes.slice(bytes.length);
  }
  return bytes.slice(bytes.length);
}

const mono = getComputedStyle(document.documentElement).getPropertyValue("--mono");
const small = matchMedia("(max-width: 47.99rem)").matches;

/** What letters are measured by has to be there before. */
export const ready = () => document.fonts.load(`13px ${mono}`).catch(() => []);

export class Screen {
  #terminal;
  #fit = new FitAddon();
  #search = new SearchAddon();
  #serialize = new SerializeAddon();
  #resizing = 0;

  /** `on` has functions: `typed(bytes)`, `resized(size)`, `paste(text)`, `copy()`, `find()`, `leave()`. */
  constructor(box, on) {
    const terminal = new Terminal({
      theme: theme(), fontFamily: mono, fontSize: small ? 12 : 13, lineHeight: 1.2,
      scrollback: LINES, minimumContrastRatio: 4.5, cursorBlink: false, cursorInactiveStyle: "outline",
    });
    this.#terminal = terminal;
    for (const addon of [this.#fit, this.#search, this.#serialize]) terminal.loadAddon(addon);
    openIn(terminal, box);
    const nothing = () => true;
    for (const number of OSC) terminal.parser.registerOscHandler(number, nothing);
    for (const id of CSI) terminal.parser.registerCsiHandler(id, nothing);
    terminal.parser.registerCsiHandler({ final: "n" }, (params) => params[0] !== CURSOR);
    terminal.parser.registerDcsHandler({ intermediates: "$", final: "q" }, nothing);
    terminal.attachCustomKeyEventHandler((event) => this.#key(event, on));
    const encoder = new TextEncoder();
    terminal.onData((text) => on.typed(encoder.encode(text)));
    terminal.onBinary((text) => on.typed(Uint8Array.from(text, (one) => one.charCodeAt(0))));
    terminal.onResize(({ cols, rows }) => on.resized([cols, rows]));
    // Keys of the page are none here, and a paste is looked at first.
    box.addEventListener("keydown", (event) => event.stopPropagation());
    box.addEventListener("paste", (event) => {
      event.preventDefault();
      event.stopPropagation();
      on.paste(event.clipboardData?.getData("text/plain") ?? "");
    }, true);
    new ResizeObserver(() => this.#soon()).observe(box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { terminal.options.theme = theme(); });
    this.#fit.fit();
  }

  #soon() {
    this.#resizing ||= setTimeout(() => {
      this.#resizing = 0;
      this.#fit.fit();
    }, RESIZE);
  }

  #key(event, on) {
    const { ctrlKey, shiftKey, altKey, metaKey, code, key, type } = event;
    if (type !== "keydown" || altKey || metaKey || !ctrlKey) return true;
    const does = (shiftKey && { KeyC: on.copy, KeyF: on.find, Enter: on.leave }[code]) || (key === "Insert" && on.copy);
    if (!does) return true;
    event.preventDefault();
    does();
    return false;
  }

  get size() { return [this.#terminal.cols, this.#terminal.rows]; }
  get selection() { return this.#terminal.getSelection(); }
  get takesPastes() { return this.#terminal.modes.bracketedPasteMode; }
  set lineEnds(on) { this.#terminal.options.convertEol = on; }
  set reader(on) { this.#terminal.options.screenReaderMode = on; }

  write(bytes, done) { this.#terminal.write(bytes, done); }
  focus() { this.#terminal.focus(); }
  paste(text) { this.#terminal.paste(text); }

  /** As if it had been pressed. */
  press(name) {
    const cursor = this.#terminal.modes.applicationCursorKeysMode ? "\x1bO" : "\x1b[";
    const arrow = { ArrowUp: "A", ArrowDown: "B", ArrowRight: "C", ArrowLeft: "D" }[name];
    this.#terminal.input(arrow ? cursor + arrow : { Escape: "\x1b", Tab: "\t" }[name]);
  }

  find(text, back) {
    return back ? this.#search.findPrevious(text) : this.#search.findNext(text);
  }

  /**
   * A line of the console's own, whatever the program left behind: its modes end. To leave a screen of its own puts the
   * cursor where it was kept, so it is kept first for where there is no such screen.
   */
  note(text) {
    const modes = [1000, 1002, 1003, 1004, 1006, 1049, 2004].map((mode) => `\x1b[?${mode}l`).join("");
    this.#terminal.write(`\x1b[!p\x1b7${modes}\x1b[0m\r\n── ${text} ──\r\n`);
  }

  /** What stands there, to be written again. */
  kept() { return this.#serialize.serialize({ scrollback: KEPT_LINES }); }
}
