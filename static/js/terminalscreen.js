// The terminal screen: xterm.js adapted to the Content Security Policy, with dangerous sequences disabled.

import { FitAddon, SearchAddon, SerializeAddon, Terminal } from "../vendor/xterm/xterm.js";

/** Number of lines to keep, and to restore after a page load. */
const LINES = 5000;
const KEPT_LINES = 1000;
/** Minimum milliseconds between two resizes. */
const RESIZE = 100;

/** OSC sequences to ignore: they query or change titles, colors, links and the clipboard. */
const OSC = [0, 1, 2, 4, 8, 10, 11, 12, 52, 104, 110, 111, 112];
/**
 * Queries to ignore, because the responses would be typed into the shell. The cursor position query is
 * allowed: line editors need it.
 */
const CSI = [{ final: "c" }, { prefix: ">", final: "c" }, { prefix: "=", final: "c" }, { prefix: ">", final: "q" },
  { final: "t" }, { prefix: "?", final: "n" }, { intermediates: "$", final: "p" },
  { prefix: "?", intermediates: "$", final: "p" }];
const CURSOR = 6;

/** Replaces a `style` element, which the policy forbids. Its text becomes an adopted style sheet. */
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

// xterm.js sets true colors as a style attribute, which the policy forbids. Set them through the CSSOM
// instead.
const setAttribute = Element.prototype.setAttribute;
HTMLSpanElement.prototype.setAttribute = function (name, value) {
  if (name === "style") this.style.cssText = value;
  else setAttribute.call(this, name, value);
};

/** The console's current colors. */
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

/** Remove control characters that could end a bracketed paste and then act as typed input. */
export const harmless = (text) => text.replace(/\r\n?/g, "\n").replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");

/**
 * Return the incomplete character or escape sequence at the end of the output. Another screen that resumes
 * the output must start with it.
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

/** Load the font before xterm.js measures the characters. */
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
    // Page shortcuts must not see the keys. Pastes are checked first.
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

  /** Send a key as if the user pressed it. */
  press(name) {
    const cursor = this.#terminal.modes.applicationCursorKeysMode ? "\x1bO" : "\x1b[";
    const arrow = { ArrowUp: "A", ArrowDown: "B", ArrowRight: "C", ArrowLeft: "D" }[name];
    this.#terminal.input(arrow ? cursor + arrow : { Escape: "\x1b", Tab: "\t" }[name]);
  }

  find(text, back) {
    return back ? this.#search.findPrevious(text) : this.#search.findNext(text);
  }

  /**
   * Write a line of the console after resetting the modes that the program set. Leaving the alternate screen
   * restores the saved cursor, so save it first in case no alternate screen is active.
   */
  note(text) {
    const modes = [1000, 1002, 1003, 1004, 1006, 1049, 2004].map((mode) => `\x1b[?${mode}l`).join("");
    this.#terminal.write(`\x1b[!p\x1b7${modes}\x1b[0m\r\n── ${text} ──\r\n`);
  }

  /** Serialize the screen, so that it can be restored. */
  kept() { return this.#serialize.serialize({ scrollback: KEPT_LINES }); }
}
