"""Job controller and CronJob controller."""

from datetime import UTC, datetime, timedelta

from devcluster.controllers.base import Controller, reference_to
from devcluster.controllers.cron import next_time
from devcluster.controllers.pods import (
    conditions_with,
    count_ready,
    is_active,
    new_pod,
    owner_reference,
    phase,
)
from devcluster.objects import Obj, clone, condition_of, dig, meta, parse_time, timestamp
from devcluster.store import Record

_JOBS = "jobs.batch"


class JobController(Controller):
    name, collection, dependents = "job", _JOBS, "pods"

    def reconcile_record(self, record: Record) -> float | None:
        job = record.load()
        if _finished(job):
            return self._expire(record, job)
        pods = list(self.owned(record.uid, "pods"))
        active = [pod for pod in pods if is_active(pod)]
        done = sum(phase(pod) == "Succeeded" for pod in pods)
        failed = sum(phase(pod) == "Failed" for pod in pods)
        spec = job["spec"]
        wanted = int(spec.get("completions") or spec.get("parallelism", 1))
        ended = done >= wanted or failed > int(spec.get("backoffLimit", 6))
        suspended = bool(spec.get("suspend"))
        if not suspended and not ended:
            missing = min(int(spec.get("parallelism", 1)), wanted - done) - len(active)
            for _ in range(max(0, missing)):
                self._make(job)
        if ended or suspended:
            for pod in active:
                self.delete("pods", pod)
        self._report(record, job, done, failed, wanted)
        return None

    def _make(self, job: Obj) -> None:
        pod = new_pod("batch/v1", "Job", job)
        self.create("pods", meta(job)["namespace"], pod)

    def _report(self, record: Record, job: Obj, done: int, failed: int, wanted: int) -> None:
        pods = [pod for pod in self.owned(record.uid, "pods") if is_active(pod)]
        now = timestamp()
        status: Obj = {
            **(job.get("status") or {}),
            "active": len(pods),
            "ready": count_ready(pods),
            "succeeded": done,
            "failed": failed,
            "terminating": 0,
            "uncountedTerminatedPods": {},
        }
        _note_suspension(job, status, now)
        for name in ("active", "succeeded", "failed"):
            if not status[name]:
                del status[name]
        kinds: tuple[str, ...] = ()
        reason = message = ""
        if done >= wanted:
            status["completionTime"] = now
            kinds, reason = ("SuccessCriteriaMet", "Complete"), "CompletionsReached"
            message = "Reached expected number of succeeded pods"
        elif failed > int(job["spec"].get("backoffLimit", 6)):
            kinds, reason = ("FailureTarget", "Failed"), "BackoffLimitExceeded"
            message = "Job has reached the specified backoff limit"
        if kinds:
            ended = (_condition(kind, reason, message, now) for kind in kinds)
            status["conditions"] = conditions_with(status.get("conditions"), now, *ended)
        self.set_status(self.collection, record, status)

    def _expire(self, record: Record, job: Obj) -> float | None:
        lifetime = dig(job, "spec.ttlSecondsAfterFinished")
        end = condition_of(job, "Complete") or condition_of(job, "Failed")
        if lifetime is None or end is None:
            return None
        due = parse_time(end["lastTransitionTime"]) + timedelta(seconds=int(lifetime))
        left = (due - datetime.now(UTC)).total_seconds()
        if left > 0:
            return left
        self.delete(self.collection, record)
        return None


def _note_suspension(job: Obj, status: Obj, now: str) -> None:
    """Update the start time and the Suspended condition. A resumed job gets a new start time."""
    suspended, held = bool(job["spec"].get("suspend")), condition_of(job, "Suspended")
    if suspended:
        status.pop("startTime", None)
    else:
        status.setdefault("startTime", now)
    if suspended is not (held is not None and held["status"] == "True"):
        word = "Suspended" if suspended else "Resumed"
        one = _condition("Suspended", f"Job{word}", f"Job {word.lower()}", now)
        one["status"] = str(suspended)
        status["conditions"] = conditions_with(status.get("conditions"), now, one)


def _condition(kind: str, reason: str, message: str, now: str) -> Obj:
    return {
        "type": kind,
        "status": "True",
        "lastProbeTime": now,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }


def _finished(job: Obj) -> bool:
    return any(condition_of(job, kind) for kind in ("Complete", "Failed"))


class CronJobController(Controller):
    name, collection, dependents = "cronjob", "cronjobs.batch", _JOBS

    def reconcile_record(self, record: Record) -> float | None:
        cron = record.load()
        spec = cron["spec"]
        last = dig(cron, "status.lastScheduleTime") or meta(cron)["creationTimestamp"]
        due = next_time(spec["schedule"], parse_time(last))
        now = datetime.now(UTC)
        status = dict(cron.get("status") or {})
        if due and due <= now and not spec.get("suspend"):
            busy = any(not _finished(job.load()) for job in self.owned(record.uid, _JOBS))
            if not (busy and spec.get("concurrencyPolicy") == "Forbid"):
                self.make_job(cron, now)
            status["lastScheduleTime"] = timestamp(now)
            due = next_time(spec["schedule"], now)
        self._clean_up(record, spec)
        self._report(record, status)
        return None if due is None else max(1.0, (due - now).total_seconds())

    def make_job(self, cron: Obj, now: datetime) -> None:
        """Create the job of the scheduled time, unless it exists."""
        template, about = clone(cron["spec"]["jobTemplate"]), meta(cron)
        minutes = int(now.timestamp()) // 60
        name = f"{about['name'][:52]}-{minutes}"
        if self.find(f"{about['namespace']}/{name}", _JOBS):
            return
        body: Obj = {
            "metadata": {
                **meta(template),
                "name": name,
                "annotations": {"batch.kubernetes.io/cronjob-scheduled-timestamp": timestamp(now)},
                "ownerReferences": [owner_reference("batch/v1", "CronJob", cron)],
            },
            "spec": template["spec"],
        }
        self.create(_JOBS, about["namespace"], body)

    def _clean_up(self, record: Record, spec: Obj) -> None:
        jobs = sorted(self.owned(record.uid, _JOBS), key=lambda job: job.name)
        for kind, limit in (
            ("Complete", spec.get("successfulJobsHistoryLimit", 3)),
            ("Failed", spec.get("failedJobsHistoryLimit", 1)),
        ):
            ended = [job for job in jobs if condition_of(job.load(), kind)]
            for job in ended[: max(0, len(ended) - int(limit))]:
                self.delete(_JOBS, job)

    def _report(self, record: Record, status: Obj) -> None:
        active, finished = [], []
        for job in self.owned(record.uid, _JOBS):
            found = job.load()
            if not _finished(found):
                active.append(reference_to(job, "batch/v1", "Job"))
            elif dig(found, "status.completionTime"):
                finished.append(dig(found, "status.completionTime"))
        status.pop("active", None)
        if active:
            status["active"] = active
        if finished:
            status["lastSuccessfulTime"] = max(finished)
        held = self.find(record.key)
        if held:
            self.set_status(self.collection, held, status)
