"""Log line templates of programs, read from `voices.yaml`."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from zlib import crc32

import msgspec
import yaml

_FILE = Path(__file__).with_name("voices.yaml")
_PLACE = re.compile(r"<(\w+)>")
#: One in this many lines is a rare line.
_RARE = 14
_SECOND = 1_000_000_000


class LogTemplates(msgspec.Struct, frozen=True, kw_only=True):
    of: tuple[str, ...]
    gap: float
    lines: tuple[str, ...]
    time: str = "%Y-%m-%dT%H:%M:%SZ"
    begin: tuple[str, ...] = ()
    rare: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    killed: tuple[str, ...] = ()


class _Book(msgspec.Struct, frozen=True):
    words: dict[str, tuple[str, ...]]
    ranges: dict[str, tuple[int, int]]
    voices: tuple[LogTemplates, ...]


@lru_cache(maxsize=1)
def _book() -> _Book:
    return msgspec.convert(yaml.safe_load(_FILE.read_text()), _Book)


def templates_for(image: str, name: str) -> LogTemplates:
    about = f"{image} {name}"
    found = (one for one in _book().voices if any(word in about for word in one.of))
    return next(found, _book().voices[-1])


def line_of(voice: LogTemplates, seed: int, number: int, moment: int) -> str:
    """Return the log line with this number at this time."""
    draw = _generator(seed, number)
    lines = voice.rare if voice.rare and draw(_RARE) == 0 else voice.lines
    return _filled(lines[draw(len(lines))], voice, moment, draw)


def sequence_line(
    voice: LogTemplates, templates: Sequence[str], seed: int, number: int, moment: int
) -> str:
    """Return the line with this number from a fixed sequence of templates."""
    return _filled(templates[number], voice, moment, _generator(seed, number))


def _generator(seed: int, number: int) -> Callable[[int], int]:
    """Return a deterministic random number generator. It is much faster than `random.Random`."""
    state = crc32(b"%d/%d" % (seed, number))

    def draw(limit: int) -> int:
        nonlocal state
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        return (state >> 8) % limit

    return draw


def _filled(template: str, voice: LogTemplates, moment: int, draw: Callable[[int], int]) -> str:
    parts = _split(template)
    found = [parts[0]]
    for place, text in zip(parts[1::2], parts[2::2], strict=True):
        found += (_word(place, voice, moment, draw), text)
    return "".join(found)


@lru_cache(maxsize=1000)
def _split(template: str) -> list[str]:
    """Split a template into alternating texts and placeholder names."""
    return _PLACE.split(template)


def _word(place: str, voice: LogTemplates, moment: int, draw: Callable[[int], int]) -> str:
    book = _book()
    if place == "when":
        whole, rest = divmod(moment, _SECOND)
        return (
            second(voice.time, whole)
            .replace("%L", f"{rest // 1_000_000:03}")
            .replace("%f", f"{rest // 1_000:06}")
        )
    if place == "id":
        return f"{draw(1 << 24):06x}{draw(1 << 24):06x}{draw(1 << 16):04x}"
    if place in book.ranges:
        least, most = book.ranges[place]
        return str(least + draw(most - least + 1))
    words = book.words.get(place)
    # The text in angle brackets is not a placeholder, such as <Debug>.
    return words[draw(len(words))] if words else f"<{place}>"


@lru_cache(maxsize=256)
def second(form: str, whole: int) -> str:
    """Format a time in whole seconds. Fractions (%L, %f) remain as placeholders."""
    kept = form.replace("%L", "%%L").replace("%f", "%%f")
    return datetime.fromtimestamp(whole, UTC).strftime(kept)
