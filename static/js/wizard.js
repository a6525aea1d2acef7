// Wizards without page loads: changes of rows replace the form and keep the place, and what is typed is saved
// as a draft. Without this script, all of it works by submitting the form.

const QUIET = 1500;
const form = () => document.querySelector("form#draft");
let timer;
// The page is being left by a submit, which saves the draft itself.
let leaving = false;
let asking = Promise.resolve();

const state = () => form()?.querySelector("[data-draft-state]");

/** Save the fields as a draft. Requests run one after the other, because each names the version it replaces. */
async function save() {
  const from = form();
  if (leaving || !from?.dataset.draftUrl) return;
  const data = new FormData(from);
  data.delete("step");
  let answer;
  try {
    answer = await fetch(from.dataset.draftUrl, { method: "POST", body: data, headers: { Accept: "application/json" } });
  } catch {
    answer = { status: 0 };
  }
  if (from !== form()) return;
  const told = state();
  if (told) told.textContent = { 204: told.dataset.kept, 409: told.dataset.newer }[answer.status] ?? told.dataset.lost;
  if (answer.status === 204) {
    from.elements.version.value = answer.headers.get("X-Draft-Version");
    from.dataset.saved = "";
    refresh(from).catch(() => undefined);
  }
}

/** Show what the server says about the saved values. */
async function refresh(from) {
  const shown = [...from.querySelectorAll(".finding, [data-fresh]")];
  if (!shown.length || document.hidden) return;
  const answer = await fetch(from.action);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const one of shown) {
    const now = page.getElementById(one.id);
    if (now && now.innerHTML !== one.innerHTML) one.replaceChildren(...document.adoptNode(now).childNodes);
  }
}

const soon = () => (asking = asking.then(save));

/** Submit an act and replace the form with the new one. */
async function act(from, button) {
  clearTimeout(timer);
  await asking;
  const answer = await fetch(from.action, { method: "POST", body: new FormData(from, button) });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = page.querySelector("form#draft");
  if (!next) return location.assign(answer.url);
  // The first field inside identifies a section.
  const key = (section) => section.querySelector("[name]")?.name;
  const opened = new Set([...from.querySelectorAll("details[open]")].map(key));
  const focused = document.activeElement?.id;
  from.replaceWith(document.adoptNode(next));
  window.htmx.process(next);
  if (answer.redirected) history.replaceState(null, "", answer.url);
  for (const section of next.querySelectorAll("details")) if (opened.has(key(section))) section.open = true;
  const row = next.dataset.focus && document.getElementById(`w-${next.dataset.focus.replace(/\.$/, "").replaceAll(".", "-")}`);
  const target = row?.querySelector("input:not([type=hidden]), select, textarea") ?? row?.querySelector("button");
  (target ?? document.getElementById(focused))?.focus();
  return undefined;
}

document.addEventListener("submit", (event) => {
  const [from, button] = [event.target, event.submitter];
  if (from !== form() || leaving) return;
  event.preventDefault();
  clearTimeout(timer);
  if (button?.value.startsWith("act.")) {
    act(from, button).catch(() => from.submit());
    return;
  }
  // A save that is under way changes the draft's version. A form can't be submitted during its submit event.
  asking.then(() => setTimeout(() => {
    leaving = true;
    from.requestSubmit(button);
  }));
});
document.addEventListener("input", (event) => {
  if (event.target.form !== form() || event.target.name === "manifest") return;
  clearTimeout(timer);
  timer = setTimeout(soon, QUIET);
});
document.addEventListener("change", (event) => {
  if (!("reloads" in event.target.dataset)) return;
  const button = document.createElement("button");
  Object.assign(button, { type: "submit", name: "step", value: `act.${event.target.name}.show`, hidden: true });
  event.target.form.append(button);
  event.target.form.requestSubmit(button);
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-reveals]");
  if (!button) return;
  const shows = button.ariaPressed !== "true";
  button.ariaPressed = String(shows);
  document.getElementById(button.dataset.reveals).type = shows ? "text" : "password";
});
// Questions about fields are sent to the step, whose address differs from that of a new page.
document.addEventListener("htmx:configRequest", (event) => {
  if (event.target.closest("form") === form()) event.detail.path = form().action;
});
document.addEventListener("visibilitychange", () => document.hidden && form() && soon());
document.addEventListener("keydown", (event) => {
  const within = event.target.closest?.("form#draft");
  if (!within) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    within.requestSubmit(within.querySelector(".foot .primary"));
  }
  if (!event.altKey || !["ArrowUp", "ArrowDown", "Enter"].includes(event.key)) return;
  const row = event.target.closest(".entry, .item");
  const verb = { ArrowUp: "up", ArrowDown: "down", Enter: "add" }[event.key];
  const button = verb === "add" ? row?.parentElement.querySelector(":scope > .adders > button") : row?.querySelector(`button[value$=".${verb}"]`);
  if (button) {
    event.preventDefault();
    within.requestSubmit(button);
  }
});
document.querySelector("#problems")?.focus();
// The browser may show this page again from its cache.
addEventListener("pageshow", () => (leaving = false));
