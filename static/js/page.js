// What every page needs: words, the one polite region, toasts, copying, and how links and forms ask.
// Other scripts find its functions as `window.quarterdeck`.

const $ = (id) => document.getElementById(id);

/** A text of `ui/_words.html` with its {placeholders} filled. */
function word(key, values = {}) {
  const text = document.querySelector(`[data-word="${key}"]`)?.textContent ?? "";
  return text.replace(/{(\w+)}/g, (whole, name) => values[name] ?? whole);
}

// Screen readers hear at most one sentence in ten seconds, the latest.
let heard = -Infinity;
let timer;
function announce(text) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    heard = Date.now();
    if ($("announce")) $("announce").textContent = text;
  }, Math.max(50, heard + 10_000 - Date.now()));
}

function toast(text) {
  const line = document.createElement("div");
  const sentence = document.createElement("p");
  const close = document.createElement("button");
  line.className = "toast";
  line.dataset.level = "error";
  sentence.textContent = text;
  Object.assign(close, { type: "button", className: "tool", textContent: word("dismiss") });
  close.dataset.dismiss = "";
  line.append(sentence, close);
  $("toasts")?.replaceChildren(line);
}

/** Copies the button's name, or the text of the element it names: what that shows, or what its `data-source` leads to. */
async function copy(button) {
  const shown = $(button.dataset.copyText);
  const name = button.dataset.copy ?? "YAML";
  try {
    const source = shown?.dataset.source;
    const text = source ? await (await fetch(source)).text() : (shown?.textContent ?? name);
    await navigator.clipboard.writeText(text);
  } catch {
    // No clipboard without https: leave the text selected for the reader's own copy.
    getSelection().selectAllChildren(shown ?? button.previousElementSibling);
    return;
  }
  button.dataset.copied = "";
  setTimeout(() => delete button.dataset.copied, 1500);
  announce(word("copied", { name }));
}

function reveal(button) {
  const field = $(button.dataset.reveal);
  const shown = field.type === "password";
  field.type = shown ? "text" : "password";
  button.setAttribute("aria-pressed", shown);
}

// Who logs out is on the way to the login page. The others of this session hear at once that it is over;
// to read this page anew would lead back to it after the next login.
let leaving = false;
document.addEventListener("submit", ({ target }) => { leaving ||= target.matches("[data-logout]"); });
const reread = () => leaving || location.reload();

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if ("copy" in button.dataset || "copyText" in button.dataset) copy(button);
  if ("reveal" in button.dataset) reveal(button);
  if ("dismiss" in button.dataset) button.closest(".toast").remove();
});

// A click that asks for a new tab is the browser's, not htmx's.
document.addEventListener("click", (event) => {
  const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
  if (elsewhere && event.target.closest("a[hx-get]")) event.stopPropagation();
}, true);

// Empty fields stay out of the address.
document.addEventListener("htmx:configRequest", ({ detail }) => {
  for (const name of new Set(detail.formData.keys())) {
    const values = detail.formData.getAll(name).filter((value) => value !== "");
    detail.formData.delete(name);
    for (const value of values) detail.formData.append(name, value);
  }
});

// On a phone the tabs slide under the finger: the one that is open is in view.
for (const tab of document.querySelectorAll(".tabs > [aria-current='page']")) {
  tab.parentElement.scrollLeft = tab.offsetLeft + tab.offsetWidth - tab.parentElement.clientWidth + 24;
}

setTimeout(() => {
  document.querySelectorAll(".toast:not([data-level='error'])").forEach((line) => line.remove());
}, 6000);

window.quarterdeck = { $, word, announce, toast, copy, reread };
