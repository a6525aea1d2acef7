// Columns keep the widths of the first drawing: an age that grows a digit must not shift the table.
// Filtering, sorting, paging and a new window size measure anew.

const wide = matchMedia("(min-width: 48rem)");

function freeze() {
  const table = document.querySelector("#results > table");
  if (!table || table.hidden) return;
  const heads = [...table.tHead.rows[0].cells];
  table.removeAttribute("data-frozen");
  heads.forEach((head) => head.style.removeProperty("width"));
  if (!wide.matches) return;
  const widths = heads.map((head) => head.getBoundingClientRect().width);
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
