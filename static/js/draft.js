// Saves a draft while the user types, so that it survives the end of the session, a server outage or a closed
// window. The server numbers the versions, and rejects a text that is older than the stored one.

const form = document.querySelector("form[data-draft-url]");
const state = form?.querySelector("[data-draft-state]");
// Milliseconds without a keystroke before saving.
const QUIET = 1500;
let kept = form && new FormData(form).get("text");
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

// Save sequentially, because each request names the version that it replaces.
const soon = () => (asking = asking.then(keep));
if (form) {
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(soon, QUIET);
  });
  document.addEventListener("visibilitychange", () => document.hidden && soon());
}
