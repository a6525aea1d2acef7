"""Settings of a workspace: alias, description, manager, network isolation, and quota."""

from typing import Any

from django.utils.translation import gettext as _

from console.audit.trail import record, request_action
from console.kube.errors import Conflict
from console.kube.gvr import USERS, WORKSPACE_QUOTAS, WORKSPACE_TEMPLATES, Key
from console.kube.host_runtime import get_runtime
from console.kube.projections.namespace import WORKSPACE_LABEL
from console.kube.projections.roles import (
    ALIAS_ANNOTATION,
    CREATOR_ANNOTATION,
    DESCRIPTION_ANNOTATION,
)
from console.kube.store import Entry
from console.ui.core.permissions import Denied, Refused
from rbac.authorizer import is_usable
from workspaces.builtin_roles import ADMIN, workspace_role_name
from workspaces.names import Manifest
from workspaces.quantities import Amounts
from workspaces.quota_allocation import quantity_text
from workspaces.quotas import workspace_quota
from workspaces.rights import WORKSPACE, rules_of_role
from workspaces.services.actor import Actor, check_user_name
from workspaces.services.members import remove_roles
from workspaces.services.projects import check_name


def template_of(workspace: str) -> Entry[Any] | None:
    return get_runtime().informer(WORKSPACE_TEMPLATES).store.get(Key("", workspace))


async def create(actor: Actor, *, manager: str, alias: str, description: str) -> None:
    """Create a workspace with the user's identity."""
    if not actor.access.can("create", WORKSPACE_TEMPLATES):
        raise Denied("create", WORKSPACE_TEMPLATES)
    check_name(actor.workspace)
    _check_manager(manager)
    notes = {
        ALIAS_ANNOTATION: alias,
        DESCRIPTION_ANNOTATION: description,
        CREATOR_ANNOTATION: actor.name,
    }
    body: Manifest = {
        "apiVersion": WORKSPACE_TEMPLATES.group_version,
        "kind": "WorkspaceTemplate",
        "metadata": {
            "name": actor.workspace,
            "annotations": {note: text for note, text in notes.items() if text},
        },
        "spec": {
            "template": {"spec": {"manager": manager}},
            "placement": {"clusters": [{"name": "host"}]},
        },
    }
    client = get_runtime().as_user(actor.access.identity)
    action = request_action(actor.request, "create", WORKSPACE_TEMPLATES, name=actor.workspace)
    async with record(action) as recording:
        try:
            await client.create(WORKSPACE_TEMPLATES, body, audit_id=recording.audit_id)
        except Conflict:
            raise Refused(_("A workspace with this name already exists.")) from None


async def edit(
    actor: Actor, version: str, *, alias: str, description: str, manager: str, isolated: bool
) -> None:
    """Save the settings. `version` is the resourceVersion of the template that the user saw."""
    actor.rights.require("update", WORKSPACE)
    entry = template_of(actor.workspace)
    if entry is None or entry.projection.deleted is not None:
        raise Refused(
            _("This workspace has no WorkspaceTemplate, so its settings are not available.")
        )
    _check_seen(version)
    if manager != entry.projection.manager:
        _check_manager(manager)
        rules = rules_of_role(actor.workspace, workspace_role_name(actor.workspace, ADMIN))
        if rules is None or not actor.rights.holds(rules):
            raise Refused(_("You cannot grant a role that has permissions that you don't have."))
    body = {
        "metadata": {
            "resourceVersion": version,
            "annotations": {
                ALIAS_ANNOTATION: alias or None,
                DESCRIPTION_ANNOTATION: description or None,
            },
        },
        "spec": {"template": {"spec": {"manager": manager, "networkIsolation": isolated}}},
    }
    name = actor.workspace
    async with actor.as_console("update", WORKSPACE_TEMPLATES, name) as (client, recording):
        await client.patch(WORKSPACE_TEMPLATES, body, name=name, audit_id=recording.audit_id)
    if manager != entry.projection.manager:
        # The manager gets the administrator role from the settings, and each member has only one
        # role.
        await remove_roles(actor, manager)


async def set_quota(actor: Actor, hard: Amounts, version: str) -> None:
    """Set the workspace quota with the user's identity, because workspace administrators must not
    set their own quota.

    Other fields of the quota are kept. `version` is the resourceVersion that the user saw, or ""
    if there was none.
    """
    may_set_quota(actor)
    client = get_runtime().as_user(actor.access.identity)
    entry = workspace_quota(actor.workspace) if version else None
    kept: Manifest = entry.original() if entry is not None else {}
    meta, spec = kept.get("metadata") or {}, kept.get("spec") or {}
    of_workspace = {WORKSPACE_LABEL: actor.workspace}
    amounts = {name: quantity_text(name, amount) for name, amount in hard.items()}
    body: Manifest = {
        **kept,
        "apiVersion": WORKSPACE_QUOTAS.group_version,
        "kind": "ResourceQuota",
        "metadata": {
            **meta,
            "name": actor.workspace,
            "labels": {**(meta.get("labels") or {}), **of_workspace},
        },
        "spec": {
            **spec,
            "selector": of_workspace,
            "quota": {**(spec.get("quota") or {}), "hard": amounts},
        },
    }
    verb = "update" if version else "create"
    action = request_action(actor.request, verb, WORKSPACE_QUOTAS, name=actor.workspace)
    async with record(action) as recording:
        if version:
            body["metadata"]["resourceVersion"] = version
            await client.replace(
                WORKSPACE_QUOTAS, body, name=actor.workspace, audit_id=recording.audit_id
            )
        else:
            await client.create(WORKSPACE_QUOTAS, body, audit_id=recording.audit_id)


def may_set_quota(actor: Actor) -> None:
    """Raise `Denied` if the user may not set the quota."""
    if not actor.access.can("update", WORKSPACE_QUOTAS, name=actor.workspace):
        raise Denied("update", WORKSPACE_QUOTAS)


def _check_seen(version: str) -> None:
    """Raise `Refused` if the form has no version, because changes require a version that the user
    saw.
    """
    if not version:
        raise Refused(_("The form is incomplete. Reload the page."))


def _check_manager(manager: str) -> None:
    check_user_name(manager)
    entry = get_runtime().informer(USERS).store.get(Key("", manager))
    if entry is None or not is_usable(entry.projection):
        raise Refused(
            _("User %(name)s does not exist or cannot manage the workspace.") % {"name": manager}
        )
