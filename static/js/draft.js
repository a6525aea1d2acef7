// Keeps what is typed while it is typed, so that it is still there after an ended session, a server that
// is away or a closed window. The server counts the texts: it refuses one that is older than what it has.

const form = document.querySelector("form[data-draft-url]");
const state = form.querySelector("[data-draft-state]");
// Milliseconds without a key.
const QUIET = 1500;
let kept = new FormData(form).get("text");
let timer;
let asking = Promise.resolve();

async function keep() {
  const data = new FormData(form);
  const text = data.get("text");
  if (text === kept) return;
  data.delete("step");
  const headers = { Accept: "application/json" };
  let answer;
  try {
    answer = await fetch(form.dataset.draftUrl, { method: "POST", body: data, headers });
  } catch {
    answer = { status: 0 };
  }
  if (answer.status === 204) {
    kept = text;
    form.elements.version.value = answer.headers.get("X-Draft-Version");
  }
  state.textContent = { 204: state.dataset.kept, 409: state.dataset.newer }[answer.status] ?? state.dataset.lost;
}

// One after the other: each says which version it follows.
const soon = () => (asking = asking.then(keep));
form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(soon, QUIET);
});
document.addEventListener("visibilitychange", () => document.hidden && soon());
