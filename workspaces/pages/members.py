"""Pages for the members and departments of a workspace."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.admin.views import user_url
from accounts.users.directory import users
from console.kube.gvr import GROUP_BINDINGS, GROUPS, USERS, Key
from console.ui.core.menu import MenuEntry
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import posted
from console.views.page import page, success_redirect
from workspaces.pages.base import (
    VisibleWorkspace,
    WorkspacePage,
    complete,
    form_page,
    live_page,
    open_workspace,
    render_live_page,
)
from workspaces.pages.forms import (
    DepartmentForm,
    MemberForm,
    NewDepartmentForm,
    RoleForm,
    WorkspaceForm,
)
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


@page("GET", follows=live_page(_members, USERS), menu=MEMBERS_ENTRY)
async def members(request: ConsoleRequest, workspace: str) -> HttpResponse:
    opened = await open_workspace(request, workspace)
    return await render_live_page(
        opened, "workspace_members", "workspaces/_members.html", _members(opened)
    )


@page("GET", "POST", menu=MEMBERS_ENTRY)
async def invite(request: ConsoleRequest, workspace: str) -> HttpResponse:
    opened = await open_workspace(request, workspace)
    opened.rights.require("create", MEMBERS)
    options = _roles(opened)
    options["initial"]["user"] = escape_invisible(request.GET.get("user", ""))
    form = MemberForm(posted(request), **options)
    if form.is_valid():
        user, role = form.cleaned_data["user"], form.cleaned_data["role"]
        if await complete(form, people.invite(opened.actor, user, role)):
            text = _("Invited %(name)s.") % {"name": user}
            return success_redirect(request, text, opened.url("workspace_members"))
    return await form_page(
        opened,
        "workspace_members",
        form,
        title=_("Invite a member"),
        button=_("Invite member"),
        template="workspaces/invite.html",
        more=_found(opened, request.GET.get("q", "")),
    )


def _found(opened: WorkspacePage, part: str) -> dict[str, Any]:
    """Return the context with the users who can be invited."""
    found, action = (
        user_search.find_users(opened.access, opened.name, part),
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
    }


@page("GET", "POST", menu=MEMBERS_ENTRY)
async def member(request: ConsoleRequest, workspace: str, user: str) -> HttpResponse:
    """Change the role of a member."""
    opened = await open_workspace(request, workspace)
    opened.rights.require("update", MEMBERS)
    found = _member(opened, user)
    form = RoleForm(posted(request), **_roles(opened, found.roles[0]))
    version = people.member_version(opened.name, user)
    if form.is_valid():
        role, seen = form.cleaned_data["role"], request.POST.get("version", "")
        if await complete(form, people.change_role(opened.actor, user, role, seen)):
            text = _("Changed the role of %(name)s.") % {"name": user}
            return success_redirect(request, text, opened.url("workspace_members"))
    return await form_page(
        opened,
        "workspace_members",
        form,
        title=_("Role of %(name)s") % {"name": escape_invisible(user)},
        button=_("Change role"),
        version=version,
    )


@page("GET", "POST", menu=MEMBERS_ENTRY)
async def remove(request: ConsoleRequest, workspace: str, user: str) -> HttpResponse:
    opened = await open_workspace(request, workspace)
    opened.rights.require("delete", MEMBERS)
    _member(opened, user)
    form = WorkspaceForm(posted(request))
    if form.is_valid() and await complete(form, people.remove(opened.actor, user)):
        text = _("Removed %(name)s from the workspace.") % {"name": user}
        return success_redirect(request, text, opened.url("workspace_members"))
    return await form_page(
        opened,
        "workspace_members",
        form,
        title=_("Remove %(name)s from the workspace") % {"name": escape_invisible(user)},
        button=_("Remove member"),
        about=_(
            "The user immediately loses all roles in the workspace, its departments and its "
            "projects."
        ),
        danger=True,
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
                "roles": escape_invisible(_given(one)),
                "url": opened.url("workspace_department", one.name) if may_edit else "",
                "delete_url": opened.url("workspace_department_delete", one.name)
                if may_delete
                else "",
            }
            for one in groups.department_tree(opened.name)
        ],
        "new_url": new_url if rights.is_allowed("create", DEPARTMENTS) else "",
    }


@page(
    "GET", "POST", follows=live_page(_departments, GROUPS, GROUP_BINDINGS), menu=DEPARTMENTS_ENTRY
)
async def departments(request: ConsoleRequest, workspace: str) -> HttpResponse:
    opened = await open_workspace(request, workspace)
    if "new" not in request.GET and request.method != "POST":
        values = _departments(opened)
        return await render_live_page(
            opened, "workspace_departments", "workspaces/_departments.html", values
        )
    opened.rights.require("create", DEPARTMENTS)
    found = groups.department_tree(opened.name)
    choices = [("", _("none")), *((one.name, one.title) for one in found)]
    form = NewDepartmentForm(posted(request), choices={"parent": choices})
    if form.is_valid():
        title, parent = form.cleaned_data["title"], form.cleaned_data["parent"]
        if await complete(form, groups.create(opened.actor, title, parent)):
            text = _("Created department %(name)s.") % {"name": title}
            return success_redirect(request, text, opened.url("workspace_departments"))
    return await form_page(
        opened,
        "workspace_departments",
        form,
        title=_("Create department"),
        button=_("Create department"),
    )


@page("GET", "POST", menu=DEPARTMENTS_ENTRY)
async def department(request: ConsoleRequest, workspace: str, group: str) -> HttpResponse:
    """Change the role of a department, and add or remove a member."""
    opened = await open_workspace(request, workspace)
    opened.rights.require("update", DEPARTMENTS)
    found = next((one for one in groups.department_tree(opened.name) if one.name == group), None)
    if found is None:
        raise Http404
    names = [member.name for member in people.members(opened.name, "")]
    joining = [name for name in names if name not in found.members]
    # The current role is also a choice, so that several roles, or a role that the viewer may not
    # grant, stay unchanged unless the viewer selects another role.
    offered = dict.fromkeys([_given(found), *people.grantable(opened.actor)])
    choices = {
        "role": [
            ("", _("none")),
            *((given, escape_invisible(given)) for given in offered if given),
        ],
        "add": [("", ""), *((name, name) for name in joining)],
        "leave": [("", ""), *((name, name) for name in found.members)],
    }
    form = DepartmentForm(posted(request), choices=choices, initial={"role": _given(found)})
    version = request.POST.get("version", "")
    if form.is_valid() and await complete(form, _change(opened, found, form, version)):
        text = _("Saved department %(name)s.") % {"name": found.title}
        return success_redirect(request, text, opened.url("workspace_departments"))
    return await form_page(
        opened,
        "workspace_departments",
        form,
        title=_("Department %(name)s") % {"name": escape_invisible(found.title)},
        button=_("Save department"),
        about=_("Members: %(names)s")
        % {"names": escape_invisible(", ".join(found.members)) or _("none")},
        version=found.version,
    )


@page("GET", "POST", menu=DEPARTMENTS_ENTRY)
async def delete_department(request: ConsoleRequest, workspace: str, group: str) -> HttpResponse:
    opened = await open_workspace(request, workspace)
    opened.rights.require("delete", DEPARTMENTS)
    found = next((one for one in groups.department_tree(opened.name) if one.name == group), None)
    if found is None:
        raise Http404
    form = WorkspaceForm(posted(request))
    if form.is_valid() and await complete(form, groups.delete(opened.actor, group)):
        text = _("Deleted department %(name)s.") % {"name": found.title}
        return success_redirect(request, text, opened.url("workspace_departments"))
    return await form_page(
        opened,
        "workspace_departments",
        form,
        title=_("Delete department %(name)s") % {"name": escape_invisible(found.title)},
        button=_("Delete department"),
        about=_("The members stay in the workspace but lose the role that the department grants."),
        danger=True,
    )


def _given(department: groups.Department) -> str:
    return ", ".join(department.roles)


async def _change(
    opened: WorkspacePage, found: groups.Department, form: DepartmentForm, version: str
) -> None:
    given = form.cleaned_data
    if given["role"] != _given(found):
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
