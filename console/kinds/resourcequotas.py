"""The ResourceQuota kind."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import RESOURCE_QUOTAS
from console.kube.projections.limits import ResourceQuota
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, after_deletion_fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.quotas import resource_quota
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.wizards import examples
from console.wizards.policies import RESOURCE_QUOTA


@register
@kind_panels(DescriptionPanel(describe=resource_quota))
class ResourceQuotaKind(ResourceKind):
    gvr, scope, nav = RESOURCE_QUOTAS, Scope.NAMESPACED, Nav("config", 40, "quota")
    short_names = ("quota",)
    projection = ResourceQuota
    checked_for_problems = True
    title = gettext_lazy("Resource quotas")
    singular = gettext_lazy("resource quota")
    nouns = gettext_lazy("resource quotas")
    example = {"spec": {"hard": {"requests.cpu": "1", "requests.memory": "1Gi", "pods": "10"}}}
    severity_words = {
        Severity.ERROR: gettext_lazy("Full"),
        Severity.WARN: gettext_lazy("Nearly full"),
        Severity.OK: gettext_lazy("Within quota"),
    }
    wizard = RESOURCE_QUOTA
    examples = examples.RESOURCE_QUOTAS
    columns = (
        lists.StatusColumn(),
        lists.PercentColumn(
            id="used",
            label=gettext_lazy("Used"),
            priority=2,
            get=lambda quota: quota.used if quota.fullest else None,
        ),
        lists.TextColumn(id="fullest", label=gettext_lazy("Highest usage"), priority=3),
        lists.ListColumn(id="requests", label=gettext_lazy("Requests"), priority=3, most=2),
        lists.ListColumn(id="limits", label=gettext_lazy("Limits"), priority=3, most=2),
    )
    search = lists.SearchFilter(texts=lambda quota: (*quota.requests, *quota.limits))
    filters = (lists.STATE,)
    actions = (Delete(),)

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        quota: ResourceQuota = entry.projection
        return [
            text_fact(_("Requests"), quota.requests),
            text_fact(_("Limits"), quota.limits),
            after_deletion_fact(_("this quota no longer limits the project")),
        ]
