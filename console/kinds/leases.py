"""The Lease kind: current leaders of controllers. Deleting a lease would trigger a leader election,
so no action is offered.
"""

from django.utils.translation import gettext_lazy

from console.kube.gvr import LEASES
from console.kube.projections.coordination import Lease
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.lists.columns import AgeColumn, DurationColumn, NumberColumn, TextColumn
from console.ui.lists.filters import FieldFilter, SearchFilter


@register
class LeaseKind(ResourceKind):
    gvr, scope, nav = LEASES, Scope.NAMESPACED, Nav("cluster", 70)
    projection = Lease
    title = gettext_lazy("Leases")
    singular = gettext_lazy("lease")
    nouns = gettext_lazy("leases")
    columns = (
        TextColumn(id="holder", label=gettext_lazy("Holder"), priority=1),
        AgeColumn(id="renewed", label=gettext_lazy("Renewed"), priority=2),
        DurationColumn(
            id="good_for",
            label=gettext_lazy("Lease duration"),
            priority=3,
            get=lambda lease: lease.seconds or None,
        ),
        NumberColumn(id="transitions", label=gettext_lazy("Transitions"), priority=3),
        AgeColumn(priority=2),
    )
    search = SearchFilter(texts=lambda lease: (lease.holder,))
    filters = (FieldFilter(param="holder", label=gettext_lazy("Holder")),)
