// Ages count on by themselves, so the server never sends a row for the clock alone.

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

/** 12:03:11 where the reader is, with the day unless it is today's. */
function clock(then) {
  const two = (number) => String(number).padStart(2, "0");
  const date = new Date(then);
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  if (date.toDateString() === new Date().toDateString()) return time;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

function tick() {
  for (const element of document.querySelectorAll(".age > time, time.clock")) {
    const then = Date.parse(element.dateTime);
    if (Number.isNaN(then)) continue;
    const text = element.classList.contains("clock") ? clock(then) : age(then);
    if (element.textContent !== text) element.textContent = text;
  }
}

setInterval(() => document.hidden || tick(), 1000);
document.addEventListener("visibilitychange", tick);
tick();
Object.assign(window.quarterdeck, { clock, skew, tick });
