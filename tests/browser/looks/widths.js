// Fill a list with texts of these lengths, and return what is wrong with its columns: each finding names its column.
({ name, namespace, node, address }) => {
  const table = document.querySelector("#results > table");
  if (!table || table.hidden) return null;
  const rows = [...table.tBodies[0].rows];
  const write = (selector, text) => {
    if (!text) return;
    for (const row of rows) {
      const walker = document.createTreeWalker(row.querySelector(selector) ?? document.createElement("i"), NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) if (/[a-z0-9]/.test(walker.currentNode.data)) return void (walker.currentNode.data = text);
    }
  };
  write(".name > .full", name);
  write("[data-col=object]", name && `Pod/${name}`);
  write("[data-col=namespace]", namespace);
  for (const column of ["node", "volume", "owner"]) write(`[data-col=${column}]`, node);
  for (const column of ["ip", "cluster_ip", "internal_ip", "source_ip"]) write(`[data-col=${column}]`, address);
  const script = "quarterdeck" in window;
  if (script) quarterdeck.freeze();

  const box = (element) => element.getBoundingClientRect();
  const found = new Set();
  const wider = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wider > 0) found.add(`the page is wider by ${wider} px`);
  const main = document.querySelector(".main");
  const edge = box(main).right - parseFloat(getComputedStyle(main).paddingRight);
  if (Math.abs(box(table).right - edge) > 1.5) found.add(`the table ends ${box(table).right - edge} px beside the page's edge`);
  const scrolls = getComputedStyle(table).overflowX === "auto" && table.scrollWidth > table.clientWidth + 1;

  const heads = [...table.tHead.rows[0].cells].filter((head) => head.checkVisibility());
  const range = document.createRange();
  // The width of a cell's content, if it had all the room.
  const needs = (cell) => {
    const parts = [...cell.querySelectorAll(".full, .word, .reason")];
    if (parts.length) return parts.reduce((sum, one) => sum + (one.scrollWidth - one.clientWidth), 0) + span(cell);
    return span(cell);
  };
  const span = (cell) => {
    range.selectNodeContents(cell);
    const boxes = [...range.getClientRects()].filter(({ width }) => width > 0);
    const { paddingLeft, paddingRight } = getComputedStyle(cell);
    if (!boxes.length) return parseFloat(paddingLeft) + parseFloat(paddingRight);
    // Texts that are cut have their full width here.
    const { left, right } = box(cell);
    const [from, to] = [Math.max(left, Math.min(...boxes.map((one) => one.left))), Math.min(right, Math.max(...boxes.map((one) => one.right)))];
    return to - from + parseFloat(paddingLeft) + parseFloat(paddingRight);
  };
  const all = [table.tHead.rows[0], ...rows];
  const columns = heads.map((head, at) => {
    const cells = all.map((row) => [...row.cells].filter((cell) => cell.checkVisibility())[at]).filter(Boolean);
    return { name: head.dataset.col ?? (head.matches(".tick") ? "tick" : "actions"), head, cells };
  });
  const heights = new Set(rows.map((row) => Math.round(box(row).height)));
  if ([...heights].some((height) => height > 34)) found.add(`rows are ${[...heights].join()} px high`);

  const cut = [];
  const spare = [];
  for (const { name, head, cells } of columns) {
    if (["tick", "actions"].includes(name)) continue;
    const tops = new Set(cells.map((cell) => Math.round(box(cell).left)));
    if (tops.size > 1) found.add(`${name}: cells begin at ${[...tops].join()}`);
    for (const cell of cells) {
      const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        if (!walker.currentNode.data.trim() || walker.currentNode.parentElement.closest(".visually-hidden")) continue;
        range.selectNodeContents(walker.currentNode);
        const lines = [...range.getClientRects()].filter(({ width }) => width > 1);
        if (lines.some(({ top }) => Math.abs(top - lines[0].top) > 4)) found.add(`${name}: wraps "${walker.currentNode.data.trim().slice(0, 30)}"`);
      }
      for (const part of cell.querySelectorAll(".full, .reason, .word")) {
        if (getComputedStyle(part).display === "inline" || part.scrollWidth <= part.clientWidth + 1) continue;
        cut.push(name);
        if (!cell.matches(".shrinks, thead th, :has(> .status > .reason)")) found.add(`${name}: cuts "${part.textContent.slice(0, 30)}"`);
        if (part.clientWidth < Math.min(part.scrollWidth, cell.matches(":has(> .status)") ? 40 : 76) - 1) found.add(`${name}: only ${part.clientWidth} px for "${part.textContent.slice(0, 30)}"`);
        if (!cell.title && !part.title && !head.contains(part)) found.add(`${name}: no title for "${part.textContent.slice(0, 30)}"`);
      }
      if (!cell.matches(".shrinks") && cell.scrollWidth > cell.clientWidth + 1) found.add(`${name}: too narrow for "${cell.textContent.trim().slice(0, 30)}"`);
    }
    const [width, content] = [box(head).width, Math.max(...cells.map(needs))];
    // A column of short texts may be as wide as the least width of long ones.
    if (width - content > 24 && width > 160) spare.push(`${name} has ${Math.round(width - content)} px more than it needs`);
  }
  const actions = columns.at(-1);
  if (box(actions.head).width > 96) spare.push(`${Math.round(box(actions.head).width)} px are empty after the last column`);
  const texts = cut.filter((name) => !columns.find((one) => one.name === name)?.head.querySelector(".full[title]"));
  if (texts.length) for (const one of spare) found.add(`${one}, while ${[...new Set(texts)].join()} is cut`);
  const chosen = "chosen" in table.dataset;
  const least = columns.filter(({ cells }) => cells.some((cell) => cell.matches(".shrinks, :has(> .status)"))).some(({ head }) => box(head).width > 16 * 16);
  if (scrolls && !chosen && least) found.add("scrolls, while a text has more room than it needs");
  return [...found];
}
