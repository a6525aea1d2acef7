// Ticking a permission ticks what it needs; clearing one clears whatever needs it. The server does the same
// for whoever has no scripts.

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
