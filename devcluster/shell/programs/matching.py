"""Regular expressions for grep with linear run time.

Supported are literals, `.`, `[…]`, `* + ?`, `^ $` and alternatives, but no groups and
back-references. Unlike with Python's `re`, no pattern causes exponential backtracking.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from devcluster.shell.processes import ProgramError

_LONGEST = 200
#: Longer lines are matched in pieces of this length.
_LINE = 4096

Matches = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class _Step:
    """An element of a pattern.

    `letters` is None for any character. `least` is the minimum number of repetitions; `many`
    allows more than one.
    """

    letters: frozenset[str] | None
    inverted: bool = False
    least: int = 1
    many: bool = False

    def takes(self, letter: str) -> bool:
        return self.letters is None or (letter in self.letters) != self.inverted


@dataclass(frozen=True, slots=True)
class _Branch:
    steps: tuple[_Step, ...]
    at_start: bool
    at_end: bool

    def matches(self, line: str) -> bool:
        steps, end = self.steps, len(self.steps)
        now: set[int] = set()
        for place in range(len(line) + 1):
            if place == 0 or not self.at_start:
                now |= set(self._from(0))
            if end in now and (not self.at_end or place == len(line)):
                return True
            if place == len(line) or not now:
                return False
            letter, after = line[place], set[int]()
            for number in now:
                if number < end and steps[number].takes(letter):
                    after |= set(self._from(number + 1))
                    if steps[number].many:
                        after |= set(self._from(number, again=True))
            now = after
        return False

    def _from(self, number: int, *, again: bool = False) -> Iterator[int]:
        """Yield the step and the steps that can be reached by skipping optional steps."""
        yield number
        while number < len(self.steps) and (again or self.steps[number].least == 0):
            number, again = number + 1, False
            yield number


def compile_pattern(text: str, *, fixed: bool, extended: bool, ignore_case: bool) -> Matches:
    """Compile a pattern. Raise `ProgramError` if it is invalid or not supported."""
    if len(text) > _LONGEST:
        raise ProgramError("the pattern is too long", 2)
    wanted = text.lower() if ignore_case else text
    if fixed or not set(wanted) & set("\\.[*+?^$|(){}"):
        return lambda line: wanted in (line.lower() if ignore_case else line)
    separator = "|" if extended else "\\|"
    branches = [_branch(part, extended=extended) for part in wanted.split(separator)]

    def matches(line: str) -> bool:
        seen = line.lower() if ignore_case else line
        pieces = [seen[start : start + _LINE] for start in range(0, max(1, len(seen)), _LINE)]
        return any(branch.matches(piece) for piece in pieces for branch in branches)

    return matches


def _branch(text: str, *, extended: bool) -> _Branch:
    at_start, at_end = text.startswith("^"), text.endswith("$") and not text.endswith("\\$")
    text = text[at_start : len(text) - at_end]
    steps: list[_Step] = []
    at = 0
    while at < len(text):
        letter = text[at]
        at += 1
        if letter == "\\" and at < len(text):
            escaped, at = text[at], at + 1
            if escaped in "+?" and not extended and steps:
                steps[-1] = _repeated(steps[-1], escaped)
            else:
                steps.append(_class(escaped))
        elif letter == "*" and steps:
            steps[-1] = _repeated(steps[-1], "*")
        elif letter in "+?" and extended and steps:
            steps[-1] = _repeated(steps[-1], letter)
        elif letter in "(){}" and extended:
            raise ProgramError("groups and counts are not supported in patterns", 2)
        elif letter == "[":
            step, at = _bracket(text, at)
            steps.append(step)
        else:
            steps.append(_Step(None) if letter == "." else _Step(frozenset(letter)))
    return _Branch(tuple(steps), at_start, at_end)


def _repeated(step: _Step, sign: str) -> _Step:
    return _Step(step.letters, step.inverted, 1 if sign == "+" else 0, sign != "?")


_DIGITS = frozenset("0123456789")
_WORD = _DIGITS | frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_SPACE = frozenset(" \t\r\f\v")


def _class(letter: str) -> _Step:
    """Parse an escaped character."""
    known = {"d": _DIGITS, "w": _WORD, "s": _SPACE}
    if letter.lower() in known and letter in "dwsDWS":
        return _Step(known[letter.lower()], inverted=letter.isupper())
    return _Step(frozenset(letter))


def _bracket(text: str, at: int) -> tuple[_Step, int]:
    """Parse a bracket expression. Return the step and the position after it."""
    inverted = text.startswith("^", at)
    at += inverted
    end = text.find("]", at + 1)
    if end < 0:
        raise ProgramError("unmatched [", 2)
    inside, letters = text[at:end], set[str]()
    place = 0
    while place < len(inside):
        if inside[place + 1 : place + 2] == "-" and place + 2 < len(inside):
            first, last = ord(inside[place]), ord(inside[place + 2])
            letters |= set(map(chr, range(first, min(last, first + 500) + 1)))
            place += 3
        else:
            letters.add(inside[place])
            place += 1
    return _Step(frozenset(letters), inverted), end + 1
