// A button that prints the page; hidden where this script does not run, since the browser's own menu prints too.
for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}
