// What sort of element one is: its name and classes, and what tells people who do not see it what it is.
(one) => [
  [one.localName, ...one.classList].join("."), one.getAttribute("role"), one.getAttribute("type"), one.labels?.length > 0,
  ...one.getAttributeNames().filter((name) => /^(aria-|alt$|title$|lang$|for$)/.test(name)),
].join(" ")
