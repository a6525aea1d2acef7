// Refreshes a part of the page as a whole: every `data-poll` seconds, or when the websocket reports that
// `data-url` has changed. There are no requests while the page is paused or hidden, and no parallel ones. The
// freshness of the full page is also updated. With `data-etag`, the server responds 304 if nothing has
// changed.

const { skew, tick, reread } = window.quarterdeck;
const root = document.documentElement;
const part = document.querySelector("[data-poll], [data-etag][data-url]");
const paused = () => document.hidden || root.hasAttribute("data-paused");
// Attributes that belong to the user or to scripts; the server's version must not overwrite them.
const KEPT = new Set(["open", "aria-pressed"]);
const MORPH = {
  morphStyle: "outerHTML",
  callbacks: {
    beforeAttributeUpdated: (name) => !KEPT.has(name),
    // Content that was loaded when the element was opened is missing in the server's version.
    beforeNodeMorphed: (node) => !(node instanceof Element && node.matches("details[data-kept][open]")),
  },
};

async function ask(url, headers) {
  const response = await fetch(url, { headers });
  return { response, text: await response.text() };
}

let asking = null;
/** Return false if the console doesn't respond. */
async function draw() {
  const { etag, url = location.href } = part.dataset;
  asking ??= ask(url, etag ? { "If-None-Match": etag } : {}).catch(() => null);
  const answer = await asking;
  if (!asking) return true;
  asking = null;
  if (!answer || answer.response.status >= 500) {
    document.body.dataset.live = "off";
    return false;
  }
  const { response, text } = answer;
  if (response.status === 304) {
    for (const time of part.querySelectorAll("time[data-updated]")) {
      time.dateTime = new Date(Date.now() - skew).toISOString();
    }
    tick();
    return true;
  }
  if (!response.ok || response.redirected) {
    reread();
    return true;
  }
  const page = new DOMParser().parseFromString(text, "text/html");
  for (const id of [part.id, "freshness", "banner"]) {
    const fresh = page.getElementById(id);
    if (fresh) Idiomorph.morph(document.getElementById(id), fresh, MORPH);
  }
  document.body.dataset.live = page.body.dataset.live;
  tick();
  return true;
}

if (part?.dataset.url) Object.assign(window.quarterdeck, { page: part, draw });

async function poll() {
  if (!paused()) await draw();
  // A new version of the part may end the polling.
  if (part.dataset.poll) setTimeout(poll, part.dataset.poll * 1000);
}

if (part?.dataset.poll) {
  document.addEventListener("visibilitychange", () => document.hidden || draw());
  setTimeout(poll, part.dataset.poll * 1000);
}
