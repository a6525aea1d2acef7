"""What somebody searches for, read once from one line of text.

Words must all occur; `key=value`, and `label=` with a selector after it, narrow to labels exactly as a
list's own filter does. A first word that names a kind says which kind is meant. It takes anything:
what is wrong is said in `error`, and every text is bounded before it is looked at.
"""

from dataclasses import dataclass
from dataclasses import field as attribute

from django.utils.translation import gettext as _

from console.kube.selectors import LabelSelector, SelectorError, parse_labels
from console.ui.clusterkinds import Kinds
from console.ui.kind import ResourceKind
from console.ui.kindnames import kind_named
from console.ui.viewspec import ViewSpec
from console.ui.words import spoken

#: Characters of a search, and conditions on labels in it.
MAX_LENGTH, MAX_LABELS = 253, 10
LABEL = "label="
#: Written before a text by people who think of lists' filters: here the text may be anywhere.
FIELDS = frozenset({"image", "ip", "name", "node", "owner", "q"})


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """`words` and `labels` (canonical selectors) must all hold. `kind`: the one that the first word
    names, to which only the words after it, `rest`, apply. With an `error` nothing is searched."""

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
        """The words that objects of this kind are searched for."""
        return self.rest if kind is self.kind else self.words

    def list_of(self, kind: ResourceKind, cluster: str) -> ViewSpec:
        """The list of exactly what of this kind is found."""
        spec = ViewSpec(kind, cluster).with_values("label", self.labels)
        text = " ".join(self.words_for(kind))
        return spec.with_values("q", (text,) if text else ())


def parse_search(kinds: Kinds, text: str) -> SearchQuery:
    """`kinds`: of the cluster that is searched. Never raises."""
    if len(text) > MAX_LENGTH:
        error = _("Longer than %(count)s characters.") % {"count": MAX_LENGTH}
        return SearchQuery(text[:MAX_LENGTH], error=error)
    text = " ".join(text.split())
    if not text.isprintable():
        return SearchQuery("", error=_("Contains characters that cannot be printed."))
    words: list[str] = []
    selectors: list[LabelSelector] = []
    for token in text.split():
        try:
            selector = _selector(token)
        except SelectorError as error:
            return SearchQuery(text, error=spoken(error.sentence))
        if selector is None:
            words += _word(token)
        elif selector:
            selectors.append(selector)
    if len(selectors) > MAX_LABELS:
        return SearchQuery(text, error=_("At most %(count)s values.") % {"count": MAX_LABELS})
    # What follows a slash is text, whatever it says.
    kind = kind_named(kinds, words[0]) if words and not text.startswith("/") else None
    labels = tuple(dict.fromkeys(str(selector) for selector in selectors))
    return SearchQuery(text, tuple(words), labels, tuple(selectors), kind)


def _selector(token: str) -> LabelSelector | None:
    """The condition on labels that a word is, if it is one. Raises `SelectorError` for `label=` alone:
    of other words with `=` in them some are just text."""
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
    """A word as it is searched for, none if nothing is left of it."""
    field, equals, value = token.partition("=")
    text = value if equals and field in FIELDS else token.removeprefix("/")
    return [text.casefold()] if text else []
