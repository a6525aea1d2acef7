"""Select the containers of a pod that a log or terminal shows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from console.logs.query import ALL_CONTAINERS, LogQuery
from console.ui.core.manifests import mapping, mappings_at, text
from console.ui.core.podspecs import ContainerView, containers_of
from console.ui.core.text import escape_invisible

#: The annotation that names a pod's default container for kubectl.
DEFAULT = "kubectl.kubernetes.io/default-container"


class NoContainer(ValueError):
    """Raised if the pod has no container of the requested name. `str()` returns the translated
    message.
    """


def select_containers(manifest: Mapping[str, Any], query: LogQuery) -> tuple[ContainerView, ...]:
    """Return the containers that `query` selects.

    Without a name, this is the first container that failed or doesn't start, otherwise the
    preferred container. Raise `NoContainer` for an unknown name.
    """
    found = containers_of(manifest)
    if query.container == ALL_CONTAINERS:
        return found
    if query.container:
        return (container_named(found, query.container),)
    failed = [one for one in found if _has_failed(one)]
    return (*failed, *by_preference(manifest, found))[:1]


def container_named(found: Iterable[ContainerView], name: str) -> ContainerView:
    """Return the container `name`. Raise `NoContainer` if it doesn't exist."""
    for one in found:
        if one.name == name:
            return one
    raise NoContainer(
        _("No container %(container)s found in the pod.") % {"container": escape_invisible(name)}
    )


def by_preference(
    manifest: Mapping[str, Any], found: Sequence[ContainerView]
) -> Sequence[ContainerView]:
    """Return `found` in order of preference: the annotated default container, regular containers,
    all others.
    """
    default = mapping(manifest, "metadata", "annotations").get(DEFAULT)
    told = [one for one in found if one.name == default]
    ordinary = {text(one.get("name")) for one in mappings_at(manifest, "spec", "containers")}
    others = [one for one in found if one.name in ordinary]
    return (*told, *others, *found)


def _has_failed(container: ContainerView) -> bool:
    if container.ended is not None:
        return container.ended.code != 0
    return bool(container.waiting and container.last)
