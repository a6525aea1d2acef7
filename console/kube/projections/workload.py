"""Common parts of kinds that create pods from a template."""

from sys import intern

import msgspec

from console.kube.interning import InternPool
from console.kube.messages import Message
from console.kube.projections import podspec
from console.kube.projections.common import (
    TERMINATING,
    Basics,
    Condition,
    ObjectMeta,
    Projection,
    Selector,
    basics,
    selector_text,
)
from console.kube.status import Severity, Status

#: Shares statuses, image lists and other values that many objects have in common.
interned = InternPool()


class Workload(Projection, frozen=True, gc=False):
    """Base class of workloads.

    `containers` and `images` are those of the template, with init containers last. `selector` is
    a text. `uses` are the objects the template references, as `Kind.group/name` (see
    `console.kube.projections.podspec`).
    """

    status: Status
    containers: tuple[str, ...]
    images: tuple[str, ...]
    uses: tuple[str, ...]
    selector: str


class Meta(ObjectMeta, gc=False):
    generation: int | None = None


class _Container(podspec.Container, gc=False):
    image: str | None = None


class _PodSpec(podspec.PodSpec, gc=False):
    containers: tuple[_Container, ...] | None = None
    initContainers: tuple[_Container, ...] | None = None
    nodeSelector: dict[str, str] | None = None

    @property
    def all(self) -> tuple[_Container, ...]:
        return (*(self.containers or ()), *(self.initContainers or ()))


class Template(msgspec.Struct, gc=False):
    spec: _PodSpec | None = None

    @property
    def node_selector(self) -> dict[str, str]:
        return (self.spec and self.spec.nodeSelector) or {}


class Spec(msgspec.Struct, gc=False):
    selector: Selector | None = None
    template: Template | None = None

    @property
    def selected(self) -> str:
        return interned.intern(selector_text(self.selector))


class Update(msgspec.Struct, gc=False):
    """The update strategy. Pods with an ordinal below `partition` are not updated."""

    type: str | None = None
    rollingUpdate: "_RollingUpdate | None" = None

    @property
    def rolling(self) -> bool:
        return self.type != "OnDelete"


class _RollingUpdate(msgspec.Struct, gc=False):
    partition: int | None = None


class _FromTemplate(Basics):
    status: Status
    containers: tuple[str, ...]
    images: tuple[str, ...]
    uses: tuple[str, ...]
    selector: str


def from_template(meta: ObjectMeta, workload: Spec, status: Status) -> _FromTemplate:
    """Return the fields of a `Workload`. `status` is used unless the object is being deleted.

    Empty images, which an image stream or a similar mechanism fills in, are omitted.
    """
    spec = workload.template.spec if workload.template else None
    containers = spec.all if spec else ()
    return _FromTemplate(
        **basics(meta),
        status=interned.intern(TERMINATING if meta.deletionTimestamp is not None else status),
        containers=interned.intern(tuple(intern(c.name) for c in containers)),
        images=interned.intern(tuple(c.image for c in containers if c.image)),
        uses=podspec.referenced_objects(spec, containers) if spec else (),
        selector=workload.selected,
    )


def is_unobserved(meta: Meta, observed: int | None) -> bool:
    """Return True if the controller has not observed the latest spec."""
    return meta.generation is not None and meta.generation > (observed or 0)


def unavailable_status(ready: int, desired: int, unavailable: Condition | None = None) -> Status:
    """Return the status for too few pods; no ready pod is an error. `unavailable` is the Available
    condition.
    """
    reason: str = ready_text(ready, desired)
    if unavailable is not None and unavailable.status == "False":
        reason = unavailable.text
    if ready > 0:
        return Status(Severity.WARN, "Degraded", reason)
    return Status(Severity.ERROR, "Not available", reason)


def ready_text(ready: int, wanted: int) -> Message:
    return Message("%(n)s of %(wanted)s ready", n=ready, wanted=wanted)


def updated_text(updated: int, wanted: int) -> Message:
    return Message("%(n)s of %(wanted)s updated", n=updated, wanted=wanted)


def scaling_status(current: int, wanted: int) -> Status:
    text = Message("Pods: %(n)s, desired: %(wanted)s", n=current, wanted=wanted)
    return Status(Severity.PROGRESS, "Scaling", text)


def creation_failure(failure: Condition | None) -> Status | None:
    """Return the error status if the controller cannot create pods (ReplicaFailure condition), or
    None.

    Reasons are quotas, policies or missing service accounts.
    """
    if failure is None or failure.status != "True":
        return None
    return Status(Severity.ERROR, "Cannot create pods", failure.text)


SCALED_TO_ZERO = Status(Severity.PAUSED, "Scaled to zero")
RUNNING = Status(Severity.OK, "Running")
NOT_OBSERVED = Status(
    Severity.PROGRESS, "Rolling out", Message("The controller has not processed the change yet")
)
