"""A panel that describes fields of an object's manifest as facts, sentences, tables and bars.

The functions in `console.ui.details.descriptions` return its sections.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from console.ui.core.manifests import text
from console.ui.core.subject import Subject
from console.ui.details.panels import NOTHING, Panel

#: Maximum sections of a panel, items of a section, lines of a cell, and characters of a line and of
#: a sentence. The YAML tab shows everything.
MOST_SECTIONS, MOST_ITEMS, MOST_LINES, LONGEST, LONGEST_SENTENCE = 30, 100, 20, 250, 1000


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a table cell or fact. `more` is the number of lines that are not shown."""

    shown: tuple[str, ...]
    more: int = 0


#: Content of a cell or fact: a line or several lines.
Content = str | Promise | Sequence[str | Promise] | Lines


def lines_of(content: Content) -> Lines:
    """Return the non-empty lines within the limits."""
    if isinstance(content, Lines):
        return Lines(tuple(map(_shortened, content.shown)), content.more)
    found = (content,) if isinstance(content, str | Promise) else content
    lines = [line for line in map(str, found[:MOST_LINES]) if line]
    return Lines(tuple(map(_shortened, lines)), max(0, len(found) - MOST_LINES))


def _shortened(line: str, longest: int = LONGEST) -> str:
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


class Section(Protocol):
    """A part of the panel. `title` is the heading or "", and `template` renders the section."""

    @property
    def title(self) -> str | Promise: ...
    @property
    def template(self) -> str: ...
    def __bool__(self) -> bool:
        """Return False if the section has no content and is hidden."""
        ...


class Facts:
    """Pairs of a label and its content. Facts without content are left out.

    `literal` marks labels that are names of fields or keys instead of words.
    """

    template = "ui/panels/descriptions/facts.html"

    def __init__(
        self,
        *facts: tuple[str | Promise, Content],
        title: str | Promise = "",
        literal: bool = False,
    ) -> None:
        self.title, self.literal = title, literal
        self.facts = [
            (label, lines)
            for label, given in facts[:MOST_ITEMS]
            if (lines := lines_of(given)).shown
        ]
        self.more = max(0, len(facts) - MOST_ITEMS)

    def __bool__(self) -> bool:
        return bool(self.facts)


class Sentences:
    """A list of sentences."""

    template = "ui/panels/descriptions/sentences.html"

    def __init__(self, sentences: Sequence[str | Promise], title: str | Promise = "") -> None:
        self.title, self.sentences = (
            title,
            [_shortened(str(one), LONGEST_SENTENCE) for one in sentences[:MOST_ITEMS]],
        )
        self.more = max(0, len(sentences) - MOST_ITEMS)

    def __bool__(self) -> bool:
        return bool(self.sentences)


class DescriptionTable:
    """A table of texts. Columns without content are left out, except for the first."""

    template = "ui/panels/descriptions/table.html"

    def __init__(
        self,
        columns: Sequence[str | Promise],
        rows: Iterable[Sequence[Content]],
        total: int,
        title: str | Promise = "",
    ) -> None:
        found = [[lines_of(given) for given in row] for row in islice(rows, MOST_ITEMS)]
        kept = [n for n in range(len(columns)) if not n or any(row[n].shown for row in found)]
        self.title = title
        self.columns = [columns[n] for n in kept]
        self.rows = [[row[n] for n in kept] for row in found]
        self.more = max(0, total - len(found))

    def __bool__(self) -> bool:
        return bool(self.rows)


Describe = Callable[[Mapping[str, Any]], Iterable[Section]]


@dataclass(frozen=True, kw_only=True)
class DescriptionPanel(Panel):
    """Fields of the manifest, described by `describe`. Hidden if all sections are empty."""

    id: str = "configuration"
    title: str | Promise = gettext_lazy("Configuration")
    describe: Describe = field(repr=False)

    def html(self, subject: Subject) -> SafeString:
        found = islice(self.describe(subject.manifest), MOST_SECTIONS + 1)
        sections = [section for section in found if section]
        if not sections:
            return NOTHING
        context = {"sections": sections[:MOST_SECTIONS], "cut": len(sections) > MOST_SECTIONS}
        return render_to_string("ui/panels/description.html", context)


def pairs_of(values: Mapping[str, Any]) -> list[str]:
    """Return the entries of a mapping as `key=value` texts."""
    return [f"{text(key)}={text(value)}" for key, value in values.items()]


#: Maximum depth of mappings in `flattened`.
DEEPEST = 5


def flattened(
    values: Mapping[str, Any], prefix: str = "", depth: int = 1
) -> list[tuple[str, list[str]]]:
    """Return the fields of a mapping with their paths, such as `secretRef.name`, as facts."""
    found: list[tuple[str, list[str]]] = []
    for name, value in islice(values.items(), MOST_ITEMS):
        path = f"{prefix}{text(name)}"
        if isinstance(value, dict) and depth < DEEPEST:
            found += flattened(value, f"{path}.", depth + 1)
        elif isinstance(value, list):
            found.append((path, [_leaf(one) for one in value[:MOST_LINES]]))
        else:
            found.append((path, [_leaf(value)]))
    return found


def _leaf(value: Any) -> str:
    if not isinstance(value, dict):
        return text(value)
    if set(value) == {"name", "value"}:
        return f"{text(value['name'])}={text(value['value'])}"
    return ", ".join(pairs_of(value))
