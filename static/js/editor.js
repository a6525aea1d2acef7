// Loads the YAML editor on pages that have a text area for it, also if the text area is added later. If
// loading fails, the text areas remain usable.

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
