r"""What programs write for a terminal, as something that is safe to look at.

Of all escape sequences those for colours and weight (SGR, ECMA-48 section 8.3.117) become classes of a
fixed set. Every other one is left out, with what belongs to it: those that set titles, write to the
clipboard, move the cursor, ask the terminal for an answer. What is left and cannot be seen is written as
its code point, as everywhere. `static/js/logtext.js` does the same in the browser.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from console.ui.text import visible_block

_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_RGB = (
    (0, 0, 0), (205, 49, 49), (13, 188, 121), (229, 229, 16),
    (36, 114, 200), (188, 63, 188), (17, 168, 205), (229, 229, 229),
)  # fmt: skip
_STEPS = (0, 95, 135, 175, 215, 255)
#: A control string to its end (or to that of the line), a control sequence, any other escape.
_ESCAPE = re.compile(
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|\Z|(?=\x1b))"
    r"|(?:\x1b\[|\x9b)([0-?]*)[ -/]*([@-~]?)"
    r"|\x1b[ -/]*[0-~]?"
)
_OTHER = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_WEIGHTS = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "struck"}
#: All that `Run.classes` may be made of.
CLASSES = frozenset(
    f"sgr-{name}" for name in (*_WEIGHTS.values(), *_NAMES, *(f"on-{name}" for name in _NAMES))
)
_ENDS = {
    22: ("bold", "dim"),
    23: ("italic",),
    24: ("underline",),
    27: ("inverse",),
    29: ("struck",),
}


@dataclass(frozen=True, slots=True)
class Run:
    """`classes`: of the fixed set, separated by spaces; "" for plain text."""

    classes: str
    text: str


def plain(text: str) -> str:
    """Without escape sequences and control characters: what is searched."""
    if text.isprintable():
        return text
    return _OTHER.sub("", _ESCAPE.sub("", text))


def runs(text: str) -> list[Run]:
    """The text of one line in pieces that look the same."""
    if "\x1b" not in text and "\x9b" not in text:
        return _shown("", plain(text))
    found: list[Run] = []
    state, at = _State(), 0
    for match in _ESCAPE.finditer(text):
        found += _shown(state.classes, plain(text[at : match.start()]))
        at = match.end()
        if match[2] == "m":
            state.change(match[1])
    found += _shown(state.classes, plain(text[at:]))
    return found


def _shown(classes: str, text: str) -> list[Run]:
    return [Run(classes, visible_block(text))] if text else []


class _State:
    def __init__(self) -> None:
        self._weights: set[str] = set()
        self._ink = self._ground = ""

    @property
    def classes(self) -> str:
        names = [f"sgr-{name}" for name in sorted(self._weights)]
        return " ".join((*names, *filter(None, (self._ink, self._ground))))

    def change(self, parameters: str) -> None:
        if not re.fullmatch(r"[0-9;:]*", parameters):
            # Private ones are not about looks.
            return
        # More than a line can mean are nobody's.
        numbers = [int(part or 0) for part in re.split("[;:]", parameters[:200]) if len(part) < 5]
        rest = iter(numbers or [0])
        for number in rest:
            self._apply(number, rest)

    def _apply(self, number: int, rest: Iterator[int]) -> None:
        if number == 0:
            self.__init__()  # type: ignore[misc]
        elif number in _WEIGHTS:
            self._weights.add(_WEIGHTS[number])
        elif number in _ENDS:
            self._weights.difference_update(_ENDS[number])
        elif number in (38, 48):
            colour = _mixed(rest)
            if colour is not None:
                self._paint(colour, ground=number == 48)
        elif number == 39:
            self._ink = ""
        elif number == 49:
            self._ground = ""
        elif 30 <= number <= 37 or 90 <= number <= 97:
            self._paint(number % 10, ground=False)
        elif 40 <= number <= 47 or 100 <= number <= 107:
            self._paint(number % 10, ground=True)

    def _paint(self, colour: int, *, ground: bool) -> None:
        if ground:
            self._ground = f"sgr-on-{_NAMES[colour]}"
        else:
            self._ink = f"sgr-{_NAMES[colour]}"


def _mixed(rest: Iterator[int]) -> int | None:
    """The nearest of the eight to one of 256 colours, or of all."""
    form = next(rest, 0)
    if form == 2:
        return _nearest((next(rest, 0), next(rest, 0), next(rest, 0)))
    if form != 5:
        return None
    number = next(rest, 0)
    if number < 16:
        return number % 8
    if number > 231:
        return 7 if number > 243 else 0
    number -= 16
    return _nearest((_STEPS[number // 36], _STEPS[number // 6 % 6], _STEPS[number % 6]))


def _nearest(colour: tuple[int, int, int]) -> int:
    def distance(index: int) -> int:
        return sum((a - b) ** 2 for a, b in zip(colour, _RGB[index], strict=True))

    return min(range(len(_RGB)), key=distance)
