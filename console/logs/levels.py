"""Detect the level of a log line, and decode JSON lines."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

ERROR, WARN, INFO, DEBUG = "error", "warn", "info", "debug"
#: Most severe first. A line without a level gets the level of the line before it.
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
#: klog header: a letter for the level, then month and day.
_KLOG = re.compile(r"([IWEF])\d{4} \d\d:\d\d:\d\d")
_NAMES = ("level=", "lvl=", "severity=")
_VALUE = re.compile(r'"?([a-z]+)')
#: A level at the start of a line, an uppercase word near the start, or a word in brackets.
_FIRST = re.compile(r"(panic|fatal|error|warning|info|debug):", re.IGNORECASE)
_LOUD = re.compile(
    r"\b(FATAL|PANIC|CRITICAL|SEVERE|ERROR|WARNING|WARN|NOTICE|INFO|DEBUG|TRACE|LOG)\b"
)
_IN_BRACKETS = re.compile(
    r"[\[<](fatal|panic|critical|crit|error|warning|warn|notice|information|info|debug|trace)[\]>]",
    re.IGNORECASE,
)
#: Characters that are searched for a `level=` field, and for a word alone.
_FAR, _NEAR = 1000, 120
#: Maximum characters of a JSON line that is decoded.
_MOST_JSON = 16 * 1024
#: JSON fields that may hold the level.
_LEVEL_FIELDS = ("level", "severity", "lvl", "loglevel", "log.level", "levelname", "@level")


def json_of(text: str) -> Mapping[str, Any] | None:
    """Return the JSON object in a line, or None for any other line."""
    if not text.startswith("{") or not text.rstrip().endswith("}") or len(text) > _MOST_JSON:
        return None
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def level_of(text: str) -> str:
    """Return the level of a line (without escape sequences), or "" if it has none."""
    if text.startswith("{"):
        found = json_of(text)
        if found is not None:
            return _level_in(found)
    klog = _KLOG.match(text)
    if klog:
        return _WORDS[klog[1].lower()]
    head = text[:_FAR].lower()
    for name in _NAMES:
        place = head.find(name)
        if place >= 0 and not head[place - 1 : place].isalnum():
            value = _VALUE.match(head, place + len(name))
            return _WORDS.get(value[1], "") if value else ""
    return _loud_in(text[:_NEAR])


def _loud_in(text: str) -> str:
    found = _FIRST.match(text) or _LOUD.search(text)
    if found is None and ("[" in text or "<" in text):
        found = _IN_BRACKETS.search(text)
    return _WORDS.get(found[1].lower(), "") if found else ""


def _level_in(found: Mapping[str, Any]) -> str:
    for name in _LEVEL_FIELDS:
        value = found.get(name)
        if isinstance(value, str):
            return _WORDS.get(value.lower(), "")
        if isinstance(value, int) and not isinstance(value, bool):
            # Numeric levels of bunyan and pino.
            return DEBUG if value < 30 else INFO if value < 40 else WARN if value < 50 else ERROR
    return ""


def field_of(found: Mapping[str, Any], path: str) -> str | None:
    """Return the value at a dotted path as text, or None if there is no scalar value."""
    value: Any = found.get(path)
    if value is None:
        value = found
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
    if value is None or isinstance(value, dict | list):
        return None
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
