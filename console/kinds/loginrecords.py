"""The LoginRecord kind: sign-in attempts, read-only."""

from django.utils.translation import gettext_lazy

from console.kube.gvr import LOGIN_RECORDS
from console.kube.projections.tenancy import LoginRecord
from console.kube.status import Severity
from console.ui import lists
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register


@register
class LoginRecordKind(ResourceKind):
    gvr, scope, nav = LOGIN_RECORDS, Scope.CLUSTER, Nav("access", 80, "users")
    projection = LoginRecord
    can_be_copied = False
    title = gettext_lazy("Login records")
    singular = gettext_lazy("login record")
    nouns = gettext_lazy("login records")
    severity_words = {
        Severity.WARN: gettext_lazy("Failed"),
        Severity.OK: gettext_lazy("Succeeded"),
    }
    columns = (
        lists.LinkColumn(
            id="user",
            label=gettext_lazy("User"),
            priority=1,
            leads_to=("users.iam.kubesphere.io",),
        ),
        lists.StatusColumn(),
        lists.IpColumn(id="source_ip", label=gettext_lazy("Source address"), priority=2),
        lists.TextColumn(id="type", label=gettext_lazy("Type"), priority=3),
        lists.TextColumn(id="provider", label=gettext_lazy("Identity provider"), priority=3),
        lists.TextColumn(id="user_agent", label=gettext_lazy("Client"), priority=4),
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("User or address"),
        texts=lambda record: (record.user, record.source_ip, record.user_agent),
    )
    filters = (
        lists.FieldFilter(param="user", label=gettext_lazy("User")),
        lists.FieldFilter(
            param="ip", label=gettext_lazy("Source address"), get=lambda record: (record.source_ip,)
        ),
    )
