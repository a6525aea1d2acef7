"""Pods and their status.

The status follows kubectl's STATUS column (printPod in Kubernetes' printers) in plain English.
The reason keeps Kubernetes' original text.
"""

from collections.abc import Callable
from datetime import datetime
from sys import intern

import msgspec

from console.kube.gvr import PODS, Key
from console.kube.interning import InternPool, LabelInterner
from console.kube.projections import podspec
from console.kube.projections.common import (
    Decoders,
    Object,
    as_utc,
    owner_of,
    owner_uid,
)
from console.kube.projections.reserved import Amounts, Reserved, Resources, reserved_of
from console.kube.status import Severity, Status


class Parts(msgspec.Struct, frozen=True, gc=False):
    """Values derived from a pod's spec. Replicas share them, and they are reused while the spec is
    unchanged.

    `containers` and `inits` are counts. `sidecars` are the names of restartable init containers.
    `uses` are the referenced objects as `Kind/name` (see `console.kube.projections.podspec`).
    """

    containers: int
    inits: int
    sidecars: tuple[str, ...]
    images: tuple[str, ...]
    uses: tuple[str, ...]
    reserved: Reserved


class _Container(podspec.Container, gc=False):
    image: str = ""


class _Spec(podspec.PodSpec, gc=False):
    nodeName: str = ""
    containers: tuple[_Container, ...] | None = None
    initContainers: tuple[_Container, ...] | None = None
    resources: Resources | None = None
    overhead: Amounts | None = None


_spec_decoder = msgspec.json.Decoder(_Spec)
_parts_pool = InternPool()


def _parts_of(raw: msgspec.Raw, pod: str) -> tuple[str, Parts]:
    """Return the node name and the parts of a spec. `pod` is the pod's name. Raise
    `msgspec.DecodeError`.
    """
    spec = _spec_decoder.decode(raw) if raw else _Spec()
    containers, inits = spec.containers or (), spec.initContainers or ()
    everything = (*containers, *inits)
    parts = Parts(
        containers=len(containers),
        inits=len(inits),
        sidecars=tuple(c.name for c in inits if c.restartPolicy == "Always"),
        images=tuple(c.image for c in everything),
        uses=podspec.referenced_objects(spec, everything, pod),
        reserved=reserved_of(containers, inits, spec.resources, spec.overhead),
    )
    return intern(spec.nodeName), _parts_pool.intern(parts)


class Pod(msgspec.Struct, frozen=True, gc=False):
    """A pod.

    `ready`, `restarts` and `last_restart` are counted as in kubectl, with native sidecars, and with
    other init containers only until they have finished. `parts` are the values that depend only
    on the spec. `spec` is the hash of the spec's bytes.
    """

    namespace: str
    name: str
    uid: str
    labels: dict[str, str]
    created: datetime | None
    deleted: datetime | None
    status: Status
    ready: int
    restarts: int
    last_restart: datetime | None
    ip: str
    owner: str
    owner_uid: str
    ended: bool
    spec: int
    node: str
    parts: Parts

    @property
    def containers(self) -> int:
        """Return the number of containers that run until the pod ends: native sidecars and others."""
        return self.parts.containers + len(self.parts.sidecars)

    @property
    def images(self) -> tuple[str, ...]:
        return self.parts.images

    @property
    def uses(self) -> tuple[str, ...]:
        """Return the referenced objects as `Kind/name` (see `console.kube.projections.podspec`)."""
        return self.parts.uses

    @property
    def reserved(self) -> Reserved | None:
        """Return the resources the pod reserves on its node, or None after it has terminated."""
        return None if self.ended else self.parts.reserved


class _Terminated(msgspec.Struct, gc=False):
    exitCode: int = 0
    signal: int = 0
    reason: str = ""
    message: str = ""
    finishedAt: datetime | None = None


class _Waiting(msgspec.Struct, gc=False):
    reason: str = ""
    message: str = ""


class _Running(msgspec.Struct, gc=False):
    startedAt: datetime | None = None


class _State(msgspec.Struct, gc=False):
    waiting: _Waiting | None = None
    running: _Running | None = None
    terminated: _Terminated | None = None


class _ContainerStatus(msgspec.Struct, gc=False):
    name: str = ""
    ready: bool = False
    started: bool | None = None
    restartCount: int = 0
    state: _State = msgspec.field(default_factory=_State)
    lastState: _State = msgspec.field(default_factory=_State)


class _Condition(msgspec.Struct, gc=False):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class _PodStatus(msgspec.Struct, gc=False):
    phase: str = ""
    reason: str = ""
    message: str = ""
    podIP: str = ""
    conditions: tuple[_Condition, ...] | None = None
    containerStatuses: tuple[_ContainerStatus, ...] | None = None
    initContainerStatuses: tuple[_ContainerStatus, ...] | None = None


class _Pod(Object, gc=False):
    spec: msgspec.Raw = msgspec.Raw()
    status: _PodStatus = msgspec.field(default_factory=_PodStatus)


_decoder = msgspec.json.Decoder(_Pod)
_pool = InternPool()
_labels = LabelInterner()

IMAGE_REASONS = frozenset(
    {
        "ImagePullBackOff",
        "ErrImagePull",
        "InvalidImageName",
        "ErrImageNeverPull",
        "ImageInspectError",
        "RegistryUnavailable",
        "SignatureValidationFailed",
    }
)
_PROGRESS_REASONS = frozenset({"", "ContainerCreating", "PodInitializing"})


#: Phases in which the scheduler no longer counts a pod.
_ENDED = frozenset({"Succeeded", "Failed"})


class Decoder:
    """Decode pods. Reuses the parts of a pod decoded before, because specs rarely change."""

    def __init__(self, known: Callable[[Key], Pod | None] = lambda _: None) -> None:
        """`known` returns the previous projection of a pod, or None."""
        self._known = known

    def reusing(self, known: Callable[[Key], Pod | None]) -> "Decoder":
        return Decoder(known)

    def __call__(self, raw: bytes | msgspec.Raw) -> tuple[Pod, str, msgspec.Raw]:
        pod = _decoder.decode(raw)
        meta, status = pod.metadata, pod.status
        namespace = intern(meta.namespace)
        known = self._known(Key(namespace, meta.name))
        spec = hash(bytes(pod.spec))
        if known is not None and known.spec == spec:
            node, parts = known.node, known.parts
        else:
            node, parts = _parts_of(pod.spec, meta.name)
        ready, restarts, restarted = _counts(status, parts)
        owner = intern(owner_uid(meta))
        projection = Pod(
            namespace=namespace,
            name=meta.name,
            uid=meta.uid,
            labels=_labels.intern(owner, meta.labels or {}),
            created=as_utc(meta.creationTimestamp),
            deleted=as_utc(meta.deletionTimestamp),
            status=_pool.intern(_status(pod, node, parts)),
            ready=ready,
            restarts=restarts,
            last_restart=as_utc(restarted),
            ip=status.podIP,
            owner=intern(owner_of(meta)),
            owner_uid=owner,
            ended=status.phase in _ENDED,
            spec=spec,
            node=node,
            parts=parts,
        )
        return projection, meta.resourceVersion, meta.managedFields


decode = Decoder()


def _counts(status: _PodStatus, parts: Parts) -> tuple[int, int, datetime | None]:
    """Return the number of ready containers, the restarts, and the time of the last restart.

    The rules are those of kubectl's READY and RESTARTS columns: `printPod` in
    https://github.com/kubernetes/kubernetes/blob/master/pkg/printers/internalversion/printers.go
    """
    counted: list[_ContainerStatus] = []
    sidecars: list[_ContainerStatus] = []
    ready, initializing = 0, False
    for container in status.initContainerStatuses or ():
        is_sidecar = container.name in parts.sidecars
        counted.append(container)
        if is_sidecar:
            sidecars.append(container)
        terminated = container.state.terminated
        if terminated is not None and not terminated.exitCode:
            continue
        if not (is_sidecar and container.started):
            initializing = True
            break
        ready += container.ready
    if not initializing or _is_initialized(status):
        statuses = status.containerStatuses or ()
        counted = [*sidecars, *statuses]
        ready += sum(one.ready and one.state.running is not None for one in statuses)
    last = None
    for container in counted:
        terminated = container.lastState.terminated
        if terminated is not None and (when := terminated.finishedAt) is not None:
            last = when if last is None else max(last, when)
    return ready, sum(container.restartCount for container in counted), last


def _is_initialized(status: _PodStatus) -> bool:
    return any(
        one.type == "Initialized" and one.status == "True" for one in status.conditions or ()
    )


def _status(pod: _Pod, node: str, parts: Parts) -> Status:
    if pod.status.reason == "NodeLost":
        return Status(Severity.UNKNOWN, "Unknown", "NodeLost")
    # A completed pod has nothing to terminate; kubectl does the same.
    if pod.status.phase == "Succeeded":
        return Status(Severity.DONE, "Completed")
    if pod.status.phase == "Failed":
        return _failed(pod)
    if pod.metadata.deletionTimestamp is not None:
        return Status(Severity.ENDING, "Terminating")
    return _initializing(pod, parts) or _containers(pod) or _phase(pod, node)


def _failed(pod: _Pod) -> Status:
    if pod.status.reason == "Evicted":
        return Status(Severity.ERROR, "Evicted", pod.status.message)
    for container in pod.status.containerStatuses or ():
        terminated = container.state.terminated
        if terminated is not None and terminated.exitCode != 0:
            return _terminated(terminated)
    return Status(Severity.ERROR, "Failed", _joined(pod.status.reason, pod.status.message))


def _initializing(pod: _Pod, parts: Parts) -> Status | None:
    """Return the status of the first incomplete init container. Started sidecars are skipped."""
    statuses = pod.status.initContainerStatuses or ()
    for index, container in enumerate(statuses):
        if container.started and container.name in parts.sidecars:
            continue
        terminated, waiting = container.state.terminated, container.state.waiting
        if terminated is not None and terminated.exitCode == 0:
            continue
        if terminated is not None:
            reason = f"Init:{terminated.reason or 'Error'}, exit {terminated.exitCode}"
            return Status(Severity.ERROR, "Init failed", reason)
        if waiting is not None and waiting.reason not in _PROGRESS_REASONS:
            status = _waiting(container)
            return Status(status.severity, status.word, f"Init:{status.reason}")
        return Status(Severity.PROGRESS, "Initializing", f"Init:{index}/{parts.inits}")
    return None


def _containers(pod: _Pod) -> Status | None:
    """Return the worst status of a container, or None if all containers are running."""
    found: Status | None = None
    for container in pod.status.containerStatuses or ():
        terminated, waiting = container.state.terminated, container.state.waiting
        status: Status | None = None
        if waiting is not None and waiting.reason:
            status = _waiting(container)
        elif terminated is not None and (terminated.exitCode or terminated.signal):
            status = _terminated(terminated)
        if status and (found is None or status.severity.rank < found.severity.rank):
            found = status
    return found


def _waiting(container: _ContainerStatus) -> Status:
    waiting = container.state.waiting or _Waiting()
    last = container.lastState.terminated
    if waiting.reason in _PROGRESS_REASONS:
        return waiting_status(waiting.reason)
    if waiting.reason == "CrashLoopBackOff" and last is not None:
        return waiting_status(waiting.reason, _exit_text(last))
    return waiting_status(waiting.reason, _joined(waiting.reason, waiting.message))


def waiting_status(why: str, reason: str = "") -> Status:
    """Return the status of a container that waits because of `why`, such as `ImagePullBackOff`.

    `reason` is the reason of the status, by default `why`.
    """
    reason = reason or why
    if why in _PROGRESS_REASONS:
        return Status(Severity.PROGRESS, "Creating", reason)
    if why == "CrashLoopBackOff":
        return Status(Severity.ERROR, "Crash loop", reason)
    if why in IMAGE_REASONS:
        return Status(Severity.ERROR, "Image pull failed", reason)
    if "Config" in why:
        return Status(Severity.ERROR, "Config error", reason)
    return Status(Severity.ERROR, "Failed", reason)


def _terminated(terminated: _Terminated) -> Status:
    word = "Out of memory" if terminated.reason == "OOMKilled" else "Failed"
    return Status(Severity.ERROR, word, _exit_text(terminated))


def _exit_text(terminated: _Terminated) -> str:
    how = f"signal {terminated.signal}" if terminated.signal else f"exit {terminated.exitCode}"
    return _joined(how, "" if terminated.reason == "Error" else terminated.reason, sep=", ")


def _phase(pod: _Pod, node: str) -> Status:
    conditions = {c.type: c for c in pod.status.conditions or ()}
    scheduled = conditions.get("PodScheduled")
    if pod.status.phase == "Pending" and scheduled is not None and scheduled.status == "False":
        if scheduled.reason == "SchedulingGated":
            return Status(Severity.PAUSED, "Paused", scheduled.reason)
        return Status(Severity.WARN, "Unschedulable", scheduled.message or scheduled.reason)
    if pod.status.phase == "Pending" or not pod.status.phase:
        return Status(Severity.PROGRESS, "Creating" if node else "Waiting")
    if pod.status.phase != "Running":
        return Status(Severity.UNKNOWN, "Unknown", pod.status.reason)
    ready = conditions.get("Ready")
    if ready is not None and ready.status == "True":
        return Status(Severity.OK, "Running")
    if ready is None and all(c.ready for c in pod.status.containerStatuses or ()):
        return Status(Severity.OK, "Running")
    reason = (ready.message or ready.reason) if ready else ""
    return Status(Severity.WARN, "Not ready", _joined(reason, _last_failure(pod), sep="; "))


def _last_failure(pod: _Pod) -> str:
    """Return how the first restarted and unready container ended.

    A container in a crash loop runs from time to time.
    """
    for container in pod.status.containerStatuses or ():
        last = container.lastState.terminated
        if not container.ready and last is not None and (last.exitCode or last.signal):
            return _exit_text(last)
    return ""


def _joined(first: str, second: str, *, sep: str = ": ") -> str:
    return sep.join(part for part in (first, second) if part)


DECODERS: Decoders = {
    PODS: decode,
}
