// Keyboard shortcuts of controls with data-key: links, buttons, radio buttons and fields.
//
//   data-key="a", "enter"  that key
//   data-key="mod+enter"   Ctrl, or Command on a Mac; the only kind that works while typing
//   data-key="g q"         two keys within a second
//
// A key clicks its control, or focuses a field. Hidden and disabled controls have no key, and while a dialog is open,
// only its own controls have keys. The help sheet names a key by data-key-label, or else by the control's label, title
// or text.
//   j and k move between elements marked data-row (a row's main link); ? opens the sheet.
//
// The browser's own shortcuts are not changed, so Alt is never used, and Ctrl only for "mod+". Users who dictate or
// mistype can turn off single keys in the sheet (WCAG 2.1.4), but mod+ combinations stay.

const STORE = "scriptsmith-keys";
const SEQUENCE_MS = 1000;
const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
const sheet = document.getElementById("keys");
let previous = { key: "", at: 0 };

// Private windows can block storage. Keys then stay on.
function areOff() {
  try { return localStorage[STORE] === "off"; } catch { return false; }
}

function remember(off) {
  try { localStorage[STORE] = off ? "off" : "on"; } catch { /* for this page only */ }
  document.body.classList.toggle("keys-off", off);
}

const isField = (element) => element.matches("select, textarea, input:not([type=checkbox], [type=radio], [type=submit])");
const isTyping = (element) => isField(element) || element.isContentEditable;

function usable(element) {
  const dialog = document.querySelector("dialog:modal");
  return (!dialog || dialog.contains(element)) && !element.matches(":disabled, [inert] *") && element.checkVisibility();
}

const controls = () => [...document.querySelectorAll("[data-key]")].filter(usable);

/** Return the control of a key. If multiple controls have it, prefer the control in this form. */
function find(key, form) {
  const found = controls().filter((control) => control.dataset.key === key);
  return found.find((control) => form && control.form === form) ?? found[0];
}

function use(control) {
  // If the control opens a panel with a first field, focus that field.
  const first = control.matches("summary") && control.parentElement.querySelector("[data-first]");
  if (first) control.parentElement.open = true;
  if (first) control = first;
  if (isField(control)) {
    control.focus();
    // Move the cursor to the end of a text area, and select the content of a single-line field.
    if (control.matches("textarea")) control.setSelectionRange(control.value.length, control.value.length);
    else control.select?.();
    return;
  }
  control.focus({ preventScroll: control.type === "radio" });
  control.click();
}

function moveRow(step) {
  const rows = [...document.querySelectorAll("[data-row]")].filter(usable);
  const row = rows[Math.max(0, Math.min(rows.length - 1, rows.indexOf(document.activeElement) + step))];
  row?.focus();
  row?.closest("tr, li")?.scrollIntoView({ block: "nearest" });
  return Boolean(row);
}

function act(key) {
  const now = performance.now();
  const sequence = now - previous.at < SEQUENCE_MS ? find(`${previous.key} ${key}`) : null;
  previous = sequence ? { key: "", at: 0 } : { key, at: now };
  const control = sequence ?? find(key);
  if (control) use(control);
  else if (key === "?" && sheet && !document.querySelector("dialog:modal")) showSheet();
  else if (key === "j" || key === "k") return moveRow(key === "j" ? 1 : -1);
  else return false;
  return true;
}

// Arrows move through the palette's results. Enter opens the first result, or searches if the query has changed.
const palette = document.getElementById("palette");
palette?.addEventListener("keydown", (event) => {
  const { key, target } = event;
  const stops = [...palette.querySelectorAll("input, [data-row]")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  const chosen = step ? stops[stops.indexOf(document.activeElement) + step] : null;
  if (step) chosen?.focus();
  else if (key === "Enter" && target.value?.trim() === palette.querySelector(".found")?.dataset.query && stops.length > 1) stops[1].click();
  else return;
  event.preventDefault();
});
palette?.addEventListener("click", ({ target }) => target.closest("a[data-row]") && palette.close());

document.addEventListener("keydown", (event) => {
  const { key, target, altKey, ctrlKey, metaKey } = event;
  const isRow = key === "j" || key === "k"; // these repeat while held down
  if (event.defaultPrevented || event.isComposing || altKey || event.repeat && !isRow) return;
  if (isMac ? metaKey : ctrlKey) {
    const control = find(`mod+${key.toLowerCase()}`, target.form);
    if (!control) return;
    event.preventDefault();
    use(control);
  } else if (!ctrlKey && !metaKey && (key.length === 1 ? key !== " " : key === "Enter" && !target.closest("a, button, summary, dialog"))
    && !isTyping(event.composedPath()[0]) && !areOff() && act(key.toLowerCase())) {
    event.preventDefault();
  }
});

function nameOf(control) {
  const named = control.dataset.keyLabel ?? control.getAttribute("aria-label") ?? control.labels?.[0]?.innerText;
  if (named) return named;
  const copy = control.cloneNode(true);
  copy.querySelectorAll("kbd, svg, .nav-count").forEach((part) => part.remove());
  return copy.textContent.trim() || control.title;
}

const caps = { mod: isMac ? "⌘" : "Ctrl", enter: "↵" };
const printed = (key) => key.split(key.startsWith("mod+") ? "+" : " ").map((part) => caps[part] ?? part.toUpperCase()).join(" ");

function add(parent, tag, words = {}) {
  return parent.appendChild(Object.assign(document.createElement(tag), words));
}

function addRow(list, key, name) {
  const row = add(list, "div");
  add(add(row, "dt"), "kbd", { className: "key", textContent: key });
  add(row, "dd", { textContent: name.replace(/\s+/g, " ") });
}

function showSheet() {
  const list = sheet.querySelector("[data-keys]");
  list.replaceChildren();
  for (const control of controls()) addRow(list, printed(control.dataset.key), nameOf(control));
  if (document.querySelector("[data-row]")) addRow(list, "J K", list.dataset.rows);
  sheet.querySelector("[data-keys-on]").checked = !areOff();
  sheet.showModal();
}

if (sheet) {
  document.body.classList.toggle("keys-off", areOff());
  sheet.addEventListener("change", ({ target }) => target.matches("[data-keys-on]") && remember(!target.checked));
  document.addEventListener("click", ({ target }) => target.closest("[data-keys-open]") && showSheet());
}
if (isMac) for (const key of document.querySelectorAll("[data-mod]")) key.textContent = key.textContent.replace("Ctrl", "⌘");
