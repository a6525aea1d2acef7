"""`tenant.kubesphere.io`: workspaces and their projects, v1alpha2 and v1alpha3.

In v1alpha2, `workspaces` are WorkspaceTemplates, which v1alpha3 calls `workspacetemplates`. Users see
the workspaces that they may read.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from console.gateway.errors import Refusal
from console.gateway.kapis.actions import run_action
from console.gateway.kapis.call import SUCCESS, Call, ObjectList
from console.gateway.kapis.clusters import TENANT, clusters_of, list_clusters
from console.gateway.kapis.decorations import decorated
from console.gateway.kapis.objects import (
    find_kind,
    list_entries,
    list_objects,
    not_found,
    original,
)
from console.gateway.kapis.patches import read_patch
from console.gateway.kapis.query import LIST_PARAMETERS, read_list
from console.gateway.kapis.roles import place_of, require_members
from console.gateway.kapis.routes import LIST, MESSAGE, route
from console.kube.apply import Manifest
from console.kube.gvr import (
    GVR,
    NAMESPACES,
    WORKSPACE_QUOTAS,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
    Key,
)
from console.kube.identity import Identity
from console.kube.projections.namespace import WORKSPACE_LABEL
from console.kube.projections.roles import ALIAS_ANNOTATION, DESCRIPTION_ANNOTATION
from console.kube.store import Entry
from console.ui.core.manifests import mapping
from console.ui.core.permissions import Denied
from console.ui.navigation.projects import (
    labeled_workspace,
    may_see_workspace,
    projects_in,
    visible_workspaces,
)
from console.views.perform import perform
from rbac.levels import Level
from rbac.memberships import groups_of
from workspaces.quotas import parse_amount, workspace_quota
from workspaces.rights import may_see_quota
from workspaces.services import projects, settings
from workspaces.services.actor import Actor

NEWER = "tenant.kubesphere.io/v1alpha3"


def _visible(call: Call, workspace: str) -> Actor:
    """Return the user for the services. Raise `Denied` without revealing if the workspace exists."""
    actor = call.actor(workspace)
    if not may_see_workspace(actor.access, workspace):
        raise Denied("get", WORKSPACES)
    return actor


def _entries(call: Call, gvr: GVR, names: tuple[str, ...]) -> list[Entry[Any]]:
    store = call.cluster.runtime.informer(gvr).store
    found = (store.get(Key("", name)) for name in names)
    return [one for one in found if one is not None]


def _list(call: Call, gvr: GVR, names: tuple[str, ...]) -> ObjectList:
    kind = find_kind(call, gvr.resource)
    return list_entries(call, kind, _entries(call, gvr, names), read_list(call))


def _one(call: Call, gvr: GVR, name: str) -> Manifest:
    for entry in _entries(call, gvr, (name,)):
        return decorated(call, find_kind(call, gvr.resource), original(entry))
    raise not_found(f"{gvr.qualified} {name}")


# Workspaces


@route(
    *("GET", NEWER, "/workspaces"),
    summary="List the workspaces that you may see",
    returns=LIST,
    query=LIST_PARAMETERS,
)
async def list_workspaces(call: Call) -> ObjectList:
    call.require_host()
    return _list(call, WORKSPACES, visible_workspaces(call.access))


@route("GET", NEWER, "/workspaces/{workspace}", summary="Get a workspace")
async def get_workspace(call: Call, workspace: str) -> Manifest:
    _visible(call, workspace)
    return _one(call, WORKSPACES, workspace)


def _declare_templates(group: str, path: str) -> None:
    """Declare the routes of workspace templates, which both versions have."""
    one = path + "/{workspace}"

    @route(
        *("GET", group, path),
        summary="List the templates of the workspaces that you may see",
        returns=LIST,
        query=LIST_PARAMETERS,
    )
    async def list_templates(call: Call) -> ObjectList:
        call.require_host()
        return _list(call, WORKSPACE_TEMPLATES, visible_workspaces(call.access))

    @route("GET", group, one, summary="Get the template of a workspace")
    async def get_template(call: Call, workspace: str) -> Manifest:
        _visible(call, workspace)
        return _one(call, WORKSPACE_TEMPLATES, workspace)

    @route("POST", group, path, summary="Create a workspace")
    async def post_template(call: Call) -> Manifest:
        call.require_host()
        body = call.object()
        name, found = str(body["metadata"].get("name", "")), _settings(body)
        actor = Actor(call.request, call.access, name)
        if body["metadata"].get("name") is None:
            raise Refusal(400, _("The workspace needs a name."))
        texts = {"alias": found["alias"], "description": found["description"]}
        await settings.create(actor, manager=found["manager"] or call.user, **texts)
        return _one(call, WORKSPACE_TEMPLATES, name)

    @route("PUT", group, one, summary="Change a workspace")
    async def put_template(call: Call, workspace: str) -> Manifest:
        return await _change_template(call, workspace, call.object(), "update", {})

    @route("PATCH", group, one, summary="Change a workspace with a merge patch or a JSON patch")
    async def patch_template(call: Call, workspace: str) -> Manifest:
        body, content_type = read_patch(call)
        options = {"content_type": content_type}
        return await _change_template(call, workspace, body, "patch", options)

    @route("DELETE", group, one, summary="Delete a workspace", returns=MESSAGE)
    async def delete_template(call: Call, workspace: str) -> Mapping[str, str]:
        _visible(call, workspace)
        options = call.json() if call.body else {}
        keeps = isinstance(options, dict) and options.get("propagationPolicy") == "Orphan"
        kind, data = find_kind(call, WORKSPACE_TEMPLATES.resource), {"keep": "on"} if keeps else {}
        await run_action(call, kind, "delete", Key("", workspace), data)
        return SUCCESS


_declare_templates(NEWER, "/workspacetemplates")
_declare_templates(TENANT, "/workspaces")


def _settings(body: Manifest) -> dict[str, Any]:
    """Return the settings in a template."""
    notes, spec = (
        mapping(body, "metadata", "annotations"),
        mapping(body, "spec", "template", "spec"),
    )
    manager = spec.get("manager")
    return {
        "alias": str(notes.get(ALIAS_ANNOTATION) or ""),
        "description": str(notes.get(DESCRIPTION_ANNOTATION) or ""),
        "manager": manager if isinstance(manager, str) else "",
        "isolated": spec.get("networkIsolation") is True,
    }


async def _change_template(
    call: Call, workspace: str, body: Any, verb: str, options: Mapping[str, Any]
) -> Manifest:
    """Change a template as the user. Users who may only change the settings of their workspace change
    these, with the checks of the page.
    """
    actor, key = _visible(call, workspace), Key("", workspace)
    if call.access.can(verb, WORKSPACE_TEMPLATES, name=workspace):
        found = await perform(call.request, verb, WORKSPACE_TEMPLATES, key, body, **options)
        return decorated(call, find_kind(call, WORKSPACE_TEMPLATES.resource), found)
    if not isinstance(body, dict):
        raise Denied(verb, WORKSPACE_TEMPLATES)
    current = _one(call, WORKSPACE_TEMPLATES, workspace)
    merged = _merged(current, body) if verb == "patch" else body
    version = mapping(body, "metadata").get("resourceVersion")
    version = version or current["metadata"]["resourceVersion"]
    await settings.edit(actor, str(version), **_settings(merged))
    return _one(call, WORKSPACE_TEMPLATES, workspace)


def _merged(item: Any, patch: Any) -> Any:
    """Return the result of a merge patch (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    found = dict(item) if isinstance(item, dict) else {}
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = _merged(found.get(name), value)
    return found


@route(
    *("GET", TENANT, "/workspaces/{workspace}/clusters"),
    summary="List the clusters of a workspace",
    returns=LIST,
    query=LIST_PARAMETERS,
)
async def list_workspace_clusters(call: Call, workspace: str) -> ObjectList:
    _visible(call, workspace)
    found = _entries(call, WORKSPACE_TEMPLATES, (workspace,))
    if not found:
        raise not_found(f"{WORKSPACE_TEMPLATES.qualified} {workspace}")
    return list_clusters(call, clusters_of(found[0].projection))


# Projects


@route(
    *("GET", TENANT, "/namespaces"),
    summary="List the namespaces that you may see",
    returns=LIST,
    query=LIST_PARAMETERS,
)
async def list_namespaces(call: Call) -> ObjectList:
    return await list_objects(call, find_kind(call, NAMESPACES.resource), read_list(call))


_PROJECTS = "/workspaces/{workspace}/namespaces"


@route(
    *("GET", TENANT, _PROJECTS),
    summary="List the projects of a workspace that you may see",
    returns=LIST,
    query=LIST_PARAMETERS,
)
async def list_projects(call: Call, workspace: str) -> ObjectList:
    _visible(call, workspace)
    return _list(call, NAMESPACES, projects_in(call.access, workspace))


@route(
    *("GET", TENANT, "/workspaces/{workspace}/workspacemembers/{user}/namespaces"),
    summary="List the projects of a workspace that a member may see",
    returns=LIST,
    query=LIST_PARAMETERS,
)
async def list_projects_of_member(call: Call, workspace: str, user: str) -> ObjectList:
    _visible(call, workspace)
    found = projects_in(call.access, workspace)
    if user != call.user:
        require_members(call, place_of(call, Level.WORKSPACE, {"workspace": workspace}))
        theirs = call.cluster.access_for(Identity(user, groups_of(call.cluster.runtime, user)))
        found = tuple(name for name in projects_in(theirs, workspace) if name in found)
    return _list(call, NAMESPACES, found)


def _project(call: Call, workspace: str, namespace: str) -> Key:
    """Return the key of a project. Raise `Denied`, and `Refusal` 404 if it is not in the workspace."""
    _visible(call, workspace)
    if not call.access.can("get", NAMESPACES, name=namespace):
        raise Denied("get", NAMESPACES, namespace)
    if labeled_workspace(call.cluster.runtime, namespace) != workspace:
        raise not_found(f"namespaces {namespace}")
    return Key("", namespace)


@route("GET", TENANT, _PROJECTS + "/{namespace}", summary="Get a project")
async def get_project(call: Call, workspace: str, namespace: str) -> Manifest:
    _project(call, workspace, namespace)
    return _one(call, NAMESPACES, namespace)


@route("POST", TENANT, _PROJECTS, summary="Create a project")
async def post_project(call: Call, workspace: str) -> Manifest:
    actor, body = _visible(call, workspace), call.object()
    name, notes = str(body["metadata"].get("name", "")), mapping(body, "metadata", "annotations")
    await projects.create(
        actor,
        name,
        alias=notes.get(ALIAS_ANNOTATION, ""),
        description=notes.get(DESCRIPTION_ANNOTATION, ""),
    )
    return _one(call, NAMESPACES, name)


@route("PUT", TENANT, _PROJECTS + "/{namespace}", summary="Change a project")
async def put_project(call: Call, workspace: str, namespace: str) -> Manifest:
    key, body = _project(call, workspace, namespace), call.object()
    if mapping(body, "metadata", "labels").get(WORKSPACE_LABEL) != workspace:
        raise Refusal(422, _("The workspace of a project can't be changed here."))
    found = await perform(call.request, "update", NAMESPACES, key, body)
    return decorated(call, find_kind(call, NAMESPACES.resource), found)


@route("PATCH", TENANT, _PROJECTS + "/{namespace}", summary="Change a project with a patch")
async def patch_project(call: Call, workspace: str, namespace: str) -> Manifest:
    key = _project(call, workspace, namespace)
    body, content_type = read_patch(call)
    found = await perform(call.request, "patch", NAMESPACES, key, body, content_type=content_type)
    return decorated(call, find_kind(call, NAMESPACES.resource), found)


@route("DELETE", TENANT, _PROJECTS + "/{namespace}", summary="Delete a project", returns=MESSAGE)
async def delete_project(call: Call, workspace: str, namespace: str) -> Mapping[str, str]:
    key = _project(call, workspace, namespace)
    await run_action(call, find_kind(call, NAMESPACES.resource), "delete", key)
    return SUCCESS


# Quotas


_QUOTAS = "/workspaces/{workspace}/resourcequotas"


def _quota(call: Call, workspace: str, quota: str) -> Entry[Any]:
    _visible(call, workspace)
    if not may_see_quota(call.access, workspace):
        raise Denied("get", WORKSPACE_QUOTAS)
    entry = workspace_quota(workspace)
    if entry is None or quota != entry.key.name:
        raise not_found(f"{WORKSPACE_QUOTAS.qualified} {quota}")
    return entry


def _shown_quota(entry: Entry[Any]) -> Manifest:
    about = {"kind": "ResourceQuota", "apiVersion": WORKSPACE_QUOTAS.group_version}
    return {**about, **original(entry)}


@route("GET", TENANT, _QUOTAS + "/{quota}", summary="Get the quota of a workspace")
async def get_quota(call: Call, workspace: str, quota: str) -> Manifest:
    return _shown_quota(_quota(call, workspace, quota))


@route("POST", TENANT, _QUOTAS, summary="Create the quota of a workspace")
async def post_quota(call: Call, workspace: str) -> Manifest:
    return await _set_quota(call, workspace, "")


@route("PUT", TENANT, _QUOTAS + "/{quota}", summary="Change the quota of a workspace")
async def put_quota(call: Call, workspace: str, quota: str) -> Manifest:
    return await _set_quota(call, workspace, _quota(call, workspace, quota).resource_version)


async def _set_quota(call: Call, workspace: str, version: str) -> Manifest:
    actor, body = _visible(call, workspace), call.object()
    hard: dict[str, Decimal] = {}
    for resource, text in mapping(body, "spec", "quota", "hard").items():
        amount = parse_amount(str(text))
        if amount is None:
            raise Refusal(422, _("The amount of %(name)s is invalid.") % {"name": resource[:60]})
        hard[resource] = amount
    given = mapping(body, "metadata").get("resourceVersion")
    found = await settings.set_quota(actor, hard, str(given or version) if version else "")
    return {"kind": "ResourceQuota", "apiVersion": WORKSPACE_QUOTAS.group_version, **found}


@route(
    "DELETE",
    TENANT,
    _QUOTAS + "/{quota}",
    summary="Delete the quota of a workspace",
    returns=MESSAGE,
)
async def delete_quota(call: Call, workspace: str, quota: str) -> Mapping[str, str]:
    entry = _quota(call, workspace, quota)
    await call.actor(workspace).as_user(
        "delete", WORKSPACE_QUOTAS, entry.key, uid=entry.projection.uid
    )
    return SUCCESS
