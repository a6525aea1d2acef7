"""Panels that explain the health of a service by its endpoints, and of a claim by its storage
class.

https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#conditions
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from console.kube.gvr import ENDPOINT_SLICES, PODS, STORAGE_CLASSES, Key
from console.kube.informer import Informer
from console.kube.projections.common import Object
from console.kube.projections.storage import PersistentVolumeClaim
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui.core.permissions import Readable
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.details.panels import Panel
from console.ui.details.panels.summary import CausePanel, Trouble
from console.ui.details.relations.references import referrers_of
from console.ui.details.relations.visible_type import ObjectLine, VisibleType
from console.ui.diagnosis.diagnosis import Diagnosis

#: Maximum endpoints shown, and maximum EndpointSlices read. A slice contains at most 100 endpoints
#: by default.
MOST, SLICES = 100, 20


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A displayed endpoint. `pod` is None for an address that does not belong to a pod."""

    address: str
    ports: str
    severity: Severity
    word: str
    node: str
    pod: ObjectLine | None


class _Conditions(msgspec.Struct, gc=False):
    ready: bool | None = None
    serving: bool | None = None
    terminating: bool | None = None


class _TargetRef(msgspec.Struct, gc=False):
    kind: str | None = None
    name: str | None = None
    namespace: str | None = None


class _Endpoint(msgspec.Struct, gc=False):
    addresses: tuple[str, ...] | None = None
    conditions: _Conditions | None = None
    nodeName: str | None = None
    targetRef: _TargetRef | None = None


class _Slice(Object, gc=False):
    endpoints: tuple[_Endpoint, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class EndpointsPanel(Panel):
    """Endpoints of a service. Hidden for ExternalName services, which have none."""

    id: str = "endpoints"
    title: str | Promise = gettext_lazy("Endpoints")
    also = (ENDPOINT_SLICES, PODS)

    def html(self, subject: Subject) -> SafeString:
        found = _slices(subject)
        if found is None or subject.entry.projection.type == "ExternalName":
            return SafeString("")
        pods = VisibleType(subject, PODS)
        shown = [one for entry in found[:SLICES] for one in _endpoints(entry, pods)]
        shown.sort(key=lambda one: (one.severity.rank, one.address))
        unread = sum(entry.projection.endpoints for entry in found[SLICES:])
        ready, total = _numbers(found)
        context = {
            "endpoints": shown[:MOST],
            "ready": ready,
            "total": total,
            "more": unread + max(0, len(shown) - MOST),
        }
        return render_to_string("ui/relations/endpoints.html", context)


class EndpointsCause(CausePanel):
    """Cause panel of a service: reports missing or unready endpoints."""

    also = (ENDPOINT_SLICES,)

    def problem(self, subject: Subject) -> Trouble | None:
        found = _slices(subject)
        service = subject.entry.projection
        if found is None or not service.selector or service.type == "ExternalName":
            return None
        ready, total = _numbers(found)
        if ready:
            return None
        if not total:
            return Severity.WARN, Diagnosis(
                _("No endpoints: no running pod matches the selector of this service."), ""
            )
        text = ngettext(
            "No ready endpoints: the only endpoint is not ready.",
            "No ready endpoints: none of the %(n)s endpoints is ready.",
            total,
        )
        return Severity.ERROR, Diagnosis(text % {"n": f"{total:,}"}, "")


def _slices(subject: Subject) -> list[Entry[Any]] | None:
    """Return the service's EndpointSlices, the worst first, or None if they are not loaded or not
    visible.
    """
    slices = VisibleType(subject, ENDPOINT_SLICES)
    if slices.informer is None or not slices.readable.may_include(subject.key.namespace):
        return None
    named = referrers_of(slices.informer).of((subject.kind.gvr, subject.key))
    return sorted(slices.only_visible(named), key=slices.rank)


def _numbers(slices: Sequence[Entry[Any]]) -> tuple[int, int]:
    """Return the number of ready endpoints and the number of all endpoints."""
    found = [entry.projection for entry in slices]
    return sum(one.ready for one in found), sum(one.endpoints for one in found)


def _endpoints(entry: Entry[Any], pods: VisibleType) -> Iterator[Endpoint]:
    try:
        found = msgspec.convert(entry.original(), _Slice).endpoints or ()
    except msgspec.ValidationError:
        return
    for endpoint in found:
        severity, word = _state(endpoint.conditions or _Conditions())
        yield Endpoint(
            address=escape_invisible(", ".join(endpoint.addresses or ())),
            ports=escape_invisible(", ".join(entry.projection.ports)),
            severity=severity,
            word=word,
            node=escape_invisible(endpoint.nodeName or ""),
            pod=_pod(endpoint.targetRef, entry.key.namespace, pods),
        )


def _state(conditions: _Conditions) -> tuple[Severity, str]:
    if conditions.terminating:
        text = _("Terminating, still serving") if conditions.serving else _("Terminating")
        return Severity.ENDING, text
    # "Consumers should interpret an unset ready condition as true."
    if conditions.ready is not False:
        return Severity.OK, _("Ready")
    return Severity.WARN, _("Not ready")


def _pod(target: _TargetRef | None, namespace: str, pods: VisibleType) -> ObjectLine | None:
    if target is None or target.kind != "Pod" or not target.name:
        return None
    return pods.named(Key(target.namespace or namespace, target.name))


#: Provisioner of classes whose volumes are created manually.
NO_PROVISIONER = "kubernetes.io/no-provisioner"


class StorageClassCause(CausePanel):
    """Cause panel of a PersistentVolumeClaim."""

    also = (STORAGE_CLASSES,)

    def problem(self, subject: Subject) -> Trouble | None:
        classes = VisibleType(subject, STORAGE_CLASSES)
        claim = subject.entry.projection
        found = why_pending(claim, classes.readable, classes.informer)
        return (claim.status.severity, Diagnosis(found, claim.status.reason)) if found else None


def why_pending(
    claim: PersistentVolumeClaim, readable: Readable, classes: Informer[Any] | None
) -> str:
    """Return the reason why a claim has no volume.

    Return "" if the claim has a volume, or if its class is not visible. `classes` is None if the
    classes are not loaded.
    """
    key = Key("", claim.storage_class)
    if claim.volume or not key.name or classes is None or not readable.includes(key):
        return ""
    found, words = classes.store.get(key), {"name": escape_invisible(key.name)}
    if found is None:
        # Not always an error: manually created volumes may use a class name without a StorageClass
        # object.
        text = _("No volume can be provisioned because storage class %(name)s does not exist.")
        return text % words
    if claim.status.word != "Waiting":
        return ""
    if found.projection.provisioner == NO_PROVISIONER:
        text = _(
            "Storage class %(name)s has no provisioner. An administrator must create the volume."
        )
        return text % words
    if found.projection.binding_mode == "WaitForFirstConsumer":
        return _("The volume is created when the first pod uses this claim.")
    return ""
