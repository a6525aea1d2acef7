"""Creating objects: whom the console offers it, and what a new manifest begins with."""

from collections.abc import Callable, Hashable
from functools import lru_cache
from itertools import islice

from console.ui.access import Access
from console.ui.kind import ResourceKind
from console.ui.viewspec import ViewSpec
from console.ui.yamltext import yaml_text

#: A name that every type allows, for the writer to replace.
NAME = "example"
#: Custom resources that are looked at to find one that the viewer may create.
CUSTOMS = 500
#: Viewers whose answer is kept.
VIEWERS = 500


def may_create_any(access: Access) -> bool:
    """Whether there is anything that the viewer may create anywhere."""
    standing, kinds = access.standing(), access.cluster.kinds
    # An Access with a standing can be compared.
    declared: Callable[..., bool] = _declared if standing else _declared.__wrapped__
    return declared(tuple(kinds.declared), access, standing) or any(
        _may_create(kind, access) for kind in islice(kinds.customs, CUSTOMS)
    )


@lru_cache(VIEWERS)
def _declared(known: tuple[ResourceKind, ...], access: Access, standing: Hashable) -> bool:
    """The same for as long as `standing` is."""
    return any(_may_create(kind, access) for kind in known)


def _may_create(kind: ResourceKind, access: Access) -> bool:
    allowed = access.namespaces_where("create", kind.gvr)
    return allowed is None or (kind.view.namespaced and bool(allowed))


def create_url(spec: ViewSpec, access: Access) -> str:
    """Where an object that the list would show is made; "" for whoever may make none there.

    It follows from the view and from the right that `ResourceKind.asked` has, so that whoever shares a
    list shares this, too.
    """
    kind = spec.kind
    allowed = access.namespaces_where("create", kind.gvr)
    if not kind.view.namespaced:
        return kind.create_url(spec.cluster, "") if kind.creatable(access) else ""
    if spec.namespaces:
        places = [one for one in spec.namespaces if allowed is None or one in allowed]
    else:
        places = [""] if allowed is None else sorted(allowed)
    if not places:
        return ""
    # Where the list shows many, the project is chosen on the page.
    chosen = places[0] if spec.namespaces or len(places) == 1 else ""
    return kind.create_url(spec.cluster, chosen)


def skeleton(kind: ResourceKind, namespace: str) -> str:
    """A manifest to be filled in. `namespace`: "" for none yet."""
    place = {"namespace": namespace} if namespace and kind.view.namespaced else {}
    metadata = {"name": NAME, **place, **kind.example.get("metadata", {})}
    return yaml_text(kind, {**kind.example, "metadata": metadata})
