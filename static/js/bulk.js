// Row selection for bulk actions. The keys of selected rows are stored here, so that rows stay selected on
// other pages of the list and after updates. They are sent to the server when an action starts.

const { $, word, announce, table, rows } = window.quarterdeck;
const bar = $("bulk");
const form = $("bulk-form");
const chosen = new Set();
let all = false;
let last = null;

const box = (row) => row.querySelector(".tick input");
const total = () => Number(table()?.dataset.total ?? 0);

function show() {
  for (const row of rows()) {
    const input = box(row);
    if (!input) continue;
    input.checked = all || chosen.has(row.dataset.key);
  }
  const boxes = rows().map(box).filter(Boolean);
  const head = $("tick-all");
  if (head) head.checked = boxes.length > 0 && boxes.every(({ checked }) => checked);
  const number = all ? total() : chosen.size;
  bar.hidden = !number;
  $("bulk-count").textContent = word(all ? "matching" : "chosen", { n: number.toLocaleString("en") });
  $("bulk-all").hidden = all || number >= total();
  $("bulk-all").textContent = word("choose", { n: total().toLocaleString("en") });
}

function tell() {
  show();
  announce($("bulk-count").textContent);
}

function set(list, on) {
  // After "select all matching", deselecting a row keeps only the visible rows selected.
  if (all) rows().filter(box).forEach((row) => chosen.add(row.dataset.key));
  all = false;
  for (const row of list) chosen[on ? "add" : "delete"](row.dataset.key);
  tell();
}

/** Select one row, or the range from the last selected row. */
function tick(row, on, range) {
  const standing = rows();
  const ends = [standing.indexOf(row), standing.indexOf(range ? last : row)].filter((at) => at >= 0);
  set(standing.slice(Math.min(...ends), Math.max(...ends) + 1).filter(box), on);
  last = row;
}

if (bar && form) {
  document.addEventListener("click", (event) => {
    const { target } = event;
    if (target.id === "tick-all") set(rows().filter(box), target.checked);
    // With the keyboard, move the focus, because the focused button disappears.
    const byKey = event.detail === 0;
    if (target.id === "bulk-all") {
      tell(all = true);
      if (byKey) bar.querySelector("button:not([hidden])").focus();
    }
    if (target.id === "bulk-none") {
      all = false;
      chosen.clear();
      tell();
      if (byKey) (last?.isConnected ? last : rows()[0])?.focus();
    }
    if (target.matches("tbody .tick input")) tick(target.closest("tr"), target.checked, event.shiftKey);
  });
  document.addEventListener("keydown", (event) => {
    const { target, code, shiftKey, ctrlKey, metaKey, altKey } = event;
    if (!target.matches("tbody > tr") || code !== "KeyX" || ctrlKey || metaKey || altKey) return;
    event.preventDefault();
    if (box(target)) tick(target, !box(target).checked, shiftKey);
  });
  form.addEventListener("submit", () => {
    form.elements.keys.value = all ? "" : [...chosen].map(encodeURIComponent).join("\n");
    form.elements.all.value = all ? "1" : "";
    form.elements.list.value = table()?.dataset.url ?? "";
  });
  let asked = 0;
  const soon = () => {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(show);
  };
  // Rows and their total change with pages, filters and updates.
  const changes = { childList: true, subtree: true, attributeFilter: ["data-total"] };
  new MutationObserver(soon).observe($("results"), changes);
  show();
}
