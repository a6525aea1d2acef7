"""Wizards of Jobs and CronJobs."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.cron import ScheduleError, next_runs, parse_schedule
from console.kube.gvr import CRON_JOBS, JOBS
from console.kube.names import is_dns_label
from console.ui.wizard import fields
from console.ui.wizard.fields import Choice, Text
from console.ui.wizard.parts import Group
from console.ui.wizard.paths import Path
from console.ui.wizard.state import FieldScope
from console.ui.wizard.wizard import Slot, Step
from console.wizards.pod_paths import CRON_POD, POD
from console.wizards.workloads import (
    Following,
    basics,
    facts_of,
    new_pod,
    template_steps,
    workload_wizard,
)

#: The names of jobs are a CronJob's name and 11 characters.
_MOST_NAME = 52
_RUNS = 5
_RESTART = fields.Select(
    id="restartPolicy",
    label=gettext_lazy("After a failure"),
    picks=True,
    choices=(
        Choice("Never", gettext_lazy("New pod"), gettext_lazy("Failed pods and their logs stay")),
        Choice("OnFailure", gettext_lazy("Same pod"), gettext_lazy("Its containers start again")),
    ),
)


def _runs(path: Path) -> Step:
    """Return the step for how pods of a job run. `path` is the job's spec."""

    def number(id: str, label: Text, usual: Text = "", **other: Any) -> fields.NumberInput:
        return fields.NumberInput(id=id, label=label, placeholder=usual, **other)

    return Step(
        id="runs",
        title=gettext_lazy("Runs"),
        is_optional=True,
        parts=(
            Group(
                path=path,
                parts=(
                    Group(
                        pairs=True,
                        parts=(
                            number("completions", gettext_lazy("Successful pods"), "1"),
                            number("parallelism", gettext_lazy("Pods at the same time"), "1"),
                            number("backoffLimit", gettext_lazy("Retries"), "6"),
                            number(
                                "activeDeadlineSeconds",
                                gettext_lazy("Stops after"),
                                gettext_lazy("No limit"),
                                unit="s",
                                least=1,
                                most=2**53,
                            ),
                            number(
                                "ttlSecondsAfterFinished",
                                gettext_lazy("Deleted after it ended"),
                                gettext_lazy("Never"),
                                unit="s",
                            ),
                        ),
                    ),
                    fields.Select(
                        id="completionMode",
                        label=gettext_lazy("Pods are"),
                        picks=True,
                        choices=(
                            Choice(
                                "", gettext_lazy("All the same"), gettext_lazy("Any pod counts")
                            ),
                            Choice(
                                "Indexed",
                                gettext_lazy("Numbered"),
                                gettext_lazy("Each number must succeed once"),
                            ),
                        ),
                        implied="NonIndexed",
                    ),
                ),
            ),
        ),
    )


def _cron_name(value: str, _scope: FieldScope) -> Text:
    if is_dns_label(value) and len(value) <= _MOST_NAME:
        return ""
    return _("Use up to 52 lowercase letters, digits and -. Start and end with a letter or digit.")


def _schedule_problem(value: str, _scope: FieldScope) -> Text:
    try:
        parse_schedule(value)
    except ScheduleError as error:
        names = (
            _("minute: use 0 to 59"),
            _("hour: use 0 to 23"),
            _("day of the month: use 1 to 31"),
            _("month: use 1 to 12 or JAN to DEC"),
            _("day of the week: use 0 (Sunday) to 6 or SUN to SAT"),
        )
        if error.field is not None:
            return _("Wrong %(field)s.") % {"field": names[error.field]}
        return _(
            "Enter five fields: minute, hour, day of the month, month and day of the week, "
            "such as 30 2 * * *."
        )
    return ""


@lru_cache(1)
def _zones() -> Sequence[str]:
    return sorted(available_timezones() - {"localtime"})


def _zone_problem(value: str, _scope: FieldScope) -> Text:
    return "" if value in _zones() else _("Enter a time zone, such as Europe/Berlin or Etc/UTC.")


def _next_runs(value: Any, scope: FieldScope, count: int = _RUNS) -> Text:
    """Return the next runs of a schedule in words, or "" if they are unknown."""
    zone = scope.get("spec", "timeZone") or "Etc/UTC"
    if not isinstance(value, str) or not isinstance(zone, str) or zone not in _zones():
        return ""
    try:
        runs = next_runs(value, ZoneInfo(zone), datetime.now(UTC), count)
    except ScheduleError:
        return ""
    times = ", ".join(one.strftime("%Y-%m-%d %H:%M") for one in runs)
    return _("Next runs: %(times)s (%(zone)s)") % {"times": times, "zone": zone} if times else ""


def _cron_facts(scope: FieldScope) -> Sequence[tuple[Text, str]]:
    schedule = scope.get("spec", "schedule")
    found = facts_of(CRON_POD, scope)
    if isinstance(schedule, str):
        found = [(gettext_lazy("Schedule"), schedule), *found]
    return found


_SCHEDULE = Step(
    id="schedule",
    title=gettext_lazy("Schedule"),
    facts=lambda scope: str(scope.get("spec", "schedule") or ""),
    parts=(
        Group(
            path=("spec",),
            parts=(
                fields.Suggested(
                    id="schedule",
                    label=gettext_lazy("Schedule"),
                    hint=gettext_lazy("Minute, hour, day of the month, month, day of the week"),
                    required=True,
                    code=True,
                    placeholder="30 2 * * *",
                    check=_schedule_problem,
                    suggest=lambda scope: (
                        "*/15 * * * *",
                        "0 * * * *",
                        "30 2 * * *",
                        "30 2 * * 0",
                        "30 2 1 * *",
                    ),
                    finding=lambda value, scope: _next_runs(
                        value, FieldScope(scope.state, scope.slot)
                    ),
                ),
                fields.Suggested(
                    id="timeZone",
                    label=gettext_lazy("Time zone"),
                    placeholder=gettext_lazy("Of the cluster, usually UTC"),
                    check=_zone_problem,
                    suggest=lambda scope: _zones(),
                ),
                fields.CheckBox(
                    id="suspend",
                    label=gettext_lazy("Suspended"),
                    hint=gettext_lazy("No jobs start until it is resumed."),
                ),
            ),
        ),
        Group(
            path=("spec",),
            parts=(
                fields.Select(
                    id="concurrencyPolicy",
                    label=gettext_lazy("If the job before still runs"),
                    picks=True,
                    choices=(
                        Choice("Forbid", gettext_lazy("Wait"), gettext_lazy("Skip the new run")),
                        Choice(
                            "Replace",
                            gettext_lazy("Replace"),
                            gettext_lazy("Stop the old job, start the new one"),
                        ),
                        Choice("Allow", gettext_lazy("Run both"), gettext_lazy("At the same time")),
                    ),
                ),
                Group(
                    pairs=True,
                    parts=(
                        fields.NumberInput(
                            id="startingDeadlineSeconds",
                            label=gettext_lazy("Latest start after"),
                            unit="s",
                            most=2**53,
                            placeholder=gettext_lazy("No limit"),
                        ),
                        fields.NumberInput(
                            id="successfulJobsHistoryLimit",
                            label=gettext_lazy("Kept successful jobs"),
                            placeholder="3",
                        ),
                        fields.NumberInput(
                            id="failedJobsHistoryLimit",
                            label=gettext_lazy("Kept failed jobs"),
                            placeholder="1",
                        ),
                    ),
                ),
            ),
        ),
    ),
)

JOB = workload_wizard(
    Slot(id="", gvr=JOBS, api_kind="Job"),
    (basics(JOBS), *template_steps(POD, runs=(_RESTART,), between=(_runs(("spec",)),))),
    {"spec": new_pod(restartPolicy="Never")},
    Following(selects=False),
)

CRON_JOB = workload_wizard(
    Slot(id="", gvr=CRON_JOBS, api_kind="CronJob"),
    (
        basics(CRON_JOBS, check=_cron_name),
        _SCHEDULE,
        *template_steps(CRON_POD, runs=(_RESTART,), between=(_runs(CRON_POD[:-2]),)),
    ),
    {
        "spec": {
            "concurrencyPolicy": "Forbid",
            "jobTemplate": {"spec": new_pod(restartPolicy="Never")},
        }
    },
    Following(pod=CRON_POD, selects=False),
    facts=_cron_facts,
)
