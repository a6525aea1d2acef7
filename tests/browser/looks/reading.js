// What is read of the page at an address without opening it, as one object: where it leads, what is written on it, hidden or
// not, but for what the cluster wrote, and the sorts of elements that it is made of.
(sort) => async (path) => {
  // What the cluster wrote is in its own language.
  const DATA = ".reason, .message, .cause, code, pre, kbd, samp, .name, .stem, .suffix, .full, .values dd, .facts dd, tbody td, tbody th, .where, .related, .related-line, .happened, .place, .own, .link, svg, script, style, template, [lang=en], bdi, option, .brand, .hits, .title, .problem, .crumbs, .attempt, .chip, .scope, .menu, .log-text, .log-source, .now, textarea";
  // And what is in English wherever it stands: what is typed, and what the cluster says word for word.
  const QUOTED = "pre, code, kbd, samp, svg, script, style, template, option, [lang=en], .message, .log-text";
  const answer = await fetch(path);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const found = (links) => [...page.querySelectorAll(links)].map((link) => link.getAttribute("href"));
  const walker = document.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  const words = new Set();
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    if (text && !walker.currentNode.parentElement.closest(DATA)) texts.push(text);
    // A reason may be Kubernetes' word, or a sentence of ours.
    const quoted = text.includes(" ") ? QUOTED : `${QUOTED}, .reason`;
    if (text && !walker.currentNode.parentElement.closest(quoted)) words.add(text);
  }
  return {
    rail: found(".rail-link"),
    kinds: found(".resources a"),
    rows: found("#results tbody .name > a"),
    tabs: found(".tabs > a"),
    acts: found(".detail .acts a"),
    risky: found(".detail .acts a:is(.risky, .danger)"),
    texts,
    words: [...words],
    sorts: [...new Set([...page.querySelectorAll("#main *")].map(sort))],
  };
}
