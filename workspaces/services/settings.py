"""Settings of a workspace: alias, description, manager, network isolation, and quota."""

from typing import Any

from django.utils.translation import gettext as _

from console.kube.apply import Manifest
from console.kube.cachewait import wait_until
from console.kube.errors import Conflict
from console.kube.gvr import WORKSPACE_QUOTAS, WORKSPACE_TEMPLATES, WORKSPACES, Key
from console.kube.host_runtime import get_runtime
from console.kube.projections.namespace import WORKSPACE_LABEL
from console.kube.projections.roles import (
    ALIAS_ANNOTATION,
    CREATOR_ANNOTATION,
    DESCRIPTION_ANNOTATION,
)
from console.kube.quantity import Amounts
from console.kube.store import Entry
from console.ui.core.permissions import Denied, Refused
from workspaces.builtin_roles import ADMIN, workspace_role_name
from workspaces.quota_allocation import quantity_text
from workspaces.quotas import workspace_quota
from workspaces.rights import WORKSPACE, rules_of_role
from workspaces.services.actor import Actor, check_user_name, is_usable_user
from workspaces.services.members import remove_roles
from workspaces.services.projects import READY_WITHIN, check_name


def template_of(workspace: str) -> Entry[Any] | None:
    return get_runtime().informer(WORKSPACE_TEMPLATES).store.get(Key("", workspace))


async def create(actor: Actor, *, manager: str, alias: str, description: str) -> None:
    """Create a workspace with the user's identity, and wait until pages can show it.

    Pages show the Workspace, which a controller creates from the template. The wait ends after
    `READY_WITHIN` seconds.
    """
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
    try:
        await actor.as_user("create", WORKSPACE_TEMPLATES, Key("", actor.workspace), body)
    except Conflict:
        raise Refused(_("A workspace with this name already exists.")) from None
    made, key = get_runtime().informer(WORKSPACES), Key("", actor.workspace)
    await wait_until(made, lambda: made.store.get(key) is not None, READY_WITHIN)


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
    if not version:
        # Without a version, the write would overwrite changes that the user has not seen.
        raise Refused(_("The form is incomplete. Reload the page."))
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
    key = Key("", actor.workspace)
    await actor.as_console("update", WORKSPACE_TEMPLATES, key, body, method="patch")
    if manager != entry.projection.manager:
        # The manager gets the administrator role from the settings, and each member has only one
        # role.
        await remove_roles(actor, manager)


async def set_quota(actor: Actor, hard: Amounts, version: str) -> Manifest:
    """Set the workspace quota with the user's identity, because workspace administrators must not
    set their own quota.

    Other fields of the quota are kept. `version` is the resourceVersion that the user saw, or ""
    if there was none. Return the quota.
    """
    if not actor.access.can("update", WORKSPACE_QUOTAS, name=actor.workspace):
        raise Denied("update", WORKSPACE_QUOTAS)
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
    if version:
        body["metadata"]["resourceVersion"] = version
    verb, key = "update" if version else "create", Key("", actor.workspace)
    return await actor.as_user(verb, WORKSPACE_QUOTAS, key, body)


def _check_manager(manager: str) -> None:
    check_user_name(manager)
    if not is_usable_user(manager):
        text = _("User %(name)s does not exist or cannot manage the workspace.")
        raise Refused(text % {"name": manager})
