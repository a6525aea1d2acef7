// Session storage of the dock: its tabs under `dock`, the state of each tab's page under `dock.ID`.

const KEY = "dock";
const closed = { owner: "", tabs: [], active: "", state: "open", height: 240 };

/** The stored state of the dock, or the initial state. */
export function remembered() {
  try {
    return { ...closed, ...JSON.parse(sessionStorage.getItem(KEY) ?? "{}") };
  } catch {
    return { ...closed };
  }
}

/** Return false if the storage is full. */
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

/** Remove the state of one tab, or of the entire dock. */
export function forget(id = "") {
  if (id) return sessionStorage.removeItem(`${KEY}.${id}`);
  for (const key of Object.keys(sessionStorage)) {
    if (key === KEY || key.startsWith(`${KEY}.`)) sessionStorage.removeItem(key);
  }
}
