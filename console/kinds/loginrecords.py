"""The LoginRecord kind: sign-in attempts, read-only."""

from django.utils.translation import gettext_lazy

from console.kube.gvr import LOGIN_RECORDS
from console.kube.projections.tenancy import LoginRecord
from console.kube.status import Severity
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.lists.columns import IpColumn, LinkColumn, StatusColumn, TextColumn
from console.ui.lists.filters import FieldFilter, SearchFilter


@register
class LoginRecordKind(ResourceKind):
    gvr, scope, nav = LOGIN_RECORDS, Scope.CLUSTER, Nav("access", 80, "users")
    projection = LoginRecord
    title = gettext_lazy("Login records")
    singular = gettext_lazy("login record")
    nouns = gettext_lazy("login records")
    severity_words = {
        Severity.WARN: gettext_lazy("Failed"),
        Severity.OK: gettext_lazy("Succeeded"),
    }
    columns = (
        LinkColumn(
            id="user",
            label=gettext_lazy("User"),
            priority=1,
            leads_to=("users.iam.kubesphere.io",),
        ),
        StatusColumn(),
        IpColumn(id="source_ip", label=gettext_lazy("Source address"), priority=2),
        TextColumn(id="type", label=gettext_lazy("Type"), priority=3),
        TextColumn(id="provider", label=gettext_lazy("Identity provider"), priority=3),
        TextColumn(id="user_agent", label=gettext_lazy("Client"), priority=4),
    )
    search = SearchFilter(
        covers=gettext_lazy("User or address"),
        texts=lambda record: (record.user, record.source_ip, record.user_agent),
    )
    filters = (
        FieldFilter(param="user", label=gettext_lazy("User")),
        FieldFilter(
            param="ip", label=gettext_lazy("Source address"), get=lambda record: (record.source_ip,)
        ),
    )
