"""Projects that users create in their workspace."""

from decimal import Decimal

from django.utils.translation import gettext as _

from console.kube.apply import Manifest
from console.kube.cachewait import wait_until
from console.kube.errors import Conflict
from console.kube.gvr import NAMESPACES, RESOURCE_QUOTAS, Key
from console.kube.host_runtime import get_runtime
from console.kube.names import is_dns_label
from console.kube.projections.namespace import PREPARING_ANNOTATION, WORKSPACE_LABEL
from console.kube.projections.roles import (
    ALIAS_ANNOTATION,
    CREATOR_ANNOTATION,
    DESCRIPTION_ANNOTATION,
)
from console.kube.quantity import Amounts
from console.ui.core.kind_names import amount_text
from console.ui.core.permissions import Refused
from workspaces.names import NAMESPACE_LABEL, owner_of
from workspaces.quota_allocation import quantity_text
from workspaces.quotas import own_quotas, quota_entry, workspace_hard
from workspaces.rights import PROJECTS
from workspaces.services.actor import Actor

#: Seconds to wait for a new project. After that, the response reports that the project is still
#: being prepared.
READY_WITHIN = 5.0
#: Prefixes reserved for Kubernetes, this console and KubeSphere. Objects in namespaces with these
#: names are trusted, such as the configuration of identity providers in `kubesphere-system`.
_RESERVED = ("kube-", "kubesphere-", "quarterdeck-")


def check_name(name: str) -> None:
    """Raise `Refused` if the name is not allowed."""
    if not is_dns_label(name):
        raise Refused(_("Use lowercase letters, digits and hyphens (-), at most 63 characters."))
    reserved = next((prefix for prefix in _RESERVED if name.startswith(prefix)), None)
    if reserved:
        text = _("Names that start with %(prefix)s are reserved for the system.")
        raise Refused(text % {"prefix": reserved})
    if name == "new":
        # The name is a path segment of a console URL.
        raise Refused(_("This name is reserved for the console. Choose another name."))


async def create(
    actor: Actor, name: str, *, alias: str = "", description: str = "", hard: Amounts | None = None
) -> bool:
    """Create a project and return True if it is ready. `hard` is its own quota, at most the
    capacity that is left in the workspace.

    No user has permissions in the project until the controllers have prepared it. This includes
    the creator.
    """
    actor.rights.require("create", PROJECTS)
    check_name(name)
    home = actor.get_workspace()
    if hard:
        check_quota_left(actor.workspace, name, hard)
    notes = {ALIAS_ANNOTATION: alias, DESCRIPTION_ANNOTATION: description}
    body: Manifest = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "labels": {WORKSPACE_LABEL: actor.workspace, NAMESPACE_LABEL: name},
            "annotations": {
                **{note: text for note, text in notes.items() if text},
                CREATOR_ANNOTATION: actor.name,
                PREPARING_ANNOTATION: "true",
            },
            "ownerReferences": [owner_of(actor.workspace, home.uid)],
        },
    }
    try:
        await actor.as_console("create", NAMESPACES, Key("", name), body)
    except Conflict:
        raise Refused(_("A project with this name already exists.")) from None
    if hard:
        quota = quota_manifest(name, hard)
        await actor.as_console("create", RESOURCE_QUOTAS, Key(name, name), quota)
    return await _ready(name)


async def set_quota(actor: Actor, project: str, hard: Amounts, version: str) -> None:
    """Set or remove the project's own quota with the user's identity. Other fields of the quota are
    kept. `version` is the resourceVersion that the user saw, or "" if there was none.
    """
    check_quota_left(actor.workspace, project, hard)
    key = Key(project, project)
    if version and not hard:
        await actor.as_user("delete", RESOURCE_QUOTAS, key, resource_version=version)
    elif version:
        entry = quota_entry(project, project)
        body = quota_manifest(project, hard, entry.original() if entry is not None else None)
        body["metadata"]["resourceVersion"] = version
        await actor.as_user("update", RESOURCE_QUOTAS, key, body)
    elif hard:
        await actor.as_user("create", RESOURCE_QUOTAS, key, quota_manifest(project, hard))


def check_quota_left(workspace: str, project: str, hard: Amounts) -> None:
    """Raise `Refused` if the sum of the projects' own quotas would exceed the workspace quota."""
    left = quota_left(workspace, project)
    for resource, amount in hard.items():
        if resource in left and amount > left[resource]:
            text = _("%(resource)s: only %(left)s is left in the workspace quota.")
            shown = amount_text(resource, left[resource])
            raise Refused(text % {"left": shown, "resource": resource})


def quota_left(workspace: str, project: str = "") -> Amounts:
    """Return the part of the workspace quota that other projects have not reserved with own quotas.
    `project` may not exist yet.
    """
    others = [*own_quotas(workspace, but=project)]
    return {
        resource: max(Decimal(0), limit - sum(own.get(resource, Decimal(0)) for own in others))
        for resource, limit in workspace_hard(workspace).items()
    }


def quota_manifest(project: str, hard: Amounts, before: Manifest | None = None) -> Manifest:
    """Return the quota manifest. KubeSphere's console gives the quota the name of the project.
    `before` is the existing quota.
    """
    kept = before or {}
    amounts = {resource: quantity_text(resource, amount) for resource, amount in hard.items()}
    return {
        **kept,
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {**(kept.get("metadata") or {}), "name": project, "namespace": project},
        "spec": {**(kept.get("spec") or {}), "hard": amounts},
    }


async def _ready(name: str) -> bool:
    informer = get_runtime().informer(NAMESPACES)

    def is_so() -> bool:
        entry = informer.store.get(Key("", name))
        return entry is not None and not entry.projection.preparing

    return await wait_until(informer, is_so, READY_WITHIN)
