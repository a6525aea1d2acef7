// Evaluates a kind's OpenAPI schema for a manifest: possible keys and values, documentation and problems.
// Independent of editor and page. Problems are only hints; kube-apiserver validates.

const STEP = "  ";
const REF = "#/components/schemas/";
/** Path element for a list item. */
const ITEM = Symbol("item");
const own = (object, key) => (object && Object.hasOwn(object, key) ? object[key] : undefined);
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

// ---- schemas

/** Schema of one kind with its definitions. References are resolved lazily, because some kinds are recursive. */
export class Schema {
  #schemas;
  #resolved = new WeakMap();

  constructor({ $ref, components }) {
    this.root = { $ref };
    this.#schemas = components?.schemas;
  }

  /** Return `schema` with its reference resolved. Its own description and default take precedence. */
  resolve(schema) {
    if (!isObject(schema)) return {};
    const known = this.#resolved.get(schema);
    if (known) return known;
    let found = schema;
    let name = "";
    for (let steps = 0; steps < 20; steps++) {
      const only = Array.isArray(found.allOf) && found.allOf.length === 1 ? found.allOf[0]?.$ref : null;
      const target = typeof found.$ref === "string" ? found.$ref : only;
      if (typeof target !== "string" || !target.startsWith(REF)) break;
      const next = own(this.#schemas, target.slice(REF.length));
      name = target.split(".").pop();
      const { description = next?.description, default: preset = next?.default } = found;
      found = { ...next, description, default: preset };
    }
    const whole = { ...found, name };
    this.#resolved.set(schema, whole);
    return whole;
  }

  /** Return the schema of a child key, or undefined if the key is unknown. */
  child(schema, key) {
    const { properties, additionalProperties } = this.resolve(schema);
    return own(properties, key) ?? (isObject(additionalProperties) ? additionalProperties : this.#isOpen(schema) ? {} : undefined);
  }

  at(path) {
    let schema = this.root;
    for (const part of path) {
      schema = part === ITEM ? this.resolve(schema).items : this.child(schema, part);
      if (!isObject(schema)) return undefined;
    }
    return schema;
  }

  /** True if unknown keys are allowed. */
  #isOpen(schema) {
    const found = this.resolve(schema);
    return found["x-kubernetes-preserve-unknown-fields"] === true || found["x-kubernetes-embedded-resource"] === true
      || found.additionalProperties === true || !(isObject(found.properties) || isObject(found.additionalProperties));
  }

  /** Return the allowed JSON types, or null if all are allowed. */
  types(schema) {
    const found = this.resolve(schema);
    if (found["x-kubernetes-int-or-string"] === true || found.format === "int-or-string") return ["integer", "string"];
    if (typeof found.type === "string") return [found.type];
    const either = found.oneOf ?? found.anyOf;
    if (!Array.isArray(either) || !either.every((one) => typeof one?.type === "string")) return null;
    return either.map(({ type }) => type);
  }

  enum(schema) {
    const found = this.resolve(schema).enum;
    return Array.isArray(found) ? found.filter((value) => value !== null && typeof value !== "object" && value !== "") : [];
  }

  /** Format the type like `kubectl explain`: `[]Container`, `map[string]string`. */
  typeName(schema, depth = 0) {
    const found = this.resolve(schema);
    if (found.type === "array") return `[]${depth < 4 ? this.typeName(found.items, depth + 1) : ""}`;
    if (found.type === "object" || isObject(found.properties)) {
      if (isObject(found.additionalProperties)) return `map[string]${depth < 4 ? this.typeName(found.additionalProperties, depth + 1) : ""}`;
      return found.name || "Object";
    }
    return this.types(schema)?.join(" | ") ?? found.name ?? "";
  }

  /** Return the snippet after `key:`, indented by `indent`: required keys, with `${}` as placeholders. */
  skeleton(schema, indent, met = []) {
    const found = this.resolve(schema);
    if (met.includes(found) || met.length > 6) return " ${}";
    const below = [...met, found];
    if (found.type === "array") return `\n${indent}- ${this.#fields(found.items, indent + STEP, below).trimStart()}`;
    const isMapping = found.type === "object" || isObject(found.properties) || isObject(found.additionalProperties);
    return isMapping ? `\n${this.#fields(schema, indent + STEP, below)}` : " ${}";
  }

  #fields(schema, indent, met) {
    const { required, properties } = this.resolve(schema);
    const keys = (Array.isArray(required) ? required : []).filter((key) => isObject(own(properties, key)));
    if (!keys.length) return `${indent}\${}`;
    return keys.map((key) => `${indent}${key}:${this.skeleton(properties[key], indent, met)}`).join("\n");
  }
}

// ---- positions in the text, found by indentation: incomplete text has no usable syntax tree

const KEY = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#&*!|>'"%@`[\]{},?-].*?|-[^\s].*?)[ \t]*:(?:[ \t]+(.*))?$/;
const BLOCK = /^(?:[!&]\S*\s+)*[|>][-+\d]*\s*(?:#.*)?$/;
const SEPARATOR = /^(?:---|\.\.\.)(?:\s|$)/;

const unquoted = (text) => (/^(["']).*\1$/s.test(text) ? text.slice(1, -1) : text);

/** Parse a line: columns of its dashes, column of its content, and key and value if it has a key. */
function read(text) {
  let column = text.search(/[^ ]|$/);
  const dashes = [];
  while (text[column] === "-" && (column + 1 === text.length || text[column + 1] === " ")) {
    dashes.push(column);
    column += 1 + text.slice(column + 1).search(/[^ ]|$/);
  }
  const rest = text.slice(column);
  const entry = KEY.exec(rest);
  return { dashes, column, rest, key: entry ? unquoted(entry[1]) : null, written: entry?.[1] ?? "", value: entry?.[2] ?? "" };
}

/**
 * Return the path at `column` of line `number`, after that line's `dashes`, and the keys above it. Return
 * null in a block scalar.
 */
function ascend(doc, number, column, dashes) {
  const path = [];
  const keys = new Set();
  let isList = false;
  const enter = (columns) => {
    for (const dash of columns.toReversed()) {
      if (dash >= column) continue;
      path.unshift(ITEM);
      column = dash;
      isList = true;
    }
  };
  enter(dashes);
  for (let above = number - 1; above > 0 && (column > 0 || isList || !path.length); above--) {
    const { text } = doc.line(above);
    if (SEPARATOR.test(text)) break;
    if (/^\s*(?:#|$)/.test(text)) continue;
    const line = read(text);
    const parent = line.column < column || (isList && line.column === column && !line.dashes.includes(column));
    if (parent && BLOCK.test(line.key === null ? line.rest : line.value)) return null;
    if (line.key !== null && parent) {
      path.unshift(line.key);
      column = line.column;
      isList = false;
    } else if (line.key !== null && line.column === column && !path.length) keys.add(line.key);
    enter(line.dashes);
  }
  return { path, keys };
}

/** Yield the keys of the same mapping below line `number`. */
function* below(doc, number, column) {
  for (let next = number + 1; next <= doc.lines; next++) {
    const { text } = doc.line(next);
    if (SEPARATOR.test(text)) return;
    if (/^\s*(?:#|$)/.test(text)) continue;
    const line = read(text);
    if ((line.dashes[0] ?? line.column) < column) return;
    if (line.column === column && !line.dashes.length && line.key !== null) yield line.key;
  }
}

/** Return the apiVersion and kind of the document at a position. */
export function typeAt(doc, position) {
  let first = doc.lineAt(position).number;
  let last = first;
  while (first > 1 && !SEPARATOR.test(doc.line(first).text)) first--;
  while (last < doc.lines && !SEPARATOR.test(doc.line(last + 1).text)) last++;
  return typeOf(doc.sliceString(doc.line(first).from, doc.line(last).to));
}

function typeOf(text) {
  const value = (key) => unquoted(new RegExp(`^${key}:[ \\t]+([^\\s#]+)`, "m").exec(text)?.[1] ?? "");
  return { apiVersion: value("apiVersion"), kind: value("kind") };
}

/**
 * Return the completion at a position: `{ from, isValue, column, options: [{ label, schema, isRequired }] }`,
 * or null.
 */
export function complete(schema, doc, position) {
  const line = doc.lineAt(position);
  const { dashes, column, rest, key, value } = read(line.text.slice(0, position - line.from));
  const found = ascend(doc, line.number, column, dashes);
  if (!found) return null;
  const container = schema.at(found.path);
  if (!container) return null;
  if (key !== null) {
    if (/^["'[{&*!|>#]/.test(value) || / #/.test(value)) return null;
    return values(schema, schema.child(container, key), position - value.length);
  }
  if (/[\s:#"'[{&*!|>]/.test(rest)) return null;
  const from = position - rest.length;
  if (found.path.at(-1) === ITEM && !isObject(schema.resolve(container).properties)) return values(schema, container, from);
  const { properties, required = [] } = schema.resolve(container);
  const there = new Set([...found.keys, ...below(doc, line.number, column)]);
  const free = Object.keys(properties ?? {}).filter((name) => !there.has(name));
  const options = free.map((name) => ({ label: name, schema: properties[name], isRequired: required.includes(name) }));
  return { from, isValue: false, column, options };
}

function values(schema, about, from) {
  if (!about) return null;
  const listed = schema.enum(about);
  const found = !listed.length && schema.types(about)?.join() === "boolean" ? [true, false] : listed;
  const options = found.map((value) => ({ label: typeof value === "string" && scalarType(value) !== "string" ? `"${value}"` : String(value), schema: about }));
  return { from, isValue: true, options };
}

/** Return the documentation of the key at a position: `{ from, to, key, schema, isRequired }`, or null. */
export function explain(schema, doc, position) {
  const line = doc.lineAt(position);
  const { dashes, column, key, written } = read(line.text);
  const from = line.from + column;
  if (key === null || position < from || position > from + written.length) return null;
  const found = ascend(doc, line.number, column, dashes);
  const container = found && schema.at(found.path);
  const about = container && own(schema.resolve(container).properties, key);
  if (!isObject(about)) return null;
  const isRequired = schema.resolve(container).required?.includes(key) ?? false;
  return { from, to: from + written.length, key, schema: about, isRequired };
}

// ---- problems, found in the syntax tree

/** Maximum number of problems: a text that isn't a manifest has one per line. */
const MOST = 500;

// Scalars of YAML 1.1, which the console uses: `on` is a boolean and 0o7 is a string.
const SCALARS = [
  ["null", /^(?:~|null|Null|NULL|)$/],
  ["boolean", /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/],
  ["integer", /^[-+]?(?:0b[01_]+|0x[\da-fA-F_]+|0[0-7_]*|[1-9][\d_]*(?::[0-5]?\d)*)$/],
  ["number", /^(?:[-+]?(?:\d[\d_]*\.[\d_]*(?:[eE][-+]\d+)?|\d[\d_]*(?::[0-5]?\d)+\.[\d_]*|\.\d[\d_]*(?:[eE][-+]\d+)?|\.(?:inf|Inf|INF))|\.(?:nan|NaN|NAN))$/],
];
const scalarType = (text) => SCALARS.find(([, pattern]) => pattern.test(text))?.[0] ?? "string";
const TAGS = { "!!str": "string", "!!int": "integer", "!!float": "number", "!!bool": "boolean", "!!null": "null" };
const NODES = { BlockMapping: "object", FlowMapping: "object", BlockSequence: "array", FlowSequence: "array" };

/**
 * Return problems as `{ from, to, code, values }`, at most `MOST`. `schemaOf` returns the schema for a
 * document's `{ apiVersion, kind }`, or undefined.
 */
export function problems(tree, text, schemaOf) {
  const found = [];
  const report = (from, to, code, values = {}) => found.length < MOST && found.push({ from, to, code, values });
  const lines = new Set();
  tree.iterate({
    enter({ type, from, to }) {
      if (!type.isError) return;
      const line = text.lastIndexOf("\n", from - 1);
      if (!lines.has(line)) report(from, Math.max(to, from), "syntax");
      lines.add(line);
    },
  });
  for (let document = tree.topNode.firstChild; document; document = document.nextSibling) {
    if (document.name !== "Document") continue;
    const schema = schemaOf(typeOf(text.slice(document.from, document.to)));
    const top = [...children(document)].find(({ name }) => name !== "DirectiveEnd" && name !== "Comment");
    if (top) check(top, schema?.root, { schema, text, report });
  }
  return found.sort((one, other) => one.from - other.from);
}

function* children(node) {
  for (let child = node.firstChild; child; child = child.nextSibling) yield child;
}

function check(node, about, context) {
  const { schema, text, report } = context;
  let tag = null;
  while (node && (node.name === "Tagged" || node.name === "Anchored")) {
    if (node.name === "Tagged") tag = text.slice(node.firstChild.from, node.firstChild.to);
    node = node.lastChild;
  }
  if (!node || node.type.isError || node.name === "Alias" || (tag && !TAGS[tag])) return;
  const written = text.slice(node.from, node.to);
  const type = NODES[node.name] ?? TAGS[tag] ?? (node.name === "Literal" ? scalarType(written) : "string");
  const wanted = about ? schema.types(about) : null;
  const fits = !wanted || type === "null" || wanted.includes(type) || (type === "integer" && wanted.includes("number"));
  if (!fits) {
    const end = text.indexOf("\n", node.from);
    report(node.from, end < 0 ? node.to : Math.min(node.to, end), "type", { type: wanted.join(" / ") });
  } else if (type === "object") checkMapping(node, about, context);
  else if (type === "array") {
    const items = about && schema.resolve(about).items;
    for (const item of children(node)) if (item.name === "Item") check(item.lastChild, items, context);
  } else if (about && type !== "null") {
    const choices = schema.enum(about);
    const value = node.name === "QuotedLiteral" ? unquoted(written) : written;
    // Block scalars and escapes aren't compared.
    if (choices.length && node.name !== "BlockLiteral" && !value.includes("\\") && !choices.map(String).includes(value)) {
      report(node.from, node.to, "choice", { choices: choices.join(", ") });
    }
  }
}

function checkMapping(node, about, context) {
  const { schema, text, report } = context;
  const seen = new Set();
  let isMerged = false;
  for (const pair of children(node)) {
    const name = pair.name === "Pair" ? pair.getChild("Key") : null;
    if (!name) continue;
    const key = unquoted(text.slice(name.from, name.to));
    if (seen.has(key)) report(name.from, name.to, "twice", { key });
    seen.add(key);
    isMerged ||= key === "<<";
    const below = about ? schema.child(about, key) : undefined;
    if (about && below === undefined && key !== "<<") report(name.from, name.to, "unknown", { key });
    const value = pair.lastChild;
    if (value !== name && value.name !== ":") check(value, below, context);
  }
  const required = about ? schema.resolve(about).required : null;
  if (!Array.isArray(required) || isMerged) return;
  const end = text.indexOf("\n", node.from);
  for (const key of required) {
    if (!seen.has(key)) report(node.from, end < 0 ? node.to : Math.min(node.to, end), "missing", { key });
  }
}
