// The lines of a log in the browser: the newest ones, in chunks, of which only those in sight are in the page.

import { runs } from "./logtext.js";

/** Lines and characters that are kept. */
export const MOST_LINES = 200_000;
const MOST_CHARS = 32 * 2 ** 20;
const CHUNK = 1000;

/** A ring of lines, counted from the first that ever came. */
export class Ring {
  #chunks = [];
  #chars = 0;
  first = 0;
  end = 0;

  get full() {
    return this.end - this.first >= MOST_LINES || this.#chars >= MOST_CHARS;
  }

  push(line) {
    const last = this.#chunks.at(-1);
    if (!last || last.lines.length >= CHUNK) this.#chunks.push({ lines: [line], chars: 0 });
    else last.lines.push(line);
    this.#chunks.at(-1).chars += line.text.length;
    this.#chars += line.text.length;
    this.end += 1;
    while ((this.end - this.first > MOST_LINES || this.#chars > MOST_CHARS) && this.#chunks.length > 1) {
      const gone = this.#chunks.shift();
      this.first += gone.lines.length;
      this.#chars -= gone.chars;
    }
  }

  at(number) {
    const place = number - this.first;
    // All chunks but the last are whole.
    return this.#chunks[Math.floor(place / CHUNK)]?.lines[place % CHUNK];
  }
}

/** Draws the lines that are in sight, each of the same height. They are in a layer that stays where it is while
 * the box scrolls: with thousands of lines a frame nothing that moves would be painted in time. */
export class View {
  #box;
  #ring;
  #row;
  #sheet = document.createElement("div");
  #layer = document.createElement("div");
  #drawn = "";
  sticky = true;

  constructor(box, ring, row) {
    this.#box = box;
    this.#ring = ring;
    this.#row = row;
    this.#sheet.className = "log-sheet";
    this.#layer.className = "log-layer";
    this.#sheet.append(this.#layer);
    box.append(this.#sheet);
  }

  get #height() {
    return parseFloat(getComputedStyle(this.#box).lineHeight) || 20;
  }

  draw() {
    const { first, end } = this.#ring;
    const height = this.#height;
    const box = this.#box;
    this.#sheet.style.height = `${(end - first) * height}px`;
    if (this.sticky) box.scrollTop = box.scrollHeight;
    const from = first + Math.floor(box.scrollTop / height);
    const to = Math.min(end, first + Math.ceil((box.scrollTop + box.clientHeight) / height));
    this.#layer.style.transform = `translateY(${-(box.scrollTop % height)}px)`;
    const now = `${from} ${to}`;
    if (now === this.#drawn) return;
    this.#drawn = now;
    const rows = [];
    for (let number = from; number < to; number += 1) rows.push(this.#row(this.#ring.at(number), number));
    this.#layer.replaceChildren(...rows);
  }

  /** The lines before `first` are gone; the ones in sight stay where they are. */
  moved(count) {
    if (!this.sticky) this.#box.scrollTop -= count * this.#height;
  }

  show(number) {
    this.sticky = false;
    this.#box.scrollTop = (number - this.#ring.first - 3) * this.#height;
    this.draw();
  }

  atEnd() {
    const box = this.#box;
    return box.scrollHeight - box.scrollTop - box.clientHeight < this.#height;
  }
}

/** The text of a line, in its colours. */
export function written(text) {
  const part = document.createElement("span");
  part.className = "log-text";
  for (const [names, piece] of runs(text)) {
    if (!names) {
      part.append(piece);
      continue;
    }
    const run = document.createElement("span");
    run.className = names;
    run.textContent = piece;
    part.append(run);
  }
  return part;
}
