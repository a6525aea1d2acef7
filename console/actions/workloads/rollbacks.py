"""The action that rolls a workload back to an earlier revision."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.workloads.rollouts import ReplacesPods, rollout_command
from console.kube.gvr import CONTROLLER_REVISIONS, GVR, REPLICA_SETS, Key
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.action_texts import quoted
from console.ui.core.actions import ActionContext, Outcome, Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import LAST_APPLIED, mapping
from console.ui.core.permissions import Refused
from console.ui.core.subject import Subject
from console.ui.details.relations.revisions import (
    Revision,
    revisions_of,
    stored_revisions,
    template_difference,
)
from console.ui.details.relations.visible_type import VisibleType
from console.ui.forms.forms import ChoiceField, ConsoleForm

_HASH_LABEL = "pod-template-hash"
#: Annotations of a Deployment that don't belong to its revision, as in kubectl and the Deployment
#: controller.
_OWN_ANNOTATIONS = frozenset(
    {
        "deployment.kubernetes.io/revision",
        "deployment.kubernetes.io/revision-history",
        "deployment.kubernetes.io/desired-replicas",
        "deployment.kubernetes.io/max-replicas",
        "deprecated.deployment.rollback.to",
        LAST_APPLIED,
    }
)


class RevisionForm(ConsoleForm):
    """Form that confirms the displayed revision. `known` contains the selectable revisions, newest
    first.
    """

    def __init__(self, data: QueryDict | None, known: Sequence[Revision], first: str) -> None:
        super().__init__(data, initial={"revision": first})
        self.known = {str(one.number): one for one in known}
        field = ChoiceField(
            label=gettext_lazy("Revision"), choices=[(number, number) for number in self.known]
        )
        field.widget = forms.HiddenInput()
        self.fields["revision"] = field

    @property
    def chosen(self) -> Revision | None:
        return self.known.get(str(self["revision"].value()))

    def clean(self) -> dict[str, Any]:
        return {**(super().clean() or {}), "chosen": self.chosen}


class _RollBack(ReplacesPods):
    """Base of rollback actions. `kept_in` is the type that stores the revisions."""

    name = "rollback"
    label = gettext_lazy("Roll back")
    effect_text = gettext_lazy(
        "All pods are replaced with pods of the selected revision. The selected revision "
        "becomes the newest revision."
    )
    kept_in: ClassVar[GVR]

    def applicable(self, entry: Entry[Any]) -> bool:
        return not getattr(entry.projection, "paused", False)

    def is_offered(self, access: Access, entry: Entry[Any]) -> bool:
        """Offer the action if another revision exists, or if the revisions are not loaded."""
        informer = access.cluster.runtime.informers().get(self.kept_in)
        if informer is not None and informer.freshness.synced:
            return len(stored_revisions(informer.store, entry)) > 1 and self.applicable(entry)
        return self.applicable(entry)

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return f"{rollout_command('undo', kind, key)} --to-revision={quoted(data['revision'])}"

    def reads(self, kind: ResourceKind) -> Collection[GVR]:
        return (self.kept_in,)

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        found = revisions_of(subject, VisibleType(subject, self.kept_in))
        known = [one for one in found if not one.current]
        if not known:
            raise Refused(_("This workload has only one revision, so it cannot be rolled back."))
        asked = subject.query.get("revision", str(known[0].number))
        if asked not in {str(one.number) for one in known}:
            raise Refused(_("This revision no longer exists."))
        return RevisionForm(data, known, asked)

    async def extra_html(self, subject: Subject, form: ConsoleForm | None) -> SafeString:
        if not isinstance(form, RevisionForm):
            return SafeString("")
        chosen = form.chosen
        now = mapping(subject.entry.original(), "spec", "template")
        lines, problem = template_difference(now, chosen.template) if chosen else ([], "")
        context = {
            "revisions": form.known.values(),
            "chosen": chosen,
            "lines": lines,
            "problem": problem,
            "next": subject.query.get("next", ""),
        }
        return render_to_string("ui/relations/rollback.html", context)

    async def run(self, context: ActionContext) -> Outcome:
        revision: Revision = context.data["chosen"]
        await context.json_patch(*await self.changes(context, revision))
        text = _("Rolled back %(kind)s %(name)s to revision %(number)s.")
        return context.started(text, number=revision.number)

    async def changes(self, context: ActionContext, revision: Revision) -> list[Mapping[str, Any]]:
        """Return the changes as JSON Patch operations."""
        return [{"op": "replace", "path": "/spec/template", "value": _restored(revision.template)}]


class RollBackDeployment(_RollBack):
    needs = (
        Permission("patch"),
        Permission("get"),
        Permission("list", gvr=REPLICA_SETS),
    )
    kept_in = REPLICA_SETS

    async def changes(self, context: ActionContext, revision: Revision) -> list[Mapping[str, Any]]:
        """Restore the pod template and the revision's annotations, such as its change cause."""
        now = mapping(await context.fetch(), "metadata", "annotations")
        annotations = {name: text for name, text in now.items() if name in _OWN_ANNOTATIONS}
        for name, text in revision.annotations.items():
            if name not in _OWN_ANNOTATIONS:
                annotations[name] = text
        return [
            *await super().changes(context, revision),
            {"op": "add", "path": "/metadata/annotations", "value": annotations},
        ]


class RollBackSet(_RollBack):
    """Roll back a StatefulSet or DaemonSet."""

    needs = (
        Permission("patch"),
        Permission("list", gvr=CONTROLLER_REVISIONS),
    )
    kept_in = CONTROLLER_REVISIONS


def _restored(template: Mapping[str, Any]) -> dict[str, Any]:
    """Return the pod template without the fields that the controller added to the revision."""
    found = {key: value for key, value in template.items() if key != "$patch"}
    labels = mapping(template, "metadata", "labels")
    if _HASH_LABEL in labels:
        kept = {name: text for name, text in labels.items() if name != _HASH_LABEL}
        found["metadata"] = {**mapping(template, "metadata"), "labels": kept}
    return found
