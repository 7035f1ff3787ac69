// Copies the exact text of an element: <button data-copy="ID">. For JSON data and form fields, this is the value. Only
// JSON preserves all characters when HTML is parsed.
//
// <a data-copy-from href="…"> copies the text at its URL. Without JavaScript, the link opens the text.
//
// A button with aria-disabled="true" copies nothing and shows the reason in data-blocked.
// After a copy, the button receives the event "copied", with which htmx can record it: hx-trigger="copied".

const say = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));

function textOf(source) {
  if (!source) return null;
  if (source.matches('script[type="application/json"]')) return JSON.parse(source.textContent);
  if (source.matches("textarea, input")) return source.value;
  return (source.content ?? source).textContent;
}

const textAt = (address) =>
  fetch(address).then((answer) => (answer.ok && !answer.redirected ? answer.text() : null), () => null);

async function put(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // navigator.clipboard requires HTTPS. A copy event preserves line endings, and a hidden text area would not.
    const fill = (event) => {
      event.clipboardData.setData("text/plain", text);
      event.preventDefault();
    };
    document.addEventListener("copy", fill);
    const done = document.execCommand("copy");
    document.removeEventListener("copy", fill);
    return done;
  }
}

async function copyFor(button) {
  const { copy, copied, blocked, failed } = button.dataset;
  if (button.getAttribute("aria-disabled") === "true") {
    say("toast", { text: blocked, tone: "warning", id: "copy" });
    return;
  }
  const text = button.matches("[data-copy-from]") ? await textAt(button.href) : textOf(document.getElementById(copy));
  if (text === null || !(await put(text))) {
    say("toast", { text: failed, tone: "error", id: "copy" });
    return;
  }
  say("announce", { text: copied });
  button.dispatchEvent(new CustomEvent("copied", { bubbles: true }));
  button.dataset.done = "";
  setTimeout(() => delete button.dataset.done, 2000);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy], [data-copy-from]");
  if (!button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (button.matches("a")) event.preventDefault();
  copyFor(button);
});
