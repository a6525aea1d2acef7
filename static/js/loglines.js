// Rendering of log lines: keeps the newest lines in chunks, and only the visible ones in the DOM.

import { runs } from "./logtext.js";

/** Maximum lines and characters to keep. */
export const MOST_LINES = 200_000;
const MOST_CHARS = 32 * 2 ** 20;
const CHUNK = 1000;
/** Reserve for lines that arrive after the client stops acknowledging. */
const ROOM_LINES = 10_000;
const ROOM_CHARS = 2 * 2 ** 20;
const MOST_WRAPPED = 1000;

/** Ring buffer of lines, numbered from the first line received. */
export class Ring {
  #chunks = [];
  #chars = 0;
  first = 0;
  end = 0;

  /** True if the oldest lines may have to be removed for the next ones. */
  get full() {
    return this.end - this.first > MOST_LINES - ROOM_LINES || this.#chars > MOST_CHARS - ROOM_CHARS;
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
    // All chunks except the last are complete.
    return this.#chunks[Math.floor(place / CHUNK)]?.lines[place % CHUNK];
  }
}

/**
 * Renders the visible lines, all of the same height. They are in a layer that doesn't move while the box
 * scrolls: with thousands of lines per frame, the browser can't paint moving content in time.
 */
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
    this.#layer.className = "log-layer";
    this.#sheet.append(this.#layer);
    box.append(this.#sheet);
  }

  get #height() {
    return parseFloat(getComputedStyle(this.#box).lineHeight) || 20;
  }

  /** `still`: keep the scroll position even if it isn't at the end. */
  draw(still = false) {
    const { first, end } = this.#ring;
    const height = this.#height;
    const box = this.#box;
    this.#sheet.style.height = `${(end - first) * height}px`;
    if (this.sticky && !still) box.scrollTop = box.scrollHeight;
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

  /** The range of visible lines. */
  shown() {
    const top = this.#ring.first + Math.floor(this.#box.scrollTop / this.#height);
    return { top, bottom: Math.min(this.#ring.end, top + Math.ceil(this.#box.clientHeight / this.#height)) };
  }

  /** Scroll to a line. */
  goTo(number) {
    this.draw(true);
    this.#box.scrollTop = (number - this.#ring.first) * this.#height;
    this.draw(true);
  }

  /** Adjust the scroll position after `count` lines were removed at the start. */
  moved(count) {
    if (!this.sticky) this.#box.scrollTop -= count * this.#height;
  }

  atEnd() {
    const box = this.#box;
    return box.scrollHeight - box.scrollTop - box.clientHeight < this.#height;
  }
}

/** Like `View` for wrapped lines, whose heights differ. Only the newest lines are in the DOM. */
export class WrappedView {
  #box;
  #ring;
  #row;
  #sheet = document.createElement("div");
  #drawn = 0;
  sticky = true;

  constructor(box, ring, row) {
    this.#box = box;
    this.#ring = ring;
    this.#row = row;
    box.append(this.#sheet);
  }

  draw(still = false) {
    const { first, end } = this.#ring;
    const from = Math.max(first, end - MOST_WRAPPED, this.#drawn);
    if (from > this.#drawn) this.#sheet.replaceChildren();
    const rows = [];
    for (let number = from; number < end; number += 1) rows.push(this.#row(this.#ring.at(number), number));
    this.#sheet.append(...rows);
    this.#drawn = end;
    if (!this.sticky || still) return;
    while (this.#sheet.childElementCount > MOST_WRAPPED) this.#sheet.firstElementChild.remove();
    this.#box.scrollTop = this.#box.scrollHeight;
  }

  shown() {
    const rows = [...this.#sheet.children];
    const from = this.#drawn - rows.length;
    const { scrollTop, clientHeight } = this.#box;
    const place = (end) => from + rows.filter(({ offsetTop }) => offsetTop - this.#sheet.offsetTop < end).length;
    return { top: Math.max(from, place(scrollTop + 1) - 1), bottom: place(scrollTop + clientHeight) };
  }

  goTo(number) {
    this.draw(true);
    const row = this.#sheet.children[number - (this.#drawn - this.#sheet.childElementCount)];
    if (row) this.#box.scrollTop = row.offsetTop - this.#sheet.offsetTop;
  }

  moved() {}

  atEnd() {
    return this.#box.scrollHeight - this.#box.scrollTop - this.#box.clientHeight < 20;
  }
}

/** Render the text of a line with its colors and the matches of the search. */
export function written(text, hits) {
  const part = document.createElement("span");
  part.className = "log-text";
  for (const [names, piece, hit] of runs(text, hits)) {
    if (!names && !hit) {
      part.append(piece);
      continue;
    }
    const run = document.createElement(hit ? "mark" : "span");
    if (names) run.className = names;
    run.textContent = piece;
    part.append(run);
  }
  return part;
}
