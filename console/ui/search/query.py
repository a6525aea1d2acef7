"""Parsing of search queries.

All words must match. `key=value`, and `label=` followed by a selector, filter by labels exactly
like a list's label filter. A first word that names a kind restricts the remaining words to that
kind. Any input is accepted: `error` contains the message for an invalid query, and all lengths
are limited before parsing.
"""

from dataclasses import dataclass
from dataclasses import field as attribute

from django.utils.translation import gettext as _

from console.kube.selectors import LabelSelector, SelectorError, parse_labels
from console.ui.core.clusters import Kinds
from console.ui.core.kind import ResourceKind
from console.ui.core.kind_names import kind_named
from console.ui.core.words import translate_message
from console.ui.lists.viewspec import ViewSpec

#: Maximum characters of a query, and maximum label conditions.
MAX_LENGTH, MAX_LABELS = 253, 10
LABEL = "label="
#: Prefixes copied from list filters. They are ignored, because the search looks in all fields.
FIELDS = frozenset({"image", "ip", "name", "node", "owner", "q"})


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A parsed query.

    All `words` and `labels` (canonical selectors) must match. `kind` is the kind named by the
    first word, and only the other words (`rest`) apply to it. A query with an `error` returns no
    results.
    """

    text: str
    words: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    selectors: tuple[LabelSelector, ...] = attribute(default=(), compare=False)
    kind: ResourceKind | None = None
    error: str = ""

    @property
    def empty(self) -> bool:
        return not self.words and not self.labels

    @property
    def rest(self) -> tuple[str, ...]:
        return self.words[1:] if self.kind is not None else self.words

    def words_for(self, kind: ResourceKind) -> tuple[str, ...]:
        """Return the words that objects of this kind must match."""
        return self.rest if kind is self.kind else self.words

    def list_of(self, kind: ResourceKind, cluster: str) -> ViewSpec:
        """Return the list view with exactly the results of this kind."""
        spec = ViewSpec(kind, cluster).with_values("label", self.labels)
        text = " ".join(self.words_for(kind))
        return spec.with_values("q", (text,) if text else ())


def parse_search(kinds: Kinds, text: str) -> SearchQuery:
    """Parse a query for a cluster with these kinds. Never raises."""
    if len(text) > MAX_LENGTH:
        error = _("Use at most %(count)s characters.") % {"count": MAX_LENGTH}
        return SearchQuery(text[:MAX_LENGTH], error=error)
    text = " ".join(text.split())
    if not text.isprintable():
        return SearchQuery("", error=_("The value contains nonprintable characters."))
    words: list[str] = []
    selectors: list[LabelSelector] = []
    for token in text.split():
        try:
            selector = _selector(token)
        except SelectorError as error:
            return SearchQuery(text, error=translate_message(error.sentence))
        if selector is None:
            words += _word(token)
        elif selector:
            selectors.append(selector)
    if len(selectors) > MAX_LABELS:
        return SearchQuery(text, error=_("Use at most %(count)s values.") % {"count": MAX_LABELS})
    # A leading slash marks plain text.
    kind = kind_named(kinds, words[0]) if words and not text.startswith("/") else None
    labels = tuple(dict.fromkeys(str(selector) for selector in selectors))
    return SearchQuery(text, tuple(words), labels, tuple(selectors), kind)


def _selector(token: str) -> LabelSelector | None:
    """Parse a word as a label selector. Return None if it is plain text.

    Raise `SelectorError` only for words that start with `label=`, because other words with `=`
    may be plain text.
    """
    if token.casefold().startswith(LABEL):
        return parse_labels(token[len(LABEL) :])
    field, equals, _value = token.partition("=")
    if not equals or field in FIELDS or token.startswith("/"):
        return None
    try:
        return parse_labels(token)
    except SelectorError:
        return None


def _word(token: str) -> list[str]:
    """Return the search word of a token, or an empty list if nothing is left after removing
    prefixes.
    """
    field, equals, value = token.partition("=")
    text = value if equals and field in FIELDS else token.removeprefix("/")
    return [text.casefold()] if text else []
