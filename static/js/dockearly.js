// Before anything is painted: the room that the dock takes, so that no page jumps. After a reload it is as it was;
// on another page it covers nothing of what somebody went there to see.
{
  let found = {};
  try {
    found = JSON.parse(sessionStorage.getItem("dock") ?? "{}");
  } catch {
    // No storage, or not what was written: nothing is open.
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
