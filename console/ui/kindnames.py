"""What people call kinds: `po`, `deploy`, "pod", "Deployments", “容器组”."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from django.conf import settings
from django.utils.translation import override

from console.ui.clusterkinds import Kinds
from console.ui.kind import ResourceKind

#: Custom resources that are offered for a text.
MOST_CUSTOMS = 20


def kind_named(kinds: Kinds, word: str) -> ResourceKind | None:
    """The kind that this word means, in any of the console's languages, in upper or lower case. What is
    declared comes before custom resources."""
    word = word.casefold()
    return _names(tuple(kinds.declared)).get(word) or kinds.customs.named(word)


def kinds_like(kinds: Kinds, text: str) -> list[ResourceKind]:
    """Kinds of which a name begins with this text or, behind those, has it inside; custom ones last."""
    text = _squeezed(text)
    exact = kind_named(kinds, text)
    found = dict.fromkeys([exact] if exact else [])
    names = _names(tuple(kinds.declared))
    found |= dict.fromkeys(kind for name, kind in names.items() if name.startswith(text))
    if len(text) > 1:
        found |= dict.fromkeys(kind for name, kind in names.items() if text in name)
        found |= dict.fromkeys(customs_like(kinds, text))
    return list(found)


def customs_like(kinds: Kinds, text: str) -> list[ResourceKind]:
    """Custom resources of which a name has this text inside, the first of them."""
    return list(islice(kinds.customs.like(_squeezed(text)), MOST_CUSTOMS))


@lru_cache(4)
def _names(known: tuple[ResourceKind, ...]) -> dict[str, ResourceKind]:
    """A word that could mean several kinds means the first of them: Kubernetes' own names come first."""
    found: dict[str, ResourceKind] = {}
    for kind in known:
        found.setdefault(kind.gvr.resource, kind)
        found.setdefault(kind.gvr.qualified, kind)
    for kind in known:
        for name in _other_names(kind):
            found.setdefault(_squeezed(name), kind)
    return found


def _other_names(kind: ResourceKind) -> Iterator[str]:
    yield from kind.short_names
    for lang, _name in settings.LANGUAGES:
        with override(lang):
            yield from (str(kind.singular), str(kind.title), str(kind.nouns))


def _squeezed(name: str) -> str:
    return "".join(name.split()).casefold()
