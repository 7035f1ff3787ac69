// A button that prints the page. Without JavaScript, it stays hidden, because the browser's menu can print too.
for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}
