// What can be measured of the page that is shown, as one object. Names of elements are for people.
() => {
  const name = (element) => {
    const text = (element.textContent ?? "").trim().slice(0, 40);
    return `${element.tagName.toLowerCase()}${element.id ? "#" + element.id : ""}.${[...element.classList].join(".")} "${text}"`;
  };
  const shown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const all = (selector) => [...document.querySelectorAll(selector)].filter(shown);
  const box = (element) => element.getBoundingClientRect();
  const style = (element) => getComputedStyle(element);
  const inView = (element) => {
    const { top, bottom, left, right } = box(element);
    return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
  };
  // The right edge of what is in a cell, and the left one, whatever the cell's own width.
  const edges = (cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    const boxes = [...range.getClientRects()].filter(({ width }) => width > 0);
    return boxes.length ? [Math.min(...boxes.map(({ left }) => left)), Math.max(...boxes.map(({ right }) => right))] : null;
  };

  const rows = all("#results tbody > tr");
  const columns = all("#results thead th[data-col]").map((head) => {
    const cells = [head, ...rows.map((row) => row.cells[head.cellIndex])].map(edges).filter(Boolean);
    return { name: head.dataset.col, left: Math.min(...cells.map(([left]) => left)), right: Math.max(...cells.map(([, right]) => right)) };
  });
  const gaps = columns.slice(1).map((column, at) => ({ between: `${columns[at].name} and ${column.name}`, pixels: column.left - columns[at].right }));

  const FLOATING = ".menu, dialog, .toast, .bulk, .updates > button, .rail:popover-open, [popover]";
  const casts = (element) => style(element).boxShadow.split(/,(?![^(]*\))/).some((one) => one !== "none" && !one.includes("inset"));

  // On a phone a table goes to the edge of the window, elsewhere to that of the page's content.
  const main = document.querySelector(".main");
  const edge = innerWidth < 768 || !main ? innerWidth : box(main).right - parseFloat(style(main).paddingRight);
  const scrolls = (one) => one !== main && one !== null && (style(one).overflowX === "auto" || scrolls(one.parentElement));

  // By how much the page is wider than its window: as it is, and when all is open and whatever a link or
  // the place itself is called has the longest name.
  const wider = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const LONGEST = "a-name-of-a-project-may-have-sixty-three-letters-and-no-more-ok";
  const named = () => {
    const names = all("#main a, #main a *, .scope *")
      .filter((one) => one.childElementCount === 0 && /^[a-z][-a-z0-9.]{2,}$/.test(one.textContent.trim()))
      .map(({ firstChild }) => [firstChild, firstChild.data]);
    const closed = all("#main details:not([open])");
    for (const one of closed) one.open = true;
    for (const [text] of names) text.data = LONGEST;
    const by = wider();
    for (const [text, before] of names) text.data = before;
    for (const one of closed) one.open = false;
    return by;
  };

  // Of an object's panels: the share of their width beyond all of their texts.
  const panels = document.querySelector(".panels");
  const unused = () => {
    const texts = document.createTreeWalker(panels, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    let right = 0;
    for (let text; (text = texts.nextNode()); ) {
      if (!text.textContent.trim() || !text.parentElement.checkVisibility()) continue;
      range.selectNodeContents(text);
      right = Math.max(right, ...[...range.getClientRects()].filter(({ width }) => width > 2).map((one) => one.right));
    }
    return 1 - (right - box(panels).left) / box(panels).width;
  };

  return {
    unused: panels ? unused() : 0,
    wider: wider(),
    named: innerWidth === 390 ? named() : 0,
    outside: all(".main table").filter((one) => box(one).right > edge + 1 && !scrolls(one)).map(name),
    rowsInView: rows.filter(inView).length,
    rowHeights: [...new Set(rows.map((row) => Math.round(box(row).height)))],
    gaps: gaps.filter(({ pixels }) => pixels > 240),
    current: all(".rail-link[aria-current]").map(name),
    primary: all(".button.primary").filter((one) => !one.closest("dialog")).map(name),
    danger: all(".button.danger").map(name),
    shadows: all("body *").filter((one) => casts(one) && !one.closest(FLOATING)).map(name),
    cutNames: all(".name .full, .name .stem").filter((one) => one.scrollWidth > one.clientWidth + 1 && style(one).display !== "inline").map(name),
    paleStems: all(".table .name:has(.suffix)").filter((one) => {
      const [stem, suffix] = [one.querySelector(".stem"), one.querySelector(".suffix")];
      return suffix.textContent && style(stem).color === style(suffix).color && !one.closest("[data-gone]");
    }).map(name),
    raggedNumbers: all("tbody .number").filter((one) => {
      const cell = one.closest(".table td");
      return cell && !(["end", "right"].includes(style(cell).textAlign) && style(one).fontVariantNumeric.includes("tabular-nums"));
    }).map(name),
    freshness: all(".freshness").some(inView),
    shell: document.querySelector(".shell") !== null,
    wideFields: all("form .input:not(yaml-editor .input)").filter((one) => box(one).width > 640.5).map(name),
    clipped: all("button, .button, .tool").filter((one) => one.scrollWidth > one.clientWidth + 1 && one.textContent.trim()).map(name),
    small: all("button, input:not([type=hidden]), select").filter((one) => {
      const targets = [one, one.closest(".tick"), one.labels?.[0]].filter(Boolean);
      return !targets.some((target) => Math.min(box(target).width, box(target).height) >= 23.9);
    }).map(name),
    headings: all("h1").length,
    title: document.title,
  };
}
