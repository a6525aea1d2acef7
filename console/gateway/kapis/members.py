"""`iam.kubesphere.io/v1alpha2`: members of the cluster, of workspaces and of namespaces.

A member is a User with the annotation of its role at that level.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from access.roles.granting import bind, check_removable, check_subject, unbind
from access.roles.lookup import informer_of, visible_holders
from accounts.users.directory import trusted_users
from console.gateway.errors import Refusal
from console.gateway.kapis.call import SUCCESS, Call, ObjectList, entries_of, text_field
from console.gateway.kapis.decorations import annotated, decorated
from console.gateway.kapis.iam import GROUP
from console.gateway.kapis.objects import find_kind, list_manifests, not_found, original
from console.gateway.kapis.query import LIST_PARAMETERS, read_list
from console.gateway.kapis.roles import find, place_of, require, require_members, roles_held
from console.gateway.kapis.routes import LIST, MESSAGE, route
from console.kube.apply import Manifest
from console.kube.gvr import USERS, Key
from console.kube.identity import Identity
from console.kube.indexes import indexes_of
from rbac.levels import TYPES, Level, RoleScope
from rbac.names import source_of
from workspaces.services import members as service

#: Paths of the levels, and the annotation with the role of a member.
_PATHS: Mapping[Level, tuple[str, str]] = {
    Level.CLUSTER: ("/clustermembers", "iam.kubesphere.io/clusterrole"),
    Level.WORKSPACE: (
        "/workspaces/{workspace}/workspacemembers",
        "iam.kubesphere.io/workspacerole",
    ),
    Level.PROJECT: ("/namespaces/{namespace}/members", "iam.kubesphere.io/role"),
}


def _declare(level: Level, path: str, annotation: str) -> None:
    """Declare the routes of a level's members."""

    @route(
        *("GET", GROUP, path),
        summary=f"List the members of the {level.value}",
        returns=LIST,
        query=LIST_PARAMETERS,
    )
    async def list_members(call: Call, **values: str) -> ObjectList:
        place = place_of(call, level, values)
        require_members(call, place)
        found = (_member(call, name, annotation, role) for name, role in _roles(place).items())
        return list_manifests(USERS.resource, found, read_list(call))

    @route(*("GET", GROUP, path + "/{user}"), summary=f"Get a member of the {level.value}")
    async def get_member(call: Call, user: str, **values: str) -> Manifest:
        place = place_of(call, level, values)
        if user != call.user:
            require_members(call, place)
        return _one(call, place, user, annotation)

    @route(*("POST", GROUP, path), summary=f"Add members to the {level.value}")
    async def post_members(call: Call, **values: str) -> Any:
        place = place_of(call, level, values)
        given = [_username_and_role(one) for one in entries_of(call)]
        for user, role in given:
            await _add(call, place, user, role)
        return [{"username": user, "roleRef": role} for user, role in given]

    @route(
        *("PUT", GROUP, path + "/{user}"),
        summary=f"Change the role of a member of the {level.value}",
    )
    async def put_member(call: Call, user: str, **values: str) -> Manifest:
        place = place_of(call, level, values)
        name, role = _username_and_role(call.json(), user)
        if name != user:
            raise Refusal(400, _("The username differs from the one in the address."))
        await _change(call, place, user, role)
        return _one(call, place, user, annotation)

    @route(
        *("DELETE", GROUP, path + "/{user}"),
        summary=f"Remove a member from the {level.value}",
        returns=MESSAGE,
    )
    async def delete_member(call: Call, user: str, **values: str) -> Mapping[str, str]:
        place = place_of(call, level, values)
        if user not in _roles(place):
            require_members(call, place)
            raise not_found(user)
        await _remove(call, place, user)
        return SUCCESS


for _level, (_path, _annotation) in _PATHS.items():
    _declare(_level, _path, _annotation)


def _username_and_role(body: Any, user: str = "") -> tuple[str, str]:
    name, role = text_field(body, "username") or user, text_field(body, "roleRef")
    if not name or not role:
        raise Refusal(400, _("A member needs username and roleRef."))
    return name, role


def _roles(place: RoleScope) -> dict[str, str]:
    """Return the role of each user that has one in this scope, without roles of groups and those that
    the controllers derive from other roles.
    """
    if place.level is Level.WORKSPACE:
        found = service.members(place.workspace, "")
        return {one.name: one.roles[0] for one in found}
    types = TYPES[place.level]
    entries = indexes_of(informer_of(types.bindings).store).by_namespace.get(place.namespace)
    roles: dict[str, str] = {}
    for entry in sorted(entries, key=lambda one: one.key):
        binding = entry.projection
        if source_of(entry.key.name) is None and binding.role_kind == types.role_kind:
            for name in binding.users:
                if not name.startswith("system:"):
                    roles.setdefault(name, binding.role)
    return roles


def _member(call: Call, name: str, annotation: str, role: str) -> Manifest:
    """Return the User of a member. Viewers who may not get the user see only the name."""
    entry = trusted_users().store.get(Key("", name))
    found: Manifest = {
        "kind": "User",
        "apiVersion": USERS.group_version,
        "metadata": {"name": name},
        "spec": {},
    }
    if entry is not None and (name == call.user or call.access.can("get", USERS, name=name)):
        found = decorated(call, find_kind(call, USERS.resource), original(entry))
    return annotated(found, {annotation: role})


def _one(call: Call, place: RoleScope, user: str, annotation: str) -> Manifest:
    role = _roles(place).get(user, "")
    if not role and user == call.user:
        # A role through a group.
        held = roles_held(call.access.identity, place)
        role = held[0].name if held else ""
    if not role:
        raise not_found(user)
    return _member(call, user, annotation, role)


async def _add(call: Call, place: RoleScope, user: str, role: str) -> None:
    if place.level is Level.WORKSPACE:
        await service.invite(call.actor(place.workspace), user, _full_name(place, role))
        return
    found = find(call, place, role)
    check_subject(call.request, found, "User", user)
    require(call, "create", place, of_bindings=True)
    await bind(call.request, found, "User", user)


async def _change(call: Call, place: RoleScope, user: str, role: str) -> None:
    if place.level is Level.WORKSPACE:
        actor, version = call.actor(place.workspace), service.member_version(place.workspace, user)
        await service.change_role(actor, user, _full_name(place, role), version)
        return
    if user not in _roles(place):
        require_members(call, place)
        raise not_found(user)
    if role != _roles(place)[user]:
        await _add(call, place, user, role)
    await _remove(call, place, user, but=role)


async def _remove(call: Call, place: RoleScope, user: str, but: str = "") -> None:
    """Remove the roles of a member except for `but`."""
    if place.level is Level.WORKSPACE:
        await service.remove(call.actor(place.workspace), user)
        return
    require(call, "list", place, of_bindings=True)
    require(call, "delete", place, of_bindings=True)
    for role in roles_held(Identity(user), place):
        if role.name != but:
            held = list(visible_holders(call.access, role))
            for one in held:
                if one.subject == f"User {user}" and one.namespace == place.namespace:
                    check_removable(role, one, held)
                    await unbind(call.request, role, one)


def _full_name(place: RoleScope, role: str) -> str:
    """Return the name of a WorkspaceRole, which starts with the workspace."""
    prefix = f"{place.workspace}-"
    return role if role.startswith(prefix) else prefix + role
