"""Find English text in Chinese pages that is neither translated nor data of the cluster."""

import re
from collections.abc import Collection, Iterator
from functools import cache
from html.parser import HTMLParser
from typing import Any

from console.ui.core.registry import kinds
from tests.kinds.world import objects_of
from tests.support.translations import HAN, MESSAGES, SAME

_WORD = re.compile("[A-Za-z]{3,}")
_GAP = re.compile(r"%\(\w+\)s|%%")
_SAID = ("title", "aria-label", "placeholder", "alt")
_EMPTY = frozenset({"br", "hr", "img", "input", "link", "meta", "use", "wbr"})
#: Elements that are not read, or that contain cluster data: times, and text to type.
_LEFT_OUT = frozenset({"script", "style", "time", "pre", "code", "kbd"})
#: Terms shown as kubectl shows them: access modes and reasons of container termination.
_SHORTENED = frozenset({"RWO", "RWX", "exit"})


class _Texts(HTMLParser):
    """Collect texts and text attributes of a page in `found`."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        # Open elements, and the kind of text in each: "", "reason" or "none".
        self._open: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given, says = dict(attrs), self._says()
        classes = (given.get("class") or "").split()
        # Names on a map are truncated.
        if tag in _LEFT_OUT or given.get("lang") == "en" or "map-name" in classes:
            says = "none"
        elif "reason" in classes and not says:
            says = "reason"
        if tag not in _EMPTY:
            self._open.append((tag, says))
        if not says:
            self.found += [text for name in _SAID if (text := given.get(name))]

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        text, says = " ".join(data.split()), self._says()
        # A single word in a reason is a Kubernetes constant; several words may be a sentence of the
        # console.
        if text and (not says or (says == "reason" and " " in text)):
            self.found.append(text)

    def _says(self) -> str:
        return self._open[-1][1] if self._open else ""


def untranslated(html: str) -> list[str]:
    """Return texts with a word that occurs neither in an object nor in the catalog, and texts that
    are translated in the catalog but shown in English.
    """
    return [text for text in _texts(html) if not _is_right(text)]


def english_in(html: str) -> list[str]:
    """Return texts that are translated in the catalog but shown in English."""
    return [text for text in _texts(html) if is_english(text)]


def _texts(html: str) -> list[str]:
    page = _Texts()
    page.feed(html)
    return page.found


def _is_right(text: str) -> bool:
    # Tenant text with markup contains enough spaces and colons to look like anything.
    if is_english(text) and text not in _strings() and "<img" not in text:
        return False
    return _known().issuperset(_WORD.findall(text))


def is_english(text: str) -> bool:
    """Return True if the catalog translates the text, literally or with its placeholders filled in.

    A single lowercase word may be a name in Kubernetes.
    """
    if re.search(HAN, text) or not re.search("[A-Z]| ", text):
        return False
    whole, gaps = _translated()
    text = text.strip(" +·:,()")
    return text in whole or gaps.fullmatch(text) is not None


@cache
def _translated() -> tuple[frozenset[str], re.Pattern[str]]:
    texts = {
        one for each in MESSAGES if re.search(HAN, each.text) for one in (each.id, each.source)
    }
    filled = sorted(one for one in texts if _GAP.search(one) and _WORD.search(_GAP.sub("", one)))
    patterns = [".+".join(map(re.escape, _GAP.split(one))) for one in filled]
    return frozenset(texts), re.compile("|".join(patterns))


@cache
def _strings() -> Collection[str]:
    """Return all strings of the test objects of every kind."""
    objects = (obj for kind in kinds for obj in objects_of(kind))
    return frozenset(text for obj in objects for text in _in(obj))


def _in(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for name, inner in value.items():
                yield name
                yield from _in(inner)
        case list():
            for inner in value:
                yield from _in(inner)
        case str():
            yield value


@cache
def _known() -> frozenset[str]:
    """Return words that are correct in Chinese text."""
    declared = (f"{kind.segment} {kind.api_kind} {kind.gvr.qualified}" for kind in kinds)
    texts = (*declared, *_strings(), *(one.text for one in MESSAGES), *SAME, *_SHORTENED)
    return frozenset(word for text in texts for word in _WORD.findall(text))
