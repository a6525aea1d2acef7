"""YAML that somebody typed, read as Kubernetes reads it.

Promises: the cost is bounded by the length of the text, since nothing stands for something else; what is
read is what was seen, since no key is there twice; every value is one of JSON. Whatever is wrong is a
`yaml.YAMLError`. Plain words mean what they mean to kubectl, which reads YAML 1.1 without its dates and
its numbers of base 60: https://github.com/kubernetes-sigs/yaml
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml
from django.utils.translation import gettext as _
from yaml.constructor import ConstructorError

MAX_DEPTH = 100
#: The bounds of what Kubernetes keeps as a whole number.
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_YES = frozenset({"y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"})
_NO = frozenset({"n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"})
_INTEGER = re.compile(
    r"[-+]?(?:0b[01][01_]*|0x[0-9a-fA-F][0-9a-fA-F_]*|0o[0-7][0-7_]*|0[0-7_]*|[1-9][0-9_]*)"
)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?")
_NO_JSON = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")

#: The names and places in lists that lead from the whole to a value.
Steps = Sequence[str | int]


@dataclass(frozen=True, slots=True)
class Place:
    """Both count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Document:
    """`value`: plain ones of JSON. `node`: where they stand in the text."""

    value: Any
    node: yaml.Node | None = None

    def within(self, name: str) -> "list[Document]":
        """The items of the list that is the value of a key."""
        pairs = self.node.value if isinstance(self.node, yaml.MappingNode) else ()
        nodes = next((node.value for key, node in pairs if key.value == name), ())
        return [Document(value, node) for value, node in zip(self.value[name], nodes, strict=True)]

    def place(self, steps: Steps = ()) -> Place:
        """Where a value stands, its key if it has one; of a value that is missing, where it would."""
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
        return Place(mark.line + 1, mark.column + 1) if mark is not None else Place(1, 1)


def read_yaml(text: str) -> Any:
    """The value of one document. Raises `yaml.YAMLError`."""
    return read_document(text).value


def read_document(text: str) -> Document:
    """One document, which may be empty. Raises `yaml.YAMLError`."""
    _check(text, most=1)
    node = yaml.compose(text, Loader=yaml.CSafeLoader)
    return Document(_value(node), node) if node is not None else Document(None)


def read_documents(text: str, most: int) -> list[Document]:
    """Those that are not empty. Raises `yaml.YAMLError`."""
    _check(text, most=most)
    nodes = yaml.compose_all(text, Loader=yaml.CSafeLoader)
    found = (Document(_value(node), node) for node in nodes)
    return [document for document in found if document.value is not None]


def read_plain(text: str) -> Any:
    """What a word without quotes is: a text, unless it looks like something else. Raises `ValueError` for
    a number that JSON, or Kubernetes, has none of."""
    if text in _NULLS:
        return None
    if text in _YES or text in _NO:
        return text in _YES
    if _INTEGER.fullmatch(text):
        return _integer(text.replace("_", ""))
    if _NO_JSON.fullmatch(text):
        raise ValueError(_("this is no number of JSON"))
    if _FLOAT.fullmatch(text):
        found = float(text.replace("_", ""))
        if found in (float("inf"), float("-inf")):
            raise ValueError(_("this number is too large"))
        # Go writes 1.0 as 1.
        return int(found) if found.is_integer() and abs(found) <= _LARGEST else found
    return text


def _integer(text: str) -> int | float:
    digits = text.lstrip("+-")
    if len(digits) > 70:
        raise ValueError(_("this number is too large"))
    base = {"0b": 2, "0x": 16, "0o": 8}.get(digits[:2], 8 if digits[0] == "0" else 10)
    found = int(digits, base) * (-1 if text[0] == "-" else 1)
    # Go has no whole number for it.
    return found if _SMALLEST <= found <= _LARGEST else float(found)


def _check(text: str, *, most: int) -> None:
    depth = documents = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        documents += isinstance(event, yaml.DocumentStartEvent)
        problem = _problem(event, depth)
        if documents > most:
            problem = _too_many(most)
        if problem:
            raise _refusal(problem, event)


def _too_many(most: int) -> str:
    if most == 1:
        return _("there is more than one document")
    return _("there are more than %(most)s documents") % {"most": most}


def _problem(event: yaml.Event, depth: int) -> str:
    if isinstance(event, yaml.AliasEvent):
        # Some hundred characters of these can stand for billions of values.
        return _("aliases are not read")
    if getattr(event, "tag", None) is not None:
        return _("tags are not read")
    return _("it is nested too deeply") if depth > MAX_DEPTH else ""


def _value(node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return _mapping(node)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item) for item in node.value]
    return _scalar(node)


def _mapping(node: yaml.MappingNode) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in node.value:
        name = _key(key)
        if name in found:
            raise _refusal(_("a key is there twice"), key)
        found[name] = _value(value)
    return found


def _key(node: yaml.Node) -> str:
    """A number is the text that it is written as, if it is written as anybody would."""
    if not isinstance(node, yaml.ScalarNode):
        raise _refusal(_("a key must be a text"), node)
    meant = _scalar(node)
    number = isinstance(meant, int) and str(meant) == node.value
    merge = not node.style and node.value == "<<"
    if merge or not (number or isinstance(meant, str)):
        raise _refusal(_("a key must be a text: put it in quotes"), node)
    return str(node.value)


def _scalar(node: Any) -> Any:
    # A style is how it is quoted.
    if node.style:
        return node.value
    try:
        return read_plain(node.value)
    except ValueError as error:
        raise _refusal(str(error), node) from error


def _refusal(problem: str, at: Any) -> ConstructorError:
    return ConstructorError(None, None, problem, at.start_mark)
