"""How a list is narrowed: one class per query parameter.

A filter turns the texts of its parameter into a test of one object. It reads input of anybody: texts
are short before they are looked at, and nothing here uses a regular expression on them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR
from console.kube.scopes import is_label
from console.kube.selectors import Requirement, SelectorError, parse_labels
from console.kube.status import Severity, Status
from console.kube.store import Entry
from console.ui.words import spoken

Test = Callable[[Entry[Any]], bool]

#: Before every label in a searchable text. No word that people search for has it.
LABEL_MARK = "\x1e"


class BadValue(ValueError):
    """A text that a filter cannot take. `str()` says why, for people."""


@dataclass(frozen=True, kw_only=True)
class Filter(ABC):
    """`param`: the query parameter. `repeatable`: it may be given more than once.

    `max_values` and `max_length` (characters of one value) bound what is accepted. `faceted` filters
    narrow the rows but not the tally, which offers their other values. `names`: the type of which its
    values are names; the rows are exactly those that name the object.
    """

    param: str
    label: str | Promise
    names: GVR | None = None
    repeatable: ClassVar[bool] = True
    faceted: ClassVar[bool] = False
    max_values: ClassVar[int] = 20
    max_length: ClassVar[int] = 253

    def clean(self, texts: Sequence[str]) -> tuple[str, ...]:
        """The texts as they stand in the canonical URL; raises `BadValue`. None of them is empty."""
        if len(texts) > self.max_values:
            raise BadValue(_("At most %(count)s values.") % {"count": self.max_values})
        for text in texts:
            if len(text) > self.max_length:
                raise BadValue(_("Longer than %(count)s characters.") % {"count": self.max_length})
            if not text.isprintable():
                raise BadValue(_("Contains characters that cannot be printed."))
        return tuple(dict.fromkeys(found for text in texts if (found := self.canonical(text))))

    def canonical(self, text: str) -> str:
        """One text as it stands in the URL; raises `BadValue`."""
        return text.strip()

    @abstractmethod
    def test(self, values: tuple[str, ...]) -> Test:
        """True for the objects that `values` (clean, at least one) let through."""


@dataclass(frozen=True, kw_only=True)
class NamespaceFilter(Filter):
    """Any of these projects. Whether one exists and may be looked into is not decided here."""

    param: str = "namespace"
    label: str | Promise = gettext_lazy("Project")

    def canonical(self, text: str) -> str:
        name = text.strip()
        if not is_label(name):
            raise BadValue(_("No project can be called this."))
        return name

    def test(self, values: tuple[str, ...]) -> Test:
        wanted = frozenset(values)
        return lambda entry: entry.key.namespace in wanted


@dataclass(frozen=True, kw_only=True)
class SearchFilter(Filter):
    """Every word occurs somewhere in the name, the labels (as `key=value`), the owner (as `Kind/name`)
    or the other texts.

    `texts` gives a kind's other texts (node, IP, images), and `covers` says what one can look for.
    Upper and lower case are the same.
    """

    param: str = "q"
    label: str | Promise = gettext_lazy("Search")
    repeatable: ClassVar[bool] = False
    max_values: ClassVar[int] = 1
    texts: Callable[[Any], Iterable[str]] = lambda item: ()
    covers: str | Promise = gettext_lazy("Name or label")

    def canonical(self, text: str) -> str:
        return " ".join(text.split())

    def test(self, values: tuple[str, ...]) -> Test:
        words = [word.casefold() for value in values for word in value.split()]
        first, others = words[0], words[1:]

        def matches(entry: Entry[Any]) -> bool:
            # Most rows are decided by their name alone; names are lower case by Kubernetes' rules.
            if not others and first in entry.key.name:
                return True
            haystack = self.haystack(entry)
            return all(word in haystack for word in words)

        return matches

    def haystack(self, entry: Entry[Any]) -> str:
        """All that is searched, one text per line, in lower case. Labels are there as they are written,
        too: by that `label_line` tells who has one."""
        item = entry.projection
        others = "\n".join((entry.key.name, getattr(item, "owner", ""), *self.texts(item)))
        others = others.replace(LABEL_MARK, " ").casefold()
        if not item.labels:
            return others
        labels = "".join(f"\n{LABEL_MARK}{key}={value}" for key, value in item.labels.items())
        folded = labels.casefold()
        if folded != labels:
            # Only those that differ: nearly all are in lower case.
            known = labels.split("\n")
            differing = [line for line in folded.split("\n") if line not in known]
            labels += "".join(f"\n{line.replace(LABEL_MARK, ' ')}" for line in differing)
        return others + labels


def label_line(requirement: Requirement) -> str:
    """What is in the haystack, with an end behind its last line too, of exactly those objects that meet
    this condition on their labels; "" if there is no such text."""
    if requirement.op == "exists":
        return f"{LABEL_MARK}{requirement.key}="
    if requirement.op == "in" and len(requirement.values) == 1:
        [value] = requirement.values
        return f"{LABEL_MARK}{requirement.key}={value}\n"
    return ""


@dataclass(frozen=True, kw_only=True)
class LabelFilter(Filter):
    """Kubernetes' own selector syntax; several values must all hold.

    https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
    """

    param: str = "label"
    label: str | Promise = gettext_lazy("Label")
    max_length: ClassVar[int] = 512

    def canonical(self, text: str) -> str:
        try:
            return str(parse_labels(text))
        except SelectorError as error:
            raise BadValue(spoken(error.sentence)) from error

    def test(self, values: tuple[str, ...]) -> Test:
        selectors = [parse_labels(value) for value in values]
        return lambda entry: all(s.matches(entry.projection.labels) for s in selectors)


#: Words people use for severities, beside the severities themselves.
SEVERITY_ALIASES = {
    "failing": Severity.ERROR,
    "failed": Severity.ERROR,
    "degraded": Severity.WARN,
    "in-progress": Severity.PROGRESS,
    "terminating": Severity.ENDING,
    "running": Severity.OK,
    "ready": Severity.OK,
    "completed": Severity.DONE,
}


@dataclass(frozen=True, kw_only=True)
class StatusFilter(Filter):
    """Any of these severities of its `status`."""

    param: str = "status"
    label: str | Promise = gettext_lazy("Status")
    status: Callable[[Any], Status] = lambda item: item.status
    faceted: ClassVar[bool] = True

    def canonical(self, text: str) -> str:
        word = text.strip().lower()
        found = SEVERITY_ALIASES.get(word) or next((s for s in Severity if s.value == word), None)
        if found is None:
            known = ", ".join(Severity)
            raise BadValue(_("Not a status. Known are: %(known)s.") % {"known": known})
        return found.value

    def test(self, values: tuple[str, ...]) -> Test:
        wanted = frozenset(Severity(value) for value in values)
        return lambda entry: self.status(entry.projection).severity in wanted


def by_param(projection: Any) -> Any:
    """Stands for the attribute that a filter's `param` names."""
    raise NotImplementedError


def _texts_of(name: str) -> Callable[[Any], Iterable[str]]:
    get = attrgetter(name)

    def texts(projection: Any) -> Iterable[str]:
        found = get(projection)
        return (found,) if isinstance(found, str) else found

    return texts


@dataclass(frozen=True, kw_only=True)
class FieldFilter(Filter):
    """Objects of which a field is one of these texts, exactly: `node=node-1`, `owner=Job/backup`.

    `get` gives the field's texts, several where there can be several (images, roles, classes): unless
    given, what the attribute called `param` has of them.
    """

    get: Callable[[Any], Iterable[str]] = by_param

    def __post_init__(self) -> None:
        if self.get is by_param:
            object.__setattr__(self, "get", _texts_of(self.param))

    def test(self, values: tuple[str, ...]) -> Test:
        wanted = frozenset(values)
        return lambda entry: not wanted.isdisjoint(self.get(entry.projection))


@dataclass(frozen=True, kw_only=True)
class ChoiceFilter(Filter):
    """One of few values, of which any may be asked for; anything else is refused.

    `choices`: pairs of a value as URLs have it and its name for people. `get` gives the object's value.
    """

    choices: tuple[tuple[str, str | Promise], ...]
    get: Callable[[Any], str]

    def canonical(self, text: str) -> str:
        """Upper and lower case are the same."""
        word = text.strip().casefold()
        for value, _name in self.choices:
            if value.casefold() == word:
                return value
        known = ", ".join(value for value, _name in self.choices)
        raise BadValue(_("Not one of: %(known)s.") % {"known": known})

    def test(self, values: tuple[str, ...]) -> Test:
        wanted = frozenset(values)
        return lambda entry: self.get(entry.projection) in wanted


#: `state=Crash loop`: the status word itself, in English as in exports; finer than `status`.
STATE = FieldFilter(
    param="state", label=gettext_lazy("State"), get=lambda item: (item.status.word,)
)
#: `owner=Kind/name`, for projections that have an `owner`.
OWNER = FieldFilter(param="owner", label=gettext_lazy("Managed by"))
#: `image=registry/name:tag`, for projections that have `images`.
IMAGE = FieldFilter(param="image", label=gettext_lazy("Image"), get=lambda item: item.images)
#: `uses=Secret/name`, for projections that have `uses`: what a pod or a template names.
USES = FieldFilter(param="uses", label=gettext_lazy("Uses"))
