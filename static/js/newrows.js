// Adds form rows by copying a template element of the page.

for (const button of document.querySelectorAll("[data-adds]")) {
  const template = document.getElementById(button.dataset.adds);
  let number = Number(button.dataset.next);
  button.addEventListener("click", () => {
    const row = template.content.cloneNode(true);
    for (const field of row.querySelectorAll("[name]")) {
      field.name = field.name.replace("-any", `-${number}`);
      field.id = field.id.replace("-any", `-${number}`);
    }
    for (const label of row.querySelectorAll("[for]")) label.htmlFor = label.htmlFor.replace("-any", `-${number}`);
    const first = row.querySelector("[name]");
    button.parentElement.before(row);
    first.focus();
    number += 1;
    button.disabled = number >= Number(button.dataset.end);
  });
}
