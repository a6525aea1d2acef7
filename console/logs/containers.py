"""Select the containers of a pod that a log or terminal shows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from console.logs.query import EVERY, LogQuery
from console.ui.manifests import listed, mapping, text
from console.ui.podspecs import Container, containers_of
from console.ui.text import visible

#: The annotation that names a pod's default container for kubectl.
DEFAULT = "kubectl.kubernetes.io/default-container"


class NoContainer(ValueError):
    """Raised if the pod has no container of the requested name. `str()` returns the translated
    message.
    """


def chosen(manifest: Mapping[str, Any], query: LogQuery) -> tuple[Container, ...]:
    """Return the containers that `query` selects.

    Without a name, this is the first container that failed or doesn't start, otherwise the
    preferred container. Raise `NoContainer` for an unknown name.
    """
    found = containers_of(manifest)
    if query.container == EVERY:
        return found
    if query.container:
        return (named(found, query.container),)
    failed = [one for one in found if _has_failed(one)]
    return (*failed, *preferred(manifest, found))[:1]


def named(found: Iterable[Container], name: str) -> Container:
    """Return the container `name`. Raise `NoContainer` if it doesn't exist."""
    for one in found:
        if one.name == name:
            return one
    raise NoContainer(
        _("No container %(container)s found in the pod.") % {"container": visible(name)}
    )


def preferred(manifest: Mapping[str, Any], found: Sequence[Container]) -> Sequence[Container]:
    """Return `found` in order of preference: the annotated default container, regular containers,
    all others.
    """
    default = mapping(manifest, "metadata", "annotations").get(DEFAULT)
    told = [one for one in found if one.name == default]
    ordinary = {text(one.get("name")) for one in listed(manifest, "spec", "containers")}
    others = [one for one in found if one.name in ordinary]
    return (*told, *others, *found)


def _has_failed(container: Container) -> bool:
    if container.ended is not None:
        return container.ended.code != 0
    return bool(container.waiting and container.last)
