// Choosing rows of a list: all of them by the box in the head, the one that has the focus by x.

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
