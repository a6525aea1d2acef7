"""What uses an object: everything that names it, and what selects its pods."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from console.kube import gvr as types
from console.kube.gvr import GVR
from console.kube.store import Entry
from console.ui.panels import Panel
from console.ui.relations.references import KINDS, TEMPLATES, Target
from console.ui.relations.referrers import referrers_of
from console.ui.relations.seeing import Group, Seeing
from console.ui.relations.selecting import selecting
from console.ui.subject import Subject

_WORDS = {gvr: kind for kind, gvr in KINDS.items()}
#: The filters that show exactly what names an object, by the kinds of both; the value is its name.
_BY_NAME: Mapping[tuple[GVR, GVR], str] = {
    (types.INGRESSES, types.SERVICES): "service",
    (types.INGRESSES, types.INGRESS_CLASSES): "class",
    (types.GATEWAYS, types.GATEWAY_CLASSES): "class",
    (types.PERSISTENT_VOLUME_CLAIMS, types.STORAGE_CLASSES): "storageclass",
    (types.PERSISTENT_VOLUMES, types.STORAGE_CLASSES): "storageclass",
    (types.VOLUME_SNAPSHOTS, types.VOLUME_SNAPSHOT_CLASSES): "class",
    (types.CLUSTER_ROLE_BINDINGS, types.CLUSTER_ROLES): "role",
}


@dataclass(frozen=True, kw_only=True)
class UsedByPanel(Panel):
    """`by_name`: types whose objects may name one of this kind. `by_selector`: types that may select
    its pods."""

    id: str = "used-by"
    title: str | Promise = gettext_lazy("Used by")
    by_name: tuple[GVR, ...] = ()
    by_selector: tuple[GVR, ...] = ()

    def needs(self) -> Collection[GVR]:
        return (*self.by_name, *self.by_selector)

    def html(self, subject: Subject) -> SafeString:
        groups = list(self._groups(subject))
        if not groups and not self.by_name:
            return SafeString("")
        context = {"groups": groups, "known": self._known(subject)}
        return render_to_string("ui/relations/groups.html", context)

    def _known(self, subject: Subject) -> bool:
        """Whether saying that nobody uses it would be the truth, as far as the viewer may know."""
        seen = [Seeing(subject, gvr) for gvr in self.by_name]
        return bool(seen) and all(
            one.informer and one.sees_all(subject.key.namespace) for one in seen
        )

    def _groups(self, subject: Subject) -> Iterator[Group]:
        for gvr, found in used_by(subject, self.by_name, self.by_selector):
            url = _url(Seeing(subject, gvr), subject) if gvr in self.by_name else ""
            yield Seeing(subject, gvr).group(found, url)


def used_by(
    subject: Subject, by_name: Collection[GVR], by_selector: Collection[GVR]
) -> Iterator[tuple[GVR, list[Entry[Any]]]]:
    """By type, what the viewer may see of it; none that is empty."""
    target: Target = (subject.kind.gvr, subject.key)
    for gvr in by_name:
        seeing = Seeing(subject, gvr)
        if seeing.informer is not None:
            found = seeing.among(referrers_of(seeing.informer).of(target))
            if found:
                yield gvr, found
    labels = _pod_labels(subject) if by_selector else None
    for gvr in by_selector if labels is not None else ():
        seeing = Seeing(subject, gvr)
        if seeing.informer is not None:
            selected = selecting(seeing.informer, subject.key.namespace, labels or {})
            found = seeing.among(selected)
            if found:
                yield gvr, found


def _pod_labels(subject: Subject) -> Mapping[str, str] | None:
    """Of the pod itself, or of those that are made from a template; None for anything else."""
    gvr = subject.kind.gvr
    if gvr == types.PODS:
        labels: Mapping[str, str] = subject.entry.projection.labels
        return labels
    found: Any = subject.manifest if gvr in TEMPLATES else None
    for part in (*TEMPLATES.get(gvr, ()), "metadata", "labels"):
        found = found.get(part) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None


def _url(seeing: Seeing, subject: Subject) -> str:
    """The list of exactly those that name the object; "" where no filter says just that."""
    gvr, key = subject.kind.gvr, subject.key
    param = _BY_NAME.get((seeing.gvr, gvr))
    if param is not None:
        return seeing.all_url(("namespace", key.namespace), (param, key.name))
    if gvr not in _WORDS:
        return ""
    if seeing.kind is not None and any(item.param == "uses" for item in seeing.kind.filters):
        return seeing.all_url(("namespace", key.namespace), ("uses", f"{_WORDS[gvr]}/{key.name}"))
    return ""
