"""Description of the spec of a pod or a pod template, except for its containers and the nodes that it
can run on.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.ui.core.amounts import seconds_text
from console.ui.core.manifests import mapping, mappings_at, number, text, texts, time_text
from console.ui.details.descriptions.storage import SOURCES
from console.ui.details.panels.description import (
    DescriptionTable,
    Facts,
    Section,
    flattened,
    pairs_of,
)

POD = ("spec",)
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
#: Modes that Kubernetes sets in volumes by default.
_DEFAULT_MODES = {"defaultMode": 0o644}
_RESTARTS: dict[str, str | Promise] = {
    "Always": gettext_lazy("always restart"),
    "OnFailure": gettext_lazy("restart after failures"),
    "Never": gettext_lazy("never restart"),
}
_HOST: dict[str, str | Promise] = {
    "hostNetwork": gettext_lazy("network"),
    "hostPID": gettext_lazy("processes"),
    "hostIPC": gettext_lazy("inter-process communication"),
}


def pod_spec(manifest: Mapping[str, Any], path: Sequence[str] = POD) -> Iterator[Section]:
    """Describe the pod spec at `path`: that of a pod, or of a pod template with its labels and
    annotations.
    """
    spec = mapping(manifest, *path)
    if not spec:
        return
    is_pod = tuple(path) == POD
    status = mapping(manifest, "status") if is_pod else {}
    meta = {} if is_pod else mapping(manifest, *path[:-1], "metadata")
    restarts = text(spec.get("restartPolicy"))
    scheduler, preemption = text(spec.get("schedulerName")), text(spec.get("preemptionPolicy"))
    yield Facts(
        (_("Labels"), pairs_of(mapping(meta, "labels"))),
        (_("Annotations"), pairs_of(mapping(meta, "annotations"))),
        (_("Started"), time_text(status.get("startTime"))),
        (_("Service account"), _account(spec)),
        (_("Quality of service"), text(status.get("qosClass"))),
        (_("Restart policy"), _RESTARTS.get(restarts, restarts)),
        (_("Grace period"), _seconds(spec.get("terminationGracePeriodSeconds"))),
        (_("Active deadline"), _seconds(spec.get("activeDeadlineSeconds"))),
        (
            _("Image pull secrets"),
            [text(one.get("name")) for one in mappings_at(spec, "imagePullSecrets")],
        ),
        (
            _("Readiness gates"),
            [_gate(one, status) for one in mappings_at(spec, "readinessGates")],
        ),
        (_("Resource requests"), pairs_of(mapping(spec, "resources", "requests"))),
        (_("Resource limits"), pairs_of(mapping(spec, "resources", "limits"))),
        (_("Resource claims"), [_claim(one) for one in mappings_at(spec, "resourceClaims")]),
        (_("Priority"), _priority(spec)),
        (_("Preemption"), "" if preemption == "PreemptLowerPriority" else preemption),
        (_("Scheduler"), "" if scheduler == "default-scheduler" else scheduler),
        (_("Runtime class"), text(spec.get("runtimeClassName"))),
        (_("Pod overhead"), pairs_of(mapping(spec, "overhead"))),
        (
            _("Scheduling gates"),
            [text(one.get("name")) for one in mappings_at(spec, "schedulingGates")],
        ),
        (_("Nominated node"), text(status.get("nominatedNodeName"))),
    )
    yield _network(spec, status)
    yield Facts(
        *flattened(mapping(spec, "securityContext")), title=_("Security context"), literal=True
    )
    volumes, mounts = mappings_at(spec, "volumes"), _mounts(spec)
    yield DescriptionTable(
        (_("Name"), _("Type"), _("Content"), _("Mounted at")),
        (
            (name, _type(one), _content(one), mounts.get(name, ""))
            for one in volumes
            for name in (text(one.get("name")),)
        ),
        len(volumes),
        _("Volumes"),
    )


def _network(spec: Mapping[str, Any], status: Mapping[str, Any]) -> Section:
    ips = [text(one.get("ip")) for one in mappings_at(status, "podIPs")]
    hosts = [text(one.get("ip")) for one in mappings_at(status, "hostIPs")]
    names = (text(spec.get("hostname")), text(spec.get("subdomain")))
    policy = text(spec.get("dnsPolicy"))
    dns = [f"{path}: {', '.join(lines)}" for path, lines in flattened(mapping(spec, "dnsConfig"))]
    return Facts(
        (_("IP addresses"), ips if len(ips) > 1 else ""),
        (_("IP addresses of the node"), hosts or text(status.get("hostIP"))),
        (
            _("Shared with the node"),
            [words for field, words in _HOST.items() if spec.get(field) is True],
        ),
        (_("Host name"), ".".join(name for name in names if name)),
        (_("DNS"), ["" if policy == "ClusterFirst" else policy, *dns]),
        (
            _("Additional hosts"),
            [
                f"{text(one.get('ip'))} {' '.join(texts(one.get('hostnames')))}"
                for one in mappings_at(spec, "hostAliases")
            ],
        ),
        title=_("Network"),
    )


def _account(spec: Mapping[str, Any]) -> str:
    name = text(spec.get("serviceAccountName"))
    if name and spec.get("automountServiceAccountToken") is False:
        return _("%(account)s, without a token") % {"account": name}
    return name


def _seconds(value: Any) -> str:
    seconds = number(value)
    return "" if seconds is None else seconds_text(seconds)


def _gate(gate: Mapping[str, Any], status: Mapping[str, Any]) -> str:
    name = text(gate.get("conditionType"))
    found = (
        text(one.get("status"))
        for one in mappings_at(status, "conditions")
        if one.get("type") == gate.get("conditionType")
    )
    return f"{name}: {next(found, '—')}" if status else name


def _claim(claim: Mapping[str, Any]) -> str:
    name, template = (
        text(claim.get("resourceClaimName")),
        text(claim.get("resourceClaimTemplateName")),
    )
    source = _("template %(name)s") % {"name": template} if template else name
    return f"{text(claim.get('name'))}: {source}"


def _priority(spec: Mapping[str, Any]) -> str:
    value, name = text(spec.get("priority")), text(spec.get("priorityClassName"))
    if name and value:
        return _("%(value)s, from priority class %(name)s") % {"value": value, "name": name}
    return name or value


def _source(volume: Mapping[str, Any]) -> str:
    """Return the field of the volume's source. Volumes without a source are empty directories."""
    return next((field for field in volume if field != "name"), "emptyDir")


def _type(volume: Mapping[str, Any]) -> str:
    field = _source(volume)
    return str(SOURCES.get(field, text(field)))


def _content(volume: Mapping[str, Any]) -> list[str]:
    field = _source(volume)
    source = mapping(volume, field)
    if field == "projected":
        return [_projected(one) for one in mappings_at(source, "sources")]
    if field == "downwardAPI":
        return _items(source)
    if field == "ephemeral":
        source = mapping(source, "volumeClaimTemplate", "spec")
    return _fields(source)


def _projected(source: Mapping[str, Any]) -> str:
    field = next(iter(source), "")
    found = mapping(source, field)
    content = _items(found) if field == "downwardAPI" else _fields(found)
    return f"{SOURCES.get(field, text(field))} ({', '.join(content)})"


def _items(source: Mapping[str, Any]) -> list[str]:
    """Return the files of the downward API."""
    found = []
    for one in mappings_at(source, "items"):
        field = mapping(one, "fieldRef").get("fieldPath")
        value = field or mapping(one, "resourceFieldRef").get("resource")
        found.append(f"{text(one.get('path'))}: {text(value)}")
    return found


def _fields(source: Mapping[str, Any]) -> list[str]:
    shown = {field: value for field, value in source.items() if _DEFAULT_MODES.get(field) != value}
    return [f"{path}: {'; '.join(lines)}" for path, lines in flattened(shown)]


def _mounts(spec: Mapping[str, Any]) -> Mapping[str, list[str]]:
    """Return the containers that use each volume, with the paths."""
    found: dict[str, list[str]] = {}
    for group in _CONTAINERS:
        for container in mappings_at(spec, group):
            for field, path in (("volumeMounts", "mountPath"), ("volumeDevices", "devicePath")):
                for mount in mappings_at(container, field):
                    place = f"{text(container.get('name'))}:{text(mount.get(path))}"
                    found.setdefault(text(mount.get("name")), []).append(place)
    return found
