// Runs before the first paint and reserves space for the dock, so that the page doesn't jump. A reload
// restores the dock's state; on another page, a maximized dock shrinks, so that it doesn't cover the page.
{
  let found = {};
  try {
    found = JSON.parse(sessionStorage.getItem("dock") ?? "{}");
  } catch {
    // No session storage, or invalid content: treat the dock as closed.
  }
  if (found?.tabs?.length) {
    const [navigation] = performance.getEntriesByType("navigation");
    const covers = found.state === "full" || matchMedia("(max-width: 47.99rem)").matches;
    const uncovered = found.state === "full" && !matchMedia("(max-width: 47.99rem)").matches ? "open" : "bar";
    const { dataset, style } = document.documentElement;
    dataset.dock = covers && navigation?.type !== "reload" ? uncovered : found.state;
    style.setProperty("--dock-height", `${Number(found.height)}px`);
  }
}
