// Rows for more new keys: copies of the one that the page has as a template.

const button = document.getElementById("add-key");
const template = document.getElementById("new-key");

button.addEventListener("click", () => {
  const number = document.querySelectorAll(".value-row input[name^=new-key-]").length;
  const row = template.content.cloneNode(true);
  for (const field of row.querySelectorAll("[name]")) {
    field.name = field.name.replace("-any", `-${number}`);
    field.id = field.id.replace("-any", `-${number}`);
  }
  for (const label of row.querySelectorAll("[for]")) label.htmlFor = label.htmlFor.replace("-any", `-${number}`);
  button.parentElement.before(row);
  document.querySelector(`[name=new-key-${number}]`).focus();
  button.disabled = number + 1 >= Number(button.dataset.most);
});
