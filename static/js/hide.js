// What was revealed leaves the screen by itself, also of a computer that slept meanwhile and of a page that
// the browser had kept for its Back button.

const link = document.querySelector("a[data-hide-after]");
const until = Date.now() + Number(link.dataset.hideAfter) * 1000;
// The values take no place in the history.
const hide = () => location.replace(link.href);

setInterval(() => Date.now() < until || hide(), 1000);
addEventListener("pageshow", ({ persisted }) => persisted && hide());
