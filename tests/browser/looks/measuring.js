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

  // What of the page's texts and controls is cut where nothing scrolls and no dots say so, ends beyond the window, also
  // where that makes the page no wider, lies upon another of them, or has no room for words. What floats is in the window
  // as a whole. Rows of a table after some of its own are left out.
  const EVERYWHERE = { left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity };
  const CONTROLS = "button, input:not([type=hidden], .password > *), select, textarea, summary, a.button, a.tool, .chip > a";
  const ELSEWHERE = "svg, option, textarea, kbd, script, style, .code, .log, .xterm, .cm-editor, tbody > tr:nth-child(n+9)";
  const common = (one, other) => ({
    left: Math.max(one.left, other.left), right: Math.min(one.right, other.right),
    top: Math.max(one.top, other.top), bottom: Math.min(one.bottom, other.bottom),
  });
  const some = ({ left, right, top, bottom }) => right - left > 2 && bottom - top > 2;
  const placed = (floating = `${FLOATING}, .toasts`) => {
    const known = new Map([[document.body, { shows: EVERYWHERE, layer: null, scrolls: false, dots: false }]]);
    // Which part of the window shows it, and what it floats with.
    const around = (element) => {
      if (!known.has(element)) {
        const { position, overflowX, clipPath, textOverflow } = style(element);
        const floats = position === "fixed" || element.matches("dialog[open]");
        const found = { ...around(floats ? document.body : element.parentElement) };
        if (floats || position === "sticky") found.layer = element;
        if (overflowX !== "visible" || clipPath !== "none") {
          found.shows = common(found.shows, box(element));
          found.scrolls ||= overflowX === "auto";
          found.dots = textOverflow === "ellipsis";
        }
        known.set(element, found);
      }
      return known.get(element);
    };
    const found = [];
    const parts = [];
    const add = (element, whole, text) => {
      const { shows, layer, scrolls, dots } = around(element);
      const part = common(whole, shows);
      // For readers of the screen alone.
      if (shows.right - shows.left < 2) return;
      if (!scrolls && !dots && (whole.right > shows.right + 1 || whole.left < shows.left - 1)) found.push(`cut: ${name(element)}`);
      if (!some(part)) return;
      if (!scrolls && (part.right > innerWidth + 1 || part.left < -1)) found.push(`beyond: ${name(element)}`);
      // Letters are not as high as their line.
      const edge = text ? (part.bottom - part.top) / 4 : 1;
      parts.push({ ...part, top: part.top + edge, bottom: part.bottom - edge, element, text, layer });
    };
    const { FILTER_ACCEPT, FILTER_REJECT, FILTER_SKIP, SHOW_ELEMENT, SHOW_TEXT } = NodeFilter;
    const texts = document.createTreeWalker(document.body, SHOW_ELEMENT | SHOW_TEXT, (node) => {
      if (node.nodeType === Node.TEXT_NODE) return node.data.trim() ? FILTER_ACCEPT : FILTER_SKIP;
      return node.matches(ELSEWHERE) || !node.checkVisibility() ? FILTER_REJECT : FILTER_SKIP;
    });
    const range = document.createRange();
    for (let text; (text = texts.nextNode()); ) {
      if (!shown(text.parentElement)) continue;
      range.selectNodeContents(text);
      const lines = [...range.getClientRects()].filter(({ width }) => width > 1);
      for (const one of lines) add(text.parentElement, one, text);
      const { shows } = around(text.parentElement);
      if (shows.right - shows.left > 2 && lines.length > 2 && text.data.trim().length < 4 * lines.length) found.push(`squeezed: ${name(text.parentElement)}`);
    }
    for (const one of all(floating)) {
      const { top, bottom, left, right } = box(one);
      if (style(one).position === "fixed" && (top < 0 || left < 0 || bottom > innerHeight + 1 || right > innerWidth + 1)) found.push(`beyond: ${name(one)}`);
    }
    for (const element of all(CONTROLS)) if (!element.closest(ELSEWHERE)) add(element, box(element));
    parts.sort((one, other) => one.top - other.top);
    parts.forEach((one, at) => {
      for (let next = at + 1; parts[next]?.top < one.bottom; next++) {
        const other = parts[next];
        const within = !(one.text && other.text) && (one.element.contains(other.element) || other.element.contains(one.element));
        if (within || one.layer !== other.layer || (one.text && one.text === other.text)) continue;
        if (some(common(one, other))) found.push(`upon each other: ${name(one.element)} and ${name(other.element)}`);
      }
    });
    return [...new Set(found)];
  };

  // By how much the page is wider than its window: as it is, and when all is open and whatever a link, a value or
  // the place itself is called is as long as a name may be, without a place where a line could end.
  const wider = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const NAMED = "#main :is(a, td, dd, code, p, li, .full, .message, .reason), .scope li, :popover-open a, dialog[open] a";
  const FIXED = "svg, button, select, time, kbd, .button, .tabs, .tally, .pager, .number, .count, .sort, .word, .more, .hint, .log, .code, [data-col=ready]";
  const named = () => {
    const names = all(`${NAMED}, :is(${NAMED}) *`)
      .filter((one) => one.childElementCount === 0 && !one.closest(FIXED) && /^[\w.:/=-]*[a-z][\w.:/=-]+$/i.test(one.textContent.trim()))
      .map(({ firstChild }) => [firstChild, firstChild.data]);
    // In Chinese whatever is not is somebody's, wherever it stands.
    if (document.documentElement.lang.startsWith("zh")) {
      const texts = document.createTreeWalker(document.querySelector("#main"), NodeFilter.SHOW_TEXT);
      const known = new Set(names.map(([text]) => text));
      for (let text; (text = texts.nextNode()); ) {
        if (known.has(text) || text.parentElement.closest("svg, select, time, kbd, script, template, .log, .code, [data-col=ready]")) continue;
        if (/^[a-z0-9][a-z0-9.-]{2,}$/.test(text.data.trim()) && /[a-z]{3}/.test(text.data)) names.push([text, text.data]);
      }
    }
    // So may be what the page is about where a button names it.
    const titles = all("h1").flatMap(({ textContent }) => textContent.split(/\s+/));
    const about = decodeURIComponent(location.pathname).split("/").filter((one) => titles.includes(one));
    const called = new Set([...about, ...names.map(([, before]) => before.trim()).filter((one) => /^[a-z0-9][a-z0-9.-]{2,}$/.test(one))]);
    for (const { childNodes } of all("#main .button")) {
      const text = [...childNodes].findLast((one) => one.nodeType === Node.TEXT_NODE && one.data.trim());
      if (text?.data.trim().split(/\s+/).some((word) => called.has(word))) names.push([text, text.data]);
    }
    // A field that offers names is as wide as the longest of them, where nothing else says how wide.
    for (const { options, selectedOptions } of all("#main select")) {
      if (![...options].some(({ text }) => /^[a-z0-9][a-z0-9.-]{2,}$/.test(text))) continue;
      names.push(...[...selectedOptions].flatMap(({ firstChild }) => (firstChild ? [[firstChild, firstChild.data]] : [])));
    }
    const closed = all("#main details:not([open])");
    for (const one of closed) one.open = true;
    for (const [text] of names) text.data = "w".repeat(63);
    // What floats is beside its opener, which may have left the window by that. A word may be broken for a name, but not the
    // name for less.
    const found = { by: wider(), placed: placed("dialog").filter((one) => !one.startsWith("squeezed") || one.includes("www")) };
    for (const [text, before] of names) text.data = before;
    for (const one of closed) one.open = false;
    return found;
  };

  // Of a list on a phone: what a row's first line and its second one do not say, and what stands on neither.
  const astray = () => {
    const row = rows[0];
    const cell = (column) => row.querySelector(`:scope > ${column}`);
    const middle = (one) => (box(one).top + box(one).bottom) / 2;
    const first = cell(row.closest("[data-resource=events]") ? "[data-col=object]" : ".name");
    const lost = (those) => those.map(cell).filter(Boolean).filter((one) => !shown(one));
    const [above, below] = [["[data-col=age]"], ["[data-col=status]", "[data-col=namespace]", "[data-col=ready]"]];
    const others = row.closest("[data-bulk]") ? [".tick", ".actions"] : [".actions"];
    return [
      ...lost([...above, ...below, ...others]).map((one) => `not shown: ${one.dataset.col ?? one.className}`),
      ...[first, ...above.map(cell)].filter(Boolean).filter((one) => box(one).top > box(row).top + 24).map((one) => `not above: ${one.dataset.col}`),
      ...below.map(cell).filter(Boolean).filter((one) => middle(one) < box(first).bottom - 2).map((one) => `not below: ${one.dataset.col}`),
      ...[...row.cells].filter((one) => shown(one) && !row.closest("[data-chosen]") && ![first, ...[...above, ...below, ...others].map(cell)].includes(one)).map((one) => `on neither: ${one.dataset.col}`),
    ];
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

  const long = innerWidth === 390 ? named() : { by: 0, placed: [] };
  return {
    unused: panels ? unused() : 0,
    wider: wider(),
    named: long.by,
    placed: [...placed(), ...long.placed.map((one) => `with long names ${one}`)],
    astray: innerWidth === 390 && rows.length ? astray() : [],
    collapsed: all(".code .line, .code.whole, .code.sentence, .log-text, .diff .source").filter((one) => !style(one).whiteSpaceCollapse.startsWith("preserve")).map(name),
    twoIcons: all("button, .button, .tool, .copy").filter((one) => [...one.querySelectorAll(":scope > .icon")].filter(shown).length > 1).map(name),
    forReaders: all(".visually-hidden, .table caption, .grid thead, #panel-cause > h2").filter((one) => Math.max(box(one).width, box(one).height) > 1.5 && (style(one).position === "absolute" || innerWidth < 768) && one.tagName !== "CAPTION").map(name),
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
