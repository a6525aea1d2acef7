"""Page and JSON document that answer who may perform a request, with the bindings and roles that
grant the permission.

The answer names users, groups and roles of every project that the question is about. It is shown
only to viewers who may list users, groups, roles and bindings there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, override

from access.rights.permission_check import VERBS, PermissionCheck, known_resources, read_question
from access.rights.rows import AssignedRoleRow, grant_row, question_text
from access.roles.labels import SUBJECTS
from access.roles.lookup import RolesNotCached
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GROUP_BINDINGS,
    GROUPS,
    GVR,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
    USERS,
    Key,
)
from console.ui.core.access import Access
from console.ui.core.clusters import HOST, clusters
from console.ui.core.links import object_url
from console.ui.core.menu import MenuEntry
from console.ui.core.permissions import Denied
from console.ui.core.registry import kinds
from console.ui.core.requests import ConsoleRequest
from console.ui.core.statuses import status_response
from console.ui.core.text import escape_invisible
from console.ui.navigation.nav import update_counts
from console.ui.navigation.projects import visible_namespaces
from console.views.guard import access_from_query
from console.views.page import page
from rbac.authorizer import Authorizer
from rbac.rule_descriptions import is_usual_verb
from rbac.rules import AccessQuestion, normalize_question
from rbac.who_may import MASTERS, Holder, HolderState, aggregated_from, who_may

#: Maximum number of rows, and of grants in a row. The JSON document has all of them.
MOST, MOST_GRANTS = 300, 5
#: Types that the viewer must be allowed to list: on the host cluster, in the cluster of the
#: question, and in its project.
_OF_HOST, _OF_CLUSTER = (USERS, GROUPS, GROUP_BINDINGS), (CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS)
_OF_PROJECT = (ROLES, ROLE_BINDINGS)
_GROUPS: dict[str, str | Promise] = {
    MASTERS: gettext_lazy("Built into kube-apiserver: may do everything, with or without roles"),
    "system:authenticated": gettext_lazy("All users who are signed in, and all service accounts"),
    "system:unauthenticated": gettext_lazy("All requests without credentials"),
    "system:serviceaccounts": gettext_lazy("All service accounts"),
}
_STATES: dict[HolderState, str | Promise] = {
    HolderState.DISABLED: gettext_lazy(
        "Disabled: cannot sign in, but Kubernetes accepts a client certificate until it expires"
    ),
    HolderState.NO_USER: gettext_lazy("No user with this name exists"),
    HolderState.SYSTEM: gettext_lazy("Defined by Kubernetes"),
}


@dataclass(frozen=True, slots=True)
class GrantLine:
    """A grant in a row. `aggregates` names the ClusterRoles that an aggregated role got the
    permission from.
    """

    row: AssignedRoleRow
    aggregates: str


@dataclass(frozen=True, slots=True)
class WhoMayRow:
    """A row of the answer. `note` explains the state of the holder, or is ""."""

    kind: str | Promise
    name: str
    url: str
    state: str
    note: str
    grants: tuple[GrantLine, ...]
    more: int


def missing_permission(access: Access, namespace: str = "") -> Denied | None:
    """Return the permission that the viewer lacks to see who may do something in the namespace, or
    None. `access` is the viewer's access in the cluster of the question.
    """
    host = clusters.host
    of_host = access if access.cluster is host else host.access_for(access.identity)
    for where, types, place in (
        (of_host, _OF_HOST, ""),
        (access, _OF_CLUSTER, ""),
        (access, _OF_PROJECT if namespace else (), namespace),
    ):
        for gvr in types:
            if not where.can("list", gvr, namespace=place):
                return Denied("list", gvr, place)
    return None


WHO_MAY_ENTRY = MenuEntry(
    ("platform",),
    45,
    gettext_lazy("Who may…?"),
    "lock",
    lambda access: missing_permission(access) is None,
)


@page("GET", formats=("json",), menu=WHO_MAY_ENTRY)
async def who_may_page(request: ConsoleRequest) -> HttpResponse:
    """GET /access/who-may?verb=…&resource=…; `namespace` and `name` limit the question, `cluster`
    selects another cluster.
    """
    access = access_from_query(request)
    asked = read_question(request.GET)
    question = normalize_question(asked.question) if asked.question is not None else None
    denied = missing_permission(access, question.namespace if question is not None else "")
    if denied is not None:
        raise denied
    found = _answer(access, question) if question is not None else []
    if request.GET.get("format") == "json":
        return _document(access, asked, question, found)
    await update_counts(request.cluster)
    context: dict[str, Any] = {
        "asked": asked,
        "text": question_text(question) if question is not None else "",
        "warnings": list(_warnings(access, asked)),
        "rows": [_row(access, one, question) for one in found[:MOST]] if question else [],
        "more": max(0, len(found) - MOST),
        "counts": [(SUBJECTS[kind], _count(found, kind)) for kind in SUBJECTS],
        "cluster": access.cluster.name if access.cluster.name != HOST else "",
        "verbs": VERBS,
        "resources": list(known_resources()),
        "namespaces": visible_namespaces(access),
    }
    status = 400 if asked.problem else 200
    return render(request, "access/rights/who_may.html", context, status=status)


def _answer(access: Access, question: AccessQuestion) -> list[Holder]:
    """Return the holders. Raise `RolesNotCached`."""
    authorizer = access.cluster.authorizer
    found = None
    if isinstance(authorizer, Authorizer):
        found = who_may(clusters.host.runtime, authorizer, question)
    if found is None:
        raise RolesNotCached
    return found


def _count(found: list[Holder], kind: str) -> int:
    return sum(one.kind == kind for one in found)


def _warnings(access: Access, asked: PermissionCheck) -> Iterator[str]:
    """Yield notes about words that may be misspelled. RBAC rules may contain any verb and resource,
    so the answer is correct for these too.
    """
    if asked.question is None:
        return
    if not is_usual_verb(asked.verb):
        text = _("%(verb)s is not a verb of Kubernetes. Check the spelling.")
        yield text % {"verb": asked.verb}
    resource = asked.resource.partition("/")[0]
    if not asked.known and access.cluster.kinds.find(resource) is None:
        text = _(
            "The console does not know the resource %(resource)s. Check the spelling, and add the "
            "API group, such as deployments.apps."
        )
        yield text % {"resource": resource}


def _row(access: Access, holder: Holder, question: AccessQuestion) -> WhoMayRow:
    reasons = holder.reasons
    return WhoMayRow(
        SUBJECTS[holder.kind],
        holder.name,
        _holder_url(access, holder),
        holder.state.value,
        str(_note(holder)),
        tuple(
            GrantLine(
                grant_row(access, one.grant, escape_invisible(one.group)),
                ", ".join(_aggregates(access, one.grant.role, question)),
            )
            for one in reasons[:MOST_GRANTS]
        ),
        max(0, len(reasons) - MOST_GRANTS),
    )


def _aggregates(access: Access, role: Any, question: AccessQuestion) -> list[str]:
    return aggregated_from(access.cluster.runtime, role, question)


def _note(holder: Holder) -> str | Promise:
    if holder.kind == "Group":
        _prefix, _colon, project = holder.name.partition("system:serviceaccounts:")
        if project:
            words = {"project": escape_invisible(project)}
            return _("All service accounts in project %(project)s") % words
        return _GROUPS.get(holder.name, _STATES.get(holder.state, ""))
    return _STATES.get(holder.state, "")


def _holder_url(access: Access, holder: Holder) -> str:
    """Return the URL of the holder's page, or "" if it has none or the viewer may not see it."""
    if holder.kind == "User":
        exists = holder.state in (HolderState.ACTIVE, HolderState.DISABLED)
        return reverse("access:rights", args=(holder.name,)) if exists else ""
    gvr: GVR = GROUPS if holder.kind == "Group" else SERVICE_ACCOUNTS
    namespace, _slash, name = holder.name.rpartition("/")
    kind = kinds.by_type(gvr)
    known = holder.state is HolderState.ACTIVE and kind is not None
    if not known or kind is None or not access.can("get", gvr, namespace=namespace, name=name):
        return ""
    cluster = HOST if holder.kind == "Group" else access.cluster.name
    return object_url(cluster, kind.segment, Key(namespace, name))


def _document(
    access: Access,
    asked: PermissionCheck,
    question: AccessQuestion | None,
    found: list[Holder],
) -> JsonResponse:
    if question is None:
        problem = asked.problem or _("Enter a resource.")
        return status_response(400, problem, causes=(("resource", problem),))
    # Values in JSON are never translated.
    with override(None):
        warnings = list(_warnings(access, asked))
    return JsonResponse(
        {
            "question": question._asdict(),
            "warnings": warnings,
            "total": len(found),
            "items": [_item(access, one, question) for one in found],
        }
    )


def _item(access: Access, holder: Holder, question: AccessQuestion) -> dict[str, Any]:
    return {
        "kind": holder.kind,
        "name": holder.name,
        "state": holder.state.value,
        "grants": [
            {
                "group": one.group,
                "binding": {"namespace": one.grant.namespace, "name": one.grant.binding},
                "role": one.grant.role._asdict(),
                "aggregatedFrom": _aggregates(access, one.grant.role, question),
            }
            for one in holder.reasons
        ],
    }
