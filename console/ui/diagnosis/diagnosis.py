"""Likely causes of problems in plain words, derived from manifests and scheduler messages.

The scheduler's message counts nodes by reason: "0/5 nodes are available: 3 Insufficient memory,
2 node(s) were unschedulable. preemption: …". The reasons come from kube-scheduler's plugins:
https://github.com/kubernetes/kubernetes/tree/master/pkg/scheduler/framework/plugins Reasons of
custom plugins are repeated unchanged.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext

from console.kube.projections.pod import IMAGE_REASONS
from console.kube.status import Severity
from console.ui.core.manifests import mapping, text, texts
from console.ui.core.podspecs import ContainerView, Termination, containers_of
from console.ui.diagnosis.conditions import conditions_of
from console.ui.fragments.placeholders import age_text

_MESSAGE = re.compile(r"0/(\d{1,7}) nodes are available: (.+?)\.?(?: preemption: .*)?$")
#: Within a reason, a comma is never followed by a number and a space.
_BETWEEN = re.compile(r", (?=\d{1,7} )")
_TAINT = re.compile(r"node\(s\) had untolerated taint(?:\(s\))?(?: \{([^:}]*):([^}]*)\})?$")
_NO_CLAIM = re.compile(r'persistentvolumeclaim "([^"]+)" not found')

#: Texts by the start of the scheduler's reason.
_WORDS: tuple[tuple[str, str | Promise], ...] = (
    ("Insufficient cpu", gettext_lazy("not enough CPU")),
    ("Insufficient memory", gettext_lazy("not enough memory")),
    ("Insufficient ephemeral-storage", gettext_lazy("not enough local disk space")),
    ("Too many pods", gettext_lazy("pod limit reached")),
    ("node(s) were unschedulable", gettext_lazy("cordoned")),
    (
        "node(s) didn't match Pod's node affinity/selector",
        gettext_lazy("node selector or affinity does not match"),
    ),
    (
        "node(s) didn't match pod affinity rules",
        gettext_lazy("pod affinity rules not met"),
    ),
    (
        "node(s) didn't match pod anti-affinity rules",
        gettext_lazy("pod anti-affinity rules not met"),
    ),
    (
        "node(s) didn't satisfy existing pods anti-affinity rules",
        gettext_lazy("anti-affinity rules of existing pods not met"),
    ),
    (
        "node(s) didn't match pod topology spread constraints",
        gettext_lazy("topology spread constraints not met"),
    ),
    (
        "node(s) had volume node affinity conflict",
        gettext_lazy("volume not accessible from the node"),
    ),
    (
        "node(s) didn't find available persistent volumes to bind",
        gettext_lazy("no volume available for the claims"),
    ),
    ("node(s) exceed max volume count", gettext_lazy("volume limit reached")),
    ("node(s) didn't have free ports", gettext_lazy("host ports already in use")),
)


def why_unschedulable(message: str) -> str:
    """Return a sentence, or "" if the message is not understood."""
    if "unbound immediate PersistentVolumeClaims" in message:
        return _("No node found: a PersistentVolumeClaim of this pod is not bound yet.")
    claim = _NO_CLAIM.search(message)
    if claim is not None:
        return _("No node found: the PersistentVolumeClaim %(name)s does not exist.") % {
            "name": claim[1]
        }
    if message.startswith("no nodes available"):
        return _("No node found: the cluster has no nodes.")
    found = _MESSAGE.match(message)
    against = list(_reasons(found[2])) if found is not None else []
    if found is None or not against:
        return ""
    total = int(found[1])
    words = {"total": f"{total:,}", "why": pgettext("between two counts", ", ").join(against)}
    sentence = ngettext(
        "The only node cannot run this pod: %(why)s.",
        "None of the %(total)s nodes can run this pod: %(why)s.",
        total,
    )
    return sentence % words


def _reasons(text: str) -> Iterator[str]:
    for part in _BETWEEN.split(text):
        number, _space, reason = part.partition(" ")
        if number.isdecimal():
            words = {"what": _reason_text(reason.strip()), "count": f"{int(number):,}"}
            yield pgettext("what speaks against nodes", "%(what)s (%(count)s)") % words


def _reason_text(reason: str) -> str | Promise:
    taint = _TAINT.match(reason)
    if taint is not None:
        name = "=".join(part.strip() for part in taint.groups() if part and part.strip())
        if not name:
            return _("a taint that the pod does not tolerate")
        return _("the taint %(name)s that the pod does not tolerate") % {"name": name}
    known = next((words for begin, words in _WORDS if reason.startswith(begin)), None)
    if known is None and reason.startswith("Insufficient "):
        return _("not enough %(resource)s") % {"resource": reason.partition(" ")[2]}
    return known or reason


_TROUBLED = frozenset({Severity.ERROR.value, Severity.WARN.value})


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A diagnosis. `text` is a sentence, and `reason` is the reason from Kubernetes or ""."""

    text: str | Promise
    reason: str


def diagnose(manifest: Mapping[str, Any]) -> Diagnosis | None:
    """Return the likely cause of the object's problem, or None if the manifest shows no problem."""
    return _ending(manifest) or _of_pod(manifest) or _of_conditions(manifest)


def _ending(manifest: Mapping[str, Any]) -> Diagnosis | None:
    meta = mapping(manifest, "metadata")
    finalizers = texts(meta.get("finalizers"))
    if not meta.get("deletionTimestamp"):
        return None
    if finalizers:
        return Diagnosis(
            _("The object is being deleted and is waiting for its finalizers."),
            ", ".join(finalizers),
        )
    return Diagnosis(_("The object is being deleted."), "")


def _of_pod(manifest: Mapping[str, Any]) -> Diagnosis | None:
    status = mapping(manifest, "status")
    if status.get("phase") == "Succeeded":
        return None
    if status.get("reason") == "Evicted":
        return Diagnosis(
            _("The node ran low on resources and evicted the pod."), text(status.get("message"))
        )
    worst = [one for one in containers_of(manifest) if one.severity in _TROUBLED]
    for container in sorted(worst, key=lambda one: Severity(one.severity).rank):
        return diagnose_container(container)
    return None


def diagnose_container(container: ContainerView) -> Diagnosis:
    """Return the likely cause for a container that has a problem."""
    words = {"name": container.name, "image": container.image}
    reason = ": ".join(part for part in (container.reason, container.message) if part)
    if container.waiting == "CrashLoopBackOff":
        return Diagnosis(_crashing(container), container.last.reason if container.last else reason)
    if container.waiting in IMAGE_REASONS:
        return Diagnosis(
            _("Could not pull the image of container %(name)s: %(image)s") % words, reason
        )
    if "Config" in container.waiting:
        text = _(
            "Could not create container %(name)s: an object that the container refers to is "
            "invalid or missing."
        )
        return Diagnosis(text % words, reason)
    if container.waiting:
        return Diagnosis(_("Container %(name)s cannot start.") % words, reason)
    if container.ended is not None:
        ended = {**words, "how": container.ended.how}
        return Diagnosis(_("Container %(name)s failed: %(how)s.") % ended, reason)
    if mapping(container.spec, "readinessProbe"):
        running = _("Container %(name)s is running, but its readiness probe fails.") % words
    else:
        running = _("Container %(name)s is running, but is not ready yet.") % words
    last = container.last
    if last is None or not last.code or last.finished is None:
        return Diagnosis(running, reason)
    # In a crash loop, the reason for the last termination explains more than the missing readiness.
    restarted = _restarted(container.restarts, last, last.finished)
    return Diagnosis(f"{running} {restarted}", reason or last.reason)


def _restarted(restarts: int | None, last: Termination, finished: datetime) -> str:
    words = {"how": last.how, "count": f"{restarts or 0:,}", "age": age_text(finished)}
    return (
        ngettext(
            "The container was restarted %(count)s time, %(age)s ago: %(how)s.",
            "The container was restarted %(count)s times, most recently %(age)s ago: %(how)s.",
            restarts or 0,
        )
        % words
    )


def _crashing(container: ContainerView) -> str:
    restarts = container.restarts or 0
    words = {
        "name": container.name,
        "how": container.last.how if container.last else _("no reason was reported"),
        "count": f"{restarts:,}",
    }
    return (
        ngettext(
            "Container %(name)s is in a crash loop: %(how)s. The container was restarted "
            "%(count)s time and will be restarted after a delay.",
            "Container %(name)s is in a crash loop: %(how)s. The container was restarted "
            "%(count)s times and will be restarted after a delay.",
            restarts,
        )
        % words
    )


def _of_conditions(manifest: Mapping[str, Any]) -> Diagnosis | None:
    for condition in conditions_of(manifest):
        if condition.is_problem:
            reason = ": ".join(part for part in (condition.reason, condition.message) if part)
            said = ""
            if condition.reason == "Unschedulable":
                said = why_unschedulable(condition.message)
            return Diagnosis(said or _("%(what)s.") % {"what": condition.word}, reason)
        break
    return None
