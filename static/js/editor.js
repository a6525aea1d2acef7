// Makes editors of the text areas that a page has, now or later. The editor is loaded by the pages that have one;
// where it cannot be loaded the text areas are what is written in.

async function load() {
  if (!document.querySelector("yaml-editor") || customElements.get("yaml-editor")) return;
  try {
    await import("./yamleditor.js");
  } catch (error) {
    document.documentElement.dataset.plainText = "";
    throw error;
  }
}

document.addEventListener("htmx:load", load);
load();
