"""Filters of KubeSphere's lists, on objects as Kubernetes returns them.

As in KubeSphere, a filter that a resource doesn't have matches no object.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from console.gateway.errors import Refusal
from console.kube.apply import Manifest
from console.kube.projections.roles import ALIAS_ANNOTATION
from console.kube.selectors import LabelSelector, SelectorError, parse_fields, parse_labels
from console.ui.core.manifests import mapping, mappings_at
from console.ui.core.words import translate_message

Test = Callable[[Manifest], bool]
#: Makes a test from the value of a filter.
MakeTest = Callable[[str], Test]


def selector(text: str) -> LabelSelector:
    """Return a parsed label selector. Raise `Refusal`."""
    try:
        return parse_labels(text)
    except SelectorError as error:
        raise Refusal(400, translate_message(error.sentence)) from error


def tests_of(resource: str, filters: Iterable[tuple[str, str]]) -> list[Test]:
    """Return the tests of a list's filters. Raise `Refusal` for a malformed value."""
    own = _OF_RESOURCE.get(resource, {})
    nothing: MakeTest = lambda _value: lambda _item: False  # noqa: E731
    return [(own.get(name) or _COMMON.get(name) or nothing)(value) for name, value in filters]


def _text_at(item: Manifest, *path: str) -> str:
    found = mapping(item, *path[:-1]).get(path[-1])
    return found if isinstance(found, str) else ""


def field(*path: str) -> MakeTest:
    """Return a filter for the exact value of a field."""
    return lambda value: lambda item: _text_at(item, *path) == value


def _annotations(item: Manifest) -> Mapping[str, str]:
    return mapping(item, "metadata", "annotations")


def _names(value: str) -> Test:
    wanted = frozenset(value.split(","))
    return lambda item: _text_at(item, "metadata", "name") in wanted


def _annotation(value: str) -> Test:
    wanted = selector(value)
    return lambda item: wanted.matches(_annotations(item))


def _owner(name: str) -> MakeTest:
    return lambda value: (
        lambda item: any(
            one.get(name) == value for one in mappings_at(item, "metadata", "ownerReferences")
        )
    )


def _fields(value: str) -> Test:
    """Test fields by their path: `type=Opaque,metadata.name!=web`."""
    try:
        wanted = parse_fields(value)
    except SelectorError as error:
        raise Refusal(400, translate_message(error.sentence)) from error
    return lambda item: wanted.matches(lambda path: _value(item, path.split(".")))


def _value(item: Any, path: Iterable[str]) -> str:
    for name in path:
        item = item.get(name) if isinstance(item, dict) else None
    if isinstance(item, bool):
        return str(item).lower()
    return str(item) if isinstance(item, str | int | float) else ""


_COMMON: Mapping[str, MakeTest] = {
    "name": lambda value: lambda item: value in _text_at(item, "metadata", "name"),
    "keyword": lambda value: lambda item: value in _text_at(item, "metadata", "name"),
    "names": _names,
    "alias": lambda value: lambda item: value in str(_annotations(item).get(ALIAS_ANNOTATION, "")),
    "uid": field("metadata", "uid"),
    "namespace": field("metadata", "namespace"),
    "annotation": _annotation,
    "ownerReference": _owner("uid"),
    "ownerKind": _owner("kind"),
    "fieldSelector": _fields,
}


# Filters of single resources


def _any_case(status: Callable[[Manifest], str]) -> MakeTest:
    return lambda value: lambda item: status(item).lower() == value.lower()


def _phase(item: Manifest) -> str:
    return _text_at(item, "status", "phase")


def _number(item: Manifest, *path: str) -> int:
    found = mapping(item, *path[:-1]).get(path[-1])
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def pod_status(item: Manifest) -> str:
    """Return KubeSphere's status of a pod: Running, Waiting, Error or Completed."""
    phase = _phase(item)
    found = [mapping(one, "state") for one in mappings_at(item, "status", "containerStatuses")]
    if phase == "Succeeded":
        return "Completed"
    if phase == "Failed" or any(
        mapping(state, "terminated").get("exitCode") for state in found if "terminated" in state
    ):
        return "Error"
    waits = phase == "Pending" or any("waiting" in state for state in found)
    return "Waiting" if waits else "Running"


def workload_status(item: Manifest) -> str:
    """Return KubeSphere's status of a workload: stopped, running or updating."""
    if item.get("kind") == "DaemonSet" or "desiredNumberScheduled" in mapping(item, "status"):
        wanted = _number(item, "status", "desiredNumberScheduled")
        ready = _number(item, "status", "numberAvailable")
    else:
        replicas = mapping(item, "spec").get("replicas")
        wanted = 1 if replicas is None else _number(item, "spec", "replicas")
        ready = _number(item, "status", "readyReplicas")
    if wanted == 0:
        return "stopped"
    return "running" if ready == wanted else "updating"


def job_status(item: Manifest) -> str:
    """Return KubeSphere's status of a job: running, completed or failed."""
    true = {
        one.get("type")
        for one in mappings_at(item, "status", "conditions")
        if one.get("status") == "True"
    }
    if "Failed" in true:
        return "failed"
    return "completed" if "Complete" in true else "running"


def _cron_job_status(item: Manifest) -> str:
    return "paused" if mapping(item, "spec").get("suspend") is True else "running"


def _snapshot_status(item: Manifest) -> str:
    if "deletionTimestamp" in mapping(item, "metadata"):
        return "deleting"
    return "ready" if mapping(item, "status").get("readyToUse") is True else "creating"


def _claim(value: str) -> Test:
    return lambda item: any(
        mapping(one, "persistentVolumeClaim").get("claimName") == value
        for one in mappings_at(item, "spec", "volumes")
    )


_WORKLOAD: Mapping[str, MakeTest] = {"status": _any_case(workload_status)}
_VOLUME: Mapping[str, MakeTest] = {
    "status": _any_case(_phase),
    "phase": _any_case(_phase),
    "storageClassName": field("spec", "storageClassName"),
}
_OF_RESOURCE: Mapping[str, Mapping[str, MakeTest]] = {
    "pods": {
        "status": _any_case(pod_status),
        "phase": _any_case(_phase),
        "nodeName": field("spec", "nodeName"),
        "pvcName": _claim,
    },
    "deployments": _WORKLOAD,
    "statefulsets": _WORKLOAD,
    "daemonsets": _WORKLOAD,
    "jobs": {"status": _any_case(job_status)},
    "cronjobs": {"status": _any_case(_cron_job_status)},
    "namespaces": {"status": _any_case(_phase), "phase": _any_case(_phase)},
    "persistentvolumeclaims": _VOLUME,
    "persistentvolumes": _VOLUME,
    "secrets": {"type": field("type")},
    "loginrecords": {"type": field("spec", "type")},
    "users": {"email": field("spec", "email"), "status": field("status", "state")},
    "volumesnapshots": {
        "status": _any_case(_snapshot_status),
        "volumeSnapshotClassName": field("spec", "volumeSnapshotClassName"),
        "persistentVolumeClaimName": field("spec", "source", "persistentVolumeClaimName"),
    },
    "services": {"type": field("spec", "type")},
}
