// The palette: Ctrl-K or `:` opens it, what is typed is asked of the server, Enter takes the chosen option.
// The focus stays in the field; the chosen option is named by aria-activedescendant.

const { $ } = window.quarterdeck;
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

function step(by) {
  const all = options();
  const at = all.indexOf(chosen());
  choose(all[(at + by + all.length) % all.length]);
}

let asking = null;
async function ask() {
  asking?.abort();
  asking = new AbortController();
  const url = `${list.dataset.url}?${new URLSearchParams({ q: field.value })}`;
  const answer = await fetch(url, { signal: asking.signal, headers: { "HX-Request": "true" } }).catch(() => null);
  if (!answer || answer.status >= 500) return;
  // The session has ended: the whole page says so.
  if (answer.status === 401) return location.reload();
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const found = page.getElementById("palette-found");
  if (!found) return;
  list.replaceChildren(found);
  choose(options()[0]);
}

let timer = 0;
let pending = null;
function later() {
  clearTimeout(timer);
  timer = setTimeout(now, 120);
}
function now() {
  clearTimeout(timer);
  timer = 0;
  pending = ask();
}

/** What is chosen must be of what stands in the field, however quickly it was typed. */
async function take() {
  if (timer) now();
  await pending;
  if (chosen()) chosen().click();
  else field.form.submit();
}

function open() {
  if (dialog.open) return;
  field.value = "";
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
    const typing = target.closest("input, textarea, select, [contenteditable], dialog");
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
