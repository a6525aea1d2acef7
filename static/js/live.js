// Live pages: keeps a list or the parts of an object current without moving content under the pointer.
//
// The websocket sends rows as HTML, which are morphed in place, and JSON messages: `order` (the current
// rows), `refresh` (fetch the list again), `gone` (deleted rows), `error`. While the list is held, only
// existing rows change; additions, removals and moves wait behind the updates button.

const { $, word, announce, toast, reread, tick, freeze, widen } = window.quarterdeck;
const { MORPH, table, rows, deleted, coming, apply, arrange, keep, markGone, note, settle } = window.quarterdeck;
const root = document.documentElement;
const phone = matchMedia("(max-width: 47.99rem)");
const watching = document.body.hasAttribute("ws-connect");

const paused = () => root.hasAttribute("data-paused");
let socket = null;
let connected = false;

htmx.config.wsReconnectDelay = (tries) => (0.5 + Math.random() / 2) * Math.min(3000, 250 * 2 ** tries);

// Longer messages would close the websocket. Without the row keys, the list is fetched again.
const LONGEST = 60_000;

/** The element that is live: an object, a page that is rendered as a whole, or the list. */
const followed = () => $("detail") ?? window.quarterdeck.page ?? table();

/** Subscribe with the version that is shown, unless the page is hidden. */
function subscribe() {
  const { url, etag } = followed()?.dataset ?? {};
  if (!connected || !url || document.hidden) return;
  const standing = rows().filter((row) => !("gone" in row.dataset));
  const parts = [...document.querySelectorAll("#detail [data-part]")];
  const shown = [...standing.map(({ dataset }) => [dataset.key, dataset.v]), ...parts.map(({ id, dataset }) => [id, dataset.v])];
  coming.clear();
  const message = { subscribe: url, etag, lang: root.lang };
  const text = JSON.stringify({ ...message, rows: shown });
  socket.send(text.length < LONGEST ? text : JSON.stringify(message));
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden && connected) socket.send(JSON.stringify({ pause: true }));
  else subscribe();
});

// ---- order and membership

// Ignore a pointer that hasn't moved since the page was loaded.
let pointed = null;
let moved = false;
document.addEventListener("pointermove", ({ clientX, clientY }) => {
  const here = `${clientX},${clientY}`;
  moved ||= pointed !== null && pointed !== here;
  pointed = here;
});

function held() {
  const list = table();
  if (!list || list.hidden) return false;
  return phone.matches || (moved && list.matches(":hover")) || list.contains(document.activeElement)
    || Boolean($("results").querySelector(":popover-open, td input:checked"));
}

const GAP = 250;
const sleep = (ms) => new Promise((resume) => setTimeout(resume, ms));
let loading = false;
let asked = null;
let last = 0;

/** Fetch the list again, one request at a time. `force`: even if the list is held. */
async function refresh(force = false) {
  if (paused() && !force) return;
  asked = { force: force || Boolean(asked?.force) };
  if (loading) return;
  loading = true;
  try {
    while (asked) {
      if (!asked.force) await sleep(Math.max(0, last + GAP - Date.now()));
      const { force: now } = asked;
      asked = null;
      last = Date.now();
      await load(now);
    }
  } finally {
    loading = false;
  }
}

async function load(force) {
  const { url, again = url } = followed()?.dataset ?? {};
  if (!url) return;
  const { page: whole, draw } = window.quarterdeck;
  if (whole) {
    if (!(await draw())) return void setTimeout(refresh, 2000);
    mirror();
    return subscribe();
  }
  const response = await fetch(again, { headers: { "HX-Request": "true" } }).catch(() => null);
  const text = await response?.text().catch(() => null);
  if (text == null || response.status >= 500) return void setTimeout(refresh, 2000);
  if (response.redirected || response.status === 401 || response.status === 403) return reread();
  const page = new DOMParser().parseFromString(text, "text/html");
  const fresh = page.getElementById($("detail") ? "detail" : "results");
  if (!fresh || followed()?.dataset.url !== url) return;
  if (fresh.id === "detail") redraw(fresh);
  else if (!force && held() && heads(fresh) === heads($("results"))) merge(fresh);
  else replace(fresh);
  settle();
  mirror();
  subscribe();
}

function redraw(fresh) {
  Idiomorph.morph($("detail"), fresh, MORPH);
  htmx.process($("detail"));
}
// The columns of a custom resource can change.
const heads = (part) => [...part.querySelectorAll("th[scope=col]")].map(({ dataset }) => dataset.col).join();

function replace(fresh) {
  const before = new Map(rows().map((row) => [row.id, row.dataset.status]));
  const columns = heads($("results"));
  Idiomorph.morph($("results"), fresh, MORPH);
  htmx.process($("results"));
  note(rows().filter((row) => before.get(row.id) !== row.dataset.status));
  deleted.clear();
  wait(null);
  if (columns !== heads($("results")) || !("frozen" in table().dataset)) freeze();
  else widen(rows());
}

function merge(fresh) {
  const coming = new Map([...fresh.querySelectorAll("tbody > tr")].map((row) => [row.id, row]));
  const order = [...coming.keys()].join();
  const standing = rows();
  for (const row of standing) {
    if (coming.has(row.id)) apply(row, coming.get(row.id));
    else if (deleted.has(row.dataset.key)) markGone(row);
    coming.delete(row.id);
  }
  ["summary", "pager"].forEach((id) => apply($(id), fresh.querySelector(`#${id}`)));
  const { etag, rv, total } = fresh.querySelector("table").dataset;
  Object.assign(table().dataset, { etag, rv, total });
  if (order === standing.map((row) => row.id).join()) wait(null);
  else later();
}

/** Apply the order of the rows and the total of all pages. */
function reorder({ url, order, total, etag }) {
  const list = table();
  // The message belongs to a list that the user has left.
  if (list?.dataset.url !== url) return;
  Object.assign(list.dataset, { total, etag });
  // Only the total has changed.
  if (!order) return waiting ? later() : wait(null);
  if (order.join() === rows().map((row) => row.dataset.key).join()) return wait(null);
  if (held() || waiting) {
    keep(order);
    return later();
  }
  // The text of an empty list is part of the page.
  if (list.hidden || !order.length || !arrange(order)) return void refresh();
  deleted.clear();
  wait(null);
  settle();
}

function later() {
  // A row that moved to the next page isn't deleted, so compute additions from the totals.
  const removed = rows().filter((row) => "gone" in row.dataset).length;
  wait({ added: Math.max(0, table().dataset.total - seen + removed), removed });
}

let waiting = 0;
let free = 0;
let seen = Number(table()?.dataset.total);
/** Show the number of waiting changes. They are applied when the list is no longer held. */
function wait(counts) {
  const pill = $("updates");
  pill.hidden = !counts;
  if (!counts) {
    clearInterval(waiting);
    waiting = 0;
    seen = Number(table().dataset.total);
    return;
  }
  const parts = ["added", "removed"].filter((key) => counts[key]);
  const text = parts.map((key) => word(key, { n: counts[key] })).join(word("comma"));
  $("updates-text").textContent = `${text || word("moved")} · `;
  if (waiting) return;
  free = 0;
  waiting = setInterval(() => {
    free = held() || paused() ? 0 : free + 1;
    if (free > 1) refresh(true);
  }, 300);
}

// ---- freshness

/** Copy the state of the freshness indicator to the body, banner, title and screen readers. */
function mirror() {
  const { state, since, problem } = $("freshness").dataset;
  const shown = watching && !connected ? "off" : state;
  if (document.body.dataset.live !== shown) announce(word(shown));
  document.body.dataset.live = shown;
  const banner = $("banner");
  if (banner.hidden !== (shown !== "stale")) banner.hidden = shown !== "stale";
  if (since) banner.querySelector("time").dateTime = since;
  banner.querySelector(".problem").textContent = problem;
  tick();
  const { title } = ($("summary") ?? $("detail"))?.dataset ?? {};
  if (title) document.title = title;
}

function pause() {
  const now = root.toggleAttribute("data-paused");
  document.querySelector("#freshness > button").setAttribute("aria-pressed", now);
  announce(word(now ? "paused" : document.body.dataset.live));
  if (!now) refresh(true);
}

// ---- websocket

function control({ refresh: again, order, gone = [], error, ...told }) {
  // Reload: the error page explains the reason. Reload only once per 10 seconds, in case the page loads
  // normally.
  if ([401, 403].includes(error?.code) && Date.now() - (sessionStorage.reloaded ?? 0) > 10_000) {
    sessionStorage.reloaded = Date.now();
    return reread();
  }
  if (error) toast(error.message);
  for (const key of gone) {
    const row = rows().find(({ dataset }) => dataset.key === key);
    if (!row) continue;
    deleted.add(key);
    markGone(row);
  }
  if (told.etag) reorder({ order, ...told });
  if (again) refresh();
}

document.addEventListener("htmx:wsOpen", ({ detail }) => {
  socket = detail.socketWrapper;
  connected = true;
  document.body.dataset.socket = "open";
  mirror();
  subscribe();
});
document.addEventListener("htmx:wsClose", ({ detail }) => {
  connected = false;
  document.body.dataset.socket = detail.event.code;
  mirror();
});
document.addEventListener("htmx:wsBeforeMessage", (event) => {
  const { message } = event.detail;
  const isControl = message.startsWith("{");
  if (isControl || (paused() && !message.includes('id="freshness"'))) event.preventDefault();
  if (isControl && !paused()) control(JSON.parse(message));
});
document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
  detail.shouldSwap = false;
  apply(detail.target, detail.fragment.firstElementChild);
});
document.addEventListener("htmx:wsAfterMessage", () => {
  settle();
  mirror();
});

// Don't poll while updates are paused or the page is hidden.
document.addEventListener("htmx:beforeRequest", (event) => {
  const polls = event.target.matches("[hx-trigger^=every]");
  if (polls && (paused() || document.hidden)) event.preventDefault();
});

// ---- filtering, sorting and paging by the user

document.addEventListener("htmx:beforeSwap", (event) => {
  const { serverResponse, shouldSwap, pathInfo, target } = event.detail;
  if (!shouldSwap || !["results", "detail"].includes(target.id)) return;
  if (serverResponse.includes(`id="${target.id}"`)) return;
  // The response is another page: the session or the permission has ended. Load it as a full page.
  event.detail.shouldSwap = false;
  location.assign(pathInfo.finalRequestPath);
});
document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target.id === "detail") {
    mirror();
    return subscribe();
  }
  if (detail.target.id !== "results") return;
  detail.target.querySelectorAll(":popover-open").forEach((menu) => menu.hidePopover());
  $("add-filter")?.querySelector("form").reset();
  wait(null);
  settle();
  mirror();
  subscribe();
  announce(word("count", { n: table()?.dataset.total ?? 0 }));
});
document.addEventListener("htmx:responseError", ({ detail }) => toast(word("failed", { n: detail.xhr.status })));
["sendError", "timeout"].forEach((name) => document.addEventListener(`htmx:${name}`, () => toast(word("unreachable"))));

document.addEventListener("click", ({ target }) => {
  if (target.closest("#updates")) refresh(true);
  if (target.closest("#freshness > button")) pause();
});
Object.assign(window.quarterdeck, { pause, update: () => refresh(true) });
