"""The revisions of a workload, and the comparison of their pod templates, line by line.

Users write the templates, so their size is limited first.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

import yaml
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR
from console.kube.indexes import indexes_of
from console.kube.store import Entry, Store
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import mapping, mappings_at
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.details.panels import Panel
from console.ui.details.relations.visible_type import VisibleType
from console.ui.editing.diff import WIDEST, DiffLine, diff_lines

#: Maximum lines to compare.
LONGEST = 1500
#: Labels that identify the revision and are not part of its content.
_OWN_LABELS = ("pod-template-hash", "controller-revision-hash")


class TooLong(ValueError):
    """The template has too many lines to compare."""


def template_lines(template: Mapping[str, Any]) -> list[str]:
    """Return the template as lines of YAML with sorted keys. Raise `TooLong`."""
    metadata = template.get("metadata")
    kept = {key: value for key, value in template.items() if key != "$patch"}
    if isinstance(metadata, dict):
        kept["metadata"] = _without_own(metadata)
    try:
        text = yaml.dump(kept, Dumper=yaml.CSafeDumper, allow_unicode=True, width=WIDEST)
    except RecursionError as error:
        raise TooLong from error
    lines = text.split("\n")[:-1]
    if len(lines) > LONGEST:
        raise TooLong
    return lines


def template_difference(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[list[DiffLine], str]:
    """Return the differing lines, or the reason why none are shown."""
    try:
        lines = diff_lines(template_lines(before), template_lines(after))
    except TooLong:
        return [], _("The pod templates are too long to compare here.")
    return lines, "" if lines else _("The pod templates are identical.")


def _without_own(metadata: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in metadata.items() if value is not None}
    labels = kept.get("labels")
    if isinstance(labels, dict):
        kept["labels"] = {k: v for k, v in labels.items() if k not in _OWN_LABELS}
    return kept


CAUSE_ANNOTATION = "kubernetes.io/change-cause"
#: Maximum revisions shown. Controllers keep ten by default.
MOST = 50
#: Maximum digits of a revision in the query.
_LONGEST = 18


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision. `images` are those of its pod template. `pods` is None if pods are not counted by
    revision.
    """

    number: int
    current: bool
    cause: str
    images: tuple[str, ...]
    pods: int | None
    created: datetime | None
    url: str
    template: Mapping[str, Any]
    annotations: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences between two revisions. `problem` is the reason for missing `lines`."""

    before: int
    after: int
    lines: list[DiffLine]
    problem: str


@dataclass(frozen=True, kw_only=True)
class RevisionsPanel(Panel):
    """Revisions of kinds with `revisions`. The query parameters `from` and `to` select the
    revisions to compare.
    """

    id: str = "revisions"
    title: str | Promise = gettext_lazy("Revisions")
    params: ClassVar[tuple[str, ...]] = ("from", "to")

    def needs(self, kind: ResourceKind) -> Collection[GVR]:
        return (kind.revisions,) if kind.revisions is not None else ()

    def html(self, subject: Subject) -> SafeString:
        kept_in = subject.kind.revisions
        seeing = VisibleType(subject, kept_in) if kept_in is not None else None
        if seeing is None or seeing.not_listable:
            return SafeString("")
        found = revisions_of(subject, seeing)
        context = {
            "revisions": found,
            "rollback_url": _rollback_url(subject),
            "loading": seeing.informer is None,
            "comparison": _comparison(found, subject.query) if len(found) > 1 else None,
        }
        return render_to_string("ui/relations/revisions.html", context)


def _rollback_url(subject: Subject) -> str:
    """Return the URL of the rollback action, or "" if the viewer can't run it."""
    kind, key = subject.kind, subject.key
    action = kind.actions_by_name.get("rollback")
    if action is None or not action.is_offered(subject.access, subject.entry):
        return ""
    may = action.is_allowed(subject.access, kind.gvr, key)
    return action.url(subject.cluster, kind.segment, key) if may else ""


def revisions_of(subject: Subject, seeing: VisibleType) -> list[Revision]:
    """Return the visible revisions, newest first."""
    if seeing.informer is None:
        return []
    found = [*seeing.only_visible(stored_revisions(seeing.informer.store, subject.entry))]
    found.sort(key=lambda entry: (-entry.projection.revision, entry.key))
    return [_revision(seeing, entry, current=not at) for at, entry in enumerate(found[:MOST])]


def stored_revisions(store: Store[Any], workload: Entry[Any]) -> list[Entry[Any]]:
    """Return the objects in `store` that contain the revisions of a workload."""
    uid, namespace = workload.projection.uid, workload.key.namespace
    owned = indexes_of(store).by_owner.get(uid) if uid else ()
    return [
        entry
        for entry in owned
        if entry.key.namespace == namespace and entry.projection.revision is not None
    ]


def _revision(seeing: VisibleType, entry: Entry[Any], *, current: bool) -> Revision:
    original, item = entry.original(), entry.projection
    template, notes = _template(original), mapping(original, "metadata", "annotations")
    return Revision(
        number=item.revision,
        current=current,
        cause=escape_invisible(str(notes.get(CAUSE_ANNOTATION, ""))),
        images=tuple(escape_invisible(image) for image in _images(template)),
        pods=getattr(item, "current", None),
        created=item.created,
        url=seeing.url(entry.key),
        template=template,
        annotations=notes,
    )


def _template(original: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the pod template of a ReplicaSet or of the patch in a ControllerRevision."""
    holder = mapping(original, "data") or original
    return mapping(holder, "spec", "template")


def _images(template: Mapping[str, Any]) -> Iterator[str]:
    for name in ("containers", "initContainers"):
        for container in mappings_at(template, "spec", name):
            image = container.get("image")
            if isinstance(image, str):
                yield image


def _comparison(found: list[Revision], query: Mapping[str, str]) -> Comparison:
    """Compare the selected revisions, by default the newest with the previous one."""
    known = {revision.number: revision for revision in found}
    before = _chosen(query.get("from", ""), known) or found[1]
    after = _chosen(query.get("to", ""), known) or found[0]
    differing = template_difference(before.template, after.template)
    return Comparison(before.number, after.number, *differing)


def _chosen(text: str, known: Mapping[int, Revision]) -> Revision | None:
    digits = text.isascii() and text.isdigit() and len(text) <= _LONGEST
    return known.get(int(text)) if digits else None
