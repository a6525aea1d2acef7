"""Pages that show a user's roles and their meaning, and explain permission decisions."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from access.rights.permission_check import VERBS, PermissionCheck, known_resources, read_question
from access.rights.rows import (
    AssignedRoleRow,
    grant_row,
    question_text,
    through,
)
from access.rights.who_may import missing_permission
from access.roles.listing import TITLES
from access.roles.lookup import visible_role_url
from accounts.admin.views import require, user_not_found
from accounts.impersonation.state import may_view
from accounts.users.assigned_roles import can_view_binding, visible_grants, visible_held_roles
from accounts.users.directory import users
from console.kube.gvr import CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS, Key
from console.kube.host_runtime import get_runtime
from console.kube.identity import Identity, InvalidIdentity
from console.ui.core.access import Access
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.navigation.nav import update_counts
from console.ui.navigation.projects import visible_namespaces
from console.views.guard import access_of
from console.views.page import page
from rbac.explanation import Explanation
from rbac.memberships import identity_of
from rbac.process_clusters import get_authorizer
from rbac.rule_descriptions import describe_rules

#: Maximum number of rows. A user may have a role in thousands of projects.
MOST = 200


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a permission check.

    `chain` lists the roles that allow the request, limited to those that the viewer may see.
    `beyond_sight` is True if there are others. `granters` lists the users who could grant the
    missing permission, also limited to those that the viewer may see.
    """

    text: str
    yes: bool
    chain: tuple[AssignedRoleRow, ...] = ()
    granters: tuple[str, ...] = ()
    beyond_sight: bool = False


@page("GET")
async def own_permissions(request: ConsoleRequest) -> HttpResponse:
    identity = access_of(request).identity
    return await _page(request, identity, is_self=True)


@page("GET")
async def user_permissions(request: ConsoleRequest, name: str) -> HttpResponse:
    access = access_of(request)
    if name == access.identity.name:
        return await _page(request, access.identity, is_self=True)
    require(request, "get", name)
    if users().store.get(Key("", name)) is None:
        return user_not_found(request, name)
    try:
        return await _page(request, identity_of(get_runtime(), name), is_self=False)
    except InvalidIdentity:
        return user_not_found(request, name)


async def _page(request: ConsoleRequest, identity: Identity, *, is_self: bool) -> HttpResponse:
    access = access_of(request)
    asked = read_question(request.GET)
    await update_counts(request.cluster)
    links = list(_links(access, identity, is_self))
    may_begin = not is_self and may_view(access.identity, identity.name)
    context: dict[str, Any] = {
        "name": escape_invisible(identity.name),
        "is_self": is_self,
        "groups": [escape_invisible(group) for group in identity.groups],
        "links": links[:MOST],
        "more": max(0, len(links) - MOST),
        "usable": get_authorizer().current_rights(identity) is not None,
        "asked": asked,
        "answer": _answer(access, identity, asked, is_self),
        "verbs": VERBS,
        "resources": list(known_resources()),
        "namespaces": visible_namespaces(access),
        "shows_who_may": missing_permission(access) is None,
        "account_url": reverse("accounts:administration:show", args=(identity.name,))
        if not is_self
        else "",
        "view_url": reverse("accounts:viewing:begin", args=(identity.name,)) if may_begin else "",
    }
    status = 400 if asked.problem else 200
    return render(request, "access/rights/rights.html", context, status=status)


def _links(access: Access, identity: Identity, is_self: bool) -> Iterator[AssignedRoleRow]:
    """Yield the user's roles, KubeSphere roles first. Native bindings that the controllers created
    from them are left out.
    """
    for held in visible_held_roles(access, identity, is_self=is_self):
        yield AssignedRoleRow(
            TITLES[held.place.level],
            held.role,
            visible_role_url(access, held.place, held.role),
            held.place.workspace,
            through(held.subject),
            held.binding,
            tuple(describe_rules(held.rules)),
        )
    for grant in visible_grants(access, identity, is_self=is_self):
        yield grant_row(access, grant)


def _answer(
    access: Access, identity: Identity, asked: PermissionCheck, is_self: bool
) -> CheckResult | None:
    if asked.question is None:
        return None
    # The details shown depend on the viewer's permissions, not on those of the user.
    found = get_authorizer().explain(identity, asked.question)
    if found.allowed:
        chain = [one for one in found.because if is_self or can_view_binding(access, one)]
        return CheckResult(
            question_text(found.asked),
            yes=True,
            chain=tuple(grant_row(access, one) for one in chain),
            beyond_sight=len(chain) < len(found.because),
        )
    reader = get_authorizer().explain(access.identity, asked.question)
    known = reader.granters if not reader.allowed else _granters(access, found)
    return CheckResult(
        question_text(found.asked),
        yes=False,
        granters=tuple(who.partition(" ")[2] for who in known),
    )


def _granters(access: Access, found: Explanation) -> tuple[str, ...]:
    """Return the subjects that could grant the permission. The viewer has the permission, but must
    also be allowed to list the bindings.
    """
    asked = found.asked
    bindings = ROLE_BINDINGS if asked.namespace else CLUSTER_ROLE_BINDINGS
    if not access.can("list", bindings, namespace=asked.namespace):
        return ()
    return get_authorizer().granters(asked)
