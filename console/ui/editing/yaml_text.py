"""Parsing of YAML input with the semantics of Kubernetes.

Guarantees: the cost is limited by the length of the text, `MAX_EVENTS` and `MAX_REPEATED`.
Duplicate keys are rejected, so the parsed value is the one that the user saw. Every value is a
JSON value. All errors are `yaml.YAMLError`. Plain scalars, aliases and the merge key mean the
same as in kubectl, which reads YAML 1.1 without dates and base-60 numbers:
https://github.com/kubernetes-sigs/yaml
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import yaml
from django.utils.translation import gettext as _
from yaml.constructor import ConstructorError

from console.kube.gvr import GVR

MAX_DEPTH = 100
#: Maximum total size of all expanded aliases: their characters plus one for each value. A few
#: hundred characters can expand to billions of values.
MAX_REPEATED = 256 * 1024
#: Maximum parser events. An event is a value, or the start or end of a list or mapping. A value
#: takes a few microseconds and up to a kilobyte of memory, and may be only two characters long.
MAX_EVENTS = 200_000
#: Maximum parser events of a text with several documents, and of one of them, which may be a list
#: of many objects.
MAX_ALL_EVENTS, MAX_LIST_EVENTS = 2_000_000, 500_000
#: Range of Go's int64, which Kubernetes uses for integers.
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_YES = frozenset({"y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"})
_NO = frozenset({"n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"})
_INTEGER = re.compile(
    r"[-+]?(?:0b[01][01_]*|0x[0-9a-fA-F][0-9a-fA-F_]*|0o[0-7][0-7_]*|0[0-7_]*|[1-9][0-9_]*)"
)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?")
_NO_JSON = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")

#: Path of keys and list indexes from the document to a value.
Steps = Sequence[str | int]


@dataclass(frozen=True, slots=True)
class Position:
    """A position in the text. Both values count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text that is parsed separately. `line` is its first line in the whole text."""

    text: str
    line: int = 1


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed document. `value` contains JSON values.

    It is document `number` of `part`, or the item at the path `inside` of it. Positions are computed
    from the text when they are needed, because they take much more memory than the values. For a
    large text, this takes seconds.
    """

    value: Any
    part: Part = Part("")
    number: int = 0
    inside: Steps = ()
    start: Position | None = None

    def within(self, name: str) -> "list[Document]":
        """Return the items of the list under a key as documents."""
        return [
            Document(value, self.part, self.number, (*self.inside, name, at))
            for at, value in enumerate(self.value[name])
        ]

    def place(self, steps: Steps = ()) -> Position:
        """Return the position of a value, or of its key if it has one. If the value is missing,
        return the position of its closest existing parent.
        """
        if self.start is not None and not steps:
            return self.start
        nodes = _nodes(self.part.text)
        node = found = nodes[self.number] if self.number < len(nodes) else None
        for step in (*self.inside, *steps):
            if isinstance(node, yaml.MappingNode):
                pair = next((pair for pair in node.value if pair[0].value == str(step)), None)
                found, node = pair if pair is not None else (found, None)
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
                node = node.value[step] if 0 <= step < len(node.value) else None
                found = node or found
            if node is None:
                break
        if found is None:
            return Position(self.part.line, 1)
        return _position(found, self.part)


def read_yaml(text: str) -> Any:
    """Return the value of a single document. Raise `yaml.YAMLError`."""
    return read_document(text).value


def read_document(text: str) -> Document:
    """Return a single document, which may be empty. Raise `yaml.YAMLError`."""
    nodes = list(_composed(text, _Limits(MAX_EVENTS, single=True)))
    return Document(_value(nodes[0]), Part(text)) if nodes else Document(None)


class UnreadableDocument(Exception):
    """A part of a text that can't be parsed, because of `error`."""

    def __init__(self, part: Part, error: yaml.YAMLError) -> None:
        super().__init__()
        self.part, self.error = part, error


def read_documents(text: str) -> Iterator[Document | UnreadableDocument]:
    """Yield the documents of a text, without empty ones, and the parts that can't be parsed.

    As in kubectl, a part that starts with `{` is a sequence of JSON objects, if it is valid JSON.
    """
    left = MAX_ALL_EVENTS
    for part in _parts(text):
        try:
            found = _json_documents(part) if part.text.lstrip()[:1] == "{" else None
            if found is None:
                limits = _Limits(min(left, MAX_LIST_EVENTS), single=False)
                found = [
                    Document(_value(node), part, number, start=_position(node, part))
                    for number, node in enumerate(_composed(part.text, limits))
                ]
                left -= limits.events
        except yaml.YAMLError as error:
            yield UnreadableDocument(part, error)
        else:
            yield from (document for document in found if document.value is not None)


def _position(node: yaml.Node, part: Part) -> Position:
    return Position(node.start_mark.line + part.line, node.start_mark.column + 1)


def _parts(text: str) -> Iterator[Part]:
    """Split a text at the lines that start a document."""
    starts = [0, *(match.start() for match in _START.finditer(text)), len(text)]
    before, line = "", 1
    for start, end in zip(starts, starts[1:], strict=False):
        # A file that was appended to the text may start with a byte order mark.
        part = before + text[start:end].removeprefix("\ufeff")
        marker = _MARKER.match(part)
        if _PREAMBLE.fullmatch(part):
            # Directives belong to the next document.
            before = part
            continue
        own = part[marker.end() :] if marker else part
        if own.strip():
            yield Part(own, line + (1 if marker else 0))
        line += part.count("\n")
        before = ""


def _json_documents(part: Part) -> list[Document] | None:
    """Return the objects of a JSON stream, or None if the text is not JSON.

    Raise `yaml.YAMLError` for JSON that Kubernetes does not accept.
    """
    found: list[Document] = []
    at, line = 0, part.line
    while True:
        start = _SPACE.match(part.text, at).end()  # type: ignore[union-attr]
        line += part.text.count("\n", at, start)
        if start == len(part.text):
            return found
        try:
            value, at = _JSON.raw_decode(part.text, start)
            value = _json_value(value)
        except _Unusable as error:
            mark = yaml.Mark("", 0, line - part.line, 0, None, 0)
            raise ConstructorError(None, None, str(error), mark) from error
        except (ValueError, RecursionError):
            # The YAML parser reports the error.
            return None
        start_of = Position(line, 1)
        found.append(Document(value, Part(part.text[start:at], line), start=start_of))
        line += part.text.count("\n", start, at)


class _Unusable(Exception):
    """JSON that Kubernetes does not accept."""


def _json_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _value in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Unusable(_("the key %(name)s appears more than once") % {"name": twice})
    return found


def _json_value(value: Any, depth: int = 0) -> Any:
    """Replace halves of surrogate pairs as Go does, and limit the nesting depth."""
    if depth > MAX_DEPTH:
        raise _Unusable(_("the document is nested too deeply"))
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_json_value(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {_json_value(key): _json_value(item, depth + 1) for key, item in value.items()}
    return value


def forget_positions() -> None:
    """Free the memory for the positions in the text that was used last."""
    _nodes.cache_clear()


@lru_cache(maxsize=1)
def _nodes(text: str) -> Sequence[yaml.Node]:
    """Return the nodes of the documents in a text."""
    try:
        return list(_composed(_ESCAPED.sub(r"\1?", text), _Limits(MAX_LIST_EVENTS, single=False)))
    except yaml.YAMLError:
        return ()


def parse_scalar(text: str) -> Any:
    """Return the value of an unquoted scalar: null, a boolean, a number or text.

    Raise `ValueError` for a number that JSON or Kubernetes can't represent.
    """
    if text in _NULLS:
        return None
    if text in _YES or text in _NO:
        return text in _YES
    if _INTEGER.fullmatch(text):
        return _integer(text.replace("_", ""))
    if _NO_JSON.fullmatch(text):
        raise ValueError(_("this is not a valid JSON number"))
    if _FLOAT.fullmatch(text):
        found = float(text.replace("_", ""))
        if found in (float("inf"), float("-inf")):
            raise ValueError(_("the number is too large"))
        # Go writes 1.0 as 1.
        return int(found) if found.is_integer() and abs(found) <= _LARGEST else found
    return text


def _integer(text: str) -> int | float:
    digits = text.lstrip("+-")
    if len(digits) > 70:
        raise ValueError(_("the number is too large"))
    base = {"0b": 2, "0x": 16, "0o": 8}.get(digits[:2], 8 if digits[0] == "0" else 10)
    found = int(digits, base) * (-1 if text[0] == "-" else 1)
    # The number does not fit in Go's int64.
    return found if _SMALLEST <= found <= _LARGEST else float(found)


def _composed(text: str, limits: "_Limits") -> Iterator[yaml.Node]:
    """Yield the documents as nodes. Raise `yaml.YAMLError`, also if the text exceeds a limit.

    Unlike `yaml.compose_all`, which is one call of a C library for each document, other threads can
    run in the meantime.
    """
    opened: list[yaml.CollectionNode] = []
    anchors: dict[str, yaml.Node] = {}
    keys: dict[int, yaml.Node] = {}
    root: yaml.Node | None = None
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        problem = limits.problem(event)
        if problem:
            raise _refusal(problem, event)
        if isinstance(event, yaml.CollectionEndEvent):
            opened.pop()
        elif isinstance(event, yaml.DocumentEndEvent) and root is not None:
            yield root
            root, anchors = None, {}
        if not isinstance(event, yaml.NodeEvent):
            continue
        node = _node(event, anchors)
        if event.anchor:
            anchors[event.anchor] = node
        if not opened:
            root = node
        elif isinstance(opened[-1], yaml.SequenceNode):
            opened[-1].value.append(node)
        elif id(opened[-1]) in keys:
            opened[-1].value.append((keys.pop(id(opened[-1])), node))
        else:
            keys[id(opened[-1])] = node
        if isinstance(event, yaml.CollectionStartEvent):
            opened.append(node)


def _node(event: Any, anchors: Mapping[Any, yaml.Node]) -> Any:
    marks = event.start_mark, event.end_mark
    if isinstance(event, yaml.AliasEvent):
        return anchors[event.anchor]
    if isinstance(event, yaml.ScalarEvent):
        return yaml.ScalarNode("", event.value, *marks, style=event.style)
    return _COLLECTIONS[type(event)]("", [], *marks)


_COLLECTIONS = {
    yaml.SequenceStartEvent: yaml.SequenceNode,
    yaml.MappingStartEvent: yaml.MappingNode,
}


@dataclass(slots=True)
class _ValueSize:
    """The size of a value with its content: the characters plus one for each value, and the nesting
    depth.
    """

    weight: int = 1
    depth: int = 0
    anchor: str | None = None

    def add(self, inner: "_ValueSize") -> None:
        self.weight += inner.weight
        self.depth = max(self.depth, inner.depth)


class _Limits:
    """Checks the cost of a text while it is parsed. `most_events` is the maximum number of events, and
    `single` allows only one document.
    """

    def __init__(self, most_events: int, *, single: bool) -> None:
        self._most_events, self._single = most_events, single
        self._documents = self.events = self._repeated = 0
        self._open: list[_ValueSize] = []
        #: None while the anchored value is still being parsed.
        self._anchors: dict[str | None, _ValueSize | None] = {}

    def problem(self, event: yaml.Event) -> str:
        """Return the reason to reject the text at this event, or ""."""
        self.events += 1
        if self.events > self._most_events:
            return _("the document has too many values")
        if getattr(event, "tag", None) is not None:
            return _("tags are not supported")
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            self._anchors = {}
            if self._documents == 1 or not self._single:
                return ""
            return _("the text contains more than one document")
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event.anchor)
        if isinstance(event, yaml.CollectionStartEvent):
            self._open.append(_ValueSize(anchor=event.anchor))
            if event.anchor:
                self._anchors[event.anchor] = None
            return self._nesting(0)
        if isinstance(event, yaml.CollectionEndEvent):
            size = self._open.pop()
            size.depth += 1
            self._close(size)
        elif isinstance(event, yaml.ScalarEvent):
            self._close(_ValueSize(1 + len(event.value), anchor=event.anchor))
        return ""

    def _alias(self, anchor: str | None) -> str:
        size = self._anchors.get(anchor)
        if size is None:
            return _("this alias does not refer to an anchor above it")
        self._repeated += size.weight
        if self._repeated > MAX_REPEATED:
            return _("aliases expand to too much content")
        self._close(_ValueSize(size.weight, size.depth))
        return self._nesting(size.depth)

    def _nesting(self, below: int) -> str:
        deep = len(self._open) + below > MAX_DEPTH
        return _("the document is nested too deeply") if deep else ""

    def _close(self, size: _ValueSize) -> None:
        if size.anchor:
            self._anchors[size.anchor] = size
        if self._open:
            self._open[-1].add(size)


def _value(node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return _mapping(node)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item) for item in node.value]
    return _scalar(node)


def _mapping(node: yaml.MappingNode) -> dict[str, Any]:
    found: dict[str, Any] = {}
    merged: yaml.Node | None = None
    for key, value in node.value:
        is_merge = isinstance(key, yaml.ScalarNode) and not key.style and key.value == "<<"
        name = "<<" if is_merge else _key(key)
        if name in found or (is_merge and merged is not None):
            raise _refusal(_("a key appears more than once"), key)
        if is_merge:
            merged = value
        else:
            found[name] = _value(value)
    # The mapping's own keys override merged keys, regardless of their order. Earlier merged
    # mappings override later ones.
    # See https://yaml.org/type/merge.html.
    parts: list[Any] = [merged] if merged is not None else []
    if isinstance(merged, yaml.SequenceNode):
        parts = merged.value
    if not all(isinstance(part, yaml.MappingNode) for part in parts):
        raise _refusal(_("only mappings can be merged"), merged)
    for part in parts:
        for name, held in _mapping(part).items():
            found.setdefault(name, held)
    return found


def _key(node: yaml.Node) -> str:
    """Return a key as text. An integer in canonical form is accepted as the text that it is written
    as.
    """
    if not isinstance(node, yaml.ScalarNode):
        raise _refusal(_("a key must be a string"), node)
    meant = _scalar(node)
    number = isinstance(meant, int) and str(meant) == node.value
    if not (number or isinstance(meant, str)):
        raise _refusal(_("a key must be a string: put the key in quotes"), node)
    return str(node.value)


def _scalar(node: Any) -> Any:
    # A style means that the scalar is quoted.
    if node.style:
        return node.value
    try:
        return parse_scalar(node.value)
    except ValueError as error:
        raise _refusal(str(error), node) from error


def _refusal(problem: str, at: Any) -> ConstructorError:
    return ConstructorError(None, None, problem, at.start_mark)


def _no_number(_text: str) -> Any:
    raise ValueError


_JSON = json.JSONDecoder(
    object_pairs_hook=_json_object,
    parse_int=_integer,
    parse_float=parse_scalar,
    parse_constant=_no_number,
)
_SPACE = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
#: An escaped half of a surrogate pair, after an even number of backslashes.
_ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
#: Start of a document, its line if it contains nothing else, and the lines before it.
_START = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)
_MARKER = re.compile(r"---[ \t]*(?:#[^\n]*)?\r?(?:\n|\Z)")
_PREAMBLE = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*%[^\n]*\n(?:(?:[ \t]*(?:#[^\n]*)?|%[^\n]*)\n)*")
_LONGEST_LINE = 1_000_000
_FIRST = ("apiVersion", "kind", "metadata")


class _Dumper(yaml.CSafeDumper):
    """Dumper that writes multi-line texts as blocks and texts with invisible characters in quotes."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent(dumper: yaml.CSafeDumper, value: str) -> yaml.ScalarNode:
    try:
        # PyYAML quotes fewer values than kubectl requires to read them as text.
        is_text = _plain(value) and isinstance(parse_scalar(value), str)
    except ValueError:
        is_text = False
    style = ("|" if "\n" in value else None) if is_text else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _represent)


class ApiType(Protocol):
    """The type of an object, such as a `ResourceKind`. Readers of configurations use this module
    before the kinds can be imported.
    """

    @property
    def gvr(self) -> GVR: ...
    @property
    def api_kind(self) -> str: ...


def yaml_text(kind: ApiType, manifest: Mapping[str, Any]) -> str:
    """Return the manifest as YAML, including the type fields that list responses omit. Raise
    `RecursionError`.
    """
    # Events of a watch contain the server's version (see `console.kube.compatibility`).
    whole = {**manifest, "apiVersion": kind.gvr.group_version, "kind": kind.api_kind}
    ordered = {key: whole[key] for key in (*_FIRST, *whole) if key in whole}
    return plain_yaml(ordered)


def plain_yaml(value: Any) -> str:
    """Return any JSON value as YAML. Raise `RecursionError`."""
    text = yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_LONGEST_LINE
    )
    # Remaining invisible characters are inside double quotes, where YAML allows escapes.
    return _INVISIBLE.sub(_escape, text) if not _plain(text) else text


def _plain(text: str) -> bool:
    return text.isprintable() or text.replace("\n", "").isprintable()


#: Candidates for `str.isprintable`: non-ASCII characters outside common letter ranges.
_INVISIBLE = re.compile(r"[^\n\x20-\x7e\u00a1-\u00ac\u00ae-\u036f\u4e00-\u9fff]")


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
