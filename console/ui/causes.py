"""Diagnosis of an object's problem from its own manifest, as one plain sentence.

The reason from Kubernetes is shown next to the sentence and never replaced by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.kube.status import Severity
from console.ui.ages import age_text
from console.ui.conditions import conditions_of
from console.ui.manifests import mapping, text, texts
from console.ui.podspecs import ContainerView, Termination, containers_of
from console.ui.scheduling import why_unschedulable

_IMAGE_REASONS = frozenset(
    {
        "ErrImageNeverPull",
        "ErrImagePull",
        "ImageInspectError",
        "ImagePullBackOff",
        "InvalidImageName",
        "RegistryUnavailable",
        "SignatureValidationFailed",
    }
)
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
    if container.waiting in _IMAGE_REASONS:
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
