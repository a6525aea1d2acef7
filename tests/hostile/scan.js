// What is wrong with a page, in words: whatever no template of ours has put there; and where it leads.
// Given: the names of our own elements with those of their attributes, as JSON; what scripts add, as a
// pattern; a number that only stands on a page if a text was evaluated; and the address and the text of a
// page that is not open, or null for the one that is.
([markup, added, evaluated, other]) => {
  const found = other ? [] : [...window.zqxSeen];
  // Of what is no page of ours the browser makes one of its own.
  if (!other && document.contentType !== "text/html") return { found, links: [] };
  const base = other ? other.url : location.href;
  const shown = other ? new DOMParser().parseFromString(other.text, "text/html") : document;
  const report = (what, element) => found.push(`${what}: ${element.outerHTML.slice(0, 160)}`);
  const known = new Map(Object.entries(JSON.parse(markup)).map(([tag, names]) => [tag, new Set(names)]));
  const more = new RegExp(`^(${added})$`);
  const ours = new Set(["script", "link", "meta", "title", "base", "style"]);
  const unseen = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u;
  const where = new Set(["href", "src", "action", "formaction", "xlink:href", "hx-get", "hx-post", "ws-connect", "data-url", "data-source"]);
  const ids = new Set();
  const walk = (root) => {
    for (const element of root.querySelectorAll("*")) {
      // What xterm.js draws; a terminal has tests of its own.
      if (element.parentElement?.closest("[data-terminal-url]")) continue;
      const tag = element.localName;
      const names = known.get(tag);
      if (!names) report("foreign element", element);
      const placed = !element.closest("body") || (tag === "title" && element.closest("svg"));
      if (ours.has(tag) && !placed) report("out of place", element);
      if (element.id) {
        if (ids.has(element.id)) report("id twice", element);
        ids.add(element.id);
      }
      for (const { name, value } of element.attributes) {
        if (/^on|^srcdoc$|^hx-on|^hx-vars$/.test(name) || (name === "hx-vals" && /zqx|js:|javascript:/.test(value))) report("handler", element);
        else if (tag === "table" && name === "style") {
          // The widths of columns (static/js/columns.js).
          if (!/^--tracks: (\d[\d.]*px )+minmax\(0, 1fr\); --total: [\d.]+(px)?;$/.test(value)) report(`foreign attribute ${name} ${value}`, element);
        } else if (!names?.has(name.toLowerCase()) && !more.test(name)) report(`foreign attribute ${name}`, element);
        if (where.has(name) && value) {
          let url = null;
          try { url = new URL(value, base); } catch { report("no address", element); }
          const inside = url && url.origin === location.origin && !url.pathname.startsWith("/zqx");
          const documents = element.rel === "noreferrer" && url?.protocol === "https:" && !url.host.includes("zqx");
          // The code of the second factor, for a camera.
          const drawn = tag === "img" && element.className === "qr" && value.startsWith("data:image/svg+xml;") && !value.includes("zqx");
          if (url && !inside && !documents && !drawn) report("foreign address", element);
        }
        if (unseen.test(value) && !name.startsWith("data-") && name !== "value") report(`unseen character in ${name}`, element);
      }
      for (const node of element.childNodes) {
        if (node.nodeType === Node.COMMENT_NODE && node.data.includes("zqx")) report("comment", element);
        if (node.nodeType !== Node.TEXT_NODE) continue;
        if (unseen.test(node.data)) report("unseen character", element);
        if (node.data.includes(evaluated)) report("evaluated", element);
      }
      if (tag === "template") walk(element.content);
    }
  };
  walk(shown);
  const links = [...shown.querySelectorAll("a[href]")].map((a) => new URL(a.getAttribute("href"), base).href);
  if (other) return { found, links };
  if (sessionStorage.getItem("htmx-history-cache")) found.push("a page is kept in the browser");
  if (window.zqx !== undefined || Object.prototype.zqx !== undefined) found.push("a global of theirs");
  return { found, links };
}
