"""The JSONPath of printer columns, as kube-apiserver reads it: client-go's dialect, of which a column
may use whatever starts with a dot.

`.spec.a`, `.spec.a\\.b`, `.spec['a\\.b']`, `.list[0]`, `.list[-1]`, `.list[1:3]`, `.list[*].name`,
`.map.*` and `.status.conditions[?(@.type=="Ready")].status`; of several matches the first one counts,
as in kube-apiserver's own tables (apiextensions-apiserver, pkg/registry/customresource/tableconvertor).

A path is written by whoever defines a type, so it is bounded, and what cannot be read matches nothing.
Reading one costs what it is long; looking one up visits no part of an object twice at one step.
https://kubernetes.io/docs/reference/kubectl/jsonpath/
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

#: Characters and steps of a path; longer ones are nobody's.
MAX_LENGTH, MAX_STEPS = 1000, 32
#: What ends a name that is not quoted.
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
    """A path that cannot be read."""


@dataclass(frozen=True, slots=True)
class Path:
    """`head`: the member of the object that the path begins with. `steps`: what follows."""

    head: str
    steps: tuple[Step, ...]

    def first(self, value: Any) -> Any:
        """What the path finds first in the value of `head`; None if it finds nothing, or null."""
        return next(_walk(value, self.steps), None)


def parse(text: str) -> Path:
    """Raises `BadPath`."""
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
    """`inner`: within a filter, which holds no other."""

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
        """A name, its dots escaped with a backslash."""
        self._take(".")
        name = ""
        while self._at < len(self._text) and (char := self._text[self._at]) not in _ENDS:
            if char == "\\":
                self._at += 1
                if self._at == len(self._text):
                    raise BadPath("nothing is escaped")
                char = self._text[self._at]
            name += char
            self._at += 1
        if not name:
            raise BadPath("a name is missing")
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
            # Quotes change nothing but where a name may stand: dots in them are escaped, too.
            within = tuple(_Reader(f".{quoted}", inner=True).steps())
            return lambda value: _walk(value, within)
        return _slice(inner)

    def _take(self, char: str) -> None:
        if not self._text.startswith(char, self._at):
            raise BadPath(f"{char!r} is missing")
        self._at += 1

    def _until_closed(self) -> str:
        """What is between the brackets; those in quotes do not count."""
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
        raise BadPath("']' is missing")


def _member(name: str) -> Step:
    def step(value: Any) -> Iterable[Any]:
        return (value[name],) if isinstance(value, dict) and name in value else ()

    return step


def _every(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _slice(text: str) -> Step:
    """`2`, `-1`, `1:3`, `:2`, `::2`."""
    parts = [part.strip() for part in text.split(":")]
    if len(parts) > 3 or not all(_is_number(part) or not part for part in parts):
        raise BadPath(text)
    start, stop, stride = (*(int(part) if part else None for part in parts), None, None)[:3]
    if len(parts) == 1:
        if start is None:
            raise BadPath(text)
        # `[-1]` is the last one, which a slice up to 0 would leave out.
        stop = start + 1 if start != -1 else None
    if stride is not None and stride < 1:
        raise BadPath(text)
    part = slice(start, stop, stride)
    return lambda value: value[part] if isinstance(value, list) else ()


def _is_number(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 10


def _filter(text: str) -> Step:
    """`@.type=="Ready"`, or `@.type` alone for those that have it."""
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
    """Values compare within their kind alone; None for those that have no order."""
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
    """Left of the sign, the sign, right of it; signs in quotes are text."""
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
    """What is between quotes, None for a text without."""
    if len(text) < 2 or text[0] not in "'\"" or text[-1] != text[0]:
        return None
    return text[1:-1]
