// Converts terminal output to text that is safe to display, like `console/logs/ansi.py`. SGR sequences
// become CSS classes of a fixed set. All other escape sequences are removed with their content. A carriage
// return starts the line anew. Other invisible characters are shown as code points.

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const RGB = [[0, 0, 0], [205, 49, 49], [13, 188, 121], [229, 229, 16], [36, 114, 200], [188, 63, 188], [17, 168, 205], [229, 229, 229]];
const STEPS = [0, 95, 135, 175, 215, 255];
const WEIGHTS = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "struck" };
const ENDS = { 22: ["bold", "dim"], 23: ["italic"], 24: ["underline"], 27: ["inverse"], 29: ["struck"] };
const ESCAPE = new RegExp(
  "(?:\\x1b[\\]PX^_]|[\\x90\\x98\\x9d\\x9e\\x9f])[^\\x07\\x1b\\x9c]*(?:\\x07|\\x1b\\\\|\\x9c|$|(?=\\x1b))"
  + "|(?:\\x1b\\[|\\x9b)([0-?]*)[ -/]*([@-~]?)"
  + "|\\x1b[ -/]*[0-~]?", "g");
// eslint-disable-next-line no-control-regex
const OTHER = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
const UNSEEN = /[\p{C}\p{Z}]/u;
const UNSEEN_ALL = /[\p{C}\p{Z}]/gu;

/**
 * Split a line into pieces of uniform style: [classes, text, whether it matches the search]. `hits`: start and
 * end of the matches in the displayed text.
 */
export function runs(text, hits = []) {
  let found = [];
  const state = { weights: new Set(), ink: "", ground: "" };
  let at = 0;
  let anew = false;
  const add = (part) => {
    part.split("\r").forEach((piece, number) => {
      anew ||= number > 0;
      const shown = piece.replace(OTHER, "");
      if (!shown) return;
      if (anew) found = [];
      anew = false;
      found.push([classes(state), shown]);
    });
  };
  for (const match of text.matchAll(ESCAPE)) {
    add(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] === "m") change(state, match[1]);
  }
  add(text.slice(at));
  return marked(found, hits);
}

/** Split the pieces at the hits. */
function marked(pieces, hits) {
  const found = [];
  let start = 0;
  for (const [names, text] of pieces) {
    const end = start + text.length;
    let at = start;
    const add = (to, hit) => {
      if (to <= at) return;
      found.push([names, visible(text.slice(at - start, to - start)), hit]);
      at = to;
    };
    for (const [first, last] of hits) {
      add(Math.min(first, end), false);
      add(Math.min(last, end), true);
    }
    add(end, false);
    start = end;
  }
  return found;
}

function visible(text) {
  if (!UNSEEN.test(text)) return text;
  return text.replace(UNSEEN_ALL, (c) => c === " " || c === "\t" ? c : `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

function classes({ weights, ink, ground }) {
  return [...[...weights].sort().map((name) => `sgr-${name}`), ink, ground].filter(Boolean).join(" ");
}

function change(state, parameters) {
  if (!/^[0-9;:]*$/.test(parameters)) return;
  const numbers = parameters.slice(0, 200).split(/[;:]/).filter((part) => part.length < 5).map(Number);
  const rest = (numbers.length ? numbers : [0]).values();
  for (const number of rest) apply(state, number, rest);
}

function apply(state, number, rest) {
  if (number === 0) Object.assign(state, { weights: new Set(), ink: "", ground: "" });
  else if (number in WEIGHTS) state.weights.add(WEIGHTS[number]);
  else if (number in ENDS) ENDS[number].forEach((name) => state.weights.delete(name));
  else if (number === 38 || number === 48) {
    const colour = mixed(rest);
    if (colour !== null) paint(state, colour, number === 48);
  } else if (number === 39) state.ink = "";
  else if (number === 49) state.ground = "";
  else if ((number >= 30 && number <= 37) || (number >= 90 && number <= 97)) paint(state, number % 10, false);
  else if ((number >= 40 && number <= 47) || (number >= 100 && number <= 107)) paint(state, number % 10, true);
}

function paint(state, colour, ground) {
  if (ground) state.ground = `sgr-on-${NAMES[colour]}`;
  else state.ink = `sgr-${NAMES[colour]}`;
}

function mixed(rest) {
  const take = () => rest.next().value ?? 0;
  const form = take();
  if (form === 2) return nearest([take(), take(), take()]);
  if (form !== 5) return null;
  const number = take();
  if (number < 16) return number % 8;
  if (number > 231) return number > 243 ? 7 : 0;
  const cube = number - 16;
  return nearest([STEPS[Math.floor(cube / 36)], STEPS[Math.floor(cube / 6) % 6], STEPS[cube % 6]]);
}

function nearest(colour) {
  const far = RGB.map((one) => one.reduce((sum, part, index) => sum + (part - colour[index]) ** 2, 0));
  return far.indexOf(Math.min(...far));
}
