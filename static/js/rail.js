// Scrolls the navigation to the current entry, and filters the project picker by name.

const rail = document.getElementById("rail");
const current = rail?.querySelector("[aria-current]");
if (current && current.offsetTop + current.offsetHeight > rail.clientHeight) {
  rail.scrollTop = current.offsetTop - rail.clientHeight / 2;
}

document.addEventListener("input", ({ target }) => {
  if (!target.matches("[data-narrows]")) return;
  const wanted = target.value.trim().toLowerCase();
  for (const choice of target.parentElement.querySelectorAll("[data-choice]")) {
    // Match only the name, not the number of problems after it.
    choice.hidden = !choice.firstChild.textContent.toLowerCase().includes(wanted);
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.matches("[data-narrows]")) return;
  event.preventDefault();
  event.target.parentElement.querySelector("[data-choice]:not([hidden])")?.click();
});
