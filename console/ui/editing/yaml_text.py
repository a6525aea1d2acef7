"""Parsing of YAML input with the semantics of Kubernetes.

Guarantees: the cost is limited by the length of the text, `MAX_EVENTS` and `MAX_REPEATED`.
Duplicate keys are rejected, so the parsed value is the one that the user saw. Every value is a
JSON value. All errors are `yaml.YAMLError`. Plain scalars, aliases and the merge key mean the
same as in kubectl, which reads YAML 1.1 without dates and base-60 numbers:
https://github.com/kubernetes-sigs/yaml
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml
from django.utils.translation import gettext as _
from yaml.constructor import ConstructorError

from console.ui.core.kind import ResourceKind

MAX_DEPTH = 100
#: Maximum total size of all expanded aliases: their characters plus one for each value. A few
#: hundred characters can expand to billions of values.
MAX_REPEATED = 256 * 1024
#: Maximum parser events. An event is a value, or the start or end of a list or mapping. A value
#: takes a few microseconds and up to a kilobyte of memory, and may be only two characters long.
MAX_EVENTS = 200_000
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
class Document:
    """A parsed document. `value` contains JSON values, and `node` their positions in the text."""

    value: Any
    node: yaml.Node | None = None

    def within(self, name: str) -> "list[Document]":
        """Return the items of the list under a key as documents."""
        values = self.value[name]
        pairs = self.node.value if isinstance(self.node, yaml.MappingNode) else ()
        # Merged values have no position of their own.
        elsewhere = [self.node] * len(values)
        nodes = next((node.value for key, node in pairs if key.value == name), elsewhere)
        return [Document(value, node) for value, node in zip(values, nodes, strict=True)]

    def place(self, steps: Steps = ()) -> Position:
        """Return the position of a value, or of its key if it has one. If the value is missing,
        return the position of its closest existing parent.
        """
        node, found = self.node, self.node
        for step in steps:
            if isinstance(node, yaml.MappingNode):
                pair = next((pair for pair in node.value if pair[0].value == str(step)), None)
                found, node = pair if pair is not None else (found, None)
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
                node = node.value[step] if 0 <= step < len(node.value) else None
                found = node or found
            if node is None:
                break
        mark = found.start_mark if found is not None else None
        return Position(mark.line + 1, mark.column + 1) if mark is not None else Position(1, 1)


def read_yaml(text: str) -> Any:
    """Return the value of a single document. Raise `yaml.YAMLError`."""
    return read_document(text).value


def read_document(text: str) -> Document:
    """Return a single document, which may be empty. Raise `yaml.YAMLError`."""
    _check(text, most=1)
    node = yaml.compose(text, Loader=yaml.CSafeLoader)
    return Document(_value(node), node) if node is not None else Document(None)


def read_documents(text: str, most: int) -> list[Document]:
    """Return up to `most` documents, without empty ones. Raise `yaml.YAMLError`."""
    _check(text, most=most)
    nodes = yaml.compose_all(text, Loader=yaml.CSafeLoader)
    found = (Document(_value(node), node) for node in nodes)
    return [document for document in found if document.value is not None]


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


def _check(text: str, *, most: int) -> None:
    limits = _Limits(most)
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        problem = limits.problem(event)
        if problem:
            raise _refusal(problem, event)


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
    """Checks the cost of a text while it is parsed. `most` is the maximum number of documents."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._documents = self._events = self._repeated = 0
        self._open: list[_ValueSize] = []
        #: None while the anchored value is still being parsed.
        self._anchors: dict[str | None, _ValueSize | None] = {}

    def problem(self, event: yaml.Event) -> str:
        """Return the reason to reject the text at this event, or ""."""
        self._events += 1
        if self._events > MAX_EVENTS:
            return _("the document has too many values")
        if getattr(event, "tag", None) is not None:
            return _("tags are not supported")
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            self._anchors = {}
            if self._documents <= self._most:
                return ""
            if self._most == 1:
                return _("the text contains more than one document")
            return _("the text contains more than %(most)s documents") % {"most": self._most}
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


def yaml_text(kind: ResourceKind, manifest: Mapping[str, Any]) -> str:
    """Return the manifest as YAML, including the type fields that list responses omit. Raise
    `RecursionError`.
    """
    whole = {"apiVersion": kind.gvr.group_version, "kind": kind.api_kind, **manifest}
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
