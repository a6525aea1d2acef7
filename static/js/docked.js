// API for a page in the dock. `keep` saves state for the next load of the same URL, and `kept` returns it.
// `news` and `ended` mark the page's tab while it is in the background. `asked` is true if the user has just
// opened the tab. `focus` focuses the page; pages can override it. The page receives `dockclose` before its
// tab is closed.

import { keptOf, remember } from "./dockstore.js";

const { frameElement } = window;
const url = new URL(location.href);
// Remove the frame parameter wherever it is: forms reorder the parameters.
url.searchParams.delete("frame");

const tell = (what) => frameElement?.dispatchEvent(new CustomEvent("docktell", { bubbles: true, detail: what }));

function kept() {
  const found = keptOf(frameElement?.dataset.tab);
  return found?.url === url.search ? found.value : null;
}

function keep(value) {
  const { tab } = frameElement?.dataset ?? {};
  return Boolean(tab) && remember({ url: url.search, value }, tab);
}

// Capture the key, because a terminal handles all keys.
addEventListener("keydown", (event) => {
  if (event.key !== "F6" || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  tell("leave");
}, true);

if (frameElement === null) location.replace(url);

const focus = () => (document.querySelector("[data-dock-focus]") ?? document.querySelector("main"))?.focus();

window.quarterdeck.docked = { keep, kept, focus, asked: "asked" in (frameElement?.dataset ?? {}), news: () => tell("news"), ended: () => tell("ended") };
