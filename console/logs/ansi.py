r"""Convert terminal output to text that is safe to display.

Escape sequences for colors and font weight (SGR, ECMA-48 section 8.3.117) become CSS classes of
a fixed set. All other escape sequences are removed with their content, such as those that set
titles, write to the clipboard, move the cursor or query the terminal. A carriage return starts
the line anew, so a progress bar shows its last state. Other invisible characters are shown as
code points. `static/js/logtext.js` does the same in the browser.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from console.ui.core.text import escape_invisible_lines

_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_RGB = (
    (0, 0, 0), (205, 49, 49), (13, 188, 121), (229, 229, 16),
    (36, 114, 200), (188, 63, 188), (17, 168, 205), (229, 229, 229),
)  # fmt: skip
_STEPS = (0, 95, 135, 175, 215, 255)
#: A control string up to its terminator or the end of the line, a control sequence, or another
#: escape.
_ESCAPE = re.compile(
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|\Z|(?=\x1b))"
    r"|(?:\x1b\[|\x9b)([0-?]*)[ -/]*([@-~]?)"
    r"|\x1b[ -/]*[0-~]?"
)
_OTHER = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_WEIGHTS = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "struck"}
#: All classes that `StyledText.classes` can contain.
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
class StyledText:
    """Text with one style. `classes`: names of the fixed set, separated by spaces; "" for plain
    text. `hit`: the text matches the search.
    """

    classes: str
    text: str
    hit: bool = False


def strip_escapes(text: str) -> str:
    """Return the displayed text of a line: without escape sequences, control characters and
    overwritten text. Searches use this text.
    """
    if text.isprintable():
        return text
    states = _ESCAPE.sub("", text).split("\r")
    return next(filter(None, (_OTHER.sub("", state) for state in reversed(states))), "")


def styled_text(text: str, hits: Sequence[tuple[int, int]] = ()) -> list[StyledText]:
    """Split a line into pieces of uniform style.

    `hits`: start and end of the matches in the displayed text (`strip_escapes`), in order.
    """
    if "\x1b" not in text and "\x9b" not in text:
        return _marked([("", strip_escapes(text))], hits)
    found: list[tuple[str, str]] = []
    state, at = _Style(), 0
    anew = False
    for match in (*_ESCAPE.finditer(text), None):
        for number, part in enumerate(text[at : match.start() if match else None].split("\r")):
            anew = anew or number > 0
            if shown := _OTHER.sub("", part):
                if anew:
                    found.clear()
                    anew = False
                found.append((state.classes, shown))
        if match is not None:
            at = match.end()
            if match[2] == "m":
                state.change(match[1])
    return _marked(found, hits)


def _marked(pieces: Sequence[tuple[str, str]], hits: Sequence[tuple[int, int]]) -> list[StyledText]:
    """Split the pieces at the hits."""
    found: list[StyledText] = []
    start = 0
    for classes, text in pieces:
        end, at = start + len(text), start
        for first, last in (*hits, (end, end)):
            first, last = min(max(first, at), end), min(last, end)
            for to, hit in ((first, False), (last, True)):
                if to > at:
                    shown = escape_invisible_lines(text[at - start : to - start])
                    found.append(StyledText(classes, shown, hit))
                    at = to
        start = end
    return found


class _Style:
    def __init__(self) -> None:
        self._weights: set[str] = set()
        self._ink = self._ground = ""

    @property
    def classes(self) -> str:
        names = [f"sgr-{name}" for name in sorted(self._weights)]
        return " ".join((*names, *filter(None, (self._ink, self._ground))))

    def change(self, parameters: str) -> None:
        if not re.fullmatch(r"[0-9;:]*", parameters):
            # Private sequences don't set a style.
            return
        # Ignore parameters that are longer than any valid sequence.
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
    """Return the nearest of the eight basic colors to a 256-color or RGB value."""
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
