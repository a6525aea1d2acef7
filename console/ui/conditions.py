"""Status conditions in plain words.

See https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-conditions and the
types of each kind. The meaning of "True" depends on the type: most types describe a healthy
state, and some describe a problem. Types that are not listed here are shown unchanged and
without a severity.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.status import Severity
from console.ui.manifests import listed, text, time
from console.ui.panels import NOTHING, Panel
from console.ui.subject import Subject


class _Words(NamedTuple):
    """The texts and severities for the status "True" and for "False"."""

    true: str | Promise
    false: str | Promise
    if_true: Severity = Severity.OK
    if_false: Severity = Severity.WARN


def _wrong(true: str | Promise, false: str | Promise, how: Severity = Severity.WARN) -> _Words:
    return _Words(true, false, how, Severity.OK)


_WORDS: Mapping[str, _Words] = {
    "Ready": _Words(gettext_lazy("It is ready"), gettext_lazy("It is not ready")),
    "ContainersReady": _Words(
        gettext_lazy("All containers are ready"), gettext_lazy("Not all containers are ready")
    ),
    "Initialized": _Words(
        gettext_lazy("The init containers are done"),
        gettext_lazy("The init containers are not done"),
    ),
    "PodScheduled": _Words(gettext_lazy("A node was found"), gettext_lazy("No node was found")),
    "PodReadyToStartContainers": _Words(
        gettext_lazy("Its network and volumes are set up"),
        gettext_lazy("Its network and volumes are not set up"),
        if_false=Severity.PROGRESS,
    ),
    "DisruptionTarget": _wrong(
        gettext_lazy("It is about to be evicted"), gettext_lazy("Nothing evicts it")
    ),
    "Available": _Words(
        gettext_lazy("Enough replicas are available"), gettext_lazy("Too few are available")
    ),
    "Progressing": _Words(
        gettext_lazy("The rollout goes on or is done"),
        gettext_lazy("The rollout is stuck"),
        if_false=Severity.ERROR,
    ),
    "ReplicaFailure": _wrong(
        gettext_lazy("Pods cannot be created"), gettext_lazy("Pods can be created"), Severity.ERROR
    ),
    "Complete": _Words(
        gettext_lazy("It is complete"),
        gettext_lazy("It is not complete"),
        Severity.DONE,
        Severity.PROGRESS,
    ),
    "SuccessCriteriaMet": _Words(
        gettext_lazy("It has succeeded"),
        gettext_lazy("It has not succeeded yet"),
        Severity.DONE,
        Severity.PROGRESS,
    ),
    "Failed": _wrong(
        gettext_lazy("It has failed"), gettext_lazy("It has not failed"), Severity.ERROR
    ),
    "FailureTarget": _wrong(
        gettext_lazy("It is failing"), gettext_lazy("It is not failing"), Severity.ERROR
    ),
    "Suspended": _wrong(
        gettext_lazy("It is suspended"), gettext_lazy("It is not suspended"), Severity.PAUSED
    ),
    "MemoryPressure": _wrong(
        gettext_lazy("Memory is short"), gettext_lazy("There is enough memory")
    ),
    "DiskPressure": _wrong(
        gettext_lazy("Disk space is short"), gettext_lazy("There is enough disk space")
    ),
    "PIDPressure": _wrong(
        gettext_lazy("Process IDs are short"), gettext_lazy("There are enough process IDs")
    ),
    "NetworkUnavailable": _wrong(
        gettext_lazy("The network is not set up"),
        gettext_lazy("The network is set up"),
        Severity.ERROR,
    ),
    "AbleToScale": _Words(
        gettext_lazy("It can scale"), gettext_lazy("It cannot scale"), if_false=Severity.ERROR
    ),
    "ScalingActive": _Words(
        gettext_lazy("It gets the metrics that it needs"),
        gettext_lazy("It does not get its metrics"),
    ),
    "ScalingLimited": _wrong(
        gettext_lazy("A limit keeps it from scaling further"),
        gettext_lazy("No limit keeps it from scaling"),
    ),
    "DisruptionAllowed": _Words(
        gettext_lazy("Pods may be evicted"),
        gettext_lazy("No pod may be evicted now"),
        if_false=Severity.PAUSED,
    ),
    "Accepted": _Words(gettext_lazy("It was accepted"), gettext_lazy("It was not accepted")),
    "Programmed": _Words(gettext_lazy("It is in force"), gettext_lazy("It is not in force")),
    "ResolvedRefs": _Words(
        gettext_lazy("All that it refers to exists"),
        gettext_lazy("Something that it refers to is missing"),
    ),
    "Approved": _Words(gettext_lazy("It was approved"), gettext_lazy("It was not approved")),
    "Denied": _wrong(
        gettext_lazy("It was denied"), gettext_lazy("It was not denied"), Severity.ERROR
    ),
    "Established": _Words(gettext_lazy("Its API is served"), gettext_lazy("Its API is not served")),
    "NamesAccepted": _Words(
        gettext_lazy("Its names are free of conflicts"),
        gettext_lazy("Its names are in conflict with others"),
    ),
    "NonStructuralSchema": _wrong(
        gettext_lazy("Its schema is not sound"), gettext_lazy("Its schema is sound")
    ),
    "NamespaceDeletionDiscoveryFailure": _wrong(
        gettext_lazy("Not every API answers, so not everything can be deleted"),
        gettext_lazy("Every API answers"),
    ),
    "NamespaceDeletionContentFailure": _wrong(
        gettext_lazy("Something in it cannot be deleted"),
        gettext_lazy("Everything in it can be deleted"),
    ),
    "NamespaceContentRemaining": _wrong(
        gettext_lazy("Objects are left in it"),
        gettext_lazy("No objects are left in it"),
        Severity.ENDING,
    ),
    "NamespaceFinalizersRemaining": _wrong(
        gettext_lazy("Objects in it wait for finalizers"),
        gettext_lazy("Nothing in it waits for finalizers"),
        Severity.ENDING,
    ),
    "FileSystemResizePending": _wrong(
        gettext_lazy("The file system is yet to grow"),
        gettext_lazy("The file system has its size"),
        Severity.PROGRESS,
    ),
    "Resizing": _wrong(
        gettext_lazy("It is growing"), gettext_lazy("It has its size"), Severity.PROGRESS
    ),
}
#: Reasons for which the status "False" is expected.
_DONE = frozenset({"PodCompleted"})
#: Maximum number of conditions. No built-in object has this many.
MOST = 50


@dataclass(frozen=True, slots=True)
class Condition:
    """A status condition.

    - `severity`: the value of a `Severity`, or "" if the type is unknown.
    - `word`: the meaning in plain words, or the type.
    - `state`: type and status.
    - `reason`, `message`: unchanged from Kubernetes.
    """

    severity: str
    word: str | Promise
    state: str
    reason: str
    message: str
    since: datetime | None

    @property
    def troubled(self) -> bool:
        return self.severity in (Severity.ERROR, Severity.WARN)


def conditions_of(manifest: Mapping[str, Any]) -> tuple[Condition, ...]:
    """Return `status.conditions`, most severe first.

    For a failed job, `Failed` comes before `FailureTarget`, which only announced the failure.
    """
    found = [_read(item) for item in listed(manifest, "status", "conditions")[:MOST]]
    return tuple(sorted((item for item in found if item), key=_rank))


def _read(item: Mapping[str, Any]) -> Condition | None:
    kind, status, reason = (
        text(item.get("type")),
        text(item.get("status")),
        text(item.get("reason")),
    )
    if not kind:
        return None
    severity, word = _judged(kind, status, reason)
    return Condition(
        severity=severity,
        word=word,
        state=f"{kind}={status or '?'}",
        reason=reason,
        message=text(item.get("message")),
        since=time(item.get("lastTransitionTime")),
    )


def _judged(kind: str, status: str, reason: str) -> tuple[str, str | Promise]:
    words = _WORDS.get(kind)
    if words is None:
        return "", kind
    if status == "True":
        return words.if_true.value, words.true
    if status != "False":
        return Severity.UNKNOWN.value, _("Unknown: %(type)s") % {"type": kind}
    done = reason in _DONE
    return (Severity.DONE if done else words.if_false).value, words.false


def _rank(condition: Condition) -> tuple[int, bool]:
    rank = Severity(condition.severity).rank if condition.severity else len(Severity)
    return rank, condition.state == "FailureTarget=True"


@dataclass(frozen=True, kw_only=True)
class ConditionsPanel(Panel):
    """Panel for objects with `status.conditions`."""

    id: str = "conditions"
    title: str | Promise = gettext_lazy("Conditions")

    def html(self, subject: Subject) -> SafeString:
        found = conditions_of(subject.manifest)
        if not found:
            return NOTHING
        return render_to_string("ui/panels/conditions.html", {"conditions": found})
