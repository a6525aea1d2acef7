"""Arithmetic expansion `$((…))` with 64-bit integers."""

import operator
import re
from collections.abc import Callable, Mapping

from devcluster.shell.processes import ProgramError

_TOKEN = re.compile(r"\s*(\d+|[A-Za-z_]\w*|\|\||&&|[<>=!]=|[-+*/%()<>!])")
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",),
    ("&&",),
    ("==", "!="),
    ("<=", ">=", "<", ">"),
    ("+", "-"),
    ("*", "/", "%"),
)
_LONGEST = 500


def evaluate(text: str, value_of: Callable[[str], str]) -> int:
    """Evaluate an expression. Raise `ProgramError` for a syntax error. Variables without a number
    are 0.
    """
    tokens: list[str] = []
    at = 0
    text = text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match or len(tokens) > _LONGEST:
            raise ProgramError(f"arithmetic syntax error: {text[at : at + 20]}", 2)
        tokens.append(match.group(1))
        at = match.end()
    reading = _Reading(tokens, value_of)
    found = reading.level(0) if tokens else 0
    if reading.tokens:
        raise ProgramError("arithmetic syntax error", 2)
    return found


class _Reading:
    """Recursive descent parser. `tokens` are the remaining tokens."""

    def __init__(self, tokens: list[str], value_of: Callable[[str], str]) -> None:
        self.tokens, self._value_of, self._depth = tokens, value_of, 0

    def level(self, number: int) -> int:
        if number == len(_LEVELS):
            return self._single()
        found = self.level(number + 1)
        while self.tokens and self.tokens[0] in _LEVELS[number]:
            sign = self.tokens.pop(0)
            found = _wrap(_apply(sign, found, self.level(number + 1)))
        return found

    def _single(self) -> int:
        self._depth += 1
        if not self.tokens or self._depth > _LONGEST:
            raise ProgramError("arithmetic syntax error", 2)
        sign = self.tokens.pop(0)
        if sign in "+-!":
            found = self._single()
            return {"+": found, "-": -found, "!": int(not found)}[sign]
        if sign == "(":
            if self._depth > 50:
                raise ProgramError("arithmetic syntax error", 2)
            found = self.level(0)
            if not self.tokens or self.tokens.pop(0) != ")":
                raise ProgramError("arithmetic syntax error", 2)
            return found
        if sign.isdecimal():
            return _wrap(int(sign[:30]))
        value = self._value_of(sign).strip()
        return _wrap(int(value[:30])) if re.fullmatch(r"-?\d+", value) else 0


def _apply(sign: str, left: int, right: int) -> int:
    if sign in "/%" and right == 0:
        raise ProgramError("divide by zero", 2)
    return int(_OPERATIONS[sign](left, right))


def _quotient(left: int, right: int) -> int:
    """Divide with truncation towards zero, as in C."""
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


_OPERATIONS: Mapping[str, Callable[[int, int], int]] = {
    "||": lambda left, right: bool(left or right),
    "&&": lambda left, right: bool(left and right),
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _quotient,
    "%": lambda left, right: left - _quotient(left, right) * right,
}


def _wrap(number: int) -> int:
    """Wrap to 64 bits in two's complement."""
    return (number + 2**63) % 2**64 - 2**63
