"""The Job kind. Columns as in `kubectl get jobs -o wide`, plus the controlling owner."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.workloads.base import RUN, TEMPLATE, WorkloadKind
from console.actions.workloads.runs import Rerun, Suspend, Unsuspend
from console.kube.gvr import JOBS, PODS
from console.kube.projections.job import Job
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, owner_fact, pods_fact, status_fact
from console.ui.core.container_actions import ShowLogs
from console.ui.core.deleting import DeleteOwner
from console.ui.core.kind import Nav, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.jobs import job
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.ui.details.relations.object_panels import OwnedPanel
from console.ui.details.relations.rollout import RolloutCause
from console.wizards import examples
from console.wizards.jobs import JOB


def completions_text(job: Job) -> str:
    """Return the completions in the format of kubectl's `printJob`. A work queue has no fixed
    number of completions.
    """
    if job.completions is not None:
        return f"{job.succeeded}/{job.completions}"
    workers = f" of {job.parallelism}" if job.parallelism > 1 else ""
    return f"{job.succeeded}/1{workers}"


def completions_sort_key(job: Job) -> tuple[float, int]:
    """Return the sort key: the completed fraction, then the number of completions."""
    wanted = 1 if job.completions is None else job.completions
    return (job.succeeded / wanted if wanted else 1.0, wanted)


@register
@kind_panels(RolloutCause(), OwnedPanel(), last=(DescriptionPanel(describe=job, place="right"),))
class JobKind(WorkloadKind):
    gvr, scope, nav = JOBS, Scope.NAMESPACED, Nav("workloads", 60, "workloads")
    owns = (PODS,)
    created_by_operators = True
    checked_for_problems = True
    projection = Job
    title = gettext_lazy("Jobs")
    singular = gettext_lazy("job")
    nouns = gettext_lazy("jobs")
    example = {"spec": RUN}
    wizard = JOB
    examples = examples.JOBS
    columns = (
        lists.NameColumn(owner=lambda item: item.owner),
        lists.NamespaceColumn(),
        lists.StatusColumn(),
        lists.TextColumn(
            id="completions",
            label=gettext_lazy("Completions"),
            align="end",
            get=completions_text,
            order=completions_sort_key,
        ),
        lists.NumberColumn(id="active", label=gettext_lazy("Active"), priority=3),
        lists.NumberColumn(id="failed", label=gettext_lazy("Failed pods"), priority=3),
        lists.ElapsedColumn(
            id="duration",
            label=gettext_lazy("Duration"),
            priority=2,
            get=lambda item: item.seconds,
            since=lambda item: item.started,
        ),
        lists.AgeColumn(id="started", label=gettext_lazy("Started"), priority=4),
        lists.OwnerColumn(priority=3),
        *TEMPLATE,
    )
    actions = (ShowLogs(), Rerun(), Suspend(), Unsuspend(), DeleteOwner())

    def order_among_owned(self, entry: Entry[Any]) -> tuple[Any, ...] | None:
        """Return a sort key that puts the newest job first."""
        created = entry.projection.created
        return (-created.timestamp() if created else 0.0,)

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        item: Job = entry.projection
        return [
            status_fact(item.status),
            (_("Completions"), completions_text(item)),
            pods_fact(),
            owner_fact(item.owner),
        ]
