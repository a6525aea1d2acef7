// Freezes the column widths after the first rendering, so that a longer age doesn't shift the table.
// Filtering, sorting, paging and resizing the window measure again. Columns that don't fit are hidden by
// priority.

const wide = matchMedia("(min-width: 48rem)");
// Lowest priorities to show if columns don't fit; as a last resort, the table scrolls.
const STEPS = ["3", "2", "scroll"];

const widthOf = (element) => element.getBoundingClientRect().width;

function fit(table) {
  // Never hide columns that the user selected.
  const steps = "chosen" in table.dataset ? STEPS.slice(-1) : STEPS;
  for (const step of steps) {
    if (widthOf(table) < widthOf(table.parentElement) + 1) return;
    table.setAttribute("data-fit", step);
  }
}

function freeze() {
  const table = document.querySelector("#results > table");
  if (!table || table.hidden) return;
  const heads = [...table.tHead.rows[0].cells];
  table.removeAttribute("data-frozen");
  table.removeAttribute("data-fit");
  heads.forEach((head) => head.style.removeProperty("width"));
  if (!wide.matches) return;
  fit(table);
  const widths = heads.map(widthOf);
  heads.forEach((head, at) => widths[at] && head.style.setProperty("width", `${widths[at]}px`));
  table.setAttribute("data-frozen", "");
}

let asked = 0;
addEventListener("resize", () => {
  cancelAnimationFrame(asked);
  asked = requestAnimationFrame(freeze);
});
document.addEventListener("htmx:afterSwap", freeze);
document.fonts.ready.then(freeze);
window.quarterdeck.freeze = freeze;
