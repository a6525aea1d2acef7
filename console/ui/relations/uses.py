"""The objects that an object refers to, with their state."""

from collections.abc import Collection
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR, Key
from console.ui.kind import ResourceKind
from console.ui.panels import NOTHING, Panel
from console.ui.relations.naming import Reference
from console.ui.relations.references import references
from console.ui.relations.seeing import ObjectGroup, VisibleType
from console.ui.relations.words import how_text, title_of
from console.ui.subject import Subject

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
    lines = tuple(
        seeing.named(key, _note(mentions), required=not all(ref.optional for ref in mentions))
        for key, mentions in list(named.items())[:MOST]
    )
    return ObjectGroup(title_of(seeing.gvr), len(named), lines)


def _note(mentions: list[Reference]) -> str:
    return ", ".join(dict.fromkeys(how_text(ref.how, ref.where) for ref in mentions))
