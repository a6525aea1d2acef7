// The parts of CodeMirror that the YAML editor (static/js/yamleditor.js) uses; esbuild omits the rest.
export { autocompletion, closeBrackets, closeBracketsKeymap, snippet, startCompletion } from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
export { yaml } from "@codemirror/lang-yaml";
export {
  bracketMatching, ensureSyntaxTree, foldGutter, foldKeymap, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting,
  syntaxTree,
} from "@codemirror/language";
export { diagnosticCount, forceLinting, linter, lintGutter, lintKeymap, openLintPanel, setDiagnosticsEffect } from "@codemirror/lint";
export { unifiedMergeView } from "@codemirror/merge";
export { search, searchKeymap } from "@codemirror/search";
export { Compartment, EditorState, StateEffect, StateField } from "@codemirror/state";
export {
  drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, hoverTooltip, keymap,
  lineNumbers,
} from "@codemirror/view";
export { tags } from "@lezer/highlight";
