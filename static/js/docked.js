// A page in the dock. What it wants to have again after it was loaded anew it gives to `keep`; `kept` has it, as
// long as the address is the same. `news` and `ended` make a mark on its tab while that is in the background. `asked`:
// somebody has just opened it. `focus` gives it the keyboard, a page may have its own. Before a tab is closed its page
// hears `dockclose`.

import { keptOf, remember } from "./dockstore.js";

const { frameElement } = window;
const url = new URL(location.href);
// The parameter that asks for a frame stands wherever it was put: a form puts its fields in its own order.
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

// Also out of what takes every key for itself, as a terminal does.
addEventListener("keydown", (event) => {
  if (event.key !== "F6" || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  tell("leave");
}, true);

if (frameElement === null) location.replace(url);

const focus = () => (document.querySelector("[data-dock-focus]") ?? document.querySelector("main"))?.focus();

window.quarterdeck.docked = { keep, kept, focus, asked: "asked" in (frameElement?.dataset ?? {}), news: () => tell("news"), ended: () => tell("ended") };
