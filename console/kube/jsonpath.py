"""JSONPath of printer columns, as kube-apiserver evaluates it.

The dialect is client-go's, limited to paths that start with a dot: `.spec.a`, `.spec.a\\.b`,
`.spec['a\\.b']`, `.list[0]`, `.list[-1]`, `.list[1:3]`, `.list[*].name`, `.map.*` and
`.status.conditions[?(@.type=="Ready")].status`. The first of several matches counts, as in
kube-apiserver's own tables (apiextensions-apiserver,
pkg/registry/customresource/tableconvertor).

Paths are written by authors of custom resource definitions, so their size is limited. Parsing is
linear in the length of the path, and a lookup visits each part of an object at most once per
step. https://kubernetes.io/docs/reference/kubectl/jsonpath/
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

#: Maximum number of characters and steps of a path.
MAX_LENGTH, MAX_STEPS = 1000, 32
#: Characters that end an unquoted name.
_ENDS = frozenset(" \t\r\n,.[]$@{}")
_COMPARED: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}

Step = Callable[[Any], Iterable[Any]]


class BadPath(ValueError):
    """A path that cannot be parsed."""


@dataclass(frozen=True, slots=True)
class Path:
    """A parsed path. `head` is the object's top-level field, `steps` are the steps that follow."""

    head: str
    steps: tuple[Step, ...]

    def first(self, value: Any) -> Any:
        """Return the first match in the value of `head`, or None if nothing matches or the match is
        null.
        """
        return next(_walk(value, self.steps), None)


def parse(text: str) -> Path:
    """Parse a path. Raise `BadPath`."""
    if not text.startswith(".") or len(text) > MAX_LENGTH:
        raise BadPath(text[:MAX_LENGTH])
    reader = _Reader(text)
    head = reader.name_after_dot()
    return Path(head, tuple(reader.steps()))


def _walk(value: Any, steps: tuple[Step, ...]) -> Iterator[Any]:
    if not steps:
        yield value
        return
    for found in steps[0](value):
        yield from _walk(found, steps[1:])


class _Reader:
    """A parser. `inner` is True within a filter; filters cannot be nested."""

    def __init__(self, text: str, *, inner: bool = False) -> None:
        self._text, self._at, self._inner = text, 0, inner

    def steps(self) -> Iterator[Step]:
        for count in range(MAX_STEPS + 1):
            if self._at == len(self._text):
                return
            if count == MAX_STEPS:
                raise BadPath("too many steps")
            yield self._step()

    def name_after_dot(self) -> str:
        """Read a name. Dots in it are escaped with a backslash."""
        self._take(".")
        name = ""
        while self._at < len(self._text) and (char := self._text[self._at]) not in _ENDS:
            if char == "\\":
                self._at += 1
                if self._at == len(self._text):
                    raise BadPath("nothing follows the backslash")
                char = self._text[self._at]
            name += char
            self._at += 1
        if not name:
            raise BadPath("expected a name")
        return name

    def _step(self) -> Step:
        if self._text[self._at] == ".":
            if self._text.startswith(".[", self._at):
                self._at += 1
                return self._step()
            name = self.name_after_dot()
            return _every if name == "*" else _member(name)
        self._take("[")
        inner = self._until_closed()
        if inner.startswith("?(") and inner.endswith(")") and not self._inner:
            return _filter(inner[2:-1])
        if inner == "*":
            return _every
        quoted = _quoted(inner)
        if quoted is not None:
            # Quotes only allow a name in brackets. Dots in it must be escaped as well.
            within = tuple(_Reader(f".{quoted}", inner=True).steps())
            return lambda value: _walk(value, within)
        return _slice(inner)

    def _take(self, char: str) -> None:
        if not self._text.startswith(char, self._at):
            raise BadPath(f"expected {char!r}")
        self._at += 1

    def _until_closed(self) -> str:
        """Return the text up to the closing bracket, ignoring brackets in quotes."""
        start, quote = self._at, ""
        while self._at < len(self._text):
            char = self._text[self._at]
            self._at += 1
            if char == "\\":
                self._at += 1
            elif quote:
                quote = "" if char == quote else quote
            elif char in "'\"":
                quote = char
            elif char == "]":
                return self._text[start : self._at - 1].strip()
        raise BadPath("expected ']'")


def _member(name: str) -> Step:
    def step(value: Any) -> Iterable[Any]:
        return (value[name],) if isinstance(value, dict) and name in value else ()

    return step


def _every(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _slice(text: str) -> Step:
    """Parse `2`, `-1`, `1:3`, `:2` or `::2`."""
    parts = [part.strip() for part in text.split(":")]
    if len(parts) > 3 or not all(_is_number(part) or not part for part in parts):
        raise BadPath(text)
    start, stop, stride = (*(int(part) if part else None for part in parts), None, None)[:3]
    if len(parts) == 1:
        if start is None:
            raise BadPath(text)
        # `[-1]` is the last element. A slice with a stop of 0 would be empty.
        stop = start + 1 if start != -1 else None
    if stride is not None and stride < 1:
        raise BadPath(text)
    part = slice(start, stop, stride)
    return lambda value: value[part] if isinstance(value, list) else ()


def _is_number(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 10


def _filter(text: str) -> Step:
    """Parse `@.type=="Ready"`, or `@.type` for elements that have the field."""
    left, sign, right = _split(text)
    inner = _relative(left.strip())
    if not sign:
        return lambda value: (item for item in _items(value) if any(True for _ in inner(item)))
    wanted, compare = _literal(right.strip()), _COMPARED[sign]

    def matches(item: Any) -> bool:
        for found in islice(inner(item), 1):
            same = _kind(found) is _kind(wanted)
            return bool(compare(found, wanted)) if same else sign == "!="
        return False

    return lambda value: (item for item in _items(value) if matches(item))


def _items(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else ()


def _kind(value: Any) -> type | None:
    """Return the comparison type. Only values of the same type compare; None for types without an
    order.
    """
    if isinstance(value, bool):
        return bool
    if isinstance(value, int | float):
        return float
    return str if isinstance(value, str) else None


def _relative(text: str) -> Callable[[Any], Iterator[Any]]:
    if not text.startswith("@"):
        raise BadPath(text)
    if text == "@":
        return lambda value: iter((value,))
    steps = tuple(_Reader(text[1:], inner=True).steps())
    return lambda value: _walk(value, steps)


def _split(text: str) -> tuple[str, str, str]:
    """Return the text before the operator, the operator, and the text after it. Quoted operators
    are ignored.
    """
    quote, at = "", 0
    while at < len(text):
        char = text[at]
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        else:
            for sign in _COMPARED:
                if text.startswith(sign, at):
                    return text[:at], sign, text[at + len(sign) :]
        at += 1
    return text, "", ""


def _literal(text: str) -> Any:
    quoted = _quoted(text)
    if quoted is not None:
        return quoted
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text)
    except ValueError:
        raise BadPath(text) from None


def _quoted(text: str) -> str | None:
    """Return the text between quotes, or None if the text is not quoted."""
    if len(text) < 2 or text[0] not in "'\"" or text[-1] != text[0]:
        return None
    return text[1:-1]
