"""List filters, one class per type of query parameter.

A filter turns the values of its parameter into a predicate on objects. The values are untrusted:
their length is checked first, and no regular expression is applied to them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.group_kind import without_group
from console.kube.gvr import GVR
from console.kube.names import is_dns_label
from console.kube.selectors import Requirement, SelectorError, parse_labels
from console.kube.status import Severity, Status
from console.kube.store import Entry
from console.ui.core.words import translate_message

Test = Callable[[Entry[Any]], bool]

#: Precedes every label in a searchable text. Search words never contain it.
LABEL_MARK = "\x1e"


class InvalidFilterValue(ValueError):
    """A filter value is invalid. `str()` returns a message for the user."""


@dataclass(frozen=True, kw_only=True)
class Filter(ABC):
    """Base class of filters.

    - `param`: the query parameter. If `repeatable`, it may occur more than once.
    - `max_values`, `max_length`: limits for the number of values and the characters of one
      value.
    - `faceted`: the filter applies to the rows but not to the tally, which offers the filter's
      other values.
    - `names`: the type whose object names are the filter's values. The filter selects exactly
      the objects that refer to that object.
    """

    param: str
    label: str | Promise
    names: GVR | None = None
    repeatable: ClassVar[bool] = True
    faceted: ClassVar[bool] = False
    max_values: ClassVar[int] = 20
    max_length: ClassVar[int] = 253

    def clean(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Return the values in their canonical form, without empty ones. Raise `InvalidFilterValue` if a
        value is invalid.
        """
        if len(texts) > self.max_values:
            raise InvalidFilterValue(
                _("Use at most %(count)s values.") % {"count": self.max_values}
            )
        for text in texts:
            if len(text) > self.max_length:
                raise InvalidFilterValue(
                    _("Use at most %(count)s characters.") % {"count": self.max_length}
                )
            if not text.isprintable():
                raise InvalidFilterValue(_("The value contains nonprintable characters."))
        return tuple(dict.fromkeys(found for text in texts if (found := self.canonical(text))))

    def canonical(self, text: str) -> str:
        """Return the canonical form of one value for the URL. Raise `InvalidFilterValue` if it is
        invalid.
        """
        return text.strip()

    @abstractmethod
    def test(self, values: tuple[str, ...]) -> Test:
        """Return the predicate for `values`, which must be canonical and not empty."""


@dataclass(frozen=True, kw_only=True)
class NamespaceFilter(Filter):
    """Match objects in any of the given projects. Existence and permissions are checked elsewhere."""

    param: str = "namespace"
    label: str | Promise = gettext_lazy("Project")

    def canonical(self, text: str) -> str:
        name = text.strip()
        if not is_dns_label(name):
            raise InvalidFilterValue(_("This is not a valid project name."))
        return name

    def test(self, values: tuple[str, ...]) -> Test:
        wanted = frozenset(values)
        return lambda entry: entry.key.namespace in wanted


@dataclass(frozen=True, kw_only=True)
class ExcludedNamespaceFilter(NamespaceFilter):
    """Match objects in all projects except the given ones."""

    param: str = "not_namespace"
    label: str | Promise = gettext_lazy("Hidden project")

    def test(self, values: tuple[str, ...]) -> Test:
        hidden = frozenset(values)
        return lambda entry: entry.key.namespace not in hidden


@dataclass(frozen=True, kw_only=True)
class SearchFilter(Filter):
    """Match objects that contain every search word, ignoring case.

    The search covers the name, the labels (as `key=value`), the owner (as `Kind/name`) and the
    kind's own `texts`, such as node, IP address and images. `covers` describes this to the user.
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
            # Fast path: most rows match by name, and Kubernetes names are lowercase.
            if not others and first in entry.key.name:
                return True
            haystack = self.search_text(entry)
            return all(word in haystack for word in words)

        return matches

    def search_text(self, entry: Entry[Any]) -> str:
        """Return the searchable text in lower case, one text per line.

        Labels are also included in their original case, for `label_line`.
        """
        item = entry.projection
        others = "\n".join(
            (entry.key.name, without_group(getattr(item, "owner", "")), *self.texts(item))
        )
        others = others.replace(LABEL_MARK, " ").casefold()
        if not item.labels:
            return others
        labels = "".join(f"\n{LABEL_MARK}{key}={value}" for key, value in item.labels.items())
        folded = labels.casefold()
        if folded != labels:
            # Add only the lines that differ. Nearly all labels are in lower case already.
            known = labels.split("\n")
            differing = [line for line in folded.split("\n") if line not in known]
            labels += "".join(f"\n{line.replace(LABEL_MARK, ' ')}" for line in differing)
        return others + labels


def label_line(requirement: Requirement) -> str:
    """Return the text that the search index contains for exactly the objects that meet the label
    requirement.

    Return "" if no such text exists. The text can include the line end, which also follows the
    last line.
    """
    if requirement.op == "exists":
        return f"{LABEL_MARK}{requirement.key}="
    if requirement.op == "in" and len(requirement.values) == 1:
        [value] = requirement.values
        return f"{LABEL_MARK}{requirement.key}={value}\n"
    return ""


@dataclass(frozen=True, kw_only=True)
class LabelFilter(Filter):
    """Match objects by Kubernetes label selectors. Several selectors must all match.
    https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
    """

    param: str = "label"
    label: str | Promise = gettext_lazy("Label")
    max_length: ClassVar[int] = 512

    def canonical(self, text: str) -> str:
        try:
            return str(parse_labels(text))
        except SelectorError as error:
            raise InvalidFilterValue(translate_message(error.sentence)) from error

    def test(self, values: tuple[str, ...]) -> Test:
        selectors = [parse_labels(value) for value in values]
        return lambda entry: all(s.matches(entry.projection.labels) for s in selectors)


#: Alternative words for severities.
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
    """Match objects with any of the given severities."""

    param: str = "status"
    label: str | Promise = gettext_lazy("Status")
    status: Callable[[Any], Status] = lambda item: item.status
    faceted: ClassVar[bool] = True

    def canonical(self, text: str) -> str:
        word = text.strip().lower()
        found = SEVERITY_ALIASES.get(word) or next((s for s in Severity if s.value == word), None)
        if found is None:
            known = ", ".join(Severity)
            raise InvalidFilterValue(
                _("Unknown status. Valid values: %(known)s.") % {"known": known}
            )
        return found.value

    def test(self, values: tuple[str, ...]) -> Test:
        wanted = frozenset(Severity(value) for value in values)
        return lambda entry: self.status(entry.projection).severity in wanted


def by_param(projection: Any) -> Any:
    """Default for `FieldFilter.get`, replaced by the attribute named `param`."""
    raise NotImplementedError


def _texts_of(name: str) -> Callable[[Any], Iterable[str]]:
    get = attrgetter(name)

    def texts(projection: Any) -> Iterable[str]:
        found = get(projection)
        return (found,) if isinstance(found, str) else found

    return texts


@dataclass(frozen=True, kw_only=True)
class FieldFilter(Filter):
    """Match objects by the exact value of a field: `node=node-1`, `image=nginx`.

    `get` returns the field's text, or several texts (images, roles, classes). The default is the
    attribute named `param`.
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
    """Match objects by a value from a fixed list. Other values are invalid.

    `choices` are pairs of URL value and label. `get` returns the object's value.
    """

    choices: tuple[tuple[str, str | Promise], ...]
    get: Callable[[Any], str]

    def canonical(self, text: str) -> str:
        """Return the choice that equals `text`, ignoring case."""
        word = text.strip().casefold()
        for value, _name in self.choices:
            if value.casefold() == word:
                return value
        known = ", ".join(value for value, _name in self.choices)
        raise InvalidFilterValue(_("Invalid value. Valid values: %(known)s.") % {"known": known})

    def test(self, values: tuple[str, ...]) -> Test:
        wanted = frozenset(values)
        return lambda entry: self.get(entry.projection) in wanted


#: `state=Crash loop`: the status word in English, as in exports. More specific than `status`.
STATE = FieldFilter(
    param="state", label=gettext_lazy("State"), get=lambda item: (item.status.word,)
)


def reference_values(*references: str) -> tuple[str, ...]:
    """Return the filter values of references: `Kind.group/name`, and `Kind/name` for any group."""
    return (*references, *map(without_group, references))


#: `owner=Kind.group/name`, for projections with an `owner`.
OWNER = FieldFilter(
    param="owner",
    label=gettext_lazy("Managed by"),
    get=lambda item: reference_values(item.owner),
)
#: `image=registry/name:tag`, for projections with `images`.
IMAGE = FieldFilter(param="image", label=gettext_lazy("Image"), get=lambda item: item.images)
#: `uses=Secret/name`, for projections with `uses`: objects that a pod or pod template refers to.
USES = FieldFilter(
    param="uses", label=gettext_lazy("Uses"), get=lambda item: reference_values(*item.uses)
)
