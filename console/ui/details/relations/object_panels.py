"""Panels with related objects: owned objects over several generations, selected pods,
references, and users.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR, PODS, Key
from console.kube.store import Entry
from console.ui.core.kind import Reference, ResourceKind, Target
from console.ui.core.subject import Subject
from console.ui.details.panels import NOTHING, Panel
from console.ui.details.relations.owners import (
    owned_by,
    owned_types,
    pods_selected,
    selecting,
    selecting_types,
)
from console.ui.details.relations.references import references, referrers_of, referring_types
from console.ui.details.relations.visible_type import (
    FIRST,
    ObjectGroup,
    ObjectLine,
    VisibleType,
    how_text,
)

#: Maximum generations shown below the object.
DEEPEST = 3


@dataclass(frozen=True, slots=True)
class Branch:
    """Objects of one type with the same owner. `total` counts the visible objects, and `url` is the
    list of all of them.
    """

    title: str | Promise
    total: int
    nodes: tuple["Node", ...]
    url: str

    @property
    def more(self) -> int:
        return self.total - len(self.nodes)


@dataclass(frozen=True, slots=True)
class Node:
    line: ObjectLine
    branches: tuple[Branch, ...]


@dataclass(frozen=True, kw_only=True)
class OwnedPanel(Panel):
    id: str = "owned"
    title: str | Promise = gettext_lazy("Owns")

    def needs(self, kind: ResourceKind) -> Collection[GVR]:
        return owned_types(kind)

    def html(self, subject: Subject) -> SafeString:
        branches = branches_of(subject, subject.kind, subject.entry, DEEPEST)
        if not branches:
            return SafeString("")
        return render_to_string("ui/relations/tree.html", {"branches": branches})


def branches_of(
    subject: Subject, kind: ResourceKind | None, owner: Entry[Any], depth: int
) -> tuple[Branch, ...]:
    """Return the visible objects owned by `owner`, down to `depth` generations."""
    found: list[Branch] = []
    if kind is None or not depth:
        return ()
    for owned in kind.owns:
        seeing = VisibleType(subject, owned)
        entries = owned_by(owner, seeing)
        if not entries:
            continue
        nodes = tuple(
            Node(
                seeing.line(entry, seeing.kind.note_among_owned(entry) if seeing.kind else ""),
                branches_of(subject, seeing.kind, entry, depth - 1),
            )
            for entry in entries[:FIRST]
        )
        found.append(Branch(seeing.title, len(entries), nodes, _owned_url(seeing, kind, owner)))
    return tuple(found)


def _owned_url(seeing: VisibleType, kind: ResourceKind, owner: Entry[Any]) -> str:
    if seeing.kind is None or not any(item.param == "owner" for item in seeing.kind.every_filter):
        return ""
    key = owner.key
    return seeing.all_url(("namespace", key.namespace), ("owner", f"{kind.group_kind}/{key.name}"))


@dataclass(frozen=True, kw_only=True)
class SelectedPodsPanel(Panel):
    """Selected pods of kinds with a pod selector."""

    id: str = "selected"
    title: str | Promise = gettext_lazy("Pods")
    also = (PODS,)

    def html(self, subject: Subject) -> SafeString:
        seeing, namespace = VisibleType(subject, PODS), subject.key.namespace
        selector = subject.kind.pod_selector(subject.entry)
        if (
            seeing.informer is None
            or selector is None
            or not seeing.readable.may_include(namespace)
        ):
            return SafeString("")
        found = seeing.only_visible(pods_selected(selector, namespace, seeing.informer))
        url = seeing.all_url(("namespace", namespace), ("label", str(selector)))
        groups = [seeing.group(found, url)]
        return render_to_string("ui/relations/groups.html", {"groups": groups})


#: Maximum objects shown per kind.
MOST = 50


@dataclass(frozen=True, kw_only=True)
class UsesPanel(Panel):
    """References of an object. The state is shown only for the types in the kind's `names`."""

    id: str = "uses"
    title: str | Promise = gettext_lazy("Uses")

    def needs(self, kind: ResourceKind) -> Collection[GVR]:
        return kind.referenced_types

    def html(self, subject: Subject) -> SafeString:
        found: dict[GVR, dict[Key, list[Reference]]] = {}
        for ref in references(subject.kind.gvr, subject.entry):
            found.setdefault(ref.gvr, {}).setdefault(ref.key, []).append(ref)
        groups = [_group(VisibleType(subject, gvr), named) for gvr, named in found.items()]
        return (
            render_to_string("ui/relations/groups.html", {"groups": groups}) if groups else NOTHING
        )


def _group(seeing: VisibleType, named: dict[Key, list[Reference]]) -> ObjectGroup:
    lines = []
    for key, mentions in list(named.items())[:MOST]:
        note = ", ".join(dict.fromkeys(how_text(ref.how, ref.where) for ref in mentions))
        required = not all(ref.optional for ref in mentions)
        lines.append(seeing.named(key, note, required=required))
    return ObjectGroup(seeing.title, len(named), tuple(lines))


@dataclass(frozen=True, kw_only=True)
class UsedByPanel(Panel):
    id: str = "used-by"
    title: str | Promise = gettext_lazy("Used by")

    def needs(self, kind: ResourceKind) -> Collection[GVR]:
        return (*referring_types(kind), *selecting_types(kind))

    def html(self, subject: Subject) -> SafeString:
        by_name = referring_types(subject.kind)
        groups = [*_groups(subject, by_name), *self.more_groups(subject)]
        if not groups and not by_name:
            return SafeString("")
        context = {"groups": groups, "known": _known(subject, by_name)}
        return render_to_string("ui/relations/groups.html", context)

    def more_groups(self, subject: Subject) -> Iterable[ObjectGroup]:
        """Return groups of objects that use the subject without referring to it."""
        return ()


def _known(subject: Subject, by_name: Collection[GVR]) -> bool:
    """Return True if an empty result is reliable: all types are loaded and visible to the viewer."""
    seen = [VisibleType(subject, gvr) for gvr in by_name]
    return bool(seen) and all(one.informer and one.sees_all(subject.key.namespace) for one in seen)


def _groups(subject: Subject, by_name: Collection[GVR]) -> Iterator[ObjectGroup]:
    for gvr, found in used_by(subject, by_name, selecting_types(subject.kind)):
        url = _url(VisibleType(subject, gvr), subject, found) if gvr in by_name else ""
        yield VisibleType(subject, gvr).group(found, url)


def used_by(
    subject: Subject, by_name: Collection[GVR], by_selector: Collection[GVR]
) -> Iterator[tuple[GVR, list[Entry[Any]]]]:
    """Yield the visible users by type, without empty types."""
    target: Target = (subject.kind.gvr, subject.key)
    for gvr in by_name:
        seeing = VisibleType(subject, gvr)
        if seeing.informer is not None:
            found = seeing.only_visible(referrers_of(seeing.informer).of(target))
            if found:
                yield gvr, found
    labels = _pod_labels(subject) if by_selector else None
    for gvr in by_selector if labels is not None else ():
        seeing = VisibleType(subject, gvr)
        if seeing.informer is not None:
            selected = selecting(seeing.informer, subject.key.namespace, labels or {})
            found = seeing.only_visible(selected)
            if found:
                yield gvr, found


def _pod_labels(subject: Subject) -> Mapping[str, str] | None:
    """Return the labels of the pod or of the pod template, or None."""
    found: Any = subject.manifest
    for part in (*subject.kind.pod_spec[:-1], "metadata", "labels"):
        found = found.get(part) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None


def _url(seeing: VisibleType, subject: Subject, found: list[Entry[Any]]) -> str:
    """Return the list of exactly the users in `found`, or "" if no filter selects exactly these."""
    named, key = subject.kind, subject.key
    use = f"{named.group_kind}/{key.name}"
    for one in seeing.kind.every_filter if seeing.kind is not None else ():
        if one.names == named.gvr:
            return seeing.all_url(("namespace", key.namespace), (one.param, key.name))
        # The filter does not cover references outside the template, such as a StatefulSet's
        # service.
        if one.param == "uses" and all(use in entry.projection.uses for entry in found):
            return seeing.all_url(("namespace", key.namespace), ("uses", use))
    return ""
