"""How bad a line is, as far as it says so, and what is in it where it is JSON."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

ERROR, WARN, INFO, DEBUG = "error", "warn", "info", "debug"
#: The worst first. A line without a word of it belongs to the one before.
LEVELS = (ERROR, WARN, INFO, DEBUG)
_WORDS = {
    **dict.fromkeys(
        ("error", "err", "fatal", "panic", "critical", "crit", "emergency", "emerg", "alert",
         "severe", "e", "f"), ERROR
    ),
    **dict.fromkeys(("warn", "warning", "w"), WARN),
    **dict.fromkeys(("info", "information", "informational", "notice", "log", "i"), INFO),
    **dict.fromkeys(("debug", "trace", "verbose", "fine", "d", "t"), DEBUG),
}  # fmt: skip
#: klog begins a line with a letter and the day.
_KLOG = re.compile(r"([IWEF])\d{4} \d\d:\d\d:\d\d")
_NAMED = re.compile(r"\b(?:level|lvl|severity)=\"?([A-Za-z]+)", re.IGNORECASE)
#: A word in capitals, or in brackets, or with a colon, near the beginning.
_LOUD = re.compile(
    r"^(panic|fatal|error|warning|info|debug):"
    r"|[\[<](fatal|panic|critical|crit|error|warning|warn|notice|information|info|debug|trace)[\]>]"
    r"|\b(FATAL|PANIC|CRITICAL|SEVERE|ERROR|WARNING|WARN|NOTICE|INFO|DEBUG|TRACE|LOG)\b",
    re.IGNORECASE,
)
_NEAR = 120
#: Characters of a line of JSON that is read.
_MOST_JSON = 16 * 1024
#: Fields that hold the level, and the sentence.
_LEVEL_FIELDS = ("level", "severity", "lvl", "loglevel", "log.level", "levelname", "@level")


def json_of(text: str) -> Mapping[str, Any] | None:
    """The object that a line is, None for any other line."""
    if not text.startswith("{") or not text.rstrip().endswith("}") or len(text) > _MOST_JSON:
        return None
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def level_of(text: str) -> str:
    """The level of a line (without escape sequences), "" where it does not say one."""
    found = json_of(text)
    if found is not None:
        return _level_in(found)
    klog = _KLOG.match(text)
    if klog:
        return _WORDS[klog[1].lower()]
    named = _NAMED.search(text[:1000])
    if named:
        return _WORDS.get(named[1].lower(), "")
    for loud in _LOUD.finditer(text[:_NEAR]):
        word = loud[1] or loud[2] or loud[3]
        # In small letters it is a word like any other.
        if loud[3] is None or word.isupper():
            return _WORDS.get(word.lower(), "")
    return ""


def _level_in(found: Mapping[str, Any]) -> str:
    for name in _LEVEL_FIELDS:
        value = found.get(name)
        if isinstance(value, str):
            return _WORDS.get(value.lower(), "")
        if isinstance(value, int) and not isinstance(value, bool):
            # As bunyan and pino count.
            return DEBUG if value < 30 else INFO if value < 40 else WARN if value < 50 else ERROR
    return ""


def field_of(found: Mapping[str, Any], path: str) -> str | None:
    """The value at a path of names with dots between them, as text; None if there is none."""
    value: Any = found.get(path)
    if value is None:
        value = found
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
    if value is None or isinstance(value, dict | list):
        return None
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
