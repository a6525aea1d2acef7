"""The objects that use an object, by reference or by pod selector."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR
from console.kube.store import Entry
from console.ui.kind import ResourceKind
from console.ui.panels import Panel
from console.ui.relations.naming import Target
from console.ui.relations.references import referring_types
from console.ui.relations.referrers import referrers_of
from console.ui.relations.seeing import ObjectGroup, VisibleType
from console.ui.relations.selecting import selecting, selecting_types
from console.ui.subject import Subject


@dataclass(frozen=True, kw_only=True)
class UsedByPanel(Panel):
    id: str = "used-by"
    title: str | Promise = gettext_lazy("Used by")

    def needs(self, kind: ResourceKind) -> Collection[GVR]:
        return (*referring_types(kind), *selecting_types(kind))

    def html(self, subject: Subject) -> SafeString:
        by_name = referring_types(subject.kind)
        groups = list(_groups(subject, by_name))
        if not groups and not by_name:
            return SafeString("")
        context = {"groups": groups, "known": _known(subject, by_name)}
        return render_to_string("ui/relations/groups.html", context)


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
    use = f"{named.api_kind}/{key.name}"
    for one in seeing.kind.every_filter if seeing.kind is not None else ():
        if one.names == named.gvr:
            return seeing.all_url(("namespace", key.namespace), (one.param, key.name))
        # The filter does not cover references outside the template, such as a StatefulSet's
        # service.
        if one.param == "uses" and all(use in entry.projection.uses for entry in found):
            return seeing.all_url(("namespace", key.namespace), ("uses", use))
    return ""
