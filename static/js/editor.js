// Turns a script's text area into an editor with line numbers, colors, live findings and marked changes. The text area
// stays the form's field: each change is written to it with an input event, so that other code can save and submit it.
// Without this file, the text area is used as it is.
//
// The editor is in a shadow root, where CodeMirror uses constructed style sheets, because the content security policy
// allows no others. The library is loaded when a field is visible. The markup is in
// templates/components/_script_editor.html.

const CHECK_AFTER_MS = 500;
const AGAIN_AFTER_MS = 3000;
const MORE_KEYWORDS = new Set(["case", "return", "local", "readonly", "declare", "shift", "break", "continue", "trap", "time"]);
// Characters marked in addition to the library's own: they change a line's direction, join characters or have no width.
const HIDDEN = /[\u00a0\u061c\u1680\u180e\u2000-\u200f\u202a-\u202f\u205f-\u2064\u2066-\u206f\u3000\ufe00-\ufe0f\ufeff]/g;
const MARKS = ["high", "medium", "note"]; // most severe first
const SEVERITY = { high: "error", medium: "warning" };

// Read the cookie for each request, because signing in on another tab changes it.
const token = () => document.cookie.match(/(?:^|; )(?:__Host-)?csrftoken=([^;]+)/)?.[1] ?? "";
const announce = (text) => document.dispatchEvent(new CustomEvent("announce", { detail: { text } }));

// --- Findings ----------------------------------------------------------------------------------------------------
// Requested shortly after the last change, also for a plain text area.

/** Replace a selection with typed text. For multiple lines, the browser would add a style, which the policy blocks. */
function typeOver(event, view) {
  const { main } = view.state.selection;
  if (event.inputType !== "insertText" || event.data === null || main.empty || view.composing) return false;
  view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
  event.preventDefault();
  return true;
}

class Checks {
  constructor(place, area) {
    this.place = place;
    this.area = area;
    this.list = place.querySelector("[data-checked]");
    this.note = place.querySelector("[data-check-note]");
    this.shown = () => {};
    area.addEventListener("input", () => this.soon());
  }

  soon(after = CHECK_AFTER_MS) {
    clearTimeout(this.timer);
    this.asking?.abort();
    this.timer = setTimeout(() => this.ask(), after);
  }

  async ask() {
    if (!this.place.isConnected) return;
    const script = this.area.value;
    if (!script.trim()) return this.show("");
    this.asking = new AbortController();
    const headers = { "X-CSRFToken": token(), "X-Requested-With": "fetch" };
    const sent = { method: "POST", headers, body: new URLSearchParams({ script }), signal: this.asking.signal };
    const answer = await fetch(this.place.dataset.check, sent).catch((error) => error.name === "AbortError" ? null : { status: 0 });
    if (!answer) return;
    const words = this.place.dataset;
    if (answer.status === 200 || answer.status === 422) this.show(await answer.text());
    else if (answer.status === 401) this.tell(words.session);
    else {
      this.tell(answer.status === 429 ? words.busy : words.unreachable);
      this.soon(AGAIN_AFTER_MS);
    }
  }

  /** Show a message, and mark the listed findings as outdated. */
  tell(text) {
    this.list.classList.add("is-old");
    this.note.textContent = text;
  }

  show(html) {
    this.note.textContent = "";
    this.list.classList.remove("is-old");
    this.list.innerHTML = html;
    this.shown(this.found());
  }

  found() {
    return [...this.list.querySelectorAll("[data-line]")].map((element) => {
      const { classList } = element.querySelector(".risk-mark");
      return { element, mark: MARKS.find((mark) => classList.contains(`risk-${mark}`)), ...element.dataset };
    });
  }
}

// --- The editor --------------------------------------------------------------------------------------------------

/** Return the indentation unit of a script: a tab, or as many spaces as its least indented line has. */
function indentOf(text) {
  if (/^\t/m.test(text)) return "\t";
  const widths = (text.match(/^ +(?=\S)/gm) ?? []).map((spaces) => spaces.length).filter((width) => width > 1);
  return " ".repeat(Math.min(8, ...(widths.length ? widths : [4])));
}

const OPENS = /(?:^|[\s;&|])(?:then|do|else|in)\s*(?:#.*)?$|[{(]\s*(?:#.*)?$/;
const CLOSES = /^\s*(?:fi|done|esac|else|elif|[})])/;

/** Return a line's indentation in columns: that of the preceding line, plus a unit in a block and minus a unit at its end. */
function indentAt({ state, unit, simulatedBreak }, at) {
  const line = state.doc.lineAt(at);
  // After Enter, the line break is not inserted yet, so the text before the cursor is the line above.
  let text = simulatedBreak === at ? state.sliceDoc(line.from, at) : "";
  for (let before = line.number - 1; before > 0 && !text.trim(); before -= 1) ({ text } = state.doc.line(before));
  const width = [...text.match(/^\s*/)[0]].reduce((sum, one) => sum + (one === "\t" ? state.tabSize : 1), 0);
  const rest = simulatedBreak === at ? state.sliceDoc(at, line.to) : line.text;
  return Math.max(0, width + (OPENS.test(text) ? unit : 0) - (CLOSES.test(rest) ? unit : 0));
}

/** Convert a line and a column in characters to the editor's position, which counts UTF-16 code units. */
function placeOf(doc, number, column) {
  const line = doc.line(Math.min(Math.max(1, number), doc.lines));
  const before = [...line.text.slice(0, 2 * column)].slice(0, Math.max(0, column - 1)).join("");
  return Math.min(line.from + before.length, line.to);
}

function rangeOf(doc, { line, column, endLine, endColumn }) {
  const from = placeOf(doc, Number(line), Number(column || 1));
  let to = endLine ? placeOf(doc, Number(endLine), Number(endColumn || 1)) : from;
  if (to <= from) to = column ? Math.min(from + 1, doc.lineAt(from).to) : doc.lineAt(from).to;
  return { from, to: Math.max(from, to) };
}

const looks = {
  "&": { color: "var(--syn-text)", background: "var(--code)", maxHeight: "var(--editor-most)", font: "var(--f13) var(--mono)" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "1px" },
  ".cm-scroller": { overflow: "auto", font: "inherit", lineHeight: "inherit" },
  ".cm-content, .cm-gutter": { minHeight: "var(--editor-least)" },
  ".cm-content": { padding: "var(--s2) 0", caretColor: "var(--text)", fontVariantLigatures: "none" },
  ".cm-line": { padding: "0 var(--s3) 0 var(--s2)" },
  ".cm-gutters": { background: "var(--code-gutter)", color: "var(--faint)", border: "0", borderRight: "1px solid var(--line)" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "2.5rem", padding: "0 var(--s2) 0 var(--s1)" },
  ".cm-activeLine": { background: "transparent" },
  "&.cm-focused .cm-activeLine": { boxShadow: "inset 2px 0 var(--ember-solid)" },
  ".cm-activeLineGutter": { background: "transparent", color: "var(--text)" },
  ".cm-content ::selection, .cm-content::selection": { background: "var(--ember-line)", color: "var(--text)" },
  ".cm-marks": { width: "1.25rem" },
  ".cm-marks .cm-gutterElement": { display: "grid", placeItems: "center", height: "1.25rem" },
  ".cm-marks svg, .cm-tooltip svg": {
    width: "0.75rem", height: "0.75rem", fill: "none", stroke: "currentcolor", strokeWidth: "1.5", verticalAlign: "-0.0625rem",
  },
  ".solid": { fill: "currentcolor" },
  ".is-high": { color: "var(--crimson)" },
  ".is-medium": { color: "var(--straw)" },
  ".is-note": { color: "var(--temper)" },
  ".cm-lintRange": { backgroundImage: "none !important", textDecoration: "underline wavy 1px", textUnderlineOffset: "3px", paddingBottom: "0" },
  ".cm-lintRange-error": { textDecorationColor: "var(--crimson)" },
  ".cm-lintRange-warning": { textDecorationColor: "var(--straw)" },
  ".cm-lintRange-info": { textDecorationColor: "var(--temper)" },
  ".cm-tooltip": {
    maxWidth: "36rem", border: "1px solid var(--edge-soft)", borderRadius: "var(--r1)", background: "var(--raised)", color: "var(--text)",
    font: "var(--f13) var(--sans)", boxShadow: "0 4px 12px var(--shadow)",
  },
  ".cm-diagnostic": { padding: "var(--s1) var(--s2)", borderLeft: "3px solid var(--temper)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--crimson)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--straw)" },
  ".cm-odd": { borderRadius: "2px", outline: "1px solid var(--crimson)", background: "var(--crimson-tint)", color: "var(--crimson)", fontSize: "0.6875rem" },
  ".cm-changedLine": { background: "var(--diff-add) !important" },
  ".cm-changedText": { background: "var(--diff-add-word) !important" },
  ".cm-deletedChunk": { position: "relative", minHeight: "1.625rem", background: "var(--diff-del)", paddingLeft: "var(--s2)" },
  ".cm-deletedChunk .cm-deletedText": { background: "var(--diff-del-word) !important" },
  ".cm-deletedLine del, .cm-deletedLine": { textDecoration: "none" },
  ".cm-deletedChunk .cm-chunkButtons": { insetBlockStart: "0", insetInlineEnd: "var(--s2)" },
  ".cm-chunkButtons button": {
    minHeight: "1.5rem", padding: "0 var(--s2)",
    border: "1px solid var(--edge-soft)", borderRadius: "var(--r1)", background: "var(--surface)", color: "var(--text)",
    font: "500 var(--f12) var(--sans)", cursor: "pointer",
  },
  ".cm-changeGutter": { width: "3px", paddingLeft: "0" },
  ".cm-changedLineGutter": { background: "var(--verdigris)" },
  ".cm-deletedLineGutter": { background: "var(--crimson)" },
  ".cm-collapsedLines": { padding: "2px var(--s2)", background: "var(--sunken)", color: "var(--muted)", font: "var(--f12) var(--sans)" },
  ".cm-collapsedLines:before, .cm-collapsedLines:after": { content: "'…'" },
  ".cm-panels": { background: "var(--sunken)", color: "var(--text)", borderColor: "var(--line) !important", font: "var(--f13) var(--sans)" },
  ".cm-textfield, .cm-button": {
    border: "1px solid var(--control)", borderRadius: "var(--r1)", background: "var(--surface)", backgroundImage: "none", color: "var(--text)",
    font: "inherit",
  },
  ".cm-searchMatch": { background: "var(--straw-tint)", outline: "1px solid var(--straw-line)" },
  ".cm-searchMatch-selected": { background: "var(--straw-line)" },
  ".cm-matchingBracket": { background: "var(--hover) !important", outline: "1px solid var(--edge-soft)" },
};

function colours({ HighlightStyle, tags }) {
  return HighlightStyle.define([
    { tag: tags.comment, color: "var(--syn-comment)", fontStyle: "italic" },
    { tag: tags.meta, color: "var(--syn-comment)" },
    { tag: tags.keyword, color: "var(--syn-keyword)", fontWeight: "600" },
    { tag: [tags.standard(tags.variableName), tags.atom], color: "var(--syn-keyword)" },
    { tag: [tags.string, tags.special(tags.string)], color: "var(--syn-string)" },
    { tag: [tags.definition(tags.variableName), tags.variableName], color: "var(--syn-variable)" },
    { tag: tags.number, color: "var(--syn-number)" },
  ]);
}

/** Create the gutter that shows the icon of each line's most severe finding, taken from the list below. */
function markGutter(cm) {
  class Mark extends cm.GutterMarker {
    constructor(found) { super(); this.found = found; }
    eq(other) { return other.found.element === this.found.element; }
    toDOM() {
      const icon = this.found.element.querySelector("svg").cloneNode(true);
      icon.classList.add(`is-${this.found.mark}`);
      icon.setAttribute("aria-hidden", "true");
      return icon;
    }
  }
  const set = cm.StateEffect.define();
  const field = cm.StateField.define({
    create: () => cm.RangeSet.empty,
    update(marks, change) {
      let now = marks.map(change.changes);
      for (const effect of change.effects) {
        if (!effect.is(set)) continue;
        const worst = new Map();
        for (const { found, from } of effect.value.toSorted((a, b) => MARKS.indexOf(a.found.mark) - MARKS.indexOf(b.found.mark))) {
          const at = change.state.doc.lineAt(from).from;
          if (!worst.has(at)) worst.set(at, new Mark(found).range(at));
        }
        now = cm.RangeSet.of([...worst.values()], true);
      }
      return now;
    },
  });
  return { set, extension: [field, cm.gutter({ class: "cm-marks", markers: (view) => view.state.field(field) })] };
}

function messageOf({ element }) {
  const copy = element.cloneNode(true);
  copy.querySelector("button")?.remove();
  const box = document.createElement("div");
  box.append(...copy.childNodes);
  return box;
}

class ScriptEditor {
  constructor(cm, place, area, checks) {
    this.cm = cm;
    this.place = place;
    this.area = area;
    this.bar = place.querySelector("[data-editor-bar]");
    this.hint = place.querySelector("[data-tab-hint]");
    this.original = JSON.parse(place.querySelector("script[type='application/json']")?.textContent ?? "null");
    this.diff = new cm.Compartment();
    this.wrap = new cm.Compartment();
    this.marks = markGutter(cm);
    this.host = document.createElement("div");
    this.host.className = "editor-host";
    const hadFocus = document.activeElement === area;
    const opensWith = area.hasAttribute("autofocus") ? area.closest("dialog") : null;
    area.removeAttribute("autofocus");
    area.after(this.host);
    const shadow = this.host.attachShadow({ mode: "open", delegatesFocus: true });
    this.view = new cm.EditorView({ state: this.state(), parent: shadow });
    area.hidden = true;
    this.bar.hidden = false;
    // Code that focuses the field, for example to show its error, focuses the editor.
    area.focus = () => this.view.focus();
    // An opening dialog focuses its first focusable element, which is not the editor.
    if (opensWith) new MutationObserver(() => opensWith.open && this.view.focus()).observe(opensWith, { attributeFilter: ["open"] });
    this.listen(checks);
    if (hadFocus) {
      this.view.dispatch({ selection: { anchor: Math.min(area.selectionStart, this.view.state.doc.length) } });
      this.view.focus();
    }
  }

  state() {
    const { cm, area } = this;
    const { shell } = cm;
    const bash = {
      ...shell,
      languageData: { ...shell.languageData, indentOnInput: /^\s*(?:fi|done|esac|else|elif|\}|\))$/ },
      token: (stream, state) => shell.token(stream, state) ?? (MORE_KEYWORDS.has(stream.current()) ? "keyword" : null),
    };
    const label = area.getAttribute("aria-label") || area.labels?.[0]?.textContent.replace("*", "").trim() || "";
    const attributes = { "aria-label": label, "aria-description": this.place.dataset.tabHint, tabindex: "0" };
    if (area.getAttribute("aria-invalid") === "true") attributes["aria-invalid"] = "true";
    return cm.EditorState.create({
      doc: area.value,
      extensions: [
        cm.lineNumbers(), this.marks.extension, cm.highlightActiveLine(), cm.highlightActiveLineGutter(), cm.history(),
        cm.highlightSpecialChars({ addSpecialChars: HIDDEN, render: showHidden }),
        cm.StreamLanguage.define(bash), cm.syntaxHighlighting(colours(cm)), cm.bracketMatching(), cm.search({ top: true }),
        cm.indentService.of(indentAt), cm.indentOnInput(), cm.indentUnit.of(indentOf(area.value)), cm.EditorState.tabSize.of(4), cm.EditorView.theme(looks),
        this.wrap.of(cm.EditorView.lineWrapping), this.diff.of([]), cm.keymap.of(this.keys()),
        cm.EditorView.contentAttributes.of(attributes),
        cm.EditorView.updateListener.of((update) => { if (update.docChanged) this.write(); }),
        cm.EditorView.domEventHandlers({ blur: () => this.leave(false), beforeinput: typeOver }),
      ],
    });
  }

  keys() {
    const { cm } = this;
    const step = (move) => (view) => {
      if (!move(view)) return false;
      const line = view.state.doc.lineAt(view.state.selection.main.head).number;
      announce([...this.place.querySelectorAll(`[data-line="${line}"]`)].map((one) => one.innerText.replace(/\s+/g, " ")).join(" "));
      return true;
    };
    return [
      { key: "Tab", run: (view) => this.indent(view), shift: cm.indentLess },
      { key: "F8", run: step(cm.nextDiagnostic), shift: step(cm.previousDiagnostic) },
      ...cm.searchKeymap,
      { key: "Escape", run: () => this.leave(true) },
      ...cm.historyKeymap,
      // Ctrl+Enter submits the form, as on every page.
      ...cm.defaultKeymap.filter(({ key }) => key !== "Mod-Enter" && key !== "Escape"),
    ];
  }

  indent(view) {
    const { state } = view;
    if (!state.selection.main.empty) return this.cm.indentMore(view);
    view.dispatch(state.update(state.replaceSelection(state.facet(this.cm.indentUnit)), { scrollIntoView: true, userEvent: "input" }));
    return true;
  }

  /** After Escape, Tab leaves the editor until the user types. A second Escape is handled by the page or the dialog. */
  leave(leaves) {
    if (leaves && this.leaves) return false;
    this.leaves = leaves;
    this.view?.setTabFocusMode(leaves);
    this.hint.textContent = leaves ? this.place.dataset.leaves : this.place.dataset.tabHint;
    if (leaves) announce(this.place.dataset.leaves);
    return leaves;
  }

  write() {
    if (this.leaves) this.leave(false);
    const text = this.view.state.doc.toString();
    if (this.area.value === text) return;
    this.area.value = text;
    this.area.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /** Read text that other code wrote to the field, such as a restored draft. */
  read() {
    const { doc } = this.view.state;
    if (doc.toString() !== this.area.value) this.view.dispatch({ changes: { from: 0, to: doc.length, insert: this.area.value } });
  }

  listen(checks) {
    checks.shown = (found) => this.showFound(found);
    this.showFound(checks.found());
    for (const label of this.area.labels ?? []) label.addEventListener("click", () => this.view.focus());
    this.host.addEventListener("focusin", () => {
      this.read();
      // A dialog focuses the first focusable element, which is the scrolling container.
      if (this.host.shadowRoot.activeElement === this.view.scrollDOM) this.view.focus();
    });
    this.place.addEventListener("click", ({ target }) => {
      const line = target.closest("[data-goto]")?.closest("[data-line]")?.dataset;
      if (!line) return;
      const { from } = rangeOf(this.view.state.doc, line);
      this.view.dispatch({ selection: { anchor: from }, effects: this.cm.EditorView.scrollIntoView(from, { y: "center" }) });
      this.view.focus();
    });
    this.bar.addEventListener("change", ({ target }) => {
      if (target.matches("[data-wrap]")) this.view.dispatch({ effects: this.wrap.reconfigure(target.checked ? this.cm.EditorView.lineWrapping : []) });
      if (target.matches("[data-changes]")) this.showChanges(target.checked);
    });
  }

  showFound(found) {
    const { doc } = this.view.state;
    const placed = found.map((one) => ({ found: one, ...rangeOf(doc, one) }));
    const diagnostics = placed.map(({ found: one, from, to }) => (
      { from, to, severity: SEVERITY[one.mark] ?? "info", message: one.element.innerText, renderMessage: () => messageOf(one) }
    ));
    this.view.dispatch(this.cm.setDiagnostics(this.view.state, diagnostics));
    this.view.dispatch({ effects: this.marks.set.of(placed) });
  }

  showChanges(shown) {
    const { cm, place } = this;
    const button = (type, action) => {
      const made = document.createElement(type === "reject" ? "button" : "span");
      if (type === "reject") Object.assign(made, { type: "button", textContent: place.dataset.takeBack, onclick: action });
      return made;
    };
    const view = () => cm.unifiedMergeView({ original: this.original, mergeControls: button, collapseUnchanged: { margin: 3, minSize: 6 } });
    this.view.dispatch({ effects: this.diff.reconfigure(shown ? view() : []) });
    const count = shown ? cm.getChunks(this.view.state)?.chunks.length : null;
    if (count === 0) announce(place.dataset.same);
    place.querySelector("[data-change-note]").textContent = count === 0 ? place.dataset.same : "";
  }
}

function showHidden(code) {
  const shown = document.createElement("span");
  shown.className = "cm-odd";
  shown.title = shown.textContent = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return shown;
}

// --- Loading --------------------------------------------------------------------------------------------------------

let library = null;
const met = new WeakSet();

async function open(place) {
  const area = place.querySelector("textarea");
  const checks = new Checks(place, area);
  checks.soon(0);
  try {
    const cm = await (library ??= import(place.dataset.library));
    if (place.isConnected) new ScriptEditor(cm, place, area, checks);
  } catch (error) {
    library = null; // the text area still works, and the next field tries again
    console.warn(error);
  }
}

const seen = new IntersectionObserver((changes) => {
  for (const { isIntersecting, target } of changes) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    open(target);
  }
});

function find() {
  for (const place of document.querySelectorAll("[data-editor]")) {
    if (met.has(place)) continue;
    met.add(place);
    seen.observe(place);
  }
}

find();
document.addEventListener("htmx:afterSettle", find);
