"""The Event kind. Columns as in `kubectl get events -o wide`. Events can't be deleted, because they
expire.
"""

from django.utils.translation import gettext_lazy, pgettext_lazy

from console.kube.group_kind import without_group
from console.kube.gvr import EVENTS
from console.kube.projections.event import Event
from console.kube.status import Severity
from console.ui import lists
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register

#: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
TYPES = (("Warning", gettext_lazy("Warning")), ("Normal", gettext_lazy("Normal")))


@register
class EventKind(ResourceKind):
    gvr, scope, nav = EVENTS, Scope.NAMESPACED, Nav("cluster", 30, "events")
    short_names = ("ev",)
    projection = Event
    can_be_copied = False
    title = gettext_lazy("Events")
    singular = gettext_lazy("event")
    nouns = gettext_lazy("events")
    default_sort = "age"
    severity_words = {Severity.WARN: gettext_lazy("Warning"), Severity.OK: gettext_lazy("Normal")}
    columns = (
        lists.StatusColumn(),
        lists.LinkColumn(
            id="object",
            label=gettext_lazy("Object"),
            priority=1,
            get=lambda item: without_group(item.about),
            to=lambda item: lists.target_of(item.about, item.about_namespace),
            leads_to=lists.BY_KIND,
        ),
        lists.TextColumn(id="message", label=gettext_lazy("Message"), priority=2),
        lists.NumberColumn(id="count", label=gettext_lazy("Count"), priority=2),
        lists.AgeColumn(
            id="age", label=gettext_lazy("Last seen"), priority=1, since=lambda item: item.last
        ),
        lists.AgeColumn(id="first", label=gettext_lazy("First seen"), priority=4),
        lists.TextColumn(id="source", label=pgettext_lazy("event", "Source"), priority=4),
        lists.NamespaceColumn(),
        lists.NameColumn(priority=4),
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Object, reason or message"),
        texts=lambda item: (without_group(item.about), item.reason, item.message, item.source),
    )
    filters = (
        lists.ChoiceFilter(
            param="type", label=gettext_lazy("Type"), choices=TYPES, get=lambda item: item.type
        ),
        lists.FieldFilter(param="reason", label=gettext_lazy("Reason")),
        lists.FieldFilter(
            param="object",
            label=gettext_lazy("Object"),
            get=lambda item: lists.reference_values(item.about),
        ),
    )

    def create_url(self, cluster: str, namespace: str) -> str:
        """Return "" because events are not created by users."""
        return ""
