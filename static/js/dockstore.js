// What this browser tab remembers of the dock: its tabs under `dock`, what a page in one keeps under `dock.ID`.

const KEY = "dock";
const closed = { owner: "", tabs: [], active: "", state: "open", height: 240 };

/** What was remembered, or what nobody has opened yet. */
export function remembered() {
  try {
    return { ...closed, ...JSON.parse(sessionStorage.getItem(KEY) ?? "{}") };
  } catch {
    return { ...closed };
  }
}

/** False if the browser has no room for it. */
export function remember(value, id = "") {
  try {
    sessionStorage.setItem(id ? `${KEY}.${id}` : KEY, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

export function keptOf(id) {
  try {
    return JSON.parse(sessionStorage.getItem(`${KEY}.${id}`));
  } catch {
    return null;
  }
}

/** What one tab kept, or all of the dock. */
export function forget(id = "") {
  if (id) return sessionStorage.removeItem(`${KEY}.${id}`);
  for (const key of Object.keys(sessionStorage)) {
    if (key === KEY || key.startsWith(`${KEY}.`)) sessionStorage.removeItem(key);
  }
}
