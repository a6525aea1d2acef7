// Groups that the reader folds stay folded in this browser; the one that holds the open page is shown, and
// the menu begins where that is in sight.

const KEY = "folded";
const groups = [...document.querySelectorAll("[data-fold]")];

function read() {
  try {
    return new Set(JSON.parse(localStorage.getItem(KEY) ?? "[]"));
  } catch {
    // No storage, or not what was written: nothing is folded.
    return new Set();
  }
}

const folded = read();
for (const group of groups) {
  const { fold } = group.dataset;
  group.open = !folded.has(fold) || group.querySelector("[aria-current]") !== null;
  group.querySelector("summary").addEventListener("click", () => {
    // Before it turns.
    folded[group.open ? "add" : "delete"](fold);
    try {
      localStorage.setItem(KEY, JSON.stringify([...folded]));
    } catch {
      // It is remembered as long as this page is open.
    }
  });
}

const rail = document.getElementById("rail");
const current = rail?.querySelector("[aria-current]");
if (current && current.offsetTop + current.offsetHeight > rail.clientHeight) {
  rail.scrollTop = current.offsetTop - rail.clientHeight / 2;
}
