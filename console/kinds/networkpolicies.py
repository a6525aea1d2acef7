"""The NetworkPolicy kind."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.kube.gvr import NETWORK_POLICIES
from console.kube.projections.network import NetworkPolicy
from console.kube.selectors import LabelSelector
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, after_deletion_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.core.text import escape_invisible
from console.ui.details.descriptions.network_policies import network_policy
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.ui.details.relations.object_panels import SelectedPodsPanel
from console.wizards import examples
from console.wizards.network_policies import NETWORK_POLICY

DIRECTIONS = (
    ("ingress", pgettext_lazy("traffic", "Ingress")),
    ("egress", pgettext_lazy("traffic", "Egress")),
)


def rules_text(rules: int | None) -> str:
    """Return the number of rules, or "" if the policy does not affect the direction. 0 means that
    all traffic is denied.
    """
    return "" if rules is None else str(rules)


def rules_sort_key(rules: int | None) -> tuple[bool, int]:
    return (rules is None, rules or 0)


def direction(policy: NetworkPolicy) -> str:
    if policy.ingress is not None and policy.egress is not None:
        return "both"
    return "egress" if policy.egress is not None else "ingress"


@register
@kind_panels(DescriptionPanel(describe=network_policy), SelectedPodsPanel())
class NetworkPolicyKind(ResourceKind):
    gvr, scope, nav = NETWORK_POLICIES, Scope.NAMESPACED, Nav("network", 40, "network")
    short_names = ("netpol",)
    projection = NetworkPolicy
    selects_pods = True
    wizard = NETWORK_POLICY
    title = gettext_lazy("Network policies")
    singular = gettext_lazy("network policy")
    nouns = gettext_lazy("network policies")
    examples = examples.NETWORK_POLICIES
    example = {
        "spec": {
            "podSelector": {"matchLabels": {"app": "example"}},
            "policyTypes": ["Ingress"],
            "ingress": [{"from": [{"podSelector": {}}]}],
        }
    }
    columns = (
        lists.TextColumn(
            id="pods",
            label=gettext_lazy("Pods"),
            priority=2,
            get=lambda policy: policy.selector or "*",
        ),
        lists.TextColumn(
            id="ingress",
            label=gettext_lazy("Ingress rules"),
            align="end",
            priority=2,
            get=lambda policy: rules_text(policy.ingress),
            order=lambda policy: rules_sort_key(policy.ingress),
        ),
        lists.TextColumn(
            id="egress",
            label=gettext_lazy("Egress rules"),
            align="end",
            priority=2,
            get=lambda policy: rules_text(policy.egress),
            order=lambda policy: rules_sort_key(policy.egress),
        ),
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Name, label or selector"), texts=lambda policy: (policy.selector,)
    )
    filters = (
        lists.ChoiceFilter(
            param="direction",
            label=gettext_lazy("Direction"),
            choices=(*DIRECTIONS, ("both", gettext_lazy("Both directions"))),
            get=direction,
        ),
    )
    actions = (Delete(),)

    def pod_selector(self, entry: Entry[Any]) -> LabelSelector | None:
        """Return the policy's pod selector. An empty selector matches all pods."""
        return super().pod_selector(entry) if entry.projection.selector else LabelSelector()

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        policy: NetworkPolicy = entry.projection
        return [
            (_("Pods"), escape_invisible(policy.selector) or _("all pods of the project")),
            after_deletion_fact(_("traffic that only this policy blocked is allowed")),
        ]
