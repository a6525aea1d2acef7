"""Pages for the members and departments of a workspace."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.admin.views import user_url
from accounts.users.directory import users
from console.kube.gvr import GROUP_BINDINGS, GROUPS, USERS, Key
from console.ui.core.access import Access
from console.ui.core.menu import MenuEntry
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import posted
from console.views.page import page
from workspaces.pages.base import VisibleWorkspace, WorkspacePage, open_workspace
from workspaces.pages.forms import (
    DepartmentForm,
    MemberForm,
    NewDepartmentForm,
    RoleForm,
    WorkspaceForm,
)
from workspaces.pages.views import FormPage, Live, form_view, live_view
from workspaces.rights import DEPARTMENTS, MEMBERS, WorkspaceRights
from workspaces.services import departments as groups
from workspaces.services import members as people
from workspaces.services import user_search

MEMBERS_ENTRY = MenuEntry(("workspace",), 20, gettext_lazy("Members"), "users")
DEPARTMENTS_ENTRY = MenuEntry(("workspace",), 30, gettext_lazy("Departments"), "boxes")


def _members(opened: VisibleWorkspace) -> Mapping[str, Any]:
    """Return the page context. Raise `Denied`."""
    rights = opened.rights
    rights.require("list", MEMBERS)
    found = people.members(opened.name, opened.workspace.manager)
    return {
        "members": [
            {
                "name": escape_invisible(member.name),
                "url": _account_url(opened, member.name),
                "roles": ", ".join(escape_invisible(role) for role in member.roles),
                "manages": member.manages,
                **_action_urls(opened, rights, member),
            }
            for member in found
        ],
        "invite_url": opened.url("workspace_invite")
        if rights.is_allowed("create", MEMBERS)
        else "",
    }


members = live_view(
    "workspace_members",
    Live("workspaces/_members.html", _members, (USERS,)),
    menu=MEMBERS_ENTRY,
)


@form_view("workspace_members", "create", MEMBERS, menu=MEMBERS_ENTRY)
def invite(opened: WorkspacePage) -> FormPage:
    options, query = _roles(opened), opened.request.GET
    options["initial"]["user"] = escape_invisible(query.get("user", ""))
    return FormPage(
        MemberForm(posted(opened.request), **options),
        lambda given, _version: people.invite(opened.actor, given["user"], given["role"]),
        title=_("Invite a member"),
        button=_("Invite member"),
        done=_("Invited %(name)s."),
        named_by="user",
        options={
            "template": "workspaces/invite.html",
            "more": _found(opened, query.get("q", "")),
        },
    )


@page("GET")
async def suggest(request: ConsoleRequest, workspace: str) -> HttpResponse:
    """Return users as options of the fields `user` and `manager`, like the search for invitations,
    but including members. Requires permission to invite members.
    """
    opened = await open_workspace(request, workspace)
    opened.rights.require("create", MEMBERS)
    return user_options(request, opened.access)


def user_options(request: ConsoleRequest, access: Access) -> HttpResponse:
    """Return the users that match the typed text, as options. Raise `UsersNotCached`."""
    part = request.GET.get("user") or request.GET.get("manager") or ""
    found = user_search.find_users(access, request.account or "", "", part)
    response = render(request, "workspaces/_user_options.html", {"people": found.people})
    response["Cache-Control"] = "no-store"
    return response


def _found(opened: WorkspacePage, part: str) -> dict[str, Any]:
    """Return the context with the users who can be invited."""
    found, action = (
        user_search.find_users(opened.access, opened.request.account or "", opened.name, part),
        opened.url("workspace_invite"),
    )
    return {
        "action": action,
        "part": escape_invisible(part.strip()[: user_search.LONGEST]),
        "longest": user_search.LONGEST,
        "found": [
            {
                "name": escape_invisible(one.name),
                "email": escape_invisible(one.email),
                "url": f"{action}?{urlencode({'user': one.name, 'q': part[: user_search.LONGEST]})}",
            }
            for one in found.people
        ],
        "more": found.more,
        "by_address": found.by_address,
        "of_all": found.of_all,
        "refused": found.refused,
    }


@form_view("workspace_members", "update", MEMBERS, menu=MEMBERS_ENTRY)
def member(opened: WorkspacePage, user: str) -> FormPage:
    """Change the role of a member."""
    found = _member(opened, user)
    return FormPage(
        RoleForm(posted(opened.request), **_roles(opened, found.roles[0])),
        lambda given, seen: people.change_role(opened.actor, user, given["role"], seen),
        title=_("Role of %(name)s"),
        button=_("Change role"),
        done=_("Changed the role of %(name)s."),
        name=user,
        options={"version": people.member_version(opened.name, user)},
    )


@form_view("workspace_members", "delete", MEMBERS, menu=MEMBERS_ENTRY)
def remove(opened: WorkspacePage, user: str) -> FormPage:
    _member(opened, user)
    about = _(
        "The user immediately loses all roles in the workspace, its departments and its projects."
    )
    return FormPage(
        WorkspaceForm(posted(opened.request)),
        lambda _given, _version: people.remove(opened.actor, user),
        title=_("Remove %(name)s from the workspace"),
        button=_("Remove member"),
        done=_("Removed %(name)s from the workspace."),
        name=user,
        options={"about": about, "danger": True},
    )


def _departments(opened: VisibleWorkspace) -> Mapping[str, Any]:
    """Return the page context. Raise `Denied`."""
    rights = opened.rights
    rights.require("list", DEPARTMENTS)
    may_edit, may_delete = (
        rights.is_allowed("update", DEPARTMENTS),
        rights.is_allowed("delete", DEPARTMENTS),
    )
    new_url = f"{opened.url('workspace_departments')}?new"
    return {
        "lines": [
            {
                "title": escape_invisible(one.title),
                "name": escape_invisible(one.name),
                "depth": range(one.depth),
                "members": ", ".join(escape_invisible(who) for who in one.members),
                "roles": escape_invisible(", ".join(one.roles)),
                "url": opened.url("workspace_department", one.name) if may_edit else "",
                "delete_url": opened.url("workspace_department_delete", one.name)
                if may_delete
                else "",
            }
            for one in groups.department_tree(opened.name)
        ],
        "new_url": new_url if rights.is_allowed("create", DEPARTMENTS) else "",
    }


_DEPARTMENTS = Live("workspaces/_departments.html", _departments, (GROUPS, GROUP_BINDINGS))


@form_view(
    "workspace_departments",
    "create",
    DEPARTMENTS,
    menu=DEPARTMENTS_ENTRY,
    live=_DEPARTMENTS,
    flag="new",
)
def departments(opened: WorkspacePage) -> FormPage:
    found = groups.department_tree(opened.name)
    choices = [("", _("none")), *((one.name, one.title) for one in found)]
    return FormPage(
        NewDepartmentForm(posted(opened.request), choices={"parent": choices}),
        lambda given, _version: groups.create(opened.actor, given["title"], given["parent"]),
        title=_("Create department"),
        button=_("Create department"),
        done=_("Created department %(name)s."),
        named_by="title",
    )


@form_view("workspace_departments", "update", DEPARTMENTS, menu=DEPARTMENTS_ENTRY)
def department(opened: WorkspacePage, group: str) -> FormPage:
    """Change the role of a department, and add or remove a member."""
    found = _department(opened, group)
    names = [member.name for member in people.members(opened.name, "")]
    joining = [name for name in names if name not in found.members]
    # The current role is also a choice, so that several roles, or a role that the viewer may not
    # grant, stay unchanged unless the viewer selects another role.
    current = ", ".join(found.roles)
    offered = dict.fromkeys([current, *people.grantable(opened.actor)])
    choices = {
        "role": [
            ("", _("none")),
            *((given, escape_invisible(given)) for given in offered if given),
        ],
        "add": [("", ""), *((name, name) for name in joining)],
        "leave": [("", ""), *((name, name) for name in found.members)],
    }
    members_text = escape_invisible(", ".join(found.members)) or _("none")
    return FormPage(
        DepartmentForm(posted(opened.request), choices=choices, initial={"role": current}),
        lambda given, seen: _change(opened, found, given, seen),
        title=_("Department %(name)s"),
        button=_("Save department"),
        done=_("Saved department %(name)s."),
        name=found.title,
        options={
            "about": _("Members: %(names)s") % {"names": members_text},
            "version": found.version,
        },
    )


@form_view("workspace_departments", "delete", DEPARTMENTS, menu=DEPARTMENTS_ENTRY)
def delete_department(opened: WorkspacePage, group: str) -> FormPage:
    about = _("The members stay in the workspace but lose the role that the department grants.")
    return FormPage(
        WorkspaceForm(posted(opened.request)),
        lambda _given, _version: groups.delete(opened.actor, group),
        title=_("Delete department %(name)s"),
        button=_("Delete department"),
        done=_("Deleted department %(name)s."),
        name=_department(opened, group).title,
        options={"about": about, "danger": True},
    )


def _department(opened: WorkspacePage, group: str) -> groups.Department:
    """Return the department. Raise `Http404`."""
    found = next((one for one in groups.department_tree(opened.name) if one.name == group), None)
    if found is None:
        raise Http404
    return found


async def _change(
    opened: WorkspacePage, found: groups.Department, given: Mapping[str, Any], version: str
) -> None:
    if given["role"] != ", ".join(found.roles):
        await groups.set_role(opened.actor, found.name, given["role"], version)
    if given["add"]:
        await groups.add_member(opened.actor, found.name, given["add"])
    if given["leave"]:
        await groups.remove_member(opened.actor, found.name, given["leave"])


def _account_url(seen: VisibleWorkspace, name: str) -> str:
    """Return the URL of the user's account page, or "" if the user does not exist or the viewer may
    not see the page. Bindings may contain any name.
    """
    known = seen.access.can("get", USERS, name=name) and users().store.get(Key("", name))
    return user_url(name) if known else ""


def _action_urls(
    opened: VisibleWorkspace, rights: WorkspaceRights, member: people.Member
) -> dict[str, str]:
    """Return the URLs for changing the member's role and removing the member. They are empty for
    the manager, who is set on the settings page, and for names that cannot be part of a URL,
    because bindings may contain any name.
    """
    if member.manages or not member.name or "/" in member.name:
        return {}
    role = (
        opened.url("workspace_member", member.name) if rights.is_allowed("update", MEMBERS) else ""
    )
    remove = opened.url("workspace_member_remove", member.name)
    return {"role_url": role, "remove_url": remove if rights.is_allowed("delete", MEMBERS) else ""}


def _member(opened: WorkspacePage, user: str) -> people.Member:
    """Return the member. Raise `Http404`."""
    found = people.members(opened.name, opened.workspace.manager)
    member = next((one for one in found if one.name == user), None)
    if member is None:
        raise Http404
    return member


def _roles(opened: WorkspacePage, value: str = "") -> dict[str, Any]:
    """Return choices and initial value of the `role` field. The initial value is `value` or the
    default role.
    """
    roles = people.grantable(opened.actor)
    usual = f"{opened.name}-viewer"
    value = value or (usual if usual in roles else roles[0] if roles else "")
    return {"choices": {"role": [(name, name) for name in roles]}, "initial": {"role": value}}
