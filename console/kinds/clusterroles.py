"""The ClusterRole kind."""

from django.utils.translation import gettext_lazy

from access.roles.deleting import DeleteRole
from access.roles.lookup import new_url
from console.actions.role_bindings import DESCRIBED, READS_PODS
from console.kube.gvr import CLUSTER_ROLES
from console.kube.projections.roles import Role
from console.ui import lists
from console.ui.core.clusters import HOST
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.roles import role
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.ui.details.relations.aggregation import AggregatedRolesPanel, ClusterRoleUsersPanel
from rbac.levels import Level, RoleScope

#: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#default-roles-and-role-bindings
BUILT_IN = ("kubernetes.io/bootstrapping", "rbac-defaults")


def origin(role: Role) -> str:
    label, value = BUILT_IN
    if role.labels.get(label) == value:
        return "kubernetes"
    return "template" if role.template else "own"


@register
@kind_panels(
    DescriptionPanel(describe=role),
    AggregatedRolesPanel(),
    around=(ClusterRoleUsersPanel(),),
)
class ClusterRoleKind(ResourceKind):
    gvr, scope, nav = CLUSTER_ROLES, Scope.CLUSTER, Nav("access", 40, "access")
    projection = Role
    title = gettext_lazy("Cluster roles")
    singular = gettext_lazy("cluster role")
    nouns = gettext_lazy("cluster roles")
    example = READS_PODS
    columns = (
        lists.NumberColumn(id="rules", label=gettext_lazy("Rules"), priority=2),
        lists.BoolColumn(id="aggregated", label=gettext_lazy("Aggregated"), priority=3),
        lists.TextColumn(id="description", label=gettext_lazy("Description"), priority=2),
    )
    search = DESCRIBED
    filters = (
        lists.ChoiceFilter(
            param="origin",
            label=gettext_lazy("Origin"),
            choices=(
                ("kubernetes", gettext_lazy("Kubernetes")),
                ("template", gettext_lazy("Template")),
                ("own", gettext_lazy("Custom")),
            ),
            get=origin,
        ),
    )
    actions = (DeleteRole(level=Level.CLUSTER),)

    def create_url(self, cluster: str, namespace: str) -> str:
        """Return the URL of the role form for the host cluster, and of the YAML editor for other
        clusters.
        """
        if cluster != HOST:
            return super().create_url(cluster, namespace)
        return new_url(RoleScope(Level.CLUSTER))
