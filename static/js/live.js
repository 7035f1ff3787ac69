// Says what happened: to the eye as a toast, to a screen reader through a live region. Also what
// every page needs of htmx: a failed request is always shown, and what was typed stays.
//
// Others speak through events that reach the document, never by import (hashed file names would
// load this module a second time under its plain name):
//   "toast"     detail {text, tone, id}; tone is info, success, warning or error, and a toast
//               replaces the one with the same id
//   "announce"  detail {text}, for screen readers only
// The server may ask for a toast with the header HX-Trigger: {"toast": {"text": "…", "tone": "success"}}.
// The words stand in base.html (data-* of #toasts), so that they can be translated.

const toasts = document.getElementById("toasts");
const region = document.getElementById("live");
const words = toasts?.dataset ?? {};
const on = (name, act) => document.addEventListener(name, act);

function toast({ text, tone = "info", id = "", link = null }) {
  const model = document.getElementById(`toast-${tone}`);
  if (!toasts || !model || !text) return;
  if (id) toasts.querySelector(`[data-toast="${CSS.escape(id)}"]`)?.remove();
  const notice = model.content.firstElementChild.cloneNode(true);
  notice.dataset.toast = id;
  const place = notice.querySelector(".notice-words");
  place.append(text);
  if (link) place.append(" ", Object.assign(document.createElement("a"), link));
  toasts.append(notice);
  while (toasts.children.length > 4) toasts.firstElementChild.remove();
  // Errors and warnings stay until they are dismissed.
  if (tone === "info" || tone === "success") leaveLater(notice);
}

function leaveLater(notice) {
  // Who points at it or has moved into it still reads.
  setTimeout(() => notice.matches(":hover, :focus-within") ? leaveLater(notice) : notice.remove(), 6000);
}

on("toast", ({ detail }) => toast(detail));

// A refused form is gone on with in its first wrong field.
document.querySelector("main [aria-invalid=true]:not([hidden])")?.focus();

// A page that the browser kept may be of somebody who has signed out since: it is asked for anew.
addEventListener("pageshow", ({ persisted }) => { if (persisted) location.reload(); });

// Nobody looks at a hidden tab: what asks by itself waits.
on("htmx:confirm", (event) => {
  if (document.hidden && event.target.matches("[hx-trigger^='every']")) event.preventDefault();
});

on("announce", ({ detail }) => {
  if (!region) return;
  region.textContent = "";
  // Emptied first, or the same words twice would be said once.
  setTimeout(() => { region.textContent = detail.text; }, 50);
});

// Refused and broken requests: one message, replaced by the next. A form stays as it was filled. What the server says
// of this very case (components/_refusal.html) goes before the general words.

const meaning = { 401: words.session, 403: words.denied, 404: words.missing, 413: words.large, 429: words.busy };
const signIn = { href: words.login, textContent: words.signin, target: "_blank" };

function fail(text, link) {
  toast({ text, link, tone: "error", id: "request" });
}

function refusalIn({ responseText }) {
  if (!responseText.includes("data-refusal")) return null;
  return new DOMParser().parseFromString(responseText, "text/html").querySelector("[data-refusal]")?.textContent.trim();
}

on("htmx:beforeSwap", (event) => {
  const refusal = event.detail.shouldSwap && refusalIn(event.detail.xhr);
  if (!refusal) return;
  event.detail.shouldSwap = false;
  fail(refusal);
});
on("htmx:responseError", ({ detail: { xhr } }) => {
  const { status } = xhr;
  const general = meaning[status] ?? (status >= 500 ? words.server : words.refused);
  fail(refusalIn(xhr) ?? general, status === 401 && words.login ? signIn : null);
});
on("htmx:sendError", () => fail(words.network));
on("htmx:timeout", () => fail(words.network));
on("htmx:swapError", () => fail(words.server));

addEventListener("offline", () => toast({ text: words.offline, tone: "warning", id: "offline" }));
addEventListener("online", () => toasts?.querySelector('[data-toast="offline"]')?.remove());

// Dismissing a notice, opening a dialog, menus that close when something else is chosen.

on("click", ({ target }) => {
  target.closest("[data-dismiss]")?.closest(".notice").remove();
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(target) || target.closest("button")) menu.open = false;
  }
  // Only where the browser does not open it by the button's own `command`: a second time is a fault.
  const opener = "command" in HTMLButtonElement.prototype ? null : target.closest("[data-dialog]");
  if (opener) document.getElementById(opener.dataset.dialog)?.showModal();
});

on("keydown", ({ key, target }) => {
  const menu = key === "Escape" && target.closest("details.menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

// Where CSS cannot yet size a text field by its content, its rows follow its lines.
if (!CSS.supports("field-sizing", "content")) {
  on("input", ({ target }) => {
    if (target.matches("textarea")) target.rows = Math.min(24, Math.max(3, target.value.split("\n").length + 1));
  });
}
