// Appends files that are dropped on the form to the editor as separate YAML documents. The form's file field
// is the alternative without a pointer or JavaScript.

const form = document.querySelector("form[data-drop-most]");
const editor = form?.querySelector("yaml-editor");
const state = form?.querySelector("[data-drop-state]");
const most = Number(form?.dataset.dropMost);

const hasFiles = ({ dataTransfer }) => dataTransfer?.types.includes("Files");

/** Return the file's text, or null if it isn't valid UTF-8. */
async function textOf(file) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()).replaceAll("\r\n", "\n");
  } catch {
    return null;
  }
}

function add(text) {
  const area = editor.querySelector("textarea");
  const before = area.value.trim() ? `${area.value.replace(/\n*$/, "\n")}---\n` : "";
  const whole = before + text;
  if (new Blob([whole]).size > most) return false;
  if (editor.setText) editor.setText(whole);
  else area.value = whole;
  return true;
}

async function take(files) {
  const told = [];
  for (const file of files) {
    const text = file.size > most ? "" : await textOf(file);
    let found = "added";
    if (text === null) found = "unreadable";
    else if (file.size > most || !add(text)) found = "large";
    told.push(state.dataset[found].replace("{name}", file.name));
  }
  state.textContent = told.join(" ");
}

// Handle the events before the editor, which would insert the files at the pointer.
form?.addEventListener("dragover", (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  event.stopPropagation();
  event.dataTransfer.dropEffect = "copy";
}, true);
form?.addEventListener("drop", (event) => {
  // The file field handles its own drops.
  if (!hasFiles(event) || event.target.matches("input[type=file]")) return;
  event.preventDefault();
  event.stopPropagation();
  take([...event.dataTransfer.files]);
}, true);
