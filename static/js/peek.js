// The peek panel: a summary of the object of a row next to the list. The URL contains the object, so that a
// reload and the Back button open the panel again.

const { $, word, toast, reread, tick, freeze, table, rows, MORPH } = window.quarterdeck;
const panel = $("peek");
const roomy = matchMedia("(min-width: 90rem)");

/** The key of the object of the open panel, or null. It can differ from the panel's content while that is loading. */
let wanted = panel && !panel.hidden ? $("peek-body").dataset.peek : null;
const peeked = () => (wanted === null ? undefined : rows().find(({ dataset }) => dataset.key === wanted));

let version = null;
let reading = new AbortController();

/** Return the URL of the open list with or without the panel. */
function listUrl(key) {
  const url = new URL(table()?.dataset.url || location.pathname, location);
  if (key !== null) url.searchParams.set("peek", key);
  return url;
}

function mark(row) {
  for (const old of document.querySelectorAll("tr[data-peeked]")) old.removeAttribute("data-peeked");
  watching.disconnect();
  if (!row) return;
  row.setAttribute("data-peeked", "");
  watching.observe(row, { attributes: true, attributeFilter: ["data-v", "data-gone"] });
}

/** Show the object of a row. The focus stays where it is. */
async function open(row) {
  wanted = row.dataset.key;
  mark(row);
  history.replaceState(history.state, "", listUrl(wanted));
  await read(row);
}

async function read(row) {
  reading.abort();
  const { signal } = (reading = new AbortController());
  const { key, v } = row.dataset;
  version = v;
  const response = await fetch(listUrl(key), { headers: { "HX-Request": "true" }, signal }).catch(() => null);
  const text = await response?.text().catch(() => null);
  if (signal.aborted) return;
  if (text == null) return toast(word("unreachable"));
  const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("peek-body");
  if (!fresh) return response.status < 500 ? reread() : toast(word("failed", { n: response.status }));
  if (!panel.hidden && $("peek-body").dataset.peek === key) Idiomorph.morph($("peek-body"), fresh, MORPH);
  else {
    $("peek-body").replaceWith(fresh);
    panel.scrollTop = 0;
  }
  tick();
  if (!panel.hidden) return;
  panel.hidden = false;
  freeze();
  row.scrollIntoView({ block: "nearest" });
}

// Read the object again when its row has changed, at most once per second.
const GAP = 1000;
let due = 0;
const watching = new MutationObserver(() => {
  due ||= setTimeout(async () => {
    due = 0;
    const row = peeked();
    if (row && (row.dataset.v !== version || "gone" in row.dataset)) await read(row);
  }, GAP);
});

/** Close the panel. Return its row, or null if the panel is not open. */
function close() {
  if (wanted === null) return null;
  const row = peeked() ?? null;
  reading.abort();
  panel.hidden = true;
  wanted = null;
  mark(null);
  history.replaceState(history.state, "", listUrl(null));
  freeze();
  return row;
}

/** Move the open panel to the row. */
const follow = (row) => void (row && wanted !== null && open(row));

/** Open the panel for a row, or close it. In narrow windows, return false: the object's page opens instead. */
function peek(row) {
  if (!roomy.matches) return false;
  if (wanted === row.dataset.key) close();
  else open(row);
  return true;
}

if (panel) {
  const row = peeked();
  version = row?.dataset.v;
  mark(row);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[form=peek-form]");
    if (button) peek(button.closest("tr"));
    else if (event.target.closest("#peek [data-close]")) close()?.focus();
    else return;
    event.preventDefault();
  });
  // Filtering, sorting and paging change the URL. The panel closes if its row left the list.
  document.addEventListener("htmx:afterSettle", ({ detail }) => {
    if (detail.target.id !== "results" || wanted === null) return;
    const row = peeked();
    if (!row) return void close();
    mark(row);
    history.replaceState(history.state, "", listUrl(wanted));
  });
}
Object.assign(window.quarterdeck, { peek, peeked, follow, unpeek: close });
