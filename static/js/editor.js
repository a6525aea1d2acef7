// Makes editors of the text areas that a page has, now or later. The editor is loaded by the pages that have one.

async function load() {
  if (document.querySelector("yaml-editor") && !customElements.get("yaml-editor")) await import("./yamleditor.js");
}

document.addEventListener("htmx:load", load);
load();
