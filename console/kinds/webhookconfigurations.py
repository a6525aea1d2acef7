"""The ValidatingWebhookConfiguration and MutatingWebhookConfiguration kinds."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import MUTATING_WEBHOOK_CONFIGURATIONS, VALIDATING_WEBHOOK_CONFIGURATIONS
from console.kube.projections.webhooks import WebhookConfiguration
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.webhooks import webhook_configuration
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels


class _WebhookConfigurationKind(ResourceKind):
    """Base class. `afterwards` describes the effect of deleting the configuration."""

    afterwards: ClassVar[str | Promise]
    projection = WebhookConfiguration
    columns = (
        lists.NumberColumn(id="webhooks", label=gettext_lazy("Webhooks"), priority=2),
        lists.NumberColumn(
            id="refusing",
            label=gettext_lazy("Reject on failure"),
            priority=2,
            get=lambda found: found.failing_closed,
        ),
        lists.ListColumn(id="targets", label=gettext_lazy("Call targets"), priority=2),
        lists.ListColumn(id="resources", label=gettext_lazy("Resources"), priority=3, most=2),
    )
    search = lists.SearchFilter(texts=lambda found: (*found.targets, *found.resources))
    filters = (
        lists.FieldFilter(
            param="target", label=gettext_lazy("Call targets"), get=lambda found: found.targets
        ),
    )
    actions = (Delete(),)

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        found: WebhookConfiguration = entry.projection
        return [
            text_fact(_("Call targets"), found.targets),
            text_fact(_("Resources"), found.resources),
            (_("After deletion"), self.afterwards),
        ]


@register
@kind_panels(DescriptionPanel(describe=webhook_configuration))
class ValidatingWebhookConfigurationKind(_WebhookConfigurationKind):
    gvr, scope, nav = VALIDATING_WEBHOOK_CONFIGURATIONS, Scope.CLUSTER, Nav("cluster", 90)
    title = gettext_lazy("Validating webhooks")
    singular = gettext_lazy("validating webhook configuration")
    nouns = gettext_lazy("validating webhook configurations")
    afterwards = gettext_lazy("requests that only these webhooks rejected are accepted")


@register
@kind_panels(DescriptionPanel(describe=webhook_configuration))
class MutatingWebhookConfigurationKind(_WebhookConfigurationKind):
    gvr, scope, nav = MUTATING_WEBHOOK_CONFIGURATIONS, Scope.CLUSTER, Nav("cluster", 100)
    title = gettext_lazy("Mutating webhooks")
    singular = gettext_lazy("mutating webhook configuration")
    nouns = gettext_lazy("mutating webhook configurations")
    afterwards = gettext_lazy("these webhooks no longer modify new objects")
