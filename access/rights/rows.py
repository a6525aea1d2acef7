"""Rows and texts that the permission pages share."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from access.roles.labels import KINDS
from access.roles.listing import TITLES
from access.roles.lookup import visible_role_url
from console.ui.core.access import Access
from console.ui.core.clusters import HOST
from console.ui.core.text import escape_invisible
from rbac.authorizer import PLATFORM_ADMIN
from rbac.levels import Level, RoleScope
from rbac.names import GLOBAL_BINDING, GLOBAL_ROLE, WORKSPACE_ROLE, source_of
from rbac.projection import CLUSTER_ADMIN
from rbac.rule_descriptions import describe_resource, describe_rules
from rbac.rules import AccessQuestion
from rbac.subject_rights import Grant


@dataclass(frozen=True, slots=True)
class AssignedRoleRow:
    """A role of a user, group or service account.

    - `url`: the role's page, or "" if the viewer may not see it
    - `where`: workspace or project, or "" for the whole level
    - `kind`: the level of the role in words
    - `through`: the group that has the role, or "" if the user is bound directly
    """

    level: str | Promise
    role: str
    url: str
    where: str
    through: str
    binding: str
    means: tuple[str, ...]
    kind: str | Promise = ""


def grant_row(access: Access, grant: Grant, group: str | None = None) -> AssignedRoleRow:
    """Return the row of a grant. `group` is the group through which it is held, by default the
    grant's subject if that is a group.
    """
    kind, namespace, name = grant.role
    place = (
        RoleScope(Level.CLUSTER)
        if kind == "ClusterRole"
        else RoleScope(Level.PROJECT, "", namespace)
    )
    level = place.level
    source = source_of(grant.binding)
    if source is not None and source.level in _SOURCES:
        level = _SOURCES[source.level]
        source_role = source_of(name)
        if source_role is not None:
            name, place = source_role.name, RoleScope(level)
        elif name == CLUSTER_ADMIN:
            # Bindings of the platform administrator are bound to Kubernetes' role.
            name, place = PLATFORM_ADMIN, RoleScope(level)
    return AssignedRoleRow(
        TITLES[level],
        name,
        # Only the host cluster's roles have pages.
        visible_role_url(access, place, name) if access.cluster.name == HOST else "",
        grant.namespace,
        through(grant.subject) if group is None else group,
        grant.binding,
        tuple(describe_rules(grant.rules)),
        KINDS[level],
    )


_SOURCES = {
    GLOBAL_BINDING: Level.GLOBAL,
    GLOBAL_ROLE: Level.GLOBAL,
    WORKSPACE_ROLE: Level.WORKSPACE,
}


def through(subject: str) -> str:
    kind, _space, name = subject.partition(" ")
    return escape_invisible(name) if kind == "Group" else ""


def question_text(asked: AccessQuestion) -> str:
    """Describe a request in words."""
    resource = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
    thing = describe_resource(asked.group, resource)
    if asked.name:
        thing = f"{thing} {escape_invisible(asked.name)}"
    words = {"verb": asked.verb, "thing": thing, "project": escape_invisible(asked.namespace)}
    if asked.namespace:
        return _("%(verb)s %(thing)s in project %(project)s") % words
    return _("%(verb)s %(thing)s in the whole cluster") % words
