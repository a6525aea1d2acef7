"""Actions that edit some fields of Services, Ingresses and autoscalers."""

from typing import Any

from django.utils.translation import gettext_lazy

from console.kube.store import Entry
from console.ui.core.actions import EditSection


class EditService(EditSection):
    name = "service"
    label = gettext_lazy("Edit service")
    title_text = gettext_lazy("Edit %(kind)s %(name)s")
    effect_text = gettext_lazy("New connections use the changes within moments.")
    weight = 2

    def applicable(self, entry: Entry[Any]) -> bool:
        """Return False for ExternalName services, which have no ports or pods to edit."""
        return bool(entry.projection.type != "ExternalName")


class EditRules(EditSection):
    name = "rules"
    label = gettext_lazy("Edit rules")
    title_text = gettext_lazy("Edit the rules of %(kind)s %(name)s")
    effect_text = gettext_lazy("The ingress controller applies the new rules within moments.")
    weight = 2


class EditLimits(EditSection):
    name = "limits"
    label = gettext_lazy("Edit limits")
    title_text = gettext_lazy("Edit the limits of %(kind)s %(name)s")
    effect_text = gettext_lazy(
        "The autoscaler keeps the number of pods between the minimum and the maximum. Pods are "
        "added while their average usage is above a target, and removed while it is below."
    )
    weight = 2
