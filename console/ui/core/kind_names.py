"""Names of kinds that users type (`po`, `deploy`, "pod", "Deployments", “容器组”), and labels of
quota resources.
"""

from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from itertools import islice

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, override

from console.kube.gvr import GVR
from console.ui.core.amounts import bytes_text, cores_text, number_text
from console.ui.core.clusters import Kinds
from console.ui.core.kind import ResourceKind, segment_of

#: Maximum number of custom resources to suggest.
MOST_CUSTOMS = 20


def kind_named(kinds: Kinds, word: str) -> ResourceKind | None:
    """Return the kind with this name in any language of the console, ignoring case. Built-in kinds
    take precedence over custom resources.
    """
    word = word.casefold()
    return _names(kinds.offered).get(word) or kinds.customs.named(word)


def kinds_like(kinds: Kinds, text: str) -> list[ResourceKind]:
    """Return kinds with a name that starts with the text, then kinds with a name that contains it,
    then custom resources.
    """
    text = _squeezed(text)
    exact = kind_named(kinds, text)
    found = dict.fromkeys([exact] if exact else [])
    names = _names(kinds.offered)
    found |= dict.fromkeys(kind for name, kind in names.items() if name.startswith(text))
    if len(text) > 1:
        found |= dict.fromkeys(kind for name, kind in names.items() if text in name)
        found |= dict.fromkeys(custom_kinds_like(kinds, text))
    return list(found)


def custom_kinds_like(kinds: Kinds, text: str) -> list[ResourceKind]:
    """Return the first custom resources with a name that contains the text."""
    return list(islice(kinds.customs.like(_squeezed(text)), MOST_CUSTOMS))


@lru_cache(4)
def _names(known: tuple[ResourceKind, ...]) -> dict[str, ResourceKind]:
    """Map names to kinds. Kubernetes' own names take precedence, then the order of the kinds."""
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


_AMOUNTS: dict[str, str | Promise] = {
    "cpu": gettext_lazy("CPU request"),
    "requests.cpu": gettext_lazy("CPU request"),
    "limits.cpu": gettext_lazy("CPU limit"),
    "memory": gettext_lazy("Memory request"),
    "requests.memory": gettext_lazy("Memory request"),
    "limits.memory": gettext_lazy("Memory limit"),
    "requests.storage": gettext_lazy("Storage request"),
}


def resource_label(kinds: Kinds, resource: str) -> str:
    """Return the label of a quota resource, such as `CPU limit` or the title of the counted kind.
    Return the key itself if the resource has no label.
    """
    plural, _dot, group = resource.removeprefix("count/").partition(".")
    kind = kinds.find(segment_of(GVR(group, "", plural)))
    return str(_AMOUNTS.get(resource) or (kind.title if kind is not None else resource))


def amount_text(resource: str, amount: Decimal) -> str:
    if resource.endswith("cpu"):
        return cores_text(amount)
    if resource.endswith(("memory", "storage")):
        return bytes_text(amount)
    return number_text(amount)
