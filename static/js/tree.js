// Selecting a permission also selects its dependencies; deselecting one deselects its dependents. The server
// applies the same rules.

const boxes = () => [...document.querySelectorAll(".tree input[name=template]")];
const needs = (box) => box.dataset.needs.split(" ").filter(Boolean);

document.querySelector(".tree")?.addEventListener("change", ({ target }) => {
  if (target.name !== "template") return;
  const all = boxes();
  const queue = [target];
  while (queue.length) {
    const box = queue.pop();
    const follow = box.checked
      ? all.filter((other) => !other.checked && needs(box).includes(other.value))
      : all.filter((other) => other.checked && needs(other).includes(box.value));
    for (const other of follow) other.checked = box.checked;
    queue.push(...follow);
  }
}, { capture: true });
