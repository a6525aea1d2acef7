// Updates ages in the browser, so that the server doesn't send rows only because time passes. Times are shown
// in the user's time zone, which the server doesn't know.

const { word } = window.quarterdeck;
const STEPS = [60, 3600, 86_400, 365 * 86_400];
const units = word("ages").split("|");
// The user's clock may be wrong, so ages are relative to the server's time when the page was rendered.
const skew = Date.now() - Number(document.body.dataset.now) * 1000;

/** Like the `age` template filter: only the largest unit, rounded down. */
function age(then) {
  const seconds = Math.max(0, Math.floor((Date.now() - skew - then) / 1000));
  const unit = STEPS.filter((step) => seconds >= step).length;
  return units[unit].replace("{n}", Math.floor(seconds / [1, ...STEPS][unit]));
}

const two = (number) => String(number).padStart(2, "0");
const hours = (date) => [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
const day = (date) => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;

/** Local time, such as 12:03:11, with the date unless it is today. */
function clock(then) {
  const date = new Date(then);
  return date.toDateString() === new Date().toDateString() ? hours(date) : `${day(date)} ${hours(date)}`;
}

const zones = new Intl.DateTimeFormat("en", { timeZoneName: "short" });

/** Local time with date and zone, such as 2026-11-21 20:10:11 GMT+8. */
function moment(then) {
  const date = new Date(then);
  const zone = zones.formatToParts(date).find(({ type }) => type === "timeZoneName").value;
  return `${day(date)} ${hours(date)} ${zone}`;
}

/** Formats by the element's data attributes. */
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

// Set the tooltip only for the hovered element: a list has thousands, and morphing resets each to the
// server's version.
document.addEventListener("pointerover", ({ target }) => {
  const element = target.closest?.("time[title]");
  const then = Date.parse(element?.dateTime);
  if (!Number.isNaN(then)) element.title = moment(then);
});
setInterval(() => document.hidden || tick(), 1000);
document.addEventListener("visibilitychange", tick);
tick();
Object.assign(window.quarterdeck, { clock, skew, tick });
