"""A JSON scanner without recursion, for documents nested too deeply for the parser.

It is slow compared to the parser and only used when that fails. The input is not validated;
errors are found when the parts are decoded.
"""

import re
from collections.abc import Iterator

import msgspec

#: A string, or a bracket outside of strings.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[][{}]', re.DOTALL)


def split_objects(text: bytes) -> list[msgspec.Raw]:
    """Split comma-separated objects. Raise `msgspec.DecodeError`."""
    objects: list[msgspec.Raw] = []
    start = depth = 0
    for _, end, depth in _brackets(text):
        if depth == 0:
            objects.append(msgspec.Raw(text[start:end]))
            start = end + 1
    if depth != 0:
        raise msgspec.DecodeError("an object is not closed")
    return objects


def end_of_array(text: bytes) -> int:
    """Return the position of the closing bracket of an array whose opening bracket was removed.

    Raise `msgspec.DecodeError`.
    """
    for start, _, depth in _brackets(text):
        if depth < 0:
            return start
    raise msgspec.DecodeError("the array is not closed")


def find_member(text: bytes, name: bytes) -> bytes:
    """Return the object or array at key `name` of the outermost object, or b"" if it is missing."""
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
    """Yield start, end and the resulting depth of each bracket. The depth after a complete value is
    0.
    """
    depth = 0
    for token in _TOKEN.finditer(text):
        if token[0] in (b"{", b"["):
            depth += 1
        elif token[0] in (b"}", b"]"):
            depth -= 1
        else:
            continue
        yield token.start(), token.end(), depth
