// Functions for all pages: translated texts, the live region, toasts, copying, links and forms. Other scripts
// access them as `window.quarterdeck`.

const $ = (id) => document.getElementById(id);

/** Return a text of `ui/_words.html` with its {placeholders} filled in. */
function word(key, values = {}) {
  const text = document.querySelector(`[data-word="${key}"]`)?.textContent ?? "";
  return text.replace(/{(\w+)}/g, (whole, name) => values[name] ?? whole);
}

// Announce at most one message per ten seconds to screen readers: the latest.
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

/**
 * Copy the button's value, or the text of the element it refers to, or the content of that element's
 * `data-source` URL.
 */
async function copy(button) {
  const shown = $(button.dataset.copyText);
  const name = button.dataset.copy ?? "YAML";
  try {
    const source = shown?.dataset.source;
    const text = source ? await (await fetch(source)).text() : (shown?.textContent ?? name);
    await navigator.clipboard.writeText(text);
  } catch {
    // The clipboard requires HTTPS: select the text, so that the user can copy it.
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

// While the user signs out, don't reload: the websockets close before the sign-in page is loaded, and a
// reload would make this page the target of the next sign-in.
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

// htmx must not handle a click that opens a new tab.
document.addEventListener("click", (event) => {
  const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
  if (elsewhere && event.target.closest("a[hx-get]")) event.stopPropagation();
}, true);

// Omit empty fields from the URL.
document.addEventListener("htmx:configRequest", ({ detail }) => {
  for (const name of new Set(detail.formData.keys())) {
    const values = detail.formData.getAll(name).filter((value) => value !== "");
    detail.formData.delete(name);
    for (const value of values) detail.formData.append(name, value);
  }
});

// On phones, the tabs scroll horizontally: show the current one.
for (const tab of document.querySelectorAll(".tabs > [aria-current='page']")) {
  tab.parentElement.scrollLeft = tab.offsetLeft + tab.offsetWidth - tab.parentElement.clientWidth + 24;
}

setTimeout(() => {
  document.querySelectorAll(".toast:not([data-level='error'])").forEach((line) => line.remove());
}, 6000);

window.quarterdeck = { $, word, announce, toast, copy, reread };
