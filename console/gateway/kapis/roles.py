"""`iam.kubesphere.io/v1alpha2`: roles of all levels.

Roles are created and changed with the form of the pages: rules come from the role's templates
(annotation `aggregation-roles`), and submitted rules are ignored, as in KubeSphere.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from access.roles.editing import create_role, save_role
from access.roles.forms import RoleForm
from access.roles.lookup import ScopedRole, informer_of, is_allowed, role_of
from console.gateway.errors import Refusal
from console.gateway.kapis.actions import check_form, form_data, invalid, run_action
from console.gateway.kapis.call import SUCCESS, Call, ObjectList
from console.gateway.kapis.decorations import decorated
from console.gateway.kapis.filters import selector
from console.gateway.kapis.iam import GROUP
from console.gateway.kapis.objects import (
    find_kind,
    list_entries,
    list_manifests,
    not_found,
    original,
)
from console.gateway.kapis.query import LIST_PARAMETERS, read_list
from console.gateway.kapis.role_templates import template_manifests, templates_of_role
from console.gateway.kapis.routes import ARRAY, LIST, MESSAGE, route
from console.kube.apply import Manifest
from console.kube.gvr import Key
from console.kube.host_runtime import get_runtime
from console.kube.identity import Identity, InvalidIdentity
from console.kube.indexes import indexes_of
from console.kube.names import is_dns_label
from console.kube.projections.namespace import WORKSPACE_LABEL
from console.kube.projections.roles import ALIAS_ANNOTATION, DESCRIPTION_ANNOTATION, TEMPLATE_LABEL
from console.kube.store import Entry
from console.ui.core.manifests import mapping
from console.ui.core.permissions import Denied
from rbac.builtin import Origin
from rbac.levels import TYPES, Level, RoleScope, subjects_in
from rbac.memberships import identity_of
from rbac.templates import template_names, templates_for
from workspaces.rights import MEMBERS, workspace_rights

#: Paths of each level, with the value of its placeholder.
_PATHS: Mapping[Level, str] = {
    Level.GLOBAL: "/globalroles",
    Level.CLUSTER: "/clusterroles",
    Level.WORKSPACE: "/workspaces/{workspace}/workspaceroles",
    Level.PROJECT: "/namespaces/{namespace}/roles",
}


def place_of(call: Call, level: Level, values: Mapping[str, str]) -> RoleScope:
    """Return the scope that a path names. Raise `Refusal`."""
    call.require_host()
    place = RoleScope(level, values.get("workspace", ""), values.get("namespace", ""))
    for name in (place.workspace, place.namespace):
        if name and not is_dns_label(name):
            raise not_found(name)
    return place


def require(
    call: Call, verb: str, place: RoleScope, *, of_bindings: bool = False, name: str = ""
) -> None:
    """Raise `Denied` if the user lacks a permission for roles or bindings in this scope."""
    types = TYPES[place.level]
    gvr = types.bindings if of_bindings else types.roles
    if not is_allowed(call.access, verb, gvr, place, name):
        raise Denied(verb, gvr, place.namespace)


def entries_in(place: RoleScope) -> Iterable[Entry[Any]]:
    """Return the roles of a scope."""
    indexes = indexes_of(informer_of(TYPES[place.level].roles).store)
    if place.level is Level.WORKSPACE:
        return indexes.by_label.get(f"{WORKSPACE_LABEL}={place.workspace}")
    return indexes.by_namespace.get(place.namespace)


def find(call: Call, place: RoleScope, name: str, verb: str = "get") -> ScopedRole:
    """Return a role of a scope. Raise `Denied`, and `Refusal` 404."""
    require(call, verb, place, name=name)
    entry = informer_of(TYPES[place.level].roles).store.get(Key(place.namespace, name))
    if entry is None or role_of(place.level, entry).place != place:
        raise not_found(f"{TYPES[place.level].roles.qualified} {name}")
    return role_of(place.level, entry)


def _declare(level: Level, path: str) -> None:
    """Declare the routes of a level's roles."""
    types = TYPES[level]
    noun = types.roles.resource

    @route(
        *("GET", GROUP, path),
        summary=f"List {noun}",
        returns=LIST,
        query=LIST_PARAMETERS,
    )
    async def list_roles(call: Call, **values: str) -> ObjectList:
        place, asked = place_of(call, level, values), read_list(call)
        require(call, "list", place)
        if _asks_for_templates(asked.labels):
            return list_manifests(noun, template_manifests(get_runtime(), place), asked)
        found = (one for one in entries_in(place) if not _is_hidden(level, one))
        return list_entries(call, find_kind(call, noun), found, asked)

    @route(*("GET", GROUP, path + "/{role}"), summary=f"Get one of the {noun}")
    async def get_role(call: Call, role: str, **values: str) -> Manifest:
        return _shown(call, find(call, place_of(call, level, values), role))

    @route(*("POST", GROUP, path), summary=f"Create one of the {noun}")
    async def post_role(call: Call, **values: str) -> Manifest:
        place, body = place_of(call, level, values), call.object()
        require(call, "create", place)
        prefix = f"{place.workspace}-" if place.workspace else ""
        name = str(body["metadata"].get("name", "")).removeprefix(prefix)
        known = templates_for(get_runtime(), place)
        form = RoleForm(form_data({"name": name, **_texts(body)}), known, {}, prefix=prefix)
        check_form(form)
        if not await create_role(call.request, place, form):
            raise invalid(form)
        return _shown(call, find(call, place, form.cleaned_data["name"]))

    @route(*("PUT", GROUP, path + "/{role}"), summary=f"Change one of the {noun}")
    async def put_role(call: Call, role: str, **values: str) -> Manifest:
        return await _change(call, place_of(call, level, values), role, call.object())

    @route(
        *("PATCH", GROUP, path + "/{role}"), summary=f"Change one of the {noun} with a merge patch"
    )
    async def patch_role(call: Call, role: str, **values: str) -> Manifest:
        return await _change(call, place_of(call, level, values), role, call.object())

    @route(
        *("DELETE", GROUP, path + "/{role}"), summary=f"Delete one of the {noun}", returns=MESSAGE
    )
    async def delete_role(call: Call, role: str, **values: str) -> Mapping[str, str]:
        place = place_of(call, level, values)
        find(call, place, role, "delete")
        await run_action(call, find_kind(call, noun), "delete", Key(place.namespace, role))
        return SUCCESS


for _level, _path in _PATHS.items():
    _declare(_level, _path)


def _asks_for_templates(labels: str) -> bool:
    return selector(labels).matches({TEMPLATE_LABEL: "true"}) if TEMPLATE_LABEL in labels else False


def _is_hidden(level: Level, entry: Entry[Any]) -> bool:
    """Return True for roles that the controllers derive from other roles."""
    return role_of(level, entry).origin is Origin.PROJECTED


def _shown(call: Call, role: ScopedRole) -> Manifest:
    kind = find_kind(call, TYPES[role.place.level].roles.resource)
    return decorated(call, kind, original(role.entry))


def _texts(body: Manifest) -> dict[str, str | Sequence[str]]:
    notes = mapping(body, "metadata", "annotations")
    return {
        "alias": str(notes.get(ALIAS_ANNOTATION, "")),
        "description": str(notes.get(DESCRIPTION_ANNOTATION, "")),
        "template": template_names(notes),
        "further": "",
    }


async def _change(call: Call, place: RoleScope, name: str, body: Manifest) -> Manifest:
    role = find(call, place, name, "update")
    if role.origin is not Origin.OWN:
        text = _("Only custom roles can be edited. Copy this role and edit the copy.")
        raise Refusal(403, text)
    given = body["metadata"].get("resourceVersion")
    if given and given != role.entry.resource_version:
        text = _("The role was changed. Read the role again and repeat the change.")
        raise Refusal(409, text)
    meta = original(role.entry)["metadata"]
    notes = {**(meta.get("annotations") or {}), **(body["metadata"].get("annotations") or {})}
    values = _texts({"metadata": {"annotations": notes}})
    known = templates_for(get_runtime(), place)
    form = RoleForm(form_data(values), known, {"rules": role.rules})
    check_form(form)
    if not await save_role(call.request, role, form):
        raise invalid(form)
    return _shown(call, find(call, place, name))


# Permissions of a user at a level, for KubeSphere's console


@route(
    *("GET", GROUP, "/users/{user}/globalroles"),
    summary="List the role templates of a user's platform roles",
    returns=ARRAY,
)
async def global_templates(call: Call, user: str) -> list[Manifest]:
    return _templates_of(call, user, RoleScope(Level.GLOBAL))


@route(
    *("GET", GROUP, "/clustermembers/{user}/clusterroles"),
    summary="List the role templates of a user's cluster roles",
    returns=ARRAY,
)
async def cluster_templates(call: Call, user: str) -> list[Manifest]:
    return _templates_of(call, user, RoleScope(Level.CLUSTER))


@route(
    *("GET", GROUP, "/workspaces/{workspace}/workspacemembers/{user}/workspaceroles"),
    summary="List the role templates of a user's roles in a workspace",
    returns=ARRAY,
)
async def workspace_templates(call: Call, workspace: str, user: str) -> list[Manifest]:
    return _templates_of(call, user, RoleScope(Level.WORKSPACE, workspace))


@route(
    *("GET", GROUP, "/namespaces/{namespace}/members/{user}/roles"),
    summary="List the role templates of a user's roles in a namespace",
    returns=ARRAY,
)
async def project_templates(call: Call, namespace: str, user: str) -> list[Manifest]:
    return _templates_of(call, user, RoleScope(Level.PROJECT, "", namespace))


def _templates_of(call: Call, user: str, place: RoleScope) -> list[Manifest]:
    place = place_of(call, place.level, place._asdict())
    if user != call.user:
        require_members(call, place)
    try:
        identity = call.access.identity if user == call.user else identity_of(get_runtime(), user)
    except InvalidIdentity:
        return []
    found: dict[str, Manifest] = {}
    for role in roles_held(identity, place):
        for one in templates_of_role(get_runtime(), place, role.rules, role.annotations):
            found[one["metadata"]["name"]] = one
    return list(found.values())


def require_members(call: Call, place: RoleScope) -> None:
    if place.level is Level.WORKSPACE:
        workspace_rights(call.access, place.workspace).require("list", MEMBERS)
    else:
        require(call, "list", place, of_bindings=True)


def roles_held(identity: Identity, place: RoleScope) -> list[ScopedRole]:
    """Return the roles of a scope that a user has, also through groups."""
    types = TYPES[place.level]
    bindings, roles = informer_of(types.bindings).store, informer_of(types.roles).store
    index = indexes_of(bindings).by(subjects_in)
    found: dict[str, ScopedRole] = {}
    for subject in (f"User {identity.name}", *(f"Group {group}" for group in identity.groups)):
        for entry in index.get(subject):
            binding = entry.projection
            kind = getattr(binding, "role_kind", "") or types.role_kind
            if entry.key.namespace != place.namespace or kind != types.role_kind:
                continue
            role = roles.get(Key(place.namespace, binding.role))
            if role is not None and role_of(place.level, role).place == place:
                found[binding.role] = role_of(place.level, role)
    return list(found.values())
