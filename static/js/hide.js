// Hides revealed values after a timeout, also after the computer was asleep, and on pages from the
// back/forward cache.

const link = document.querySelector("a[data-hide-after]");
const until = Date.now() + Number(link.dataset.hideAfter) * 1000;
// Don't leave the values in the session history.
const hide = () => location.replace(link.href);

setInterval(() => Date.now() < until || hide(), 1000);
addEventListener("pageshow", ({ persisted }) => persisted && hide());
