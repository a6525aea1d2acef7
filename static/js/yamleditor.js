// The YAML editor: CodeMirror for a text area (ui/_editor.html). It is in a shadow root, where its styles
// don't need an exception in the Content Security Policy. The text area always contains the current text.

import {
  autocompletion, bracketMatching, closeBrackets, closeBracketsKeymap, Compartment, defaultKeymap,
  diagnosticCount, drawSelection, EditorState, EditorView, ensureSyntaxTree, foldGutter, foldKeymap,
  forceLinting, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, HighlightStyle, history,
  historyKeymap, hoverTooltip, indentOnInput, indentUnit, indentWithTab, keymap, lineNumbers, linter,
  lintGutter, lintKeymap, openLintPanel, search, searchKeymap, setDiagnosticsEffect, snippet, startCompletion,
  StateEffect, StateField, syntaxHighlighting, syntaxTree, tags, unifiedMergeView, yaml,
} from "../vendor/codemirror/codemirror.js";
import { complete, explain, problems, Schema, typeAt } from "./yamlschema.js";

/** Texts up to this length are checked while the user types; longer ones on demand. */
const LARGE = 300_000;
/** Milliseconds without a keystroke before a check. */
const QUIET = 400;
/** Maximum milliseconds for a full parse. */
const PARSE = 2000;

// ---- invisible characters are shown as code points, as in `console.ui.core.text.escape_invisible`

const UNSEEN = /(?![\t\n])\p{C}|(?! )\p{Z}/u;
const codePoint = (code) => `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
const visible = (text) => [...text].map((letter) => (UNSEEN.test(letter) ? codePoint(letter.codePointAt(0)) : letter)).join("");

function element(tag, className, ...content) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...content);
  return made;
}

// ---- schemas, cached per kind for the lifetime of the page

const schemas = new Map();

/**
 * Return `{ schema, loading }` for a document's kind. `schema` is undefined until `loading` is done, and
 * stays undefined if the kind has no schema. `arrived` is called when it is loaded.
 */
function known(root, { apiVersion, kind }, arrived) {
  const [version, group = "core"] = apiVersion.split("/").reverse();
  if (!root || !version || !kind) return {};
  const url = `${root}/${[group, version, kind].map(encodeURIComponent).join("/")}`;
  if (!schemas.has(url)) {
    const entry = { schema: undefined };
    entry.loading = load(url).then((schema) => {
      entry.schema = schema;
      if (schema) arrived();
    });
    schemas.set(url, entry);
  }
  return schemas.get(url);
}

async function load(url) {
  try {
    const answer = await fetch(url, { headers: { Accept: "application/json" } });
    return answer.ok ? new Schema(await answer.json()) : undefined;
  } catch {
    // Without a schema there is no completion, but the text can still be edited.
    return undefined;
  }
}

// ---- appearance: CSS variables of the page, which are inherited in the shadow root

const look = EditorView.theme({
  "&": { border: "1px solid var(--control)", borderRadius: "var(--radius)", backgroundColor: "var(--surface)", color: "var(--ink)", maxHeight: "75vh" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-1px" },
  ".cm-scroller": { font: "var(--text-mono)", overflow: "auto", minHeight: "12rem" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--ink-3)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--hover) 60%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--hover)", color: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--accent-tint)" },
  ".cm-selectionMatch": { backgroundColor: "var(--warn-tint)" },
  ".cm-searchMatch": { backgroundColor: "var(--warn-tint)", outline: "1px solid var(--warn)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--accent-tint)", outline: "2px solid var(--accent)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-tint)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--sunken)", borderColor: "var(--line)", color: "var(--ink-2)" },
  ".cm-specialChar": { color: "var(--error-text)", backgroundColor: "var(--error-tint)" },
  ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--ink)" },
  ".cm-panels-top, .cm-panels-bottom": { borderColor: "var(--line)" },
  ".cm-panel.cm-search": { font: "var(--text-13)", paddingRight: "2rem" },
  ".cm-panel.cm-search label": { fontSize: "inherit" },
  ".cm-textfield": { border: "1px solid var(--control)", backgroundColor: "var(--surface)", color: "var(--ink)", font: "inherit", minHeight: "1.75rem" },
  ".cm-button": { backgroundImage: "none", backgroundColor: "var(--surface)", border: "1px solid var(--control)", borderRadius: "var(--radius)", color: "var(--ink)", font: "inherit", minHeight: "1.75rem" },
  ".cm-panel [name=close]": { color: "var(--ink)", minWidth: "1.75rem", minHeight: "1.75rem" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "0", borderRadius: "var(--radius)", boxShadow: "var(--shadow)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { font: "var(--text-mono)", maxWidth: "min(90vw, 26rem)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: ".125rem .5rem" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent-tint)", color: "var(--ink)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "600" },
  ".cm-completionDetail": { color: "var(--ink-2)", fontStyle: "normal" },
  ".cm-tooltip.cm-completionInfo": { padding: ".5rem" },
  ".about": { maxWidth: "min(90vw, 30rem)", maxHeight: "16rem", overflow: "auto", padding: ".5rem", font: "var(--text-12)", whiteSpace: "pre-line", overflowWrap: "anywhere" },
  ".cm-completionInfo .about": { padding: "0" },
  ".about > .head": { font: "var(--text-mono)", fontWeight: "600" },
  ".about > p": { margin: ".25rem 0 0" },
  ".cm-diagnostic": { font: "var(--text-12)", padding: ".25rem .5rem", overflowWrap: "anywhere" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--error)" },
  ".cm-diagnostic-warning": { borderLeft: "3px solid var(--warn)" },
  ".cm-panel.cm-panel-lint ul [aria-selected]": { backgroundColor: "var(--accent-tint)", color: "var(--ink)" },
  ".cm-panel.cm-panel-lint ul [aria-selected] u": { textDecoration: "none" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--error) 1px", textUnderlineOffset: ".2em" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--warn) 1px", textUnderlineOffset: ".2em" },
  ".cm-lintRange-active": { backgroundColor: "var(--sunken)" },
  ".cm-changedLine, .cm-insertedLine": { backgroundColor: "var(--change-tint) !important" },
  ".cm-changedText": { background: "none" },
  ".cm-deletedChunk": { backgroundColor: "var(--sunken)", color: "var(--ink-2)" },
  ".cm-changedLineGutter": { backgroundColor: "var(--change)" },
  "@media print": { "&": { maxHeight: "none" } },
  "@media (pointer: coarse)": { ".cm-content, .cm-textfield": { fontSize: "1rem" } },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: tags.string, color: "var(--ok)" },
  { tag: tags.comment, color: "var(--ink-3)", fontStyle: "italic" },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace, tags.special(tags.string)], color: "var(--ink-3)" },
  { tag: [tags.typeName, tags.labelName, tags.keyword, tags.meta], color: "var(--warn-text)" },
]);

// ---- documentation of a key

/**
 * `say(name, values)` returns a text of the page. Descriptions are untrusted: insert them as text, never as
 * markup.
 */
function about(schema, key, node, isRequired, say) {
  const { description, default: preset } = schema.resolve(node);
  const type = [schema.typeName(node), isRequired ? say("required") : ""].filter(Boolean).join(", ");
  const made = element("div", "about", element("div", "head", visible(`${key}  <${type}>`)));
  if (typeof description === "string") made.append(element("p", "", visible(description)));
  const choices = schema.enum(node);
  if (choices.length) made.append(element("p", "", visible(say("choices", { choices: choices.join(", ") }))));
  if (preset !== undefined && preset !== null && preset !== "") {
    made.append(element("p", "", visible(say("preset", { value: JSON.stringify(preset) }))));
  }
  return made;
}

/**
 * Replace a selection of several lines. Chromium's default joins them with inline styles, which the policy
 * rejects.
 */
function typeOverLines({ inputType, data }, view) {
  const { doc, selection } = view.state;
  const { from, to } = selection.main;
  if (inputType !== "insertText" || !data || view.composing || doc.lineAt(from).to >= to) return false;
  view.dispatch(view.state.replaceSelection(data), { userEvent: "input.type", scrollIntoView: true });
  return true;
}

/** Put the line number in the URL. */
function linkTo(view, line) {
  location.hash = `L${view.state.doc.lineAt(line.from).number}`;
  view.dispatch({ selection: { anchor: line.from, head: line.to } });
  return true;
}

/** Insert the key with its required children, and open completion if it has only a few possible values. */
function inserting(schema, key, node, indent) {
  const insert = snippet(`${key}:${schema.skeleton(node, indent)}`);
  const hasValues = schema.enum(node).length > 0 || schema.types(node)?.join() === "boolean";
  return (view, completion, from, to) => {
    insert(view, completion, from, to);
    if (hasValues) startCompletion(view);
  };
}

// ---- problems found by the server, which move with the text around them

const setFound = StateEffect.define();
const found = StateField.define({
  create: () => [],
  update(kept, { changes, docChanged, effects }) {
    for (const effect of effects) if (effect.is(setFound)) return effect.value;
    if (!docChanged) return kept;
    return kept
      .filter(({ from, to }) => !changes.touchesRange(from, to))
      .map((one) => ({ ...one, from: changes.mapPos(one.from, 1), to: changes.mapPos(one.to, -1) }));
  },
});
const checkAgain = StateEffect.define();

// ---- the element

/** The last editor per ID: a new element continues in the state of the element that it replaces. */
const editors = new Map();

class YamlEditor extends HTMLElement {
  #area;
  #field;
  #slot;
  #view = null;
  #changes = new Compartment();
  #observer;
  #isAsked = false;
  #left;

  connectedCallback() {
    this.#area = this.querySelector("textarea");
    this.#field = this.closest(".editor");
    if (!this.#area || !this.#field) return;
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    this.#slot = document.createElement("slot");
    this.#slot.hidden = true;
    root.replaceChildren(this.#slot);
    const before = editors.get(this.#area.id)?.#where();
    editors.set(this.#area.id, this);
    this.#view = new EditorView({ parent: root, root, state: this.#state() });
    if (!this.#area.readOnly) this.#showFound();
    this.#listen();
    this.#goOn(before);
  }

  disconnectedCallback() {
    if (!this.#view) return;
    this.#left = this.#where();
    this.#observer.disconnect();
    this.#view.destroy();
    this.#view = null;
  }

  #where() {
    if (!this.#view) return this.#left;
    const { anchor, head } = this.#view.state.selection.main;
    return { anchor, head, top: this.#view.scrollDOM.scrollTop, hasFocus: this.#view.hasFocus };
  }

  /** Replace the text as an edit that can be undone. */
  setText(text) {
    if (this.#slot.hidden) {
      this.#replace(text);
      return;
    }
    this.#area.value = text;
    this.#area.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /** Return a text of the page. */
  #say = (name, values = {}) => {
    const text = this.#field.querySelector(`[data-phrase="${name}"]`)?.textContent ?? name;
    return text.replace(/{(\w+)}/g, (whole, key) => values[key] ?? whole);
  };

  #known(type) {
    const [root] = /^\/clusters\/[^/]+\/openapi/.exec(this.#area.dataset.schemaUrl ?? "") ?? [];
    return known(root, type, () => this.#view?.dispatch({ effects: checkAgain.of(null) }));
  }

  #state() {
    const { readOnly, labels, value } = this.#area;
    const phrases = [...this.#field.querySelectorAll("[data-phrase]")].map(({ dataset, textContent }) => [dataset.phrase, textContent]);
    // IDs don't work across the shadow root, so repeat the label.
    const attributes = { tabindex: "0", "aria-label": labels[0]?.textContent ?? "", "aria-readonly": String(readOnly) };
    if (this.#area.ariaInvalid) attributes["aria-invalid"] = this.#area.ariaInvalid;
    return EditorState.create({
      doc: value,
      extensions: [
        EditorState.phrases.of(Object.fromEntries(phrases)),
        EditorState.tabSize.of(2),
        indentUnit.of("  "),
        EditorView.contentAttributes.of(attributes),
        readOnly ? [EditorState.readOnly.of(true), EditorView.editable.of(false)] : this.#editing(),
        lineNumbers(readOnly ? { domEventHandlers: { click: linkTo } } : {}),
        foldGutter(),
        highlightSpecialChars({ addSpecialChars: UNSEEN, render: (code) => element("span", "cm-specialChar", codePoint(code)) }),
        drawSelection(),
        yaml(),
        syntaxHighlighting(colours),
        search({ top: true }),
        hoverTooltip((view, position) => this.#hover(view.state, position)),
        keymap.of([...searchKeymap, ...foldKeymap, ...defaultKeymap]),
        look,
      ],
    });
  }

  #editing() {
    const again = (effect) => effect.is(checkAgain) || effect.is(setFound);
    return [
      history(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      found,
      autocompletion({ override: [(context) => this.#complete(context)], icons: false }),
      linter(() => this.#check(), {
        delay: QUIET,
        needsRefresh: ({ transactions }) => transactions.some(({ effects }) => effects.some(again)),
      }),
      lintGutter(),
      this.#changes.of([]),
      EditorView.domEventHandlers({ beforeinput: typeOverLines }),
      keymap.of([...closeBracketsKeymap, ...lintKeymap, ...historyKeymap, indentWithTab]),
      EditorView.updateListener.of((update) => this.#updated(update)),
    ];
  }

  // ---- completion, hover, checks

  async #complete({ state, pos, explicit }) {
    const about = this.#known(typeAt(state.doc, pos));
    if (!about.schema) await about.loading;
    return about.schema ? this.#options(about.schema, state, pos, explicit) : null;
  }

  #options(schema, state, pos, explicit) {
    const result = complete(schema, state.doc, pos);
    if (!result) return null;
    const line = state.doc.lineAt(pos);
    const [before, after] = [line.text.slice(0, pos - line.from), line.text.slice(pos - line.from)];
    // Don't open completion automatically on an empty line.
    if (!explicit && !before.trim()) return null;
    const hasColon = /^[\w$-]*\s*:/.test(after);
    const indent = before.length - before.trimStart().length;
    return {
      from: result.from,
      validFor: /^[\w$./-]*$/,
      options: result.options.map(({ label, schema: node, isRequired }) => {
        if (result.isValue) return { label };
        return {
          label,
          detail: schema.typeName(node),
          boost: isRequired ? 1 : 0,
          info: () => about(schema, label, node, isRequired, this.#say),
          apply: hasColon ? label : inserting(schema, label, node, " ".repeat(result.column - indent)),
        };
      }),
    };
  }

  async #hover({ doc }, position) {
    const type = this.#known(typeAt(doc, position));
    if (!type.schema) await type.loading;
    const { schema } = type;
    const told = schema && explain(schema, doc, position);
    if (!told) return null;
    const { from, to, key, schema: node, isRequired } = told;
    return { pos: from, end: to, create: () => ({ dom: about(schema, key, node, isRequired, this.#say) }) };
  }

  #check() {
    const { state } = this.#view;
    const told = state.field(found);
    if (state.doc.length > LARGE && !this.#isAsked) return told;
    const tree = ensureSyntaxTree(state, state.doc.length, PARSE) ?? syntaxTree(state);
    const own = problems(tree, state.doc.toString(), (type) => this.#known(type).schema);
    return [...told, ...own.map(({ from, to, code, values }) => ({ from, to, severity: "error", message: visible(this.#say(code, values)) }))];
  }

  /** Show the problems found by the server (`.editor-problems`) at their lines. */
  #showFound() {
    const { doc } = this.#view.state;
    const placed = this.#listed().map((item) => {
      const from = this.#place(item);
      const severity = item.dataset.severity === "warn" ? "warning" : "error";
      return { from, to: doc.lineAt(from).to, severity, message: item.querySelector("[data-problem]").textContent };
    });
    if (placed.length) this.#view.dispatch({ effects: setFound.of(placed) });
  }

  #listed() {
    return [...this.#field.querySelectorAll(".editor-problems [data-line]")].filter(({ dataset }) => dataset.line > 0);
  }

  #place({ dataset }) {
    const { doc } = this.#view.state;
    const line = doc.line(Math.min(Number(dataset.line), doc.lines));
    return Math.min(line.from + Math.max(0, Number(dataset.column) - 1), line.to);
  }

  #updated({ docChanged, state, transactions }) {
    if (docChanged) {
      this.#isAsked = false;
      this.#area.value = state.doc.toString();
      this.#area.dispatchEvent(new Event("input", { bubbles: true }));
      this.#button("check").hidden = state.doc.length <= LARGE;
    }
    if (!transactions.some(({ effects }) => effects.some((effect) => effect.is(setDiagnosticsEffect)))) return;
    const n = diagnosticCount(state);
    const button = this.#button("problems");
    button.hidden = n === 0;
    button.textContent = this.#say("problems", { n });
  }

  // ---- toolbar and text area

  #button(name) {
    return this.#field.querySelector(`[data-editor-act="${name}"]`);
  }

  #listen() {
    const { readOnly } = this.#area;
    const acts = { plain: () => this.#plain() };
    if (!readOnly) {
      acts.changes = () => this.#showChanges();
      acts.check = () => this.#checkAll();
      acts.problems = () => openLintPanel(this.#view);
    }
    for (const [name, act] of Object.entries(acts)) this.#button(name).onclick = act;
    if (!readOnly) this.#button("check").hidden = this.#view.state.doc.length <= LARGE;
    for (const label of this.#area.labels) label.onclick = () => this.#slot.hidden && this.#view.focus();
    for (const item of this.#listed()) {
      item.querySelector("a").onclick = (event) => {
        if (!this.#slot.hidden) return;
        event.preventDefault();
        this.#select(this.#place(item));
      };
    }
    // Page shortcuts must not see the keys. Esc followed by Tab leaves the editor.
    this.onkeydown = (event) => event.ctrlKey || event.metaKey || event.stopPropagation();
    // Update a read-only editor when the object changes, but never overwrite the user's text.
    this.#observer = new MutationObserver(() => readOnly && this.#replace(this.#area.defaultValue));
    this.#observer.observe(this.#area, { childList: true, characterData: true, subtree: true });
  }

  #select(position) {
    this.#view.dispatch({ selection: { anchor: position }, effects: EditorView.scrollIntoView(position, { y: "center" }) });
    this.#view.focus();
  }

  /** Restore the state of the previous editor, or go to the line in the URL. */
  #goOn(before) {
    const { doc } = this.#view.state;
    if (before) {
      const within = (position) => Math.min(position, doc.length);
      this.#view.dispatch({ selection: { anchor: within(before.anchor), head: within(before.head) } });
      this.#view.requestMeasure({ read: () => {}, write: () => (this.#view.scrollDOM.scrollTop = before.top) });
      if (before.hasFocus) this.#view.focus();
      return;
    }
    const line = this.#area.readOnly && /^#L(\d{1,7})$/.exec(location.hash)?.[1];
    if (line) this.#select(this.#place({ dataset: { line, column: 1 } }));
  }

  /** Replace only the changed middle part of the text, so that cursor and scroll position are kept. */
  #replace(text) {
    const old = this.#view.state.doc.toString();
    if (old === text) return;
    let from = 0;
    while (from < old.length && old[from] === text[from]) from++;
    let rest = 0;
    while (rest < Math.min(old.length, text.length) - from && old.at(-1 - rest) === text.at(-1 - rest)) rest++;
    this.#view.dispatch({ changes: { from, to: old.length - rest, insert: text.slice(from, text.length - rest) } });
  }

  /**
   * Toggle between the editor and the plain text area, which contains all lines for screen readers and
   * browser search.
   */
  #plain() {
    const isPlain = this.#slot.hidden;
    if (!isPlain) this.#replace(this.#area.value);
    this.#slot.hidden = !isPlain;
    this.#view.dom.hidden = isPlain;
    this.#button("plain").setAttribute("aria-pressed", isPlain);
    (isPlain ? this.#area : this.#view).focus();
  }

  #showChanges() {
    const button = this.#button("changes");
    const isShown = button.getAttribute("aria-pressed") !== "true";
    const marks = () => unifiedMergeView({ original: this.#area.defaultValue, mergeControls: false, highlightChanges: false, syntaxHighlightDeletions: false, diffConfig: { scanLimit: 10_000, timeout: 500 } });
    this.#view.dispatch({ effects: this.#changes.reconfigure(isShown ? marks() : []) });
    button.setAttribute("aria-pressed", isShown);
  }

  #checkAll() {
    this.#isAsked = true;
    this.#view.dispatch({ effects: checkAgain.of(null) });
    forceLinting(this.#view);
  }
}

customElements.define("yaml-editor", YamlEditor);
