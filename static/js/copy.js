// Copies exact text: <button data-copy="ID">. ID names an element; JSON data (Django's json_script)
// and form fields give their value, anything else its text. JSON is what scripts should use: it is
// the only one of them in which carriage returns and control characters survive HTML parsing.
//
// A button with aria-disabled="true" copies nothing and says why (data-blocked).
// After a copy the button gets the event "copied" (bubbles), for recording it:
// hx-post="…" hx-trigger="copied".

const say = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));

function textOf(source) {
  if (source.matches('script[type="application/json"]')) return JSON.parse(source.textContent);
  if (source.matches("textarea, input")) return source.value;
  return (source.content ?? source).textContent;
}

async function put(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without HTTPS there is no navigator.clipboard. A copy event carries the text unaltered,
    // which a hidden text field would not: it turns every line end into \n.
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
  const source = document.getElementById(copy);
  if (!source || !(await put(textOf(source)))) {
    say("toast", { text: failed, tone: "error", id: "copy" });
    return;
  }
  say("announce", { text: copied });
  button.dispatchEvent(new CustomEvent("copied", { bubbles: true }));
  button.dataset.done = "";
  setTimeout(() => delete button.dataset.done, 2000);
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-copy]");
  if (button) copyFor(button);
});
