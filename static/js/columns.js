// Fixes the column widths after the first rendering, so that a longer age doesn't shift the table. Filtering,
// sorting, paging and resizing the window measure again, and so does a value that doesn't fit. Columns that
// don't fit are hidden by priority.

const wide = matchMedia("(min-width: 48rem)");
// Lowest priorities to show if columns don't fit; as a last resort, the table scrolls. Only a list next to an
// open peek panel shows no more than the first priority.
const STEPS = ["3", "2", "1", "scroll"];

const list = () => document.querySelector("#results > table");
const overflows = (element) => element.scrollWidth > element.clientWidth + 1;

function fit(table) {
  // Never hide columns that the user selected.
  const steps = "chosen" in table.dataset ? STEPS.slice(-1) : STEPS;
  for (const step of steps) {
    if (!overflows(table)) return;
    table.setAttribute("data-fit", step);
  }
}

function freeze() {
  const table = list();
  if (!table || table.hidden) return;
  table.removeAttribute("data-frozen");
  table.removeAttribute("data-fit");
  if (!wide.matches) return;
  fit(table);
  const heads = [...table.tHead.rows[0].cells].filter((head) => head.checkVisibility());
  const widths = heads.map((head) => head.getBoundingClientRect().width);
  const sum = widths.reduce((all, width) => all + width, 0);
  // The rest of the width stays empty in front of the row menus.
  table.style.setProperty("--tracks", `${widths.slice(0, -1).map((width) => `${width}px`).join(" ")} minmax(0, 1fr)`);
  table.style.setProperty("--total", "scroll" === table.dataset.fit ? `${sum}px` : "0");
  table.setAttribute("data-frozen", "");
}

/** Measure again if a changed row has a value that doesn't fit. */
function widen(changed) {
  if (!("frozen" in (list()?.dataset ?? {}))) return;
  const values = ":is(th, td):not(.shrinks, .actions, .tick), .status > .word";
  if (changed.some((row) => [...row.querySelectorAll(values)].some(overflows))) freeze();
}

let asked = 0;
addEventListener("resize", () => {
  cancelAnimationFrame(asked);
  asked = requestAnimationFrame(freeze);
});
document.addEventListener("htmx:afterSwap", freeze);
document.fonts.ready.then(freeze);
Object.assign(window.quarterdeck, { freeze, widen });
