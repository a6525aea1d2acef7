"""Which containers of a pod are meant."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from console.logs.query import EVERY, LogQuery
from console.ui.manifests import listed, mapping, text
from console.ui.podspecs import Container, containers_of
from console.ui.text import visible

#: The annotation by which a pod names the container that matters.
DEFAULT = "kubectl.kubernetes.io/default-container"


class NoContainer(ValueError):
    """There is none of that name. `str()` says so."""


def chosen(manifest: Mapping[str, Any], query: LogQuery) -> tuple[Container, ...]:
    """Without a name the one that somebody looks at first: one that has ended badly or does not come up,
    else the preferred one. Raises `NoContainer`."""
    found = containers_of(manifest)
    if query.container == EVERY:
        return found
    if query.container:
        return (named(found, query.container),)
    failed = [one for one in found if _has_failed(one)]
    return (*failed, *preferred(manifest, found))[:1]


def named(found: Iterable[Container], name: str) -> Container:
    """Raises `NoContainer`."""
    for one in found:
        if one.name == name:
            return one
    raise NoContainer(_("The pod has no container %(container)s.") % {"container": visible(name)})


def preferred(manifest: Mapping[str, Any], found: Sequence[Container]) -> Sequence[Container]:
    """The one that the pod itself names comes first, then those that are no init containers."""
    default = mapping(manifest, "metadata", "annotations").get(DEFAULT)
    told = [one for one in found if one.name == default]
    ordinary = {text(one.get("name")) for one in listed(manifest, "spec", "containers")}
    others = [one for one in found if one.name in ordinary]
    return (*told, *others, *found)


def _has_failed(container: Container) -> bool:
    if container.ended is not None:
        return container.ended.code != 0
    return bool(container.waiting and container.last)
