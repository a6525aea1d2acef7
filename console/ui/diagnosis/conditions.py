"""Status conditions in plain words.

See https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-conditions and the
types of each kind. The meaning of "True" depends on the type: most types describe a healthy
state, and some describe a problem. Types that are not listed here are shown unchanged and
without a severity.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.kube.status import Severity
from console.ui.core.manifests import mapping, mappings_at, text, time
from console.ui.core.subject import Subject
from console.ui.details.panels import NOTHING, Panel


class _Words(NamedTuple):
    """The texts and severities for the status "True" and for "False"."""

    true: str | Promise
    false: str | Promise
    if_true: Severity = Severity.OK
    if_false: Severity = Severity.WARN


def _wrong(true: str | Promise, false: str | Promise, how: Severity = Severity.WARN) -> _Words:
    return _Words(true, false, how, Severity.OK)


_WORDS: Mapping[str, _Words] = {
    "Ready": _Words(gettext_lazy("Ready"), gettext_lazy("Not ready"), if_false=Severity.ERROR),
    "ContainersReady": _Words(
        gettext_lazy("All containers are ready"), gettext_lazy("Some containers are not ready")
    ),
    "Initialized": _Words(
        gettext_lazy("The init containers have completed"),
        gettext_lazy("The init containers have not completed"),
    ),
    "PodScheduled": _Words(
        gettext_lazy("Scheduled to a node"), gettext_lazy("Not scheduled to a node")
    ),
    "PodReadyToStartContainers": _Words(
        gettext_lazy("The network and volumes of the pod are set up"),
        gettext_lazy("The network and volumes of the pod are not set up"),
        if_false=Severity.PROGRESS,
    ),
    "DisruptionTarget": _wrong(
        gettext_lazy("The pod is about to be evicted"),
        gettext_lazy("The pod is not about to be evicted"),
    ),
    "Available": _Words(
        gettext_lazy("Enough replicas are available"),
        gettext_lazy("Not enough replicas are available"),
        if_false=Severity.ERROR,
    ),
    "Progressing": _Words(
        gettext_lazy("The rollout is in progress or complete"),
        gettext_lazy("The rollout has stalled"),
        if_false=Severity.ERROR,
    ),
    "ReplicaFailure": _wrong(
        gettext_lazy("Pods cannot be created"), gettext_lazy("Pods can be created"), Severity.ERROR
    ),
    "Complete": _Words(
        gettext_lazy("Complete"),
        gettext_lazy("Not complete"),
        Severity.DONE,
        Severity.PROGRESS,
    ),
    "SuccessCriteriaMet": _Words(
        gettext_lazy("The success criteria are met"),
        gettext_lazy("The success criteria are not met yet"),
        Severity.DONE,
        Severity.PROGRESS,
    ),
    "Healthy": _Words(
        gettext_lazy("Healthy"), gettext_lazy("Not healthy"), if_false=Severity.ERROR
    ),
    "Synced": _Words(gettext_lazy("In sync"), gettext_lazy("Not in sync"), if_false=Severity.ERROR),
    "Stalled": _wrong(gettext_lazy("Stalled"), gettext_lazy("Not stalled"), Severity.ERROR),
    "Degraded": _wrong(pgettext_lazy("condition", "Degraded"), gettext_lazy("Not degraded")),
    "Failed": _wrong(gettext_lazy("Failed"), gettext_lazy("Not failed"), Severity.ERROR),
    "FailureTarget": _wrong(
        gettext_lazy("About to fail"), gettext_lazy("Not about to fail"), Severity.ERROR
    ),
    "Suspended": _wrong(gettext_lazy("Suspended"), gettext_lazy("Not suspended"), Severity.PAUSED),
    "MemoryPressure": _wrong(
        gettext_lazy("The node is low on memory"), gettext_lazy("The node has enough memory")
    ),
    "DiskPressure": _wrong(
        gettext_lazy("The node is low on disk space"),
        gettext_lazy("The node has enough disk space"),
    ),
    "PIDPressure": _wrong(
        gettext_lazy("The node is low on process IDs"),
        gettext_lazy("The node has enough process IDs"),
    ),
    "NetworkUnavailable": _wrong(
        gettext_lazy("The network of the node is not configured"),
        gettext_lazy("The network of the node is configured"),
    ),
    "AbleToScale": _Words(
        gettext_lazy("Scaling is possible"),
        gettext_lazy("Scaling is not possible"),
        if_false=Severity.ERROR,
    ),
    "ScalingActive": _Words(
        gettext_lazy("The required metrics are available"),
        gettext_lazy("The required metrics are not available"),
        if_false=Severity.ERROR,
    ),
    "ScalingLimited": _wrong(
        gettext_lazy("A limit prevents further scaling"),
        gettext_lazy("No limit prevents scaling"),
    ),
    "DisruptionAllowed": _Words(
        gettext_lazy("Evictions are allowed"),
        gettext_lazy("No evictions are allowed at the moment"),
    ),
    "Accepted": _Words(
        gettext_lazy("Accepted"), gettext_lazy("Not accepted"), if_false=Severity.ERROR
    ),
    "Programmed": _Words(
        gettext_lazy("The configuration is in effect"),
        gettext_lazy("The configuration is not in effect"),
        if_false=Severity.ERROR,
    ),
    "ResolvedRefs": _Words(
        gettext_lazy("All references are resolved"),
        gettext_lazy("Some references cannot be resolved"),
        if_false=Severity.ERROR,
    ),
    "Approved": _Words(gettext_lazy("Approved"), gettext_lazy("Not approved")),
    "Denied": _wrong(
        gettext_lazy("The request was denied"),
        gettext_lazy("The request was not denied"),
    ),
    "Established": _Words(
        gettext_lazy("The API is served"),
        gettext_lazy("The API is not served"),
        if_false=Severity.PROGRESS,
    ),
    "NamesAccepted": _Words(
        gettext_lazy("The names have no conflicts"),
        gettext_lazy("The names conflict with another resource type"),
        if_false=Severity.ERROR,
    ),
    "NonStructuralSchema": _wrong(
        gettext_lazy("The schema is not structural"), gettext_lazy("The schema is structural")
    ),
    "NamespaceDeletionDiscoveryFailure": _wrong(
        gettext_lazy("Some APIs are not responding, so not all objects can be deleted"),
        gettext_lazy("All APIs are responding"),
    ),
    "NamespaceDeletionContentFailure": _wrong(
        gettext_lazy("Some objects in the project cannot be deleted"),
        gettext_lazy("All objects in the project can be deleted"),
    ),
    "NamespaceContentRemaining": _wrong(
        gettext_lazy("Some objects remain in the project"),
        gettext_lazy("No objects remain in the project"),
        Severity.ENDING,
    ),
    "NamespaceFinalizersRemaining": _wrong(
        gettext_lazy("Objects in the project are waiting for finalizers"),
        gettext_lazy("No objects in the project are waiting for finalizers"),
        Severity.ENDING,
    ),
    "FileSystemResizePending": _wrong(
        gettext_lazy("The file system still needs to be resized"),
        gettext_lazy("The file system has been resized"),
        Severity.PROGRESS,
    ),
    "Resizing": _wrong(
        gettext_lazy("The volume is being resized"),
        gettext_lazy("The volume is not being resized"),
        Severity.PROGRESS,
    ),
}
#: Reasons for which the status "False" is expected.
_DONE = frozenset({"PodCompleted"})
_severity_rank = attrgetter("rank")
#: Severities of objects whose conditions may be more severe than their status, which ignores some
#: conditions.
_CALM = frozenset({Severity.OK, Severity.DONE})
_BAD = frozenset({Severity.ERROR, Severity.WARN})
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
    def is_problem(self) -> bool:
        return self.severity in _BAD


def conditions_of(
    manifest: Mapping[str, Any], status: Severity | None = None
) -> tuple[Condition, ...]:
    """Return `status.conditions`, most severe first.

    `status` is the severity of the object's status, or None. No condition of an unhealthy object
    is more severe than its status. The status of a pod is an error only if a container fails, so
    conditions of pods are at most warnings.

    For a failed job, `Failed` comes before `FailureTarget`, which only announced the failure.
    """
    worst = Severity.ERROR if status is None or status in _CALM else status
    if "containers" in mapping(manifest, "spec"):
        worst = max(worst, Severity.WARN, key=_severity_rank)
    found = [_read(item, worst) for item in mappings_at(manifest, "status", "conditions")[:MOST]]
    return tuple(sorted((item for item in found if item), key=_rank))


def _read(item: Mapping[str, Any], worst: Severity) -> Condition | None:
    kind, status, reason = (
        text(item.get("type")),
        text(item.get("status")),
        text(item.get("reason")),
    )
    if not kind:
        return None
    severity, word = _judged(kind, status, reason, worst)
    return Condition(
        severity=severity,
        word=word,
        state=f"{kind}={status or '?'}",
        reason=reason,
        message=text(item.get("message")),
        since=time(item.get("lastTransitionTime")),
    )


def _judged(kind: str, status: str, reason: str, worst: Severity) -> tuple[str, str | Promise]:
    words = _WORDS.get(kind)
    if words is None:
        return "", kind
    if status not in ("True", "False"):
        return Severity.UNKNOWN.value, _("Unknown: %(type)s") % {"type": kind}
    severity, word = (
        (words.if_true, words.true) if status == "True" else (words.if_false, words.false)
    )
    if severity in _BAD:
        severity = max(severity, worst, key=_severity_rank)
    done = status == "False" and reason in _DONE
    return (Severity.DONE if done else severity).value, word


def _rank(condition: Condition) -> tuple[int, bool]:
    rank = Severity(condition.severity).rank if condition.severity else len(Severity)
    return rank, condition.state == "FailureTarget=True"


@dataclass(frozen=True, kw_only=True)
class ConditionsPanel(Panel):
    """Panel for objects with `status.conditions`."""

    id: str = "conditions"
    title: str | Promise = gettext_lazy("Conditions")

    def html(self, subject: Subject) -> SafeString:
        status = subject.kind.status(subject.entry)
        found = conditions_of(subject.manifest, status.severity if status else None)
        if not found:
            return NOTHING
        return render_to_string("ui/panels/conditions.html", {"conditions": found})
