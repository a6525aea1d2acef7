"""The autoscalers of an object. Any type with a `scale` subresource can have some."""

from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from console.kube.gvr import HORIZONTAL_POD_AUTOSCALERS
from console.kube.store import Entry
from console.ui.core.subject import Subject
from console.ui.details.panels import NOTHING, Panel
from console.ui.details.relations.visible_type import VisibleType


def autoscalers(subject: Subject) -> list[Entry[Any]]:
    """Return the visible autoscalers of the object."""
    target = _target(subject)
    there = VisibleType(subject, HORIZONTAL_POD_AUTOSCALERS).in_namespace
    return [entry for entry in there if entry.projection.target == target]


def _target(subject: Subject) -> str:
    return f"{subject.kind.group_kind}/{subject.key.name}"


@dataclass(frozen=True, kw_only=True)
class ScaledByPanel(Panel):
    """The autoscalers of a custom resource. Hidden without autoscalers."""

    id: str = "scaled-by"
    title: str | Promise = gettext_lazy("Scaled by")
    also = (HORIZONTAL_POD_AUTOSCALERS,)

    def html(self, subject: Subject) -> SafeString:
        found = autoscalers(subject)
        if not found:
            return NOTHING
        seeing = VisibleType(subject, HORIZONTAL_POD_AUTOSCALERS)
        url = seeing.all_url(("namespace", subject.key.namespace), ("target", _target(subject)))
        return render_to_string("ui/relations/groups.html", {"groups": [seeing.group(found, url)]})
