"""The metadata of an object: labels, annotations, owners and UID."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from console.kube.group_kind import group_kind, group_of, without_group
from console.kube.gvr import GVR, Key
from console.kube.projections.common import valid_time
from console.ui.core.kind import ResourceKind
from console.ui.core.link_resolver import LinkResolver
from console.ui.core.links import list_url
from console.ui.core.manifests import LONGEST, mapping, mappings_at, text, texts
from console.ui.core.registry import kinds
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.details.panels import Panel
from console.ui.details.relations.visible_type import VisibleType
from console.ui.lists.columns import target_of
from console.ui.lists.filters import InvalidFilterValue, LabelFilter

#: Maximum items shown of each kind, and maximum characters of a value that is not collapsed. The
#: YAML tab shows everything.
MOST, SHORT = 100, 120


class _Owner(NamedTuple):
    kind: str
    name: str
    url: str
    missing: bool


class _Pair(NamedTuple):
    """A label or an annotation. `url` is the list filtered by a label, or ""."""

    name: str
    value: str
    url: str = ""
    long: bool = False


@dataclass(frozen=True, kw_only=True)
class MetadataPanel(Panel):
    """Labels, annotations and owners.

    The chain of owners ends with the last owner that is named by the object itself or by an
    owner that the viewer can list.
    """

    id: str = "metadata"
    title: str | Promise = _("Metadata")
    place: Literal["above", "left", "right"] = "right"

    def needs(self, kind: ResourceKind) -> Collection[GVR]:
        return _between().values()

    def html(self, subject: Subject) -> SafeString:
        meta = mapping(subject.manifest, "metadata")
        item = subject.entry.projection
        context = {
            "labels": list(_labels(subject)),
            "annotations": list(_annotations(meta)),
            "owners": list(_owners(subject)),
            "uid": text(item.uid),
            "created": valid_time(item.created),
            "deleted": valid_time(item.deleted),
            "finalizers": texts(meta.get("finalizers"))[:MOST],
        }
        return render_to_string("ui/panels/metadata.html", context)


def _labels(subject: Subject) -> Iterator[_Pair]:
    kind, namespace = subject.kind, subject.key.namespace
    here = list_url(subject.cluster, kind.segment)
    for name, value in list(subject.entry.projection.labels.items())[:MOST]:
        try:
            wanted = LabelFilter().clean([f"{name}={value}"])
        except InvalidFilterValue:
            # kube-apiserver would not accept this label.
            wanted = ()
        place = [("namespace", namespace)] if namespace else []
        url = f"{here}?{urlencode([*place, *(('label', one) for one in wanted)])}" if wanted else ""
        yield _Pair(escape_invisible(name), escape_invisible(value), url)


def _annotations(meta: Mapping[str, Any]) -> Iterator[_Pair]:
    for name, value in list(mapping(meta, "annotations").items())[:MOST]:
        shown = text(value)
        yield _Pair(text(name), shown, long=len(shown) > SHORT or len(str(value)) > LONGEST)


def _owners(subject: Subject) -> Iterator[_Owner]:
    """Yield the owners, nearest first. Each owner occurs once, even if owner references form a
    cycle.
    """
    references = mappings_at(subject.manifest, "metadata", "ownerReferences")
    namespace, links = subject.key.namespace, LinkResolver(subject.access)
    for reference in references[:MOST]:
        kind, name = text(reference.get("kind")), text(reference.get("name"))
        if kind and name:
            group = group_of(text(reference.get("apiVersion")))
            yield _owner(f"{group_kind(kind, group)}/{name}", namespace, links)
    if len(references) == 1:
        owner = getattr(subject.entry.projection, "owner", "")
        yield from _above(subject, owner, namespace, links)


def _between() -> Mapping[str, GVR]:
    """Return intermediate owner types, by group and kind. They own objects and are owned by other
    objects themselves.
    """
    owned = {gvr for kind in kinds for gvr in kind.owns}
    return {kind.group_kind: kind.gvr for kind in kinds if kind.owns and kind.gvr in owned}


def _above(subject: Subject, owner: str, namespace: str, links: LinkResolver) -> Iterator[_Owner]:
    seen, between = set[str](), _between()
    while owner and owner not in seen:
        seen.add(owner)
        kind, _slash, name = owner.partition("/")
        gvr = between.get(kind)
        entry = VisibleType(subject, gvr).get(Key(namespace, name)) if gvr is not None else None
        owner = entry.projection.owner if entry is not None else ""
        if owner:
            yield _owner(owner, namespace, links)


def _owner(owner: str, namespace: str, links: LinkResolver) -> _Owner:
    kind, _slash, name = without_group(owner).partition("/")
    found = links.resolve(target_of(owner, namespace))
    return _Owner(escape_invisible(kind), escape_invisible(name), *found)
