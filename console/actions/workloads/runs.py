"""Actions on jobs and cron jobs: run, rerun, suspend and resume."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.actions.creation import LONGEST, create_object, new_name
from console.actions.workloads.base import WorkloadAction
from console.kube.gvr import JOBS, Key
from console.kube.store import Entry
from console.ui.core.action_texts import kubectl, quoted
from console.ui.core.actions import EVERYWHERE, ActionContext, Outcome, Patch, Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import LAST_APPLIED, mapping
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import ConsoleForm, TextField

MANUAL_ANNOTATION = "cronjob.kubernetes.io/instantiate"
#: Labels, annotations and fields that the controller and kubectl set for one specific job.
_OWN_LABELS = frozenset(
    f"{prefix}{name}"
    for prefix in ("", "batch.kubernetes.io/")
    for name in ("controller-uid", "job-name")
)
_OWN_ANNOTATIONS = frozenset(
    {
        "batch.kubernetes.io/cronjob-scheduled-timestamp",
        "batch.kubernetes.io/job-tracking",
        LAST_APPLIED,
    }
)
_OWN_FIELDS = frozenset({"selector", "manualSelector", "suspend"})


class RunForm(ConsoleForm):
    """Form with the name of the new job, so that submitting twice creates only one job."""

    error_fields: Mapping[str, str] = {"metadata.name": "name"}
    name = TextField(label=gettext_lazy("Job name"), max_length=LONGEST)


class _Run(WorkloadAction):
    needs = (Permission("create", gvr=JOBS), Permission("get"))
    form = RunForm

    def initial(self, entry: Entry[Any]) -> Mapping[str, Any]:
        return {"name": new_name(entry.key.name)}

    async def run(self, context: ActionContext) -> Outcome:
        name = context.data["name"]
        body = {"apiVersion": "batch/v1", "kind": "Job", **self.job(await context.fetch())}
        body["metadata"]["name"] = name
        return await create_object(
            context, JOBS, body, _("Started job %(name)s.") % {"name": escape_invisible(name)}
        )

    def job(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """Return the manifest of the new job without its name."""
        raise NotImplementedError


class Rerun(_Run):
    """Run a finished job again. Unlike in KubeSphere, the old job is kept."""

    name = "rerun"
    label = pgettext_lazy("action", "Rerun")
    effect_text = gettext_lazy("A new job with the same template starts. This job is not changed.")
    weight = 3

    def applicable(self, entry: Entry[Any]) -> bool:
        return entry.projection.ended is not None

    def job(self, found: Mapping[str, Any]) -> dict[str, Any]:
        about, spec = mapping(found, "metadata"), _without(mapping(found, "spec"), _OWN_FIELDS)
        template = mapping(spec, "template")
        labels = _without(mapping(template, "metadata", "labels"), _OWN_LABELS)
        spec["template"] = {
            **template,
            "metadata": {**mapping(template, "metadata"), "labels": labels},
        }
        metadata = {
            "labels": _without(mapping(about, "labels"), _OWN_LABELS),
            "annotations": _without(mapping(about, "annotations"), _OWN_ANNOTATIONS),
            "ownerReferences": about.get("ownerReferences") or [],
        }
        return {"metadata": metadata, "spec": spec}


class RunNow(_Run):
    """Run a cron job now, like `kubectl create job --from`."""

    name = "run"
    label = gettext_lazy("Run now")
    title_text = gettext_lazy("Run %(kind)s %(name)s now")
    effect_text = gettext_lazy(
        "A job starts immediately, even if other jobs are running. The schedule is not changed."
    )
    weight = 3

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        source, name = quoted(f"cronjob/{key.name}"), quoted(data["name"])
        return kubectl(f"create job {name} --from={source}", key)

    def job(self, found: Mapping[str, Any]) -> dict[str, Any]:
        about, template = mapping(found, "metadata"), mapping(found, "spec", "jobTemplate")
        owner = {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "name": about.get("name"),
            "uid": about.get("uid"),
            "controller": True,
        }
        annotations = {MANUAL_ANNOTATION: "manual", **mapping(template, "metadata", "annotations")}
        metadata = {
            "labels": mapping(template, "metadata", "labels"),
            "annotations": annotations,
            "ownerReferences": [owner],
        }
        return {"metadata": metadata, "spec": mapping(template, "spec")}


def _without(found: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name not in names}


class _SetSuspend(Patch, WorkloadAction):
    places = EVERYWHERE

    def applicable(self, entry: Entry[Any]) -> bool:
        item = entry.projection
        wanted = self.body["spec"]["suspend"]
        return getattr(item, "ended", None) is None and item.suspended is not wanted


class Suspend(_SetSuspend):
    name = "suspend"
    label = pgettext_lazy("action", "Suspend")
    weight = 2
    success_label = pgettext_lazy("result", "Suspended")
    failure_label = gettext_lazy("Not suspended")
    body = {"spec": {"suspend": True}}
    done_text = gettext_lazy("Suspended %(kind)s %(name)s.")

    def effect(self, kind: ResourceKind) -> str | Promise:
        if kind.gvr == JOBS:
            return _(
                "The running pods are deleted. After you resume the job, the job completes the "
                "remaining work."
            )
        return _("The schedule starts no new jobs. Running jobs continue.")


class Unsuspend(_SetSuspend):
    name = "resume"
    label = pgettext_lazy("action", "Resume")
    weight = 3
    success_label = pgettext_lazy("result", "Resumed")
    failure_label = gettext_lazy("Not resumed")
    body = {"spec": {"suspend": False}}
    done_text = gettext_lazy("Resumed %(kind)s %(name)s.")

    def effect(self, kind: ResourceKind) -> str | Promise:
        if kind.gvr == JOBS:
            return _("New pods are created to complete the remaining work.")
        return _("The schedule starts jobs again. A missed run may start immediately.")
