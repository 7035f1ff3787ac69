// Shows messages as toasts and announces them to screen readers. A failed htmx request is always shown, and its form
// keeps its input. Other modules send events to the document, because hashed file names would load this module twice:
//   "toast"     {text, tone, id}: replaces the toast with the same ID, or without text, only removes it
//   "announce"  {text}, for screen readers only
// The server can send the header HX-Trigger: {"toast": {"text": "…", "tone": "success"}}. Messages are in base.html.

const toasts = document.getElementById("toasts");
const region = document.getElementById("live");
const words = toasts?.dataset ?? {};
const on = (name, act) => document.addEventListener(name, act);

function toast({ text, tone = "info", id = "", link = null }) {
  const model = document.getElementById(`toast-${tone}`);
  if (id) toasts?.querySelector(`[data-toast="${CSS.escape(id)}"]`)?.remove();
  if (!toasts || !model || !text) return;
  const notice = model.content.firstElementChild.cloneNode(true);
  notice.dataset.toast = id;
  const place = notice.querySelector(".notice-words");
  place.append(text);
  if (link) place.append(" ", Object.assign(document.createElement("a"), link));
  toasts.append(notice);
  while (toasts.children.length > 4) toasts.firstElementChild.remove();
  // Errors and warnings stay until they are dismissed or their cause is gone.
  if (tone === "info" || tone === "success") leaveLater(notice);
}

function leaveLater(notice) {
  setTimeout(() => notice.matches(":hover, :focus-within") ? leaveLater(notice) : notice.remove(), 6000);
}

on("toast", ({ detail }) => toast(detail));

// Focus the first invalid field of a rejected form.
document.querySelector("main [aria-invalid=true]:not([hidden])")?.focus();

// A page from the browser's cache may belong to a user who has since signed out.
addEventListener("pageshow", ({ persisted }) => { if (persisted) location.reload(); });

// Pause polling in a hidden tab.
on("htmx:confirm", (event) => {
  if (document.hidden && event.target.matches("[hx-trigger^='every']")) event.preventDefault();
});

on("announce", ({ detail }) => {
  if (!region) return;
  region.textContent = "";
  // Empty the region first. Otherwise, a repeated message would be announced only once.
  setTimeout(() => { region.textContent = detail.text; }, 50);
});

// Failed requests show one message, which the next failure replaces. The server's message (components/_refusal.html) has
// priority.

const meaning = { 401: words.session, 403: words.denied, 404: words.missing, 413: words.large, 429: words.busy };
const signIn = { href: words.login, textContent: words.signin, target: "_blank" };

let failed = ""; // URL of the failed request; empty if no response arrived

function fail(text, { link, path = "" } = {}) {
  failed = path;
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
  fail(refusal, { path: event.detail.pathInfo.requestPath });
});
on("htmx:afterRequest", ({ detail: { successful, pathInfo } }) => {
  if (successful && (!failed || failed === pathInfo.requestPath)) toast({ id: "request" });
});
on("htmx:responseError", ({ detail: { xhr, pathInfo } }) => {
  const { status } = xhr;
  const general = meaning[status] ?? (status >= 500 ? words.server : words.refused);
  fail(refusalIn(xhr) ?? general, { link: status === 401 && words.login ? signIn : null, path: status < 500 && status !== 401 ? pathInfo.requestPath : "" });
});
on("htmx:sendError", () => fail(words.network));
on("htmx:timeout", () => fail(words.network));
on("htmx:swapError", () => fail(words.server));

addEventListener("offline", () => toast({ text: words.offline, tone: "warning", id: "offline" }));
addEventListener("online", () => toast({ id: "offline" }));

// Dismissible notices, dialogs and menus.

on("click", ({ target }) => {
  target.closest("[data-dismiss]")?.closest(".notice").remove();
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(target) || target.closest("button")) menu.open = false;
  }
  // If the browser supports the button's `command`, the dialog is already open, and opening it again is an error.
  const opener = "command" in HTMLButtonElement.prototype ? null : target.closest("[data-dialog]");
  if (opener) document.getElementById(opener.dataset.dialog)?.showModal();
});

on("keydown", ({ key, target }) => {
  const menu = key === "Escape" && target.closest("details.menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

// For browsers whose CSS can't size a text area by its content.
if (!CSS.supports("field-sizing", "content")) {
  on("input", ({ target }) => {
    if (target.matches("textarea")) target.rows = Math.min(24, Math.max(3, target.value.split("\n").length + 1));
  });
}
