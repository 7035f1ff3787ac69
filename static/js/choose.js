// Selects rows of a list: all rows with the checkbox in the header, and the focused row with x.

const boxes = () => [...document.querySelectorAll("[data-choose]")];

function setUp(head) {
  head.hidden = false;
  head.addEventListener("change", () => boxes().forEach((box) => { box.checked = head.checked; }));
}

for (const head of document.querySelectorAll("[data-choose-all]")) setUp(head);

document.addEventListener("keydown", (event) => {
  const row = document.activeElement?.matches("[data-row]") && document.activeElement.closest("tr");
  if (event.key !== "x" || !row || event.altKey || event.ctrlKey || event.metaKey) return;
  if (document.body.classList.contains("keys-off")) return;
  row.querySelector("[data-choose]")?.click();
  event.preventDefault();
});
