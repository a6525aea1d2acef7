"""Permission checks, URLs and example manifests for creating objects."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import lru_cache
from itertools import islice

from console.ui.core.access import Access
from console.ui.core.kind import ResourceKind
from console.ui.core.permissions import may_know_kind
from console.ui.editing.yaml_text import yaml_text
from console.ui.lists.viewspec import ViewSpec

#: Valid for every type. The user replaces it.
NAME = "example"
#: Maximum number of custom resources to check.
CUSTOMS = 500
#: Number of users whose result is cached.
VIEWERS = 500


def may_create_any(access: Access) -> bool:
    """Return True if the user may create any object anywhere."""
    rights_version, kinds = access.rights_version(), access.cluster.kinds
    # Only an Access with a `rights_version` can be a cache key.
    declared: Callable[..., bool] = _declared if rights_version else _declared.__wrapped__
    return declared(kinds.offered, access, rights_version) or any(
        _may_create(kind, access) for kind in islice(kinds.customs, CUSTOMS)
    )


@lru_cache(VIEWERS)
def _declared(known: tuple[ResourceKind, ...], access: Access, rights_version: Hashable) -> bool:
    """Check the built-in kinds. `rights_version` is part of the cache key."""
    return any(_may_create(kind, access) for kind in known)


def _may_create(kind: ResourceKind, access: Access) -> bool:
    if not kind.serves("create"):
        return False
    allowed = access.namespaces_where("create", kind.gvr)
    return allowed is None or (kind.view.namespaced and bool(allowed))


def create_url(spec: ViewSpec, access: Access) -> str:
    """Return the URL of the page that creates an object for this list, or "" if the user may not
    create one.

    The result depends only on the view and on permissions in `ResourceKind.asked`, so users who
    share a rendered list can share it.
    """
    kind = spec.kind
    if not kind.serves("create"):
        return ""
    allowed = access.namespaces_where("create", kind.gvr)
    if not kind.view.namespaced:
        return kind.create_url(spec.cluster, "") if kind.creatable(access) else ""
    if spec.namespaces:
        places = [one for one in spec.namespaces if allowed is None or one in allowed]
    else:
        places = [""] if allowed is None else sorted(allowed)
    if not places:
        return ""
    # If several namespaces are possible, the user selects one on the page.
    chosen = places[0] if spec.namespaces or len(places) == 1 else ""
    return kind.create_url(spec.cluster, chosen)


def creations(
    access: Access, known: Iterable[ResourceKind], namespace: str = ""
) -> Iterator[tuple[ResourceKind, str]]:
    """Yield the kinds that the user may create, with the URLs of the pages that create them, in the
    project `namespace` if the kind belongs to projects.
    """
    for kind in known:
        spec = ViewSpec(kind, access.cluster.name)
        if namespace and kind.view.namespaced:
            spec = spec.with_values("namespace", (namespace,))
        url = create_url(spec, access) if may_know_kind(access, kind) else ""
        if url:
            yield kind, url


def skeleton(kind: ResourceKind, namespace: str) -> str:
    """Return an example manifest. `namespace` is "" if none is selected yet."""
    place = {"namespace": namespace} if namespace and kind.view.namespaced else {}
    metadata = {"name": NAME, **place, **kind.example.get("metadata", {})}
    return yaml_text(kind, {**kind.example, "metadata": metadata})
