"""Workloads that use a Secret or ConfigMap, and the restarts that the user may perform."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from console.kube.gvr import GVR
from console.kube.store import Entry
from console.ui.core.kind import ResourceKind
from console.ui.core.links import bulk_url, list_url
from console.ui.core.registry import kinds
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.details.relations.object_panels import used_by
from console.ui.details.relations.owners import owner_types
from console.ui.details.relations.references import references
from console.ui.details.relations.visible_type import ObjectGroup, VisibleType, how_text

#: Maximum number of workloads to list per kind.
MOST = 20


@dataclass(frozen=True, slots=True)
class RestartOffer:
    """A restart of several workloads of a kind. `keys` are the values for the bulk action page."""

    label: str
    names: Sequence[str]
    keys: Sequence[str]
    url: str
    list_url: str


def workloads() -> list[GVR]:
    """Return the kinds with pods and a menu entry, pods last."""
    found = [kind for kind in kinds if kind.pod_spec and kind.nav.entry]
    return [kind.gvr for kind in sorted(found, key=lambda kind: kind.rank)]


def _users(subject: Subject) -> Iterator[tuple[GVR, list[Entry[Any]]]]:
    """Yield the workloads that use the object. Objects with an owner, such as pods of a Deployment,
    are left out.
    """
    for gvr, found in used_by(subject, workloads(), ()):
        made = owner_types(gvr)
        alone = [one for one in found if not made or not one.projection.owner]
        if alone:
            yield gvr, alone


def _hows(subject: Subject, gvr: GVR, entry: Entry[Any]) -> list[tuple[str, str]]:
    target = (subject.kind.gvr, subject.key)
    found = references(gvr, entry)
    return [(ref.how, ref.where) for ref in found if (ref.gvr, ref.key) == target]


def groups_of(subject: Subject) -> list[ObjectGroup]:
    """Return the workloads with the way each of them uses the object."""
    return [_group(VisibleType(subject, gvr), found) for gvr, found in _users(subject)]


def _group(seeing: VisibleType, found: list[Entry[Any]]) -> ObjectGroup:
    group = seeing.group(found, first=0)
    lines = []
    for entry in sorted(found, key=lambda one: one.key)[:MOST]:
        hows = dict.fromkeys(how_text(*how) for how in _hows(seeing.subject, seeing.gvr, entry))
        lines.append(seeing.line(entry, ", ".join(hows)))
    return ObjectGroup(group.title, group.total, tuple(lines))


def sees_all(subject: Subject) -> bool:
    """Return True if the user may see all workloads, so that an empty result is reliable."""
    seen = [VisibleType(subject, gvr) for gvr in workloads()]
    return all(one.informer is not None and one.sees_all(subject.key.namespace) for one in seen)


def restart_offers(subject: Subject) -> list[RestartOffer]:
    """Return the restarts that the user may perform on workloads whose pods read the data."""
    return [
        offer
        for gvr, found in _users(subject)
        if (kind := subject.access.cluster.kinds.of(gvr)) is not None
        and (offer := _offer(subject, kind, found)) is not None
    ]


def _offer(subject: Subject, kind: ResourceKind, found: list[Entry[Any]]) -> RestartOffer | None:
    restart = kind.actions_by_name.get("restart")
    if restart is None:
        return None
    keys = [
        entry.key
        for entry in found
        if restart.is_allowed(subject.access, kind.gvr, entry.key)
        and restart.applicable(entry)
        and any(how != "pull" for how, _where in _hows(subject, kind.gvr, entry))
    ]
    if not keys:
        return None
    one = len(keys) == 1
    label = (
        restart.title(kind, escape_invisible(keys[0].name))
        if one
        else restart.titles(kind, f"{len(keys):,}")
    )
    return RestartOffer(
        label,
        [key.name for key in keys],
        [str(key) for key in keys],
        bulk_url(restart.name, subject.cluster, kind.segment, subject.key.namespace),
        list_url(subject.cluster, kind.segment, subject.key.namespace),
    )
