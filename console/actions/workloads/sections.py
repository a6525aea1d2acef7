"""Actions that edit some fields of a workload. The fields are declared in
`console.wizards.workloads`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.workloads.base import WorkloadAction, template_containers
from console.actions.workloads.resources import current_usage
from console.actions.workloads.rollouts import rollout_notes
from console.kube.gvr import POD_METRICS, PODS, Key
from console.kube.merging import json_patch
from console.kube.store import Entry
from console.ui.core.action_texts import kubectl, kubectl_patch, quoted
from console.ui.core.actions import EditSection
from console.ui.core.kind import ResourceKind
from console.ui.core.subject import Subject
from console.ui.forms.forms import ConsoleForm


@dataclass(frozen=True, kw_only=True)
class EditTemplate(EditSection, WorkloadAction):
    """Edit fields of a pod template. `affects_future_jobs` is True if the change only affects pods
    of future jobs.
    """

    affects_future_jobs: bool = False

    def applicable(self, entry: Entry[Any]) -> bool:
        return bool(entry.projection.containers)

    def effect(self, kind: ResourceKind) -> str | Promise:
        if self.affects_future_jobs:
            return _("Future jobs use the change. Existing jobs are not changed.")
        return _("All pods are replaced according to the update strategy.")

    def notes(self, subject: Subject) -> Sequence[str | Promise]:
        return [*super().notes(subject), *rollout_notes(subject)]


class SetImage(EditTemplate):
    name = "set-image"
    label = gettext_lazy("Set image")
    title_text = gettext_lazy("Set images of %(kind)s %(name)s")

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        changes = list(json_patch(data["before"], data["after"])) if data else []
        if not changes:
            return ""
        changed = {one["path"] for one in changes if one["op"] != "test"}
        images = {
            f"/{'/'.join(kind.pod_spec)}/{group}/{at}/image": f"{name}={found.get('image')}"
            for group, at, name, found in template_containers(data["after"])
        }
        if not changed <= images.keys():
            return kubectl_patch(kind.gvr, key, changes, "json")
        words = (quoted(image) for path, image in images.items() if path in changed)
        place = f"{kind.gvr.qualified} {quoted(key.name)}"
        return kubectl(f"set image {place} {' '.join(words)}", key)


class SetResources(EditTemplate):
    name = "set-resources"
    label = gettext_lazy("Set resources")
    title_text = gettext_lazy("Set resources of %(kind)s %(name)s")
    reads_also = (PODS, POD_METRICS)

    async def extra_html(self, subject: Subject, form: ConsoleForm | None) -> SafeString:
        usage = current_usage(subject)
        return render_to_string("ui/_container_usage.html", {"usage": usage})


class EditEnvironment(EditTemplate):
    name = "environment"
    label = gettext_lazy("Edit environment")
    title_text = gettext_lazy("Edit the environment of %(kind)s %(name)s")


class EditProbes(EditTemplate):
    name = "probes"
    label = gettext_lazy("Edit probes")
    title_text = gettext_lazy("Edit the probes of %(kind)s %(name)s")


class EditVolumes(EditTemplate):
    name = "volumes"
    label = gettext_lazy("Edit volumes")
    title_text = gettext_lazy("Edit the volumes of %(kind)s %(name)s")


class EditStrategy(EditSection, WorkloadAction):
    name = "strategy"
    label = gettext_lazy("Edit update strategy")
    title_text = gettext_lazy("Edit the update strategy of %(kind)s %(name)s")
    effect_text = gettext_lazy(
        "The change applies to the current rollout and to all later rollouts."
    )
