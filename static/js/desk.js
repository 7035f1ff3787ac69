// The review page. Stores input locally at once and on the server soon after, and restores it when the page, the
// network or the session returns. Also renews the lease, detects a second tab on the same item, measures the working
// time without pauses, and manages the focus. This is one file, because each module would need another request.

const KEEP_AFTER_MS = 400;
const AGAIN_AFTER_MS = 4000;
const ALIVE_MS = 60_000;
const IDLE_MS = 60_000;

const desk = () => document.getElementById("desk");
const words = document.getElementById("toasts")?.dataset ?? {};
// Read the cookie for each request, because signing in on another tab changes it.
const token = () => document.cookie.match(/(?:^|; )(?:__Host-)?csrftoken=([^;]+)/)?.[1] ?? "";
const tell = (text, more = {}) => document.dispatchEvent(new CustomEvent("toast", { detail: { text, tone: "warning", ...more } }));

function post(url, fields) {
  const headers = { "X-CSRFToken": token(), "Content-Type": "application/x-www-form-urlencoded", "X-Requested-With": "fetch" };
  return fetch(url, { method: "POST", headers, body: new URLSearchParams(fields) });
}

function say(state) {
  const saved = document.getElementById("saved");
  if (saved) saved.dataset.state = state;
}

// --- Input -------------------------------------------------------------------------------------------------------
// A radio button is stored under the name of its stage, so that its value is never restored in the next stage.

function keptName(field) {
  if (field.dataset.kept) return field.dataset.kept;
  const { stage, arm } = field.form?.elements ?? {};
  return field.type === "radio" && field.name === "value" && stage ? `value-${stage.value}-${arm.value}` : "";
}

// Fields that were saved since the page was rendered. If such a field is changed back, it must be saved again.
let savedSince = new Set();

function typed() {
  const fields = {};
  for (const field of desk()?.querySelectorAll("[data-kept]") ?? []) {
    if (field.value !== field.defaultValue || savedSince.has(keptName(field))) fields[keptName(field)] = field.value;
  }
  // Also save whether the text is based on the model's feedback.
  const based = desk()?.querySelector("[data-based-on]");
  if (based && fields.feedback !== undefined) fields.based_on = based.disabled ? "" : based.value;
  const chosen = desk()?.querySelector("input[name=value]:checked");
  if (chosen && !chosen.defaultChecked) fields[keptName(chosen)] = chosen.value;
  return fields;
}

// Each tab stores input under its own key, so that two tabs on one item do not overwrite each other.
const PREFIX = "scriptsmith-desk-";
const tab = (() => {
  try { return (sessionStorage.scriptsmithTab ??= crypto.getRandomValues(new Uint32Array(1))[0].toString(36)); } catch { return "0"; }
})();
const storeKey = (item) => `${PREFIX}${item}-${tab}`;

function keepHere(fields) {
  try { localStorage.setItem(storeKey(desk().dataset.item), JSON.stringify({ fields, at: Date.now() })); } catch { /* full or blocked */ }
}

function forget(item) {
  try { for (const key of keysOf(item)) localStorage.removeItem(key); } catch { /* nothing was kept */ }
}

function forgetAll(item) {
  forget(item);
  try { sessionStorage.removeItem(sentKey(item)); } catch { /* nothing was kept */ }
}

const keysOf = (item) => Object.keys(localStorage).filter((key) => key.startsWith(`${PREFIX}${item}-`));

/** Return the input for an item that this tab stored, or else the newest input that another tab stored. */
function keptHere(item) {
  try {
    const own = localStorage.getItem(storeKey(item));
    if (own) return JSON.parse(own).fields;
    const all = keysOf(item).map((key) => JSON.parse(localStorage.getItem(key)));
    return all.sort((one, other) => other.at - one.at)[0]?.fields ?? {};
  } catch { return {}; }
}

// The input that this tab has sent for an item, with the revision under which it was saved. A reloaded page may have
// been rendered before that, although the input is no longer stored locally.
const sentKey = (item) => `${PREFIX}sent-${item}`;

function sentOf(item) {
  try { return JSON.parse(sessionStorage[sentKey(item)] ?? "[]"); } catch { return []; }
}

function noteSent(item, fields, revision = 0) {
  const earlier = sentOf(item).slice(-4);
  if (revision) earlier.pop();
  try { sessionStorage[sentKey(item)] = JSON.stringify([...earlier, { fields, revision }]); } catch { /* then a conflict is shown */ }
}

/** Return the input that was saved after this page was rendered. */
function savedLater(place) {
  const last = sentOf(place.dataset.item).at(-1);
  return last?.revision > Number(place.dataset.revision) ? last.fields : {};
}

/** Return whether the server has only input from this page or this tab, so that no other input would be lost. */
function isOwn(place, kept) {
  const fields = [...place.querySelectorAll("[data-kept], input[name=value]")];
  const made = (name) => fields.find((field) => keptName(field) === name && (field.type !== "radio" || field.defaultChecked))?.defaultValue ?? "";
  const sent = sentOf(place.dataset.item);
  return Object.entries(kept).every(([name, value]) => value === made(name) || sent.some((one) => one.fields[name] === value));
}

let timer = 0;
let saving = null; // the promise of a save in progress
let sends = 0; // number of pending requests, such as scores and decisions

function keepSoon(after = KEEP_AFTER_MS) {
  clearTimeout(timer);
  timer = setTimeout(keepThere, after);
}

async function keepThere() {
  const place = desk();
  if (!place?.dataset.url) return;
  // A pending request includes the input and may end the claim, so a later save would be rejected.
  if (saving || sends) return keepSoon();
  const fields = typed();
  if (!Object.keys(fields).length) return document.getElementById("saved")?.dataset.state === "none" || say("saved");
  saving = keepFields(place, fields);
  await saving;
  saving = null;
}

async function keepFields(place, fields) {
  say("saving");
  noteSent(place.dataset.item, fields);
  try {
    const answer = await post(`${place.dataset.url}scratch/`, { ...fields, revision: place.dataset.revision });
    if (answer.ok) await noteSaved(place, fields, answer);
    else await noteRefused(place, answer);
  } catch {
    say("offline");
    keepSoon(AGAIN_AFTER_MS);
  }
}

async function noteSaved(place, fields, answer) {
  const { revision } = await answer.json();
  // The page may have been rendered again in the meantime, from the server's previous data.
  const now = desk();
  if (now?.dataset.item !== place.dataset.item) return;
  place.dataset.revision = now.dataset.revision = revision;
  for (const name of Object.keys(fields)) savedSince.add(name);
  noteSent(now.dataset.item, fields, revision);
  if (JSON.stringify(typed()) !== JSON.stringify(fields)) return keepSoon();
  forget(now.dataset.item);
  say("saved");
  for (const id of ["request", "scratch"]) tell("", { id }); // the earlier problem is solved
}

async function noteRefused(place, answer) {
  // The item was submitted while this request was pending, so only the response to the submission counts.
  if (desk()?.dataset.item !== place.dataset.item) return;
  if (answer.status === 401) {
    say("offline");
    tell(words.session, { tone: "error", id: "request", link: { href: words.login, textContent: words.signin, target: "_blank" } });
    return keepSoon(AGAIN_AFTER_MS);
  }
  if (answer.status >= 500) {
    say("offline");
    return keepSoon(AGAIN_AFTER_MS);
  }
  const said = await answer.json().catch(() => ({}));
  if (answer.status === 409 && said.fields && isOwn(place, said.fields)) {
    place.dataset.revision = said.revision;
    return keepSoon(0);
  }
  say("refused");
  if (answer.status === 409) lost(said.message ?? words.refused);
  else tell(said.message ?? words.denied, { id: "scratch" });
}

/** Report that another tab or user has the item. Reloading the page continues here and restores the input. */
function lost(message) {
  keepHere(typed());
  tell(message, { id: "tab", link: { href: location.href, textContent: document.querySelector("[data-go-on]")?.dataset.goOn } });
}

function put(place, fields) {
  for (const field of place.querySelectorAll("[data-kept], input[name=value]")) {
    const value = fields[keptName(field)];
    if (value === undefined) continue;
    if (field.dataset.basedOn !== undefined) field.disabled = !value;
    else if (field.type === "radio") field.checked ||= field.value === value;
    else field.value = value;
  }
}

function restore() {
  const place = desk();
  if (!place?.dataset.url) return;
  put(place, { ...savedLater(place), ...keptHere(place.dataset.item) });
  if (Object.keys(typed()).length) keepSoon(0);
  const remark = place.querySelector("[data-remark]");
  if (remark?.querySelector("textarea").value) remark.open = true;
  markLine();
  for (const field of place.querySelectorAll("[data-long]")) warnWhenLong(field);
}

document.addEventListener("input", ({ target }) => {
  if (!desk()?.contains(target) || !keptName(target)) return;
  keepHere(typed());
  say("unsaved");
  // A score is usually submitted at once, so save it later.
  keepSoon(target.type === "radio" ? AGAIN_AFTER_MS : KEEP_AFTER_MS);
  if (target.name === "line") markLine();
  if (target.dataset.long) warnWhenLong(target);
});
for (const name of ["online", "focus"]) addEventListener(name, () => { keepThere(); alive(); });

// --- Polling for results -------------------------------------------------------------------------------------------
// The page polls by itself (review/desk/_waiting.html), but not while the user is typing.

const WRITING = "textarea, input:not([type=radio], [type=checkbox]), select";
const isBusy = () => document.hidden || document.querySelector("dialog[open], details.menu[open]")
  || document.activeElement?.matches(WRITING) || Object.values(typed()).some(Boolean);
const BY_ITSELF = "[data-waits], [data-goes-on]";
const asksByItself = ({ detail }) => detail.elt.matches(BY_ITSELF) || detail.requestConfig?.elt.matches(BY_ITSELF);

document.addEventListener("htmx:beforeRequest", (event) => { if (asksByItself(event) && isBusy()) event.preventDefault(); });
// The user may have started to type since the request. The page polls again later.
document.addEventListener("htmx:beforeSwap", (event) => { if (asksByItself(event) && isBusy()) event.detail.shouldSwap = false; });

// --- Requests and responses ----------------------------------------------------------------------------------------

let fence = "";
let focused = "";
let isElsewhere = false;
let hadItem = desk()?.dataset.item;
let hadStage = stageOf(desk());
let total = 0;

/** Return the stage to score. When it changes, the page scrolls to the top. */
function stageOf(place) {
  const { stage, arm } = place?.querySelector("#stage")?.elements ?? {};
  return stage ? `${stage.value}-${arm.value}` : "";
}

/** Keep the number of items, which is computed only for whole pages, while one item follows another. */
function keepTotal() {
  const shown = desk()?.querySelector("[data-total]");
  if (!shown) return;
  total = Math.max(Number(shown.dataset.total) || total, total && Number(shown.parentElement.dataset.number));
  if (total && !shown.dataset.total) shown.textContent = `${shown.dataset.words} ${total}`;
}

document.addEventListener("htmx:configRequest", ({ detail }) => {
  const { headers, parameters } = detail;
  headers["X-CSRFToken"] = token();
  // Do not use `in`, because htmx's proxy for the form data does not support it.
  if (parameters.csrfmiddlewaretoken) parameters.csrfmiddlewaretoken = token();
  if (parameters.fence && fence) parameters.fence = fence;
  if (parameters.revision !== undefined) parameters.revision = desk().dataset.revision;
  if (parameters.active_seconds === undefined) return;
  sign();
  parameters.active_seconds = (active / 1000).toFixed(1);
  parameters.pauses = pauses;
});
document.addEventListener("submit", ({ target }) => {
  for (const field of target.querySelectorAll("[data-active]")) field.value = (active / 1000).toFixed(1);
  for (const field of target.querySelectorAll("[data-pauses]")) field.value = pauses;
});
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target?.id !== "desk") return;
  clearTimeout(timer);
  hadItem = desk().dataset.item;
  hadStage = stageOf(desk());
  const { verb, elt: form } = detail.requestConfig;
  // A polled response must not move the user's focus or scroll position.
  isElsewhere = form.matches(BY_ITSELF) && document.activeElement !== document.body && !desk().contains(document.activeElement);
  const isOfLine = form.matches("[data-remark] form, #remark-remove");
  focused = (isOfLine ? desk().querySelector("[data-remark] summary") : verb === "get" && document.activeElement)?.dataset?.key ?? "";
  if (verb === "get" || detail.xhr.status >= 300) return;
  // The request succeeded, so reset the time that it reported, and keep only the stored input of other forms.
  const forms = form.form ? [form.form, document.getElementById("stage")] : [form];
  if (forms.some((one) => one?.querySelector("[data-active]"))) active = pauses = 0;
  forgetSent(forms);
});
document.addEventListener("htmx:beforeOnLoad", ({ detail }) => { if (detail.xhr.getResponseHeader("HX-Redirect")) forgetAll(desk()?.dataset.item); });
document.addEventListener("htmx:beforeSend", ({ detail: { requestConfig, xhr } }) => {
  if (requestConfig.verb === "get") return;
  sends += 1;
  // Do not use htmx's events, because they are lost if the button is gone when the response arrives.
  xhr.addEventListener("loadend", () => {
    if (xhr.getResponseHeader("HX-Redirect")) return; // the browser leaves the page, whose stored input is deleted
    sends -= 1;
    if (!xhr.status || xhr.status >= 400) keepSoon();
  });
});
document.addEventListener("htmx:sendError", () => say("offline"));

function forgetSent(forms) {
  const fields = typed();
  // After a score, keep the input for the decision, although the same form contains it.
  const isScore = forms.length === 1 && forms[0].id === "stage";
  const sent = forms.flatMap((one) => [...one?.elements ?? []]).filter((field) => !isScore || !field.closest("#decide, #decide-dialogs"));
  for (const field of sent) delete fields[keptName(field)];
  forgetAll(desk().dataset.item);
  if (Object.keys(fields).length) keepHere(fields);
}

document.addEventListener("htmx:afterSwap", () => {
  const place = desk();
  if (!place) return;
  const isAnother = place.dataset.item !== hadItem;
  savedSince = new Set();
  if (isAnother) active = pauses = 0;
  document.title = `${place.dataset.title} · ScriptSmith`;
  if (isAnother || !fence) fence = place.dataset.fence ?? "";
  keepTotal();
  restore();
  openDialogs(place) || focusIn(place, isAnother);
  if (!isElsewhere && (isAnother || stageOf(place) !== hadStage)) scrollTo(0, 0);
  if (isAnother) alive();
  hadItem = place.dataset.item;
});

function openDialogs(place) {
  const dialog = place.querySelector("dialog[data-open]");
  dialog?.showModal();
  return Boolean(dialog);
}

function focusIn(place, isAnother) {
  const same = focused && place.querySelector(`[data-key="${CSS.escape(focused)}"]`);
  const wrong = place.querySelector(".field:has(.field-error:not([hidden])) :is(textarea, input)");
  if (!isElsewhere) (same || wrong || place.querySelector("h1")).focus({ preventScroll: !isAnother });
  const text = [isAnother && place.querySelector("h1").textContent, place.dataset.say].filter(Boolean).join(". ");
  document.dispatchEvent(new CustomEvent("announce", { detail: { text } }));
}

document.addEventListener("click", ({ target }) => target.closest("[data-close]")?.closest("dialog")?.close());
// Enter submits the score if a value is chosen and no other element handles the key.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.target.closest("a, button, textarea, summary, dialog, input")) return;
  const picker = desk()?.querySelector(".score-picker:has(input[name=value])");
  if (!picker || event.repeat || document.querySelector("dialog:modal")) return;
  event.preventDefault();
  const chosen = picker.querySelector("input:checked");
  if (chosen) chosen.form.requestSubmit();
  else sayMissing(picker, true);
});

/** Show or hide the message that no score is chosen, next to the picker and for screen readers. */
function sayMissing(picker, isMissing) {
  const place = picker.querySelector(".field-error");
  place.textContent = isMissing ? picker.dataset.missing : "";
  place.hidden = !isMissing;
  if (isMissing) document.dispatchEvent(new CustomEvent("announce", { detail: { text: picker.dataset.missing } }));
}
document.addEventListener("change", ({ target }) => target.name === "value" && desk()?.contains(target) && sayMissing(target.closest(".score-picker"), false));

// Escape leaves a field and keeps its input, so that single keys work again. Dialogs and line comments close by themselves.
document.addEventListener("keydown", ({ key, target, isComposing }) => {
  if (key !== "Escape" || isComposing || !desk()?.contains(target) || !target.matches(WRITING)) return;
  if (!target.closest("dialog, [data-remark]")) target.blur();
});

// --- Comments on lines ---------------------------------------------------------------------------------------------
// Users choose a line by typing its number, with the arrow keys, or by clicking the number next to the script.

const NEW_NUMBER = "table.diff:not(.diff-side) td:nth-child(2).line-number, .diff-side td:nth-child(3).line-number";
const remarkForm = () => desk()?.querySelector("[data-remark]");

function markLine() {
  for (const one of document.querySelectorAll(".is-chosen")) one.classList.remove("is-chosen");
  const form = remarkForm();
  const number = form?.open && form.querySelector("[name=line]").value;
  if (!number) return;
  const cell = [...desk().querySelectorAll(NEW_NUMBER)].find((one) => one.dataset.line === number);
  const line = cell?.parentElement ?? document.getElementById(`script-L${number}`);
  if (!line) return;
  line.classList.add("is-chosen");
  putBelow(line, form);
  form.scrollIntoView({ block: "nearest" });
  line.scrollIntoView({ block: "nearest" });
}

/** Move the form below its line. If the browser can't move it together with its input, it stays below the script. */
function putBelow(line, form) {
  let last = line;
  while (last.nextElementSibling?.matches(".finding, .remark, .said:not([data-remark-row])")) last = last.nextElementSibling;
  if (!line.parentElement.moveBefore || last.nextElementSibling?.contains(form)) return;
  if (!line.matches("tr")) return line.parentElement.moveBefore(form, last.nextElementSibling);
  const before = document.querySelector("[data-remark-row]");
  const row = document.createElement("tr");
  row.className = "said";
  row.dataset.remarkRow = "";
  row.append(Object.assign(document.createElement("td"), { colSpan: line.closest(".diff-side") ? 4 : 3 }));
  last.after(row);
  row.firstChild.moveBefore(form, null);
  before?.remove();
}

function putBack(form) {
  const code = form.closest(".code");
  if (!code) return;
  code.parentElement.moveBefore(form, code.nextElementSibling);
  code.querySelector("[data-remark-row]")?.remove();
}

// A button next to the line under the pointer. It does the same as a click on the line number, but is easier to find.
const here = Object.assign(document.createElement("button"), { className: "comment-here", type: "button", tabIndex: -1, hidden: true });

document.addEventListener("pointerover", ({ target, pointerType }) => {
  if (target === here || pointerType === "touch") return;
  const form = remarkForm();
  const line = form && target.closest?.("#script .line, .desk-script .diff tr");
  const number = line && (line.dataset.line ?? line.querySelector(NEW_NUMBER)?.dataset.line);
  here.hidden = !number;
  if (!number) return;
  const code = line.closest(".code");
  if (here.parentElement !== code) code.append(here);
  here.textContent = form.dataset.here;
  here.dataset.line = number;
  here.style.top = `${line.getBoundingClientRect().top - code.getBoundingClientRect().top}px`;
});

/** Return the clicked line number: the generated number to the left of a line, or the new text's number in a diff. */
function numberAt({ target, clientX }) {
  if (target === here) return here.dataset.line;
  const cell = target.closest(NEW_NUMBER);
  if (cell) return cell.dataset.line;
  const line = target.closest("#script .line");
  const words = line && parseFloat(getComputedStyle(line).paddingLeft);
  return line && clientX - line.getBoundingClientRect().left < words ? line.dataset.line : "";
}

document.addEventListener("click", (event) => {
  const form = remarkForm();
  const number = form && desk().contains(event.target) && numberAt(event);
  if (!number) return;
  form.open = true;
  const field = form.querySelector("[name=line]");
  field.value = number;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  form.querySelector("textarea").focus();
});
document.addEventListener("toggle", ({ target }) => {
  if (!target.matches("[data-remark]")) return;
  if (!target.open) putBack(target);
  markLine();
}, true);
document.addEventListener("keydown", (event) => {
  const form = event.target.closest("[data-remark]");
  if (!form?.open || event.isComposing) return;
  if (event.key === "Escape") {
    form.open = false;
    form.querySelector("summary").focus();
  } else if (event.target.name === "line" && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault(); // move down the script, although a number field would count down
    event.target[event.key === "ArrowDown" ? "stepUp" : "stepDown"]();
    event.target.dispatchEvent(new Event("input", { bubbles: true }));
  } else if (event.key === "Enter" && event.target.name === "line" && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    form.querySelector("textarea").focus();
  }
});

// --- Predefined reasons and feedback ---------------------------------------------------------------------------------

const setText = (field, text) => {
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
  field.setSelectionRange(text.length, text.length);
};

document.addEventListener("click", (event) => {
  const quick = event.target.closest("[data-quick]");
  if (quick) {
    event.preventDefault(); // without JavaScript, the button submits the form
    const field = document.getElementById(quick.closest("[data-quick-for]").dataset.quickFor);
    if (!field.value.includes(quick.dataset.quick)) setText(field, `${quick.dataset.quick} ${field.value}`.trim());
    else field.focus();
  }
  const start = event.target.closest("[data-start]");
  if (!start) return;
  const based = start.form.querySelector("[data-based-on]");
  if (based) based.disabled = start.dataset.startBased === undefined;
  setText(document.getElementById("own-feedback"), start.dataset.start);
}, true);
// In an empty field, a digit inserts a reason. After other text, it is an ordinary digit.
document.addEventListener("keydown", (event) => {
  const { key, target, ctrlKey, metaKey, altKey, isComposing } = event;
  if (!/^[1-9]$/.test(key) || ctrlKey || metaKey || altKey || isComposing || target.value) return;
  const quick = document.querySelectorAll(`[data-quick-for="${target.id}"] [data-quick]`)[key - 1];
  if (!target.id || !quick) return;
  event.preventDefault();
  quick.click();
});

// --- Time and lease ------------------------------------------------------------------------------------------------
// A minute without activity is a pause, and so is time in a hidden tab.

let active = 0;
let pauses = 0;
let lastSign = performance.now();
let wasHidden = document.hidden;

function sign() {
  const now = performance.now();
  if (wasHidden || now - lastSign >= IDLE_MS) pauses += 1;
  else active += now - lastSign;
  lastSign = now;
  wasHidden = document.hidden;
}
for (const name of ["keydown", "pointermove", "pointerdown", "wheel", "visibilitychange"]) document.addEventListener(name, sign, { passive: true });

async function alive() {
  const place = desk();
  if (!place?.dataset.url || document.hidden || !fence) return;
  await opening;
  const sent = fence;
  const answer = await post(`${place.dataset.url}alive/`, { fence }).catch(() => null);
  if (!answer) return say("offline");
  // The item was submitted or taken over by this tab while this request was pending, so only that response counts.
  if (sends || fence !== sent || desk()?.dataset.item !== place.dataset.item) return;
  if (answer.status === 409) lost((await answer.json()).message);
  if (!answer.ok) return;
  tell("", { id: "tab" });
  showCounts(answer.headers);
  showBack(await answer.text());
}

/** Show the counts of the review queue in the navigation bar and next to the item's number. */
function showCounts(headers) {
  const [waiting, all] = [headers.get("X-Waiting"), headers.get("X-Total")];
  if (!waiting) return;
  const count = document.querySelector(".nav-links [aria-current] .nav-count");
  if (count) count.firstChild.data = waiting;
  if (count) count.hidden = waiting === "0";
  total = parseInt(all);
  const shown = desk()?.querySelector("[data-total]");
  if (shown) shown.textContent = `${shown.dataset.words} ${all}`;
}

/** Show items that were sent back in the meantime. Compare only their text, because the form's token always differs. */
function showBack(html) {
  const shown = document.getElementById("back");
  const came = new DOMParser().parseFromString(html, "text/html").body;
  const said = (place) => place.textContent.replace(/\s+/g, " ").trim();
  if (!shown || said(shown) === said(came)) return;
  shown.replaceChildren(...came.childNodes);
  const label = shown.querySelector("button")?.firstChild?.textContent ?? "";
  if (label.trim()) document.dispatchEvent(new CustomEvent("announce", { detail: { text: label.trim() } }));
}
setInterval(alive, ALIVE_MS);

let opening = null;

// Delay requests until the response arrives. They would otherwise contain an old tab's fence or an outdated revision.
document.addEventListener("htmx:confirm", (event) => {
  const before = opening ?? saving;
  if (!before) return;
  event.preventDefault();
  const { issueRequest } = event.detail;
  before.then(() => issueRequest(true));
});

/** Take over the item in this tab. An older tab is notified at its next heartbeat. */
async function takeOver() {
  const place = desk();
  // After the redirect from a claim, this tab already has the item.
  const [came] = performance.getEntriesByType("navigation");
  if (!place?.dataset.url || came?.type === "navigate" && came.redirectCount) return;
  const answer = await post(`${place.dataset.url}open/`, {}).catch(() => null);
  if (answer?.ok) fence = String((await answer.json()).fence);
  for (const field of desk().querySelectorAll("[data-fence]")) field.value = fence || field.value;
}

// --- Edits and feedback ------------------------------------------------------------------------------------------------

// Load the editor when the user first focuses an edit field.
document.addEventListener("focusin", ({ target }) => { const file = target.closest("[data-editor]")?.dataset.module; if (file) import(file); });

function warnWhenLong(field) {
  const words = field.value.split(/\s+/).filter(Boolean).length;
  const points = field.value.split("\n").filter((line) => line.trim()).length;
  const warning = field.parentElement.querySelector("[data-long-words]");
  warning.hidden = words <= Number(field.dataset.long) && points <= Number(field.dataset.longPoints);
}

// Swap the model's version with the user's text, so that neither is lost.
document.addEventListener("click", ({ target }) => {
  const beside = target.closest("[data-shorter]");
  if (target.closest("[data-shorter-leave]")) {
    beside.remove();
    document.getElementById("own-feedback").focus();
  } else if (target.closest("[data-shorter-swap]")) {
    const field = document.getElementById("own-feedback");
    const text = beside.querySelector("[data-shorter-text]");
    [field.value, text.textContent] = [text.textContent, field.value];
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  }
});

fence = desk()?.dataset.fence ?? "";
keepTotal();
restore();
if (desk()) openDialogs(desk());
opening = takeOver().finally(() => { opening = null; });
