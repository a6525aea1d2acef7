"""What is the same of everything that makes pods from a template."""

from sys import intern

import msgspec

from console.kube.projections import podspec
from console.kube.projections.common import (
    TERMINATING,
    Basics,
    Condition,
    Projection,
    Selector,
    basics,
    selector_text,
)
from console.kube.projections.meta import ObjectMeta
from console.kube.sentences import Sentence
from console.kube.sharing import Pool
from console.kube.status import Severity, Status

#: Statuses, image lists and the like, of which there are few among many objects.
shared = Pool()


class Workload(Projection, frozen=True, gc=False):
    """`containers` and `images` are the template's, init containers last; `selector` is a text.

    `uses`: `Kind/name` of what the template names, as `console.kube.projections.podspec` has it.
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
        return shared.one(selector_text(self.selector))


class Update(msgspec.Struct, gc=False):
    """How a template's change reaches the pods. `partition`: pods below this ordinal stay as they are."""

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
    """The fields of a `Workload`; `status`: while it is not being deleted. Images that are left to an
    image stream or the like to fill in are none."""
    spec = workload.template.spec if workload.template else None
    containers = spec.all if spec else ()
    return _FromTemplate(
        **basics(meta),
        status=shared.one(TERMINATING if meta.deletionTimestamp is not None else status),
        containers=shared.one(tuple(intern(c.name) for c in containers)),
        images=shared.one(tuple(c.image for c in containers if c.image)),
        uses=podspec.uses(spec, containers) if spec else (),
        selector=workload.selected,
    )


def behind(meta: Meta, observed: int | None) -> bool:
    """True while the controller has not seen the newest spec."""
    return meta.generation is not None and meta.generation > (observed or 0)


def short_of_pods(ready: int, desired: int, unavailable: Condition | None = None) -> Status:
    """Fewer pods than wanted; none at all is an outage. `unavailable`: the condition that says so."""
    severity = Severity.WARN if ready > 0 else Severity.ERROR
    if unavailable is not None and unavailable.status == "False":
        return Status(severity, "Not available", unavailable.text)
    word = "Degraded" if ready > 0 else "Not available"
    return Status(severity, word, ready_of(ready, desired))


def ready_of(ready: int, wanted: int) -> Sentence:
    return Sentence("%(n)s of %(wanted)s ready", n=ready, wanted=wanted)


def updated_of(updated: int, wanted: int) -> Sentence:
    return Sentence("%(n)s of %(wanted)s updated", n=updated, wanted=wanted)


def scaling(current: int, wanted: int) -> Status:
    text = Sentence("Pods: %(n)s, wanted: %(wanted)s", n=current, wanted=wanted)
    return Status(Severity.PROGRESS, "Scaling", text)


def cannot_create(failure: Condition | None) -> Status | None:
    """A quota, a policy or a missing account keeps a controller from making pods (ReplicaFailure)."""
    if failure is None or failure.status != "True":
        return None
    return Status(Severity.ERROR, "Cannot create pods", failure.text)


SCALED_TO_ZERO = Status(Severity.PAUSED, "Scaled to zero")
RUNNING = Status(Severity.OK, "Running")
NOT_OBSERVED = Status(
    Severity.PROGRESS, "Rolling out", Sentence("Its controller has not seen the change yet")
)
