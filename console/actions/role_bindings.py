"""Shared parts of the kinds of roles and role bindings."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import CLUSTER_ROLES, GVR, ROLES, SERVICE_ACCOUNTS, USERS, Key
from console.kube.projections.roles import Binding
from console.kube.store import Entry
from console.ui.core.action_texts import Fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Reference, ResourceKind
from console.ui.lists.columns import ListColumn
from console.ui.lists.filters import FieldFilter, Filter, SearchFilter

#: Columns for the subjects of a binding.
SUBJECTS = (
    ListColumn(id="users", label=gettext_lazy("Users"), priority=2, most=2),
    ListColumn(id="groups", label=gettext_lazy("Groups"), priority=2, most=2),
    ListColumn(id="service_accounts", label=gettext_lazy("Service accounts"), priority=3),
)
ROLE = FieldFilter(param="role", label=gettext_lazy("Role"))
SUBJECT = FieldFilter(
    param="subject", label=gettext_lazy("Subject"), get=lambda binding: binding.subjects
)


DESCRIBED = SearchFilter(
    covers=gettext_lazy("Name, label or description"),
    texts=lambda role: (role.alias, role.description),
)
#: An example role.
READS_PODS: Mapping[str, Any] = {
    "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]
}


def binding_to(kind: str) -> Mapping[str, Any]:
    """Return an example binding to a role of this kind."""
    group = "rbac.authorization.k8s.io"
    return {
        "roleRef": {"apiGroup": group, "kind": kind, "name": "example"},
        "subjects": [{"apiGroup": group, "kind": "User", "name": "example"}],
    }


class BindingKind(ResourceKind):
    projection: ClassVar[type] = Binding
    search = SearchFilter(
        covers=gettext_lazy("Name, label, role or subject"),
        texts=lambda binding: (binding.role, *binding.subjects),
    )
    filters: ClassVar[Sequence[Filter]] = (ROLE, SUBJECT)
    actions = (Delete(),)

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        binding = entry.projection
        return [
            text_fact(_("Role"), binding.role),
            text_fact(_("Subjects that lose the role"), self.subject_names(binding)),
        ]

    def subject_names(self, binding: Any) -> Iterable[str]:
        found: tuple[str, ...] = binding.subjects
        return found


class NativeBindingKind(BindingKind):
    """A binding of Kubernetes RBAC, which kube-apiserver evaluates."""

    referenced_types: ClassVar[Sequence[GVR]] = (CLUSTER_ROLES, SERVICE_ACCOUNTS, USERS)

    def references(self, item: Binding) -> Iterable[Reference]:
        if item.role_kind == "ClusterRole" and item.role:
            yield Reference(CLUSTER_ROLES, Key("", item.role), "role")
        elif item.role_kind == "Role" and item.role and item.namespace:
            yield Reference(ROLES, Key(item.namespace, item.role), "role")
        for account in item.service_accounts:
            namespace, _slash, name = account.partition("/")
            yield Reference(SERVICE_ACCOUNTS, Key(namespace or item.namespace, name), "subject")
        for name in item.users:
            # User names can come from certificates or tokens, without a User object.
            yield Reference(USERS, Key("", name), "subject", optional=True)
