"""The RuntimeClass kind."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.projections.node import RUNTIME_CLASSES, RuntimeClass
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, after_deletion_fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register


@register
class RuntimeClassKind(ResourceKind):
    gvr, scope, nav = RUNTIME_CLASSES, Scope.CLUSTER, Nav("cluster", 65)
    projection = RuntimeClass
    title = gettext_lazy("Runtime classes")
    singular = gettext_lazy("runtime class")
    nouns = gettext_lazy("runtime classes")
    example = {"handler": "runsc"}
    columns = (
        lists.TextColumn(id="handler", label=gettext_lazy("Handler"), priority=1),
        lists.ListColumn(id="overhead", label=gettext_lazy("Pod overhead"), priority=2),
    )
    search = lists.SearchFilter(texts=lambda found: (found.handler,))
    actions = (Delete(),)

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        found: RuntimeClass = entry.projection
        return [
            text_fact(_("Handler"), found.handler),
            after_deletion_fact(
                _(
                    "running pods are not affected; new pods that use this runtime class are rejected"
                )
            ),
        ]
