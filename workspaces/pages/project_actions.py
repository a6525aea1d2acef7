"""Actions on a project: edit its alias and description, edit its quota, assign it to a workspace."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import NAMESPACES, RESOURCE_QUOTAS, WORKSPACE_TEMPLATES, Key
from console.kube.projections.namespace import SYSTEM_NAMESPACES, WORKSPACE_LABEL
from console.kube.projections.roles import ALIAS_ANNOTATION, DESCRIPTION_ANNOTATION
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.action_texts import Fact
from console.ui.core.actions import (
    Action,
    ActionContext,
    ActionSucceeded,
    Link,
    Outcome,
    Permission,
)
from console.ui.core.clusters import HOST
from console.ui.core.kind import ResourceKind
from console.ui.core.labels import command_of
from console.ui.core.manifests import mapping, text
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.details.relations.visible_type import VisibleType
from console.ui.forms.forms import ChoiceField, ConsoleForm, TextField


class ProjectForm(ConsoleForm):
    alias = TextField(label=gettext_lazy("Alias"), is_optional=True)
    description = TextField(label=gettext_lazy("Description"), is_optional=True)


class EditProject(Action):
    name = "describe"
    label = gettext_lazy("Edit information")
    weight = 2
    needs = (Permission("patch"),)
    audit_verb = ("patch", "describe")
    form = ProjectForm
    title_text = gettext_lazy("Edit information of %(kind)s %(name)s")
    button_text = gettext_lazy("Save")

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return command_of("annotate", kind, key, _notes(data))

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        found = mapping(subject.manifest, "metadata", "annotations")
        begins = {
            "alias": text(found.get(ALIAS_ANNOTATION)),
            "description": text(found.get(DESCRIPTION_ANNOTATION)),
        }
        return ProjectForm(data, initial=begins)

    async def run(self, context: ActionContext) -> Outcome:
        await context.patch({"metadata": {"annotations": _notes(context.data)}})
        return ActionSucceeded(_("Saved %(kind)s %(name)s.") % context.message_values)


def _notes(data: Mapping[str, Any]) -> dict[str, str | None]:
    return {
        ALIAS_ANNOTATION: data["alias"] or None,
        DESCRIPTION_ANNOTATION: data["description"] or None,
    }


class EditQuota(Link):
    """Link to the quota form of a project on the pages of its workspace."""

    name = "quota"
    label = gettext_lazy("Edit quota")
    weight = 2
    needs = (Permission("get"),)
    # The required permission is granted in the project.
    per_user = True

    def is_protected(self, access: Access, name: str) -> bool:
        here = access.cluster.name == HOST
        return not here or not access.can("update", RESOURCE_QUOTAS, namespace=name)

    def applicable(self, entry: Entry[Any]) -> bool:
        return bool(entry.projection.workspace)

    def url(self, cluster: str, segment: str, key: Key) -> str:
        return reverse("project_quota", args=(key.name,))


class AssignForm(ConsoleForm):
    """Form for the workspace of a project. `was` is the current workspace or ""."""

    def __init__(self, data: QueryDict | None, was: str, names: Collection[str]) -> None:
        super().__init__(data, initial={"workspace": was})
        offered = sorted({*names, was} - {""})
        choices = [("", _("none")), *((name, name) for name in offered)]
        self.fields["workspace"] = ChoiceField(label=_("Workspace"), choices=choices)


class AssignWorkspace(Action):
    """Assign a project to a workspace. Only for users who may change all projects, because project
    members must not choose the workspace.
    """

    name = "assign-workspace"
    label = gettext_lazy("Assign workspace")
    needs = (Permission("patch"),)
    audit_verb = ("patch", "assign-workspace")
    per_user = True
    reads_also = (WORKSPACE_TEMPLATES,)
    title_text = gettext_lazy("Assign %(kind)s %(name)s to a workspace")
    button_text = gettext_lazy("Save")
    effect_text = gettext_lazy(
        "Members of the new workspace get access to the project, and the project uses the "
        "quota of the new workspace. Members and roles of the previous workspace lose "
        "access. Workloads in the project keep running."
    )

    def is_protected(self, access: Access, name: str) -> bool:
        every = access.namespaces_where("patch", NAMESPACES) is None
        anywhere = every and access.can("list", WORKSPACE_TEMPLATES)
        return name in SYSTEM_NAMESPACES or access.cluster.name != HOST or not anywhere

    def facts(self, kind: ResourceKind, entry: Entry[Any]) -> Sequence[Fact]:
        return kind.facts(entry)[:2]

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return command_of("label", kind, key, {WORKSPACE_LABEL: data["workspace"] or None})

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        seeing = VisibleType(subject, WORKSPACE_TEMPLATES)
        there = seeing.informer.store.snapshot().entries.values() if seeing.informer else ()
        names = [entry.key.name for entry in seeing.only_visible(there)]
        return AssignForm(data, subject.entry.projection.workspace, names)

    async def run(self, context: ActionContext) -> Outcome:
        wanted = context.data["workspace"]
        await context.patch({"metadata": {"labels": {WORKSPACE_LABEL: wanted or None}}})
        words = {**context.message_values, "workspace": escape_invisible(wanted)}
        if not wanted:
            return ActionSucceeded(_("%(kind)s %(name)s no longer belongs to a workspace.") % words)
        return ActionSucceeded(
            _("%(kind)s %(name)s now belongs to workspace %(workspace)s.") % words
        )
