"""Finds its way in JSON without recursion, for texts that the parser finds nested too deeply.

Slow beside the parser, so only for what that refuses. The text need not be sound: what is wrong with it
is found later, by whoever reads the parts.
"""

import re
from collections.abc import Iterator

import msgspec

#: A text, or a bracket outside of one.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[][{}]', re.DOTALL)


def split(text: bytes) -> list[msgspec.Raw]:
    """The objects of a text that has commas between them. Raises `msgspec.DecodeError`."""
    objects: list[msgspec.Raw] = []
    start = depth = 0
    for _, end, depth in _brackets(text):
        if depth == 0:
            objects.append(msgspec.Raw(text[start:end]))
            start = end + 1
    if depth != 0:
        raise msgspec.DecodeError("an object has no end")
    return objects


def end_of_array(text: bytes) -> int:
    """Where the array ends whose beginning was cut off. Raises `msgspec.DecodeError`."""
    for start, _, depth in _brackets(text):
        if depth < 0:
            return start
    raise msgspec.DecodeError("the list has no end")


def member(text: bytes, name: bytes) -> bytes:
    """The object or array that is the value of a member of the outermost object, b"" if there is none."""
    depth, wanted, start = 0, b'"%b"' % name, -1
    for token in _TOKEN.finditer(text):
        if token[0] == wanted and depth == 1 and text[token.end() : token.end() + 1] == b":":
            start = token.end() + 1
        elif token[0] in (b"{", b"["):
            depth += 1
        elif token[0] in (b"}", b"]"):
            depth -= 1
            if depth == 1 and start >= 0:
                return text[start : token.end()]
    return b""


def _brackets(text: bytes) -> Iterator[tuple[int, int, int]]:
    """Where each bracket begins and ends, and how deep it is after it: 0 behind a whole value."""
    depth = 0
    for token in _TOKEN.finditer(text):
        if token[0] in (b"{", b"["):
            depth += 1
        elif token[0] in (b"}", b"]"):
            depth -= 1
        else:
            continue
        yield token.start(), token.end(), depth
