// Session storage for terminals across page loads: ID, rendered output and resume position. Removed when the
// browser tab is closed, the session ends or the shell ends.

const PREFIX = "terminal:";
const encode = (bytes) => btoa(String.fromCharCode(...bytes));
const decode = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));

/** The storage key: a page and a frame with the same URL have different keys. */
const name = (address) => `${PREFIX}${self === top ? "page" : "frame"}:${address}`;

/** Return and remove the state, if it belongs to `account`. */
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
    // The storage is full: the next page opens a new shell.
    forget();
  }
}

/** Remove the state of all terminals. */
export function forget() {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
}
