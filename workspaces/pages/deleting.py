"""Action that deletes a workspace by deleting its template."""

from collections.abc import Sequence
from typing import Any

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR, NAMESPACES, Key
from console.kube.projections.namespace import SYSTEM_WORKSPACE
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.action_texts import Fact
from console.ui.core.actions import ActionContext, ActionSucceeded, Delete, Outcome
from console.ui.core.kind import ResourceKind
from console.ui.core.permissions import Refused
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from workspaces.names import KEEP_FINALIZER
from workspaces.pages.forms import DeleteWorkspaceForm
from workspaces.quotas import projects_of


class DeleteWorkspace(Delete):
    """Delete a workspace. Its projects can be kept; they then belong to no workspace."""

    form = DeleteWorkspaceForm
    title_text = gettext_lazy("Delete workspace %(name)s")
    button_text = gettext_lazy("Delete workspace")
    effect_text = gettext_lazy(
        "The memberships, roles and departments of the workspace are also deleted. Its "
        "projects are deleted too unless you keep them."
    )

    def applicable(self, entry: Entry[Any]) -> bool:
        return entry.key.name != SYSTEM_WORKSPACE

    async def check(self, access: Access, gvr: GVR, key: Key) -> None:
        if key.name == SYSTEM_WORKSPACE:
            raise Refused(
                _("The workspace that contains the cluster's system projects cannot be deleted.")
            )

    def facts(self, kind: ResourceKind, entry: Entry[Any]) -> Sequence[Fact]:
        return [(_("Manager"), escape_invisible(entry.projection.manager) or _("none"))]

    def notes(self, subject: Subject) -> Sequence[str | Promise]:
        """List only the projects that the viewer may see, because permission to delete a workspace
        does not include viewing its content.
        """
        names = ", ".join(
            escape_invisible(project.name)
            for project in projects_of(subject.key.name)
            if subject.access.can("get", NAMESPACES, name=project.name)
        )
        return (
            [
                _("Projects in this workspace that you have permission to view: %(names)s")
                % {"names": names}
            ]
            if names
            else []
        )

    async def run(self, context: ActionContext) -> Outcome:
        if context.data.get("keep"):
            found = await context.client.get(context.kind.gvr, name=context.key.name)
            meta = found["metadata"]
            finalizers = sorted({*(meta.get("finalizers") or ()), KEEP_FINALIZER})
            body = {"resourceVersion": meta["resourceVersion"], "finalizers": finalizers}
            await context.patch({"metadata": body})
        await context.delete()
        text = _("Workspace %(name)s is being deleted.") % context.message_values
        return ActionSucceeded(text, reverse("workspace_list"))
