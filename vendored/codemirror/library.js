// What of CodeMirror the editor of scripts uses (static/js/editor.js); everything else is left out of the bundle.
export { Compartment, EditorState, RangeSet, StateEffect, StateField } from "@codemirror/state";
export {
  EditorView, GutterMarker, gutter, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers,
} from "@codemirror/view";
export { HighlightStyle, StreamLanguage, bracketMatching, indentOnInput, indentService, indentUnit, syntaxHighlighting } from "@codemirror/language";
export { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
export { shell } from "@codemirror/legacy-modes/mode/shell";
export { nextDiagnostic, previousDiagnostic, setDiagnostics } from "@codemirror/lint";
export { getChunks, unifiedMergeView } from "@codemirror/merge";
export { search, searchKeymap } from "@codemirror/search";
export { tags } from "@lezer/highlight";
