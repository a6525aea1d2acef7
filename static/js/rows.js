// Updates rows and other parts in place by morphing, so that focus, open menus and selected rows are kept.
// Changed rows are highlighted once; deleted rows are dimmed.

const { $, word, clock, tick, widen } = window.quarterdeck;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
/** Milliseconds to highlight a row. */
const LIT = 1600;

// Attributes that belong to the user or to scripts; the server's version must not overwrite them.
const KEPT = new Set(["checked", "open", "style", "aria-pressed", "data-changed", "data-peeked", "data-frozen", "data-fit"]);
const MORPH = {
  morphStyle: "outerHTML",
  ignoreActiveValue: true,
  callbacks: { beforeAttributeUpdated: (name) => !KEPT.has(name) },
};

const table = () => document.querySelector("#results > table");
const rows = () => [...(table()?.tBodies[0].rows ?? [])];
/** Keys of deleted rows, until the list is rearranged. */
const deleted = new Set();
/** Received rows that aren't in the list yet, by key. */
const coming = new Map();
let changed = [];
/** Rows with new content since their columns were measured. */
let touched = [];

htmx.defineExtension("morph", {
  isInlineSwap: (style) => style === "morph",
  handleSwap: (style, target, fragment) =>
    style === "morph" && Idiomorph.morph(target, fragment.querySelector(`#${target.id}`), MORPH),
  // Apply only rows that the page shows. New rows wait for their position.
  transformResponse(text, xhr) {
    if (xhr) return text;
    const frame = document.createElement("template");
    frame.innerHTML = text;
    keepList(frame.content);
    for (const element of [...frame.content.children].filter(({ id }) => !$(id))) {
      if (element.dataset.key) coming.set(element.dataset.key, element);
      element.remove();
    }
    return frame.innerHTML;
  },
});

/** Add the list that the user came from to the actions above an object. Messages are the same for all users. */
function keepList(content) {
  const { list } = $("detail")?.dataset ?? {};
  if (list === undefined) return;
  for (const link of content.querySelectorAll(".acts :is(a, button[formaction])")) {
    const name = link.matches("a") ? "href" : "formaction";
    const url = new URL(link.getAttribute(name), location);
    url.searchParams.set("list", list);
    link.setAttribute(name, url.pathname + url.search + url.hash);
  }
}

function apply(old, fresh) {
  if (fresh.dataset.v && old.dataset.v === fresh.dataset.v && !("gone" in old.dataset)) return;
  if (old.dataset.status !== fresh.dataset.status) changed.push(old);
  deleted.delete(fresh.dataset.key);
  Idiomorph.morph(old, fresh, MORPH);
  touched.push(old);
  if (old.tagName !== "TR") htmx.process(old);
}

function markGone(row) {
  if ("gone" in row.dataset) return;
  row.dataset.gone = "";
  const status = row.querySelector(".status");
  status?.querySelector(".reason")?.remove();
  if (status) status.querySelector(".word").textContent = word("deleted", { time: clock(Date.now()) });
}

/** Arrange the rows in this order with as few moves as possible. Return false if a row is missing. */
function arrange(order) {
  const here = new Map(rows().map((row) => [row.dataset.key, row]));
  const all = order.map((key) => here.get(key) ?? coming.get(key));
  coming.clear();
  if (all.includes(undefined)) return false;
  const staying = new Set(all);
  rows().forEach((row) => staying.has(row) || row.remove());
  const body = table().tBodies[0];
  let next = body.rows[0] ?? null;
  for (const row of all) {
    if (!row.isConnected) {
      changed.push(row);
      touched.push(row);
    }
    if (row === next) next = next.nextElementSibling;
    else body.insertBefore(row, next);
  }
  return true;
}

/** Discard received rows that have no position any longer: a list can be held for hours. */
function keep(order) {
  const wanted = new Set(order);
  [...coming.keys()].forEach((key) => wanted.has(key) || coming.delete(key));
}

/** URL parameters with which the tally equals the menu's counts; all others narrow the list. */
const WHOLE = new Set(["namespace", "status", "sort", "page", "limit", "columns", "peek"]);

/**
 * Update the counts of objects and problems on the tab and navigation entry of the open list. The server
 * renders them only with full pages.
 */
function recount() {
  if (!table()) return;
  const query = new URLSearchParams(location.search);
  const narrowed = [...query.keys()].some((key) => !WHOLE.has(key)) || query.getAll("namespace").length > 1;
  if (narrowed) return;
  const tally = [...document.querySelectorAll(".tally a")].map(({ dataset }) => [dataset.severity, Number(dataset.count)]);
  const failing = new Map(tally).get("error") ?? 0;
  // Kinds without a status have no tally.
  const total = tally.length ? tally.reduce((sum, [, count]) => sum + count, 0) : Number(table().dataset.total);
  const write = (item, kind, count, hidden) => {
    const place = item?.querySelector(`[data-count=${kind}]`);
    if (!place) return;
    place.textContent = count.toLocaleString("en");
    place.closest(".kind-count").hidden = hidden;
  };
  const tab = document.querySelector(".kind-tabs [aria-current]");
  write(tab, "all", total, failing > 0);
  write(tab, "failing", failing, failing === 0);
  // A navigation entry for several kinds shows the sum of their tabs.
  const each = [...document.querySelectorAll(".kind-tabs [data-count=failing]")].map(({ textContent }) => Number(textContent.replaceAll(",", "")));
  const all = tab ? each.reduce((sum, count) => sum + count, 0) : failing;
  write(document.querySelector(".rail-link[aria-current]"), "failing", all, all === 0);
}

/** Highlight at most ten rows, and none if many rows changed. */
function settle() {
  const lit = changed.length <= Math.max(1, rows().length / 5) ? changed.slice(0, 10) : [];
  lit.forEach((row) => row.setAttribute("data-changed", ""));
  if (lit.length && !calm.matches) setTimeout(() => lit.forEach((row) => row.removeAttribute("data-changed")), LIT);
  widen(touched);
  [changed, touched] = [[], []];
  recount();
  tick();
}

for (const input of ["pointerdown", "keydown"]) {
  document.addEventListener(input, () => {
    if (calm.matches) rows().forEach((row) => row.removeAttribute("data-changed"));
  });
}

Object.assign(window.quarterdeck, { MORPH, table, rows, deleted, coming, apply, arrange, keep, markGone, note: (list) => changed.push(...list), settle });
