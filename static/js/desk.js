// The review screen: what is typed is kept (here at once, on the server a moment later), the lease is
// kept alive, and the seconds spent are counted without pauses.

const KEEP_AFTER_MS = 500;
const ALIVE_MS = 60_000;
const IDLE_MS = 60_000;
let active = 0;
let lastSign = performance.now();
let timer = 0;

const desk = () => document.getElementById("desk");
const storeKey = (item) => `scriptsmith-desk-${item}`;
// From the cookie at each request: signing in on another tab changes it.
const token = () => document.cookie.match(/csrftoken=([^;]+)/)?.[1] ?? "";

function say(state) {
  const saved = document.getElementById("saved");
  if (saved) saved.dataset.state = state;
}

function typed() {
  const fields = {};
  for (const field of desk()?.querySelectorAll("[data-kept]") ?? []) {
    if (field.name && field.value !== field.defaultValue) fields[field.name] = field.value;
  }
  return fields;
}

function keepHere(fields) {
  try { localStorage.setItem(storeKey(desk().dataset.item), JSON.stringify({ fields, at: Date.now() })); } catch { /* full or forbidden: the server has it */ }
}

async function keepThere() {
  const place = desk();
  if (!place?.dataset.scratch) return;
  const fields = typed();
  if (!Object.keys(fields).length) return say("saved");
  say("saving");
  try {
    const answer = await fetch(place.dataset.scratch, {
      method: "POST",
      headers: { "X-CSRFToken": token(), "Content-Type": "application/x-www-form-urlencoded", "X-Requested-With": "fetch" },
      body: new URLSearchParams({ ...fields, revision: place.dataset.revision }),
    });
    if (answer.ok) {
      place.dataset.revision = (await answer.json()).revision;
      say("saved");
    } else if (answer.status === 409) {
      const said = await answer.json();
      say("refused");
      document.dispatchEvent(new CustomEvent("toast", { detail: { text: said.message, tone: "warning", id: "scratch" } }));
    } else say(answer.status >= 500 || answer.status === 401 ? "offline" : "refused");
  } catch {
    say("offline");
    clearTimeout(timer);
    timer = setTimeout(keepThere, 5000);
  }
}

document.addEventListener("input", ({ target }) => {
  if (!target.matches("[data-kept]")) return;
  keepHere(typed());
  say("unsaved");
  clearTimeout(timer);
  timer = setTimeout(keepThere, KEEP_AFTER_MS);
});

// What was typed while the server could not be reached comes back when the page does.
function restore() {
  const place = desk();
  if (!place?.dataset.scratch) return;
  let kept = null;
  try { kept = JSON.parse(localStorage.getItem(storeKey(place.dataset.item))); } catch { return; }
  for (const [name, value] of Object.entries(kept?.fields ?? {})) {
    for (const field of place.querySelectorAll(`[data-kept][name="${CSS.escape(name)}"]`)) field.value = value;
  }
  for (const dialog of place.querySelectorAll("dialog[data-open]")) dialog.showModal();
}

function forget() {
  try { localStorage.removeItem(storeKey(desk().dataset.item)); } catch { /* nothing was kept */ }
}

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target?.id !== "desk" && event.target?.id !== "desk") return;
  if (event.detail.xhr?.status < 300) forget();
  restore();
});
document.addEventListener("htmx:beforeOnLoad", ({ detail }) => { if (detail.xhr.getResponseHeader("HX-Redirect")) forget(); });
document.addEventListener("click", ({ target }) => target.closest("[data-close]")?.closest("dialog")?.close());

// Time: a minute without a sign of life is a pause, and so is a tab that nobody sees.
function sign() {
  const now = performance.now();
  if (now - lastSign < IDLE_MS && !document.hidden) active += now - lastSign;
  lastSign = now;
}
for (const name of ["keydown", "pointermove", "pointerdown", "wheel", "visibilitychange"]) document.addEventListener(name, sign, { passive: true });
document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (!("active_seconds" in detail.parameters)) return;
  sign();
  detail.parameters.active_seconds = (active / 1000).toFixed(1);
  active = 0;
});
document.addEventListener("submit", ({ target }) => {
  const field = target.querySelector("[data-active]");
  if (field) field.value = (active / 1000).toFixed(1);
});

setInterval(() => {
  const place = desk();
  if (!place?.dataset.alive || document.hidden) return;
  fetch(place.dataset.alive, { method: "POST", headers: { "X-CSRFToken": token(), "X-Requested-With": "fetch" }, body: new URLSearchParams({ fence: place.dataset.fence }) }).catch(() => say("offline"));
}, ALIVE_MS);

restore();
