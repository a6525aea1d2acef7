// Files that are dropped on the form follow what is in its editor, as documents of their own. Whoever has no
// pointer or no scripts chooses them in the form's field of files.

const form = document.querySelector("form[data-drop-most]");
const editor = form?.querySelector("yaml-editor");
const state = form?.querySelector("[data-drop-state]");
const most = Number(form?.dataset.dropMost);

const hasFiles = ({ dataTransfer }) => dataTransfer?.types.includes("Files");

/** The file's text, or null for one that is no text in UTF-8. */
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
  if (whole.length > most) return false;
  if (editor.setText) editor.setText(whole);
  else area.value = whole;
  return true;
}

async function take(files) {
  const told = [];
  for (const file of files) {
    // A character has at most four bytes, so a longer file need not be read.
    const text = file.size > 4 * most ? "" : await textOf(file);
    let found = "added";
    if (text === null) found = "unreadable";
    else if (file.size > 4 * most || !add(text)) found = "large";
    told.push(state.dataset[found].replace("{name}", file.name));
  }
  state.textContent = told.join(" ");
}

// Before the editor, which would put them where the pointer is.
form?.addEventListener("dragover", (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  event.stopPropagation();
  event.dataTransfer.dropEffect = "copy";
}, true);
form?.addEventListener("drop", (event) => {
  // The field of files takes its own.
  if (!hasFiles(event) || event.target.matches("input[type=file]")) return;
  event.preventDefault();
  event.stopPropagation();
  take([...event.dataTransfer.files]);
}, true);
