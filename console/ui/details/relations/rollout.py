"""Panels with the progress of a rollout, and the reasons why pods are not ready."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from console.kube.gvr import GVR, PODS
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui.core.kind import ResourceKind
from console.ui.core.subject import Subject
from console.ui.core.words import translate_message
from console.ui.details.panels import NOTHING, Panel
from console.ui.details.panels.summary import CausePanel, Trouble
from console.ui.details.relations.owners import owned_by, owned_types, owned_unordered
from console.ui.details.relations.visible_type import ObjectLine, VisibleType
from console.ui.diagnosis.diagnosis import Diagnosis, diagnose
from console.ui.lists.columns import PodsCause


@dataclass(frozen=True, slots=True)
class Bar:
    """A progress bar.

    `share` is the percentage of the whole, or None if the whole is unknown. `level` is the
    color: `ok`, `warn` or `error`. It is never the only indication of a problem, because the
    numbers show it as well.
    """

    label: str | Promise
    used: str
    whole: str
    share: int | None
    level: str = "ok"

    @property
    def width(self) -> int:
        return min(100, self.share or 0)


#: Maximum pods whose manifests are read to find a cause, the worst first.
MOST = 20
_BAD = frozenset({Severity.ERROR, Severity.WARN})
_WAITING = frozenset({Severity.ERROR, Severity.WARN, Severity.PROGRESS, Severity.UNKNOWN})


@dataclass(frozen=True, slots=True)
class WaitingPods:
    """Pods that are not ready for the same `cause`, a sentence or "". `count` is the number of
    pods, and `line` shows the first.
    """

    line: ObjectLine
    count: int
    cause: str

    @property
    def more(self) -> int:
        return self.count - 1


@dataclass(frozen=True, kw_only=True)
class RolloutPanel(Panel):
    """Rollout progress of kinds with `revisions`. Hidden if no pods are desired."""

    id: str = "rollout"
    title: str | Promise = gettext_lazy("Rollout")

    def needs(self, kind: ResourceKind) -> Collection[GVR]:
        return owned_types(kind)

    def html(self, subject: Subject) -> SafeString:
        item = subject.entry.projection
        if not item.desired:
            return NOTHING
        done = _is_done(item)
        context = {
            "done": done,
            "desired": item.desired,
            "bars": ()
            if done
            else (_bar(_("Up to date"), item.updated, item), _bar(_("Ready"), item.ready, item)),
            "waits": () if done else _waits(subject),
        }
        return render_to_string("ui/relations/rollout.html", context)


class RolloutCause(CausePanel):
    """Cause panel of a workload: reports why its pods are not ready or have failed."""

    def needs(self, kind: ResourceKind) -> Collection[GVR]:
        return owned_types(kind)

    def problem(self, subject: Subject) -> Trouble | None:
        item = subject.entry.projection
        waits = [] if _is_done(item) else _waits(subject)
        said = [wait for wait in waits if wait.cause and wait.line.severity in _BAD]
        if not said:
            return None
        first = max(said, key=lambda wait: wait.count)
        # Grouped by state, because the sentences contain different numbers such as restart counts.
        count = sum(wait.count for wait in said if wait.line.word == first.line.word)
        text = ngettext("%(n)s pod: %(cause)s", "%(n)s pods: %(cause)s", count)
        cause = Diagnosis(
            text % {"n": f"{count:,}", "cause": first.cause}, translate_message(item.status.reason)
        )
        own = item.status.severity
        return own if own in _BAD else Severity(first.line.severity), cause


def pods_cause(subject: Subject) -> PodsCause | None:
    """Return the most frequent problem of a workload's pods, or None. Only pods that the viewer can
    list count.

    Unlike `RolloutCause`, this reads no manifests, so that it is fast enough for the rows of a list.
    """
    if _is_done(subject.entry.projection):
        return None
    seeing = VisibleType(subject, PODS)
    found: dict[str, list[Entry[Any]]] = {}
    owner = _owner_of_pods(subject)
    for entry in owned_unordered(owner, seeing) if owner is not None else ():
        status = entry.projection.status
        if status.severity in _BAD:
            found.setdefault(status.word, []).append(entry)
    if not found:
        return None
    # Don't depend on the order of the pods, which changes with each update.
    word = min(found, key=lambda one: (-len(found[one]), one))
    first = min(found[word], key=lambda entry: entry.key)
    return PodsCause(len(found[word]), first.projection.status)


#: States of workloads without a number of desired pods that have ended or are suspended.
_ENDED = frozenset({Severity.DONE, Severity.PAUSED})


def _is_done(item: Any) -> bool:
    """Return True if all desired pods are ready, or the workload has succeeded or is suspended."""
    if not hasattr(item, "updated"):
        return item.status.severity in _ENDED
    return bool(item.updated >= item.desired and item.ready >= item.desired)


def _bar(label: str, count: int, item: Any) -> Bar:
    failed = item.status.severity is Severity.ERROR and count < item.desired
    share = 100 * count // item.desired
    return Bar(label, f"{count:,}", f"{item.desired:,}", share, "error" if failed else "ok")


def _waits(subject: Subject) -> list[WaitingPods]:
    """Return the unready pods that the viewer can list, grouped by cause."""
    seeing = VisibleType(subject, PODS)
    found: dict[str, WaitingPods] = {}
    for entry, manifest in subject.cached(_waiting):
        cause = diagnose(manifest)
        said = str(cause.text) if cause else ""
        known = found.get(said)
        line, count = (known.line, known.count) if known else (seeing.line(entry), 0)
        found[said] = WaitingPods(line, count + 1, said)
    return list(found.values())


def _waiting(subject: Subject) -> list[tuple[Entry[Any], Mapping[str, Any]]]:
    """Return the first unready pods with their manifests."""
    seeing = VisibleType(subject, PODS)
    waiting = (entry for entry in _pods(subject, seeing) if _is_waiting(seeing, entry))
    return [(entry, entry.original()) for entry in islice(waiting, MOST)]


def _pods(subject: Subject, seeing: VisibleType) -> list[Entry[Any]]:
    owner = _owner_of_pods(subject)
    return owned_by(owner, seeing) if owner is not None else []


def _owner_of_pods(subject: Subject) -> Entry[Any] | None:
    """Return the newest revision if revisions own pods, otherwise the workload itself. Return None if
    the viewer can't see the revision.
    """
    kept_in = subject.kind.revisions
    if kept_in is None or kept_in not in subject.kind.owns:
        return subject.entry
    sets = owned_unordered(subject.entry, VisibleType(subject, kept_in))
    return max(sets, key=lambda entry: (entry.projection.revision or 0, entry.key), default=None)


def _is_waiting(seeing: VisibleType, entry: Entry[Any]) -> bool:
    status = seeing.kind.status(entry) if seeing.kind is not None else None
    return status is not None and status.severity in _WAITING
