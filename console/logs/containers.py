"""Which containers of a pod are meant."""

from collections.abc import Mapping, Sequence
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
    """Raises `NoContainer`."""
    found = containers_of(manifest)
    if query.container == EVERY:
        return found
    if not query.container:
        return foremost(manifest, found)
    named = tuple(one for one in found if one.name == query.container)
    if not named:
        words = {"container": visible(query.container)}
        raise NoContainer(_("The pod has no container %(container)s.") % words)
    return named


def foremost(manifest: Mapping[str, Any], found: Sequence[Container]) -> tuple[Container, ...]:
    """The one that somebody looks at first: one that has ended badly or does not come up, else the one
    that the pod itself names, else the first that is no init container."""
    failed = [one for one in found if _has_failed(one)]
    named = mapping(manifest, "metadata", "annotations").get(DEFAULT)
    told = [one for one in found if one.name == named]
    ordinary = {text(one.get("name")) for one in listed(manifest, "spec", "containers")}
    others = [one for one in found if one.name in ordinary]
    return (*failed, *told, *others, *found)[:1]


def _has_failed(container: Container) -> bool:
    if container.ended is not None:
        return container.ended.code != 0
    return bool(container.waiting and container.last)
