"""The Lease kind: current leaders of controllers. Deleting a lease would trigger a leader election,
so no action is offered.
"""

from django.utils.translation import gettext_lazy

from console.kube.gvr import LEASES
from console.kube.projections.coordination import Lease
from console.ui import lists
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.leases import lease
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels


@register
@kind_panels(DescriptionPanel(describe=lease))
class LeaseKind(ResourceKind):
    gvr, scope, nav = LEASES, Scope.NAMESPACED, Nav("cluster", 70)
    projection = Lease
    title = gettext_lazy("Leases")
    singular = gettext_lazy("lease")
    nouns = gettext_lazy("leases")
    columns = (
        lists.TextColumn(id="holder", label=gettext_lazy("Holder"), priority=1),
        lists.AgeColumn(id="renewed", label=gettext_lazy("Renewed"), priority=2),
        lists.DurationColumn(
            id="good_for",
            label=gettext_lazy("Lease duration"),
            priority=3,
            get=lambda lease: lease.seconds or None,
        ),
        lists.NumberColumn(id="transitions", label=gettext_lazy("Transitions"), priority=3),
        lists.AgeColumn(priority=2),
    )
    search = lists.SearchFilter(texts=lambda lease: (lease.holder,))
    filters = (lists.FieldFilter(param="holder", label=gettext_lazy("Holder")),)
