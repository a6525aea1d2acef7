"""Panels about the aggregation of cluster roles.

A controller copies the rules of all cluster roles whose labels match a selector into the
aggregating cluster role, so subjects of the aggregating role use the aggregated roles.
https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, GVR, ROLE_BINDINGS
from console.kube.projections.roles import Role
from console.kube.selectors import read_selector
from console.kube.store import Entry
from console.ui.core.kind import ResourceKind
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.details.panels import NOTHING, Panel
from console.ui.details.relations.object_panels import MOST, UsedByPanel
from console.ui.details.relations.references import referrers_of
from console.ui.details.relations.visible_type import (
    FIRST,
    ObjectGroup,
    VisibleType,
)


def _aggregates(role: Role, other: Role) -> bool:
    """Return True if `role` aggregates `other`."""
    selectors = (read_selector(selector) for selector in role.aggregates)
    return role.name != other.name and any(
        selector is not None and selector.matches(other.labels) for selector in selectors
    )


def _aggregating(subject: Subject) -> list[Entry[Any]]:
    """Return the visible cluster roles that aggregate the subject, directly or through others."""
    roles = [
        entry
        for entry in VisibleType(subject, CLUSTER_ROLES).all_visible
        if entry.projection.aggregates
    ]
    found: dict[str, Entry[Any]] = {}
    waiting = [subject.entry.projection]
    while waiting:
        role = waiting.pop()
        for entry in roles:
            name = entry.key.name
            if name not in found and _aggregates(entry.projection, role):
                found[name] = entry
                waiting.append(entry.projection)
    found.pop(subject.key.name, None)
    return sorted(found.values(), key=lambda entry: entry.key)


@dataclass(frozen=True, kw_only=True)
class AggregatedRolesPanel(Panel):
    """Cluster roles whose rules the subject contains. Hidden for roles without an aggregation rule."""

    id: str = "aggregated"
    title: str | Promise = gettext_lazy("Aggregated cluster roles")
    also = (CLUSTER_ROLES,)

    def html(self, subject: Subject) -> SafeString:
        role = subject.entry.projection
        found = [
            entry
            for entry in VisibleType(subject, CLUSTER_ROLES).all_visible
            if _aggregates(role, entry.projection)
        ]
        if not found:
            return NOTHING
        groups = [VisibleType(subject, CLUSTER_ROLES).group(found, first=MOST)]
        return render_to_string("ui/relations/groups.html", {"groups": groups})


@dataclass(frozen=True, kw_only=True)
class ClusterRoleUsersPanel(UsedByPanel):
    """Bindings of a cluster role, the roles that aggregate it, and the bindings of these roles."""

    def needs(self, kind: ResourceKind) -> Collection[GVR]:
        return (*super().needs(kind), CLUSTER_ROLES)

    def more_groups(self, subject: Subject) -> Iterator[ObjectGroup]:
        roles = _aggregating(subject)
        if not roles:
            return
        group = VisibleType(subject, CLUSTER_ROLES).group(roles)
        yield ObjectGroup(_("Aggregated by"), group.total, group.lines)
        for gvr in (CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS):
            seeing = VisibleType(subject, gvr)
            found = {
                entry.key: (entry, role.key.name)
                for role in roles
                for entry in _bindings(seeing, role)
            }
            lines = tuple(
                seeing.line(entry, _("through %(role)s") % {"role": escape_invisible(name)})
                for entry, name in list(found.values())[:FIRST]
            )
            if lines:
                title = _("%(kind)s of aggregating roles") % {"kind": seeing.title}
                yield ObjectGroup(title, len(found), lines)


def _bindings(seeing: VisibleType, role: Entry[Any]) -> Collection[Entry[Any]]:
    if seeing.informer is None:
        return ()
    return seeing.only_visible(referrers_of(seeing.informer).of((CLUSTER_ROLES, role.key)))
