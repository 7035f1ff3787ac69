// Clicks the copy button for which a page was opened, while the browser still accepts the preceding click. If the browser
// blocks the copy, the button says so, and the user can click it.
document.querySelector("[data-copy-now] [data-copy]")?.click();
