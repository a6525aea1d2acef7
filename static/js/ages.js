// Ages count on by themselves, so the server never sends a row for the clock alone. Moments are told in the
// reader's zone, which the server does not know.

const { word } = window.quarterdeck;
const STEPS = [60, 3600, 86_400, 365 * 86_400];
const units = word("ages").split("|");
// The reader's clock may be wrong; what counts is the server's at the time of the page.
const skew = Date.now() - Number(document.body.dataset.now) * 1000;

/** As the server's `age` filter: the largest unit alone, cut. */
function age(then) {
  const seconds = Math.max(0, Math.floor((Date.now() - skew - then) / 1000));
  const unit = STEPS.filter((step) => seconds >= step).length;
  return units[unit].replace("{n}", Math.floor(seconds / [1, ...STEPS][unit]));
}

const two = (number) => String(number).padStart(2, "0");
const hours = (date) => [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
const day = (date) => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;

/** 12:03:11 where the reader is, with the day unless it is today's. */
function clock(then) {
  const date = new Date(then);
  return date.toDateString() === new Date().toDateString() ? hours(date) : `${day(date)} ${hours(date)}`;
}

const zones = new Intl.DateTimeFormat("en", { timeZoneName: "short" });

/** 2026-11-21 20:10:11 GMT+8, where the reader is. */
function moment(then) {
  const date = new Date(then);
  const zone = zones.formatToParts(date).find(({ type }) => type === "timeZoneName").value;
  return `${day(date)} ${hours(date)} ${zone}`;
}

/** How the text of an element tells its time. */
function told(element, then) {
  if (element.classList.contains("clock")) return clock(then);
  return element.classList.contains("moment") ? moment(then) : age(then);
}

function tick() {
  for (const element of document.querySelectorAll(".age > time:not(.moment), time.clock, time.moment")) {
    const then = Date.parse(element.dateTime);
    if (Number.isNaN(then)) continue;
    const text = told(element, then);
    if (element.textContent !== text) element.textContent = text;
  }
}

// Only the one that is pointed at: a list has thousands, and each is morphed back to the server's.
document.addEventListener("pointerover", ({ target }) => {
  const element = target.closest?.("time[title]");
  const then = Date.parse(element?.dateTime);
  if (!Number.isNaN(then)) element.title = moment(then);
});
setInterval(() => document.hidden || tick(), 1000);
document.addEventListener("visibilitychange", tick);
tick();
Object.assign(window.quarterdeck, { clock, skew, tick });
