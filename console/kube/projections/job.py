"""Jobs and CronJobs.

A Job's status follows kubectl's STATUS column (printJob in Kubernetes' printers), except that a
deleted Job is always Terminating, like all other kinds. Missed runs of a CronJob are not
detected here, because that requires its schedule and the current time.
"""

from datetime import datetime

import msgspec

from console.kube.gvr import CRON_JOBS, JOBS
from console.kube.messages import Message
from console.kube.projections.common import (
    Condition,
    Decoders,
    Object,
    decoder,
    seconds_between,
    selector_text,
    valid_time,
)
from console.kube.projections.workload import (
    RUNNING,
    Spec,
    Workload,
    from_template,
)
from console.kube.status import Severity, Status


class Job(Workload, frozen=True, gc=False):
    """A Job.

    `completions` is None for a work queue with `parallelism` workers. A suspended job has no
    pods until it is resumed. `seconds` is the duration, or None while it runs.
    """

    succeeded: int
    failed: int
    active: int
    completions: int | None
    parallelism: int
    suspended: bool
    started: datetime | None
    ended: datetime | None
    seconds: int | None


class CronJob(Workload, frozen=True, gc=False):
    """A CronJob. `last_run` is the time of the last scheduled job, `last_success` of the last
    success.
    """

    schedule: str
    zone: str
    suspended: bool
    active: int
    last_run: datetime | None
    last_success: datetime | None
    concurrency: str


class _JobCondition(Condition, gc=False):
    lastTransitionTime: datetime | None = None


class _JobSpec(Spec, gc=False):
    completions: int | None = None
    parallelism: int | None = None
    suspend: bool | None = None

    @property
    def selected(self) -> str:
        """Return the selector without interning it, because each job has a unique one."""
        return selector_text(self.selector)


class _JobStatus(msgspec.Struct, gc=False):
    active: int | None = None
    ready: int | None = None
    succeeded: int | None = None
    failed: int | None = None
    startTime: datetime | None = None
    completionTime: datetime | None = None
    conditions: tuple[_JobCondition, ...] | None = None


class _Job(Object, gc=False):
    spec: _JobSpec | None = None
    status: _JobStatus | None = None


class _JobTemplate(msgspec.Struct, gc=False):
    spec: _JobSpec | None = None


class _CronSpec(msgspec.Struct, gc=False):
    schedule: str | None = None
    timeZone: str | None = None
    suspend: bool | None = None
    concurrencyPolicy: str | None = None
    jobTemplate: _JobTemplate | None = None


class _CronStatus(msgspec.Struct, gc=False):
    active: tuple[msgspec.Raw, ...] | None = None
    lastScheduleTime: datetime | None = None
    lastSuccessfulTime: datetime | None = None


class _CronJob(Object, gc=False):
    spec: _CronSpec | None = None
    status: _CronStatus | None = None


def _project_job(value: _Job) -> Job:
    spec, status = value.spec or _JobSpec(), value.status or _JobStatus()
    started, ended = valid_time(status.startTime), _ended(status)
    return Job(
        **from_template(value.metadata, spec, _job_status(spec, status)),
        succeeded=status.succeeded or 0,
        failed=status.failed or 0,
        active=status.active or 0,
        completions=spec.completions,
        parallelism=1 if spec.parallelism is None else spec.parallelism,
        suspended=bool(spec.suspend),
        started=started,
        ended=ended,
        seconds=seconds_between(started, ended),
    )


def _ended(status: _JobStatus) -> datetime | None:
    """Return the end time. A failed job has no completionTime; use the time of its Failed
    condition.
    """
    if status.completionTime is not None:
        return valid_time(status.completionTime)
    failed = [c for c in status.conditions or () if c.type == "Failed" and c.status == "True"]
    return valid_time(failed[0].lastTransitionTime) if failed else None


def _job_status(spec: _JobSpec, status: _JobStatus) -> Status:
    told = {c.type: c for c in status.conditions or () if c.status == "True"}
    if "Complete" in told:
        return Status(Severity.DONE, "Completed")
    for condition in ("Failed", "FailureTarget"):
        if condition in told:
            return Status(Severity.ERROR, "Failed", told[condition].text)
    if spec.suspend or "Suspended" in told:
        return Status(Severity.PAUSED, "Suspended")
    if not status.active:
        return Status(Severity.PROGRESS, "Waiting")
    if status.failed:
        text = Message("Failed pods: %(n)s", n=status.failed)
        return Status(Severity.WARN, "Retrying", text)
    # Servers before 1.24 do not report the number of ready pods.
    return Status(Severity.PROGRESS, "Creating") if status.ready == 0 else RUNNING


def _project_cron(value: _CronJob) -> CronJob:
    spec, status = value.spec or _CronSpec(), value.status or _CronStatus()
    job = (spec.jobTemplate and spec.jobTemplate.spec) or _JobSpec()
    return CronJob(
        **from_template(value.metadata, Spec(template=job.template), _cron_status(spec, status)),
        schedule=spec.schedule or "",
        zone=spec.timeZone or "",
        suspended=bool(spec.suspend),
        active=len(status.active or ()),
        last_run=valid_time(status.lastScheduleTime),
        last_success=valid_time(status.lastSuccessfulTime),
        concurrency=spec.concurrencyPolicy or "",
    )


def _cron_status(spec: _CronSpec, status: _CronStatus) -> Status:
    if spec.suspend:
        return Status(Severity.PAUSED, "Suspended")
    if status.active:
        return Status(Severity.OK, "Running", Message("Active jobs: %(n)s", n=len(status.active)))
    last, success = valid_time(status.lastScheduleTime), valid_time(status.lastSuccessfulTime)
    # A successful run ends after its schedule time, and no job is active anymore.
    if last is not None and (success is None or success < last):
        return Status(Severity.ERROR, "Last run failed")
    return Status(Severity.OK, "Scheduled")


DECODERS: Decoders = {
    JOBS: decoder(_Job, _project_job),
    CRON_JOBS: decoder(_CronJob, _project_cron),
}
