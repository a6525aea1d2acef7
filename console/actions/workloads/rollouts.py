"""Rollout actions of workloads: restart, pause and resume."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.actions.workloads.base import WorkloadAction
from console.kube.gvr import Key
from console.kube.store import Entry
from console.ui.core.action_texts import kubectl, quoted
from console.ui.core.actions import EVERYWHERE, ActionContext, Outcome, Patch, Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import mapping
from console.ui.core.subject import Subject

RESTARTED_ANNOTATION = "kubectl.kubernetes.io/restartedAt"


def rollout_command(words: str, kind: ResourceKind, key: Key) -> str:
    return kubectl(f"rollout {words} {kind.gvr.qualified} {quoted(key.name)}", key)


def rollout_notes(subject: Subject) -> Sequence[str | Promise]:
    """Return notes on why a new template is not rolled out automatically."""
    if getattr(subject.entry.projection, "paused", False):
        return [_("The rollout is paused. Pods are not replaced until the rollout is resumed.")]
    if mapping(subject.manifest, "spec", "updateStrategy").get("type") == "OnDelete":
        return [
            _("The update strategy is OnDelete. A pod is replaced only after you delete the pod.")
        ]
    return []


class ReplacesPods(WorkloadAction):
    """Base of actions that change the pod template."""

    effect_text = gettext_lazy("All pods are replaced according to the update strategy.")
    needs: ClassVar[tuple[Permission, ...]] = (Permission("patch"),)

    def notes(self, subject: Subject) -> Sequence[str | Promise]:
        return rollout_notes(subject)


class Restart(ReplacesPods):
    """Restart the pods like kubectl, with an annotation that changes the pod template."""

    name = "restart"
    label = pgettext_lazy("action", "Restart")
    weight = 2
    places = EVERYWHERE
    success_label = pgettext_lazy("result", "Restarted")
    failure_label = gettext_lazy("Not restarted")

    def applicable(self, entry: Entry[Any]) -> bool:
        return not getattr(entry.projection, "paused", False)

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return rollout_command("restart", kind, key)

    async def run(self, context: ActionContext) -> Outcome:
        note = {RESTARTED_ANNOTATION: f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"}
        await context.patch({"spec": {"template": {"metadata": {"annotations": note}}}})
        return context.started(_("Restarted %(kind)s %(name)s."))


class _SetPaused(Patch, WorkloadAction):
    places = EVERYWHERE

    def applicable(self, entry: Entry[Any]) -> bool:
        return bool(entry.projection.paused) is not bool(self.body["spec"]["paused"])

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return rollout_command(self.name, kind, key)


class Pause(_SetPaused):
    name = "pause"
    label = pgettext_lazy("action", "Pause")
    effect_text = gettext_lazy(
        "The pods keep running. Changes to the pod template are rolled out after you resume."
    )
    success_label = pgettext_lazy("result", "Paused")
    failure_label = gettext_lazy("Not paused")
    body = {"spec": {"paused": True}}
    done_text = gettext_lazy("Paused %(kind)s %(name)s.")


class Resume(_SetPaused):
    name = "resume"
    label = pgettext_lazy("action", "Resume")
    effect_text = gettext_lazy(
        "Changes that were made to the pod template while the rollout was paused are rolled out."
    )
    weight = 3
    success_label = pgettext_lazy("result", "Resumed")
    failure_label = gettext_lazy("Not resumed")
    body = {"spec": {"paused": None}}
    done_text = gettext_lazy("Resumed %(kind)s %(name)s.")
    is_started = True
