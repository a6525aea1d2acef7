"""The ServiceAccount kind."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.service_accounts import ChangeAccountRole
from console.kube.gvr import SECRETS, SERVICE_ACCOUNTS, Key
from console.kube.projections.config import ServiceAccount
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, after_deletion_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, Reference, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.accounts import service_account
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.ui.details.relations.object_panels import UsedByPanel
from console.wizards import examples
from console.wizards.configuration import SERVICE_ACCOUNT


@register
@kind_panels(DescriptionPanel(describe=service_account), UsedByPanel())
class ServiceAccountKind(ResourceKind):
    gvr, scope, nav = SERVICE_ACCOUNTS, Scope.NAMESPACED, Nav("config", 30, "config")
    short_names = ("sa",)
    projection = ServiceAccount
    referenced_types = (SECRETS,)
    title = gettext_lazy("Service accounts")
    singular = gettext_lazy("service account")
    nouns = gettext_lazy("service accounts")
    example: ClassVar[Mapping[str, Any]] = {}
    wizard = SERVICE_ACCOUNT
    examples = examples.SERVICE_ACCOUNTS
    columns = (
        lists.TextColumn(id="role", label=gettext_lazy("Role"), priority=3),
        lists.NumberColumn(
            id="secrets",
            label=gettext_lazy("Secrets"),
            priority=2,
            get=lambda account: len(account.secrets),
        ),
        lists.ListColumn(id="pull_secrets", label=gettext_lazy("Image pull secrets"), priority=3),
        lists.BoolColumn(id="automount", label=gettext_lazy("Mount token in pods"), priority=4),
    )
    search = lists.SearchFilter(
        texts=lambda account: (account.role, *account.secrets, *account.pull_secrets)
    )
    filters = (
        lists.FieldFilter(
            param="secret",
            label=gettext_lazy("Secret"),
            get=lambda account: (*account.secrets, *account.pull_secrets),
        ),
    )
    actions = (ChangeAccountRole(), Delete())

    def references(self, item: ServiceAccount) -> Iterable[Reference]:
        for name in item.secrets:
            yield Reference(SECRETS, Key(item.namespace, name), "secret")
        for name in item.pull_secrets:
            yield Reference(SECRETS, Key(item.namespace, name), "pull")

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        afterwards = _(
            "its tokens stop working; pods that use the service account cannot be recreated"
        )
        return [after_deletion_fact(afterwards)]
