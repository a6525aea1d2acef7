"""The Event kind. Columns as in `kubectl get events -o wide`. Events can't be deleted, because they
expire.
"""

from django.utils.translation import gettext_lazy, pgettext_lazy

from console.kube.gvr import EVENTS
from console.kube.projections.event import Event
from console.kube.status import Severity
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.lists.columns import (
    BY_KIND,
    AgeColumn,
    LinkColumn,
    NameColumn,
    NamespaceColumn,
    NumberColumn,
    StatusColumn,
    TextColumn,
    target_of,
)
from console.ui.lists.filters import ChoiceFilter, FieldFilter, SearchFilter

#: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
TYPES = (("Warning", gettext_lazy("Warning")), ("Normal", gettext_lazy("Normal")))


@register
class EventKind(ResourceKind):
    gvr, scope, nav = EVENTS, Scope.NAMESPACED, Nav("cluster", 30, "events")
    short_names = ("ev",)
    projection = Event
    title = gettext_lazy("Events")
    singular = gettext_lazy("event")
    nouns = gettext_lazy("events")
    default_sort = "age"
    severity_words = {Severity.WARN: gettext_lazy("Warning"), Severity.OK: gettext_lazy("Normal")}
    columns = (
        StatusColumn(),
        LinkColumn(
            id="object",
            label=gettext_lazy("Object"),
            priority=1,
            get=lambda item: item.about,
            to=lambda item: target_of(item.about, item.about_namespace),
            leads_to=BY_KIND,
        ),
        TextColumn(id="message", label=gettext_lazy("Message"), priority=2),
        NumberColumn(id="count", label=gettext_lazy("Count"), priority=2),
        AgeColumn(
            id="age", label=gettext_lazy("Last seen"), priority=1, since=lambda item: item.last
        ),
        AgeColumn(id="first", label=gettext_lazy("First seen"), priority=4),
        TextColumn(id="source", label=pgettext_lazy("event", "Source"), priority=4),
        NamespaceColumn(),
        NameColumn(priority=4),
    )
    search = SearchFilter(
        covers=gettext_lazy("Object, reason or message"),
        texts=lambda item: (item.about, item.reason, item.message, item.source),
    )
    filters = (
        ChoiceFilter(
            param="type", label=gettext_lazy("Type"), choices=TYPES, get=lambda item: item.type
        ),
        FieldFilter(param="reason", label=gettext_lazy("Reason")),
        FieldFilter(param="object", label=gettext_lazy("Object"), get=lambda item: (item.about,)),
    )

    def create_url(self, cluster: str, namespace: str) -> str:
        """Return "" because events are not created by users."""
        return ""
