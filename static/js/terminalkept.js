// What a terminal keeps in this tab while a page is loaded anew: its id, what was drawn, and where to go on. It is gone
// with the tab, with the session, and with the shell.

const PREFIX = "terminal:";
const encode = (bytes) => btoa(String.fromCharCode(...bytes));
const decode = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));

/** Of a place on the screen: a page, or a frame of one. */
const name = (address) => `${PREFIX}${self === top ? "page" : "frame"}:${address}`;

/** `account`: whoever is another one finds nothing. */
export function take(address, account) {
  const key = name(address);
  try {
    const found = JSON.parse(sessionStorage.getItem(key));
    if (found?.account !== account) return null;
    return { ...found, rest: decode(found.rest), typed: decode(found.typed) };
  } catch {
    return null;
  } finally {
    sessionStorage.removeItem(key);
  }
}

export function keep(address, { rest, typed, ...found }) {
  try {
    sessionStorage.setItem(name(address), JSON.stringify({ ...found, rest: encode(rest), typed: encode(typed) }));
  } catch {
    // There is no room: then the shell is a new one.
    forget();
  }
}

/** Everything that terminals of this tab have kept. */
export function forget() {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
}
