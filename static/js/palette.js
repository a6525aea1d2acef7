// Command palette: Ctrl+K or `:` opens it, the server returns matching options, and Enter follows the
// selected one. The focus stays in the field; aria-activedescendant names the selected option.

const { $, reread } = window.quarterdeck;
const dialog = $("palette");
const field = $("palette-q");
const list = $("palette-options");

const options = () => [...list.querySelectorAll("[role=option]")];
const chosen = () => list.querySelector("[aria-selected=true]");

function choose(option) {
  chosen()?.setAttribute("aria-selected", "false");
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  if (option) field.setAttribute("aria-activedescendant", option.id);
  else field.removeAttribute("aria-activedescendant");
}

/** Text of the option selected with the arrow keys. A later response must not change the selection. */
let pointed = "";
function step(by) {
  const all = options();
  const at = all.indexOf(chosen());
  choose(all[(at + by + all.length) % all.length]);
  pointed = chosen()?.textContent ?? "";
}

let asking = null;
async function ask() {
  asking?.abort();
  asking = new AbortController();
  const url = `${list.dataset.url}?${new URLSearchParams(new FormData(field.form))}`;
  const answer = await fetch(url, { signal: asking.signal, headers: { "HX-Request": "true" } }).catch(() => null);
  if (!answer || answer.status >= 500) return;
  // The session has ended: reload the whole page.
  if (answer.status === 401) return reread();
  // The request may be aborted while the response is read.
  const text = await answer.text().catch(() => "");
  const found = new DOMParser().parseFromString(text, "text/html").getElementById("palette-found");
  if (!found) return;
  list.replaceChildren(found);
  const all = options();
  choose(all.find((option) => option.textContent === pointed) ?? all[0]);
}

let timer = 0;
let pending = null;
function later() {
  pointed = "";
  clearTimeout(timer);
  timer = setTimeout(now, 120);
}
function now() {
  clearTimeout(timer);
  timer = 0;
  pending = ask();
}

/** Wait for the response to the current input, however fast the user typed. */
async function take() {
  if (timer) now();
  await pending;
  if (chosen()) chosen().click();
  else field.form.submit();
}

function open() {
  if (dialog.open) return;
  field.value = pointed = "";
  dialog.showModal();
  now();
}

if (dialog) {
  field.addEventListener("input", later);
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const action = { ArrowDown: () => step(1), ArrowUp: () => step(-1), Enter: take }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  document.addEventListener("keydown", (event) => {
    const { target, key, ctrlKey, metaKey, altKey } = event;
    const typing = target.closest("input, textarea, select, [contenteditable], dialog") && target.checkVisibility();
    const asked = (ctrlKey || metaKey) && !altKey && key.toLowerCase() === "k";
    if (!asked && (key !== ":" || typing || ctrlKey || metaKey)) return;
    event.preventDefault();
    open();
  });
  document.addEventListener("click", (event) => {
    const plain = !(event.ctrlKey || event.metaKey || event.shiftKey);
    if (!plain || !event.target.closest("[data-palette]")) return;
    event.preventDefault();
    open();
  });
}
