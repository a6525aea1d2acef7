"""The CronJob kind. Columns as in `kubectl get cronjobs -o wide`, plus the last successful run."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions import workloads
from console.kube.gvr import CRON_JOBS, JOBS
from console.kube.projections.job import CronJob
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, owner_fact, status_fact
from console.ui.core.deleting import DeleteOwner
from console.ui.core.kind import Nav, Scope
from console.ui.core.registry import register
from console.ui.core.text import escape_invisible
from console.ui.details.descriptions.workloads import cron_job
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.ui.details.relations.object_panels import OwnedPanel
from console.wizards import examples
from console.wizards.jobs import CRON_JOB


@register
@kind_panels(OwnedPanel(), last=(DescriptionPanel(describe=cron_job, place="right"),))
class CronJobKind(workloads.WorkloadKind):
    gvr, scope, nav = CRON_JOBS, Scope.NAMESPACED, Nav("workloads", 70, "workloads")
    short_names = ("cj",)
    owns = (JOBS,)
    created_by_operators = True
    checked_for_problems = True
    pod_spec = ("spec", "jobTemplate", "spec", "template", "spec")
    projection = CronJob
    title = gettext_lazy("CronJobs")
    singular = gettext_lazy("CronJob")
    nouns = gettext_lazy("CronJobs")
    example = {"spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": workloads.RUN}}}
    wizard = CRON_JOB
    examples = examples.CRON_JOBS
    severity_words = {Severity.OK: gettext_lazy("Scheduled")}
    columns = (
        lists.StatusColumn(),
        lists.TextColumn(id="schedule", label=gettext_lazy("Schedule"), priority=2),
        lists.TextColumn(id="zone", label=gettext_lazy("Time zone"), priority=4),
        lists.BoolColumn(id="suspended", label=gettext_lazy("Suspended"), priority=4),
        lists.NumberColumn(id="active", label=gettext_lazy("Active"), priority=3),
        lists.AgeColumn(id="last_run", label=gettext_lazy("Last run")),
        lists.AgeColumn(id="last_success", label=gettext_lazy("Last success"), priority=3),
        lists.TextColumn(id="concurrency", label=gettext_lazy("Concurrency"), priority=4),
        lists.ImagesColumn(),
        lists.ContainersColumn(),
        lists.OwnerColumn(),
    )
    actions = (
        workloads.RunNow(),
        workloads.Suspend(),
        workloads.Unsuspend(),
        workloads.EditEnvironment(affects_future_jobs=True),
        workloads.EditProbes(affects_future_jobs=True),
        workloads.EditVolumes(affects_future_jobs=True),
        DeleteOwner(),
    )

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        item: CronJob = entry.projection
        return [
            status_fact(item.status),
            (_("Schedule"), escape_invisible(f"{item.schedule} {item.zone}".strip()) or _("none")),
            (_("Jobs"), _("will also be deleted")),
            owner_fact(item.owner),
        ]
