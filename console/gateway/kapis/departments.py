"""`iam.kubesphere.io/v1alpha2`: departments of workspaces, and role bindings."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.gateway.errors import Refusal
from console.gateway.kapis.call import SUCCESS, Call, ObjectList, entries_of, text_field
from console.gateway.kapis.decorations import decorated
from console.gateway.kapis.iam import GROUP
from console.gateway.kapis.objects import find_kind, list_entries, not_found, original
from console.gateway.kapis.query import LIST_PARAMETERS, read_list
from console.gateway.kapis.roles import place_of, require
from console.gateway.kapis.routes import ARRAY, LIST, MESSAGE, route
from console.kube.apply import Manifest
from console.kube.cachewait import wait_for_cache
from console.kube.gvr import (
    GROUP_BINDINGS,
    GROUPS,
    GVR,
    ROLE_BINDINGS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACES,
    Key,
)
from console.kube.projections.roles import ALIAS_ANNOTATION
from console.kube.projections.tenancy import PARENT_LABEL
from console.kube.store import Entry
from console.ui.core.manifests import mapping
from console.ui.core.permissions import Denied
from console.ui.navigation.projects import projects_in
from console.views.perform import perform
from rbac.levels import Level
from workspaces.rights import DEPARTMENTS, bindings_of, objects_labelled
from workspaces.services import departments
from workspaces.services.actor import Actor
from workspaces.services.members import change_role, invite, member_version, members

#: KubeSphere's annotation with the workspace role of a department.
WORKSPACE_ROLE = "kubesphere.io/workspace-role"
_GROUPS = "/workspaces/{workspace}/groups"
_MEMBERSHIPS = "/workspaces/{workspace}/groupbindings"
_BINDINGS = "/workspaces/{workspace}/workspacerolebindings"


def _actor(call: Call, workspace: str, verb: str) -> Actor:
    """Return the user for the services. Raise `Denied`."""
    actor = call.actor(workspace)
    actor.rights.require(verb, DEPARTMENTS)
    return actor


def _list(call: Call, gvr: GVR, entries: Iterable[Entry[Any]]) -> ObjectList:
    return list_entries(call, find_kind(call, gvr.resource), entries, read_list(call))


def _group(call: Call, workspace: str, name: str) -> Manifest:
    for entry in objects_labelled(GROUPS, workspace):
        if entry.key.name == name:
            return decorated(call, find_kind(call, GROUPS.resource), original(entry))
    raise not_found(f"{GROUPS.qualified} {name}")


@route(*("GET", GROUP, _GROUPS), summary="List departments", returns=LIST, query=LIST_PARAMETERS)
async def list_groups(call: Call, workspace: str) -> ObjectList:
    _actor(call, workspace, "list")
    return _list(call, GROUPS, objects_labelled(GROUPS, workspace))


@route(*("GET", GROUP, _GROUPS + "/{group}"), summary="Get a department")
async def get_group(call: Call, workspace: str, group: str) -> Manifest:
    _actor(call, workspace, "get")
    return _group(call, workspace, group)


@route(*("POST", GROUP, _GROUPS), summary="Create a department")
async def post_group(call: Call, workspace: str) -> Manifest:
    actor, body = _actor(call, workspace, "create"), call.object()
    meta = body["metadata"]
    title = mapping(meta, "annotations").get(ALIAS_ANNOTATION) or meta.get("generateName", "")
    parent = mapping(meta, "labels").get(PARENT_LABEL, "")
    made = await departments.create(actor, title, parent)
    role = mapping(meta, "annotations").get(WORKSPACE_ROLE, "")
    name, version = made["metadata"]["name"], made["metadata"]["resourceVersion"]
    await wait_for_cache(call.cluster.runtime.informer(GROUPS), Key("", name), version)
    if role:
        await departments.set_role(actor, name, role, "")
    return made


@route(*("PUT", GROUP, _GROUPS + "/{group}"), summary="Change the workspace role of a department")
async def put_group(call: Call, workspace: str, group: str) -> Manifest:
    return await _change_group(call, workspace, group)


@route(*("PATCH", GROUP, _GROUPS + "/{group}"), summary="Change the workspace role of a department")
async def patch_group(call: Call, workspace: str, group: str) -> Manifest:
    return await _change_group(call, workspace, group)


async def _change_group(call: Call, workspace: str, group: str) -> Manifest:
    actor, body = _actor(call, workspace, "update"), call.object()
    role = mapping(body, "metadata", "annotations").get(WORKSPACE_ROLE)
    if not isinstance(role, str):
        text = _(
            "Only the workspace role of a department can be changed, with the annotation %(name)s."
        )
        raise Refusal(422, text % {"name": WORKSPACE_ROLE})
    tree = departments.department_tree(workspace)
    version = next((one.version for one in tree if one.name == group), "")
    await departments.set_role(actor, group, role, version)
    return _group(call, workspace, group)


@route(*("DELETE", GROUP, _GROUPS + "/{group}"), summary="Delete a department", returns=MESSAGE)
async def delete_group(call: Call, workspace: str, group: str) -> Mapping[str, str]:
    actor = _actor(call, workspace, "delete")
    _group(call, workspace, group)
    await departments.delete(actor, group)
    return SUCCESS


@route(
    *("GET", GROUP, _MEMBERSHIPS),
    summary="List the members of departments",
    returns=LIST,
    query=LIST_PARAMETERS,
)
async def list_memberships(call: Call, workspace: str) -> ObjectList:
    _actor(call, workspace, "list")
    return _list(call, GROUP_BINDINGS, objects_labelled(GROUP_BINDINGS, workspace))


@route(*("POST", GROUP, _MEMBERSHIPS), summary="Add members to departments", returns=ARRAY)
async def post_memberships(call: Call, workspace: str) -> list[Manifest]:
    actor = _actor(call, workspace, "update")
    given = [
        (text_field(one, "groupName"), text_field(one, "userName")) for one in entries_of(call)
    ]
    for group, user in given:
        await departments.add_member(actor, group, user)
    return [{"userName": user, "groupName": group} for group, user in given]


@route(
    *("DELETE", GROUP, _MEMBERSHIPS + "/{binding}"),
    summary="Remove a member from a department",
    returns=MESSAGE,
)
async def delete_membership(call: Call, workspace: str, binding: str) -> Mapping[str, str]:
    actor = _actor(call, workspace, "update")
    for entry in objects_labelled(GROUP_BINDINGS, workspace):
        if entry.key.name == binding:
            for user in entry.projection.users:
                await departments.remove_member(actor, entry.projection.group, user)
            return SUCCESS
    raise not_found(f"{GROUP_BINDINGS.qualified} {binding}")


# Role bindings


@route(
    *("GET", GROUP, _BINDINGS),
    summary="List the role bindings of a workspace",
    returns=LIST,
    query=LIST_PARAMETERS,
)
async def list_workspace_bindings(call: Call, workspace: str) -> ObjectList:
    require(
        call, "list", place_of(call, Level.WORKSPACE, {"workspace": workspace}), of_bindings=True
    )
    return _list(call, WORKSPACE_ROLE_BINDINGS, bindings_of(workspace))


@route(
    *("POST", GROUP, _BINDINGS),
    summary="Give users and departments a role in a workspace",
    returns=ARRAY,
)
async def post_workspace_bindings(call: Call, workspace: str) -> list[Manifest]:
    actor, given = call.actor(workspace), entries_of(call)
    for body in given:
        role = str(mapping(body, "roleRef").get("name", ""))
        for kind, name in _subjects(body):
            if kind == "Group":
                tree = departments.department_tree(workspace)
                version = next((one.version for one in tree if one.name == name), "")
                await departments.set_role(actor, name, role, version)
            elif any(one.name == name for one in members(workspace, "")):
                await change_role(actor, name, role, member_version(workspace, name))
            else:
                await invite(actor, name, role)
    return given


@route(
    *("DELETE", GROUP, _BINDINGS + "/{binding}"),
    summary="Take a department's role in a workspace away",
    returns=MESSAGE,
)
async def delete_workspace_binding(call: Call, workspace: str, binding: str) -> Mapping[str, str]:
    actor = _actor(call, workspace, "update")
    entry = next((one for one in bindings_of(workspace) if one.key.name == binding), None)
    if entry is None:
        raise not_found(f"{WORKSPACE_ROLE_BINDINGS.qualified} {binding}")
    if entry.projection.users:
        raise Refusal(409, _("The role belongs to a member. Remove the member or change the role."))
    tree = {one.name: one for one in departments.department_tree(workspace)}
    for name in entry.projection.groups:
        if name in tree:
            await departments.set_role(actor, name, "", tree[name].version)
    return SUCCESS


def _subjects(body: Any) -> list[tuple[str, str]]:
    found = body.get("subjects") if isinstance(body, dict) else None
    pairs = [
        (one.get("kind"), one.get("name"))
        for one in (found if isinstance(found, list) else [])
        if isinstance(one, dict)
    ]
    if not pairs or any(kind not in ("User", "Group") or not name for kind, name in pairs):
        raise Refusal(400, _("A role binding needs subjects, which are users or groups."))
    return [(str(kind), str(name)) for kind, name in pairs]


@route(
    *("GET", GROUP, "/workspaces/{workspace}/rolebindings"),
    summary="List the role bindings of a workspace's projects",
    returns=LIST,
    query=LIST_PARAMETERS,
)
async def list_project_bindings(call: Call, workspace: str) -> ObjectList:
    actor = call.actor(workspace)
    if not actor.access.can("get", WORKSPACES, name=workspace):
        raise Denied("get", WORKSPACES)
    may, store = actor.access.can, call.cluster.runtime.informer(ROLE_BINDINGS).store
    projects = {
        one
        for one in projects_in(actor.access, workspace)
        if may("list", ROLE_BINDINGS, namespace=one)
    }
    entries = store.snapshot().entries.values()
    return _list(call, ROLE_BINDINGS, (one for one in entries if one.key.namespace in projects))


@route(
    *("POST", GROUP, "/namespaces/{namespace}/rolebindings"),
    summary="Create role bindings in a namespace",
    returns=ARRAY,
)
async def post_role_bindings(call: Call, namespace: str) -> list[Manifest]:
    found = []
    for body in entries_of(call):
        meta = mapping(body, "metadata")
        whole = {
            **body,
            "apiVersion": ROLE_BINDINGS.group_version,
            "kind": "RoleBinding",
            "metadata": {**meta, "namespace": namespace},
        }
        key = Key(namespace, str(meta.get("name", "")))
        found.append(await perform(call.request, "create", ROLE_BINDINGS, key, whole))
    return found


@route(
    *("DELETE", GROUP, "/namespaces/{namespace}/rolebindings/{binding}"),
    summary="Delete a role binding in a namespace",
    returns=MESSAGE,
)
async def delete_role_binding(call: Call, namespace: str, binding: str) -> Mapping[str, str]:
    await perform(call.request, "delete", ROLE_BINDINGS, Key(namespace, binding))
    return SUCCESS
