"""The containers of a pod or pod template, as shown on pages.

https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from console.kube.projections.pod import waiting_status
from console.kube.status import Severity
from console.ui.core.manifests import mapping, mappings_at, number, text, texts, time
from console.ui.core.words import translate

#: Maximum containers shown per pod.
MOST = 50
_TEMPLATES = (("spec", "template", "spec"), ("spec", "jobTemplate", "spec", "template", "spec"))
_GROUPS = (
    ("initContainers", "initContainerStatuses", gettext_lazy("Init container")),
    ("containers", "containerStatuses", gettext_lazy("Container")),
    ("ephemeralContainers", "ephemeralContainerStatuses", gettext_lazy("Debug container")),
)
_PROBES = (
    ("startupProbe", gettext_lazy("Startup probe")),
    ("readinessProbe", gettext_lazy("Readiness probe")),
    ("livenessProbe", gettext_lazy("Liveness probe")),
)
_HOW = {
    0: gettext_lazy("it exited without an error"),
    126: gettext_lazy("its command could not be run"),
    127: gettext_lazy("its command was not found"),
    137: gettext_lazy("it was killed"),
    139: gettext_lazy("it crashed with a segmentation fault (SIGSEGV)"),
    143: gettext_lazy("it received a termination signal (SIGTERM)"),
}


@dataclass(frozen=True, slots=True)
class Termination:
    """A terminated container. `how` is the cause in words, `reason` the exit code and Kubernetes'
    reason.
    """

    code: int
    how: str
    reason: str
    message: str
    finished: datetime | None


@dataclass(frozen=True, slots=True)
class ContainerView:
    """A container of a pod or a template.

    `severity` and `word` are "" in a template, which has no state. `waiting` is the reason of
    the waiting state, or "". `spec` and `status` are the container's parts of the manifest. `status` is
    empty in a template.
    """

    role: str | Promise
    name: str
    image: str
    severity: str
    word: str | Promise
    reason: str
    message: str
    waiting: str
    since: datetime | None
    ended: Termination | None
    last: Termination | None
    restarts: int | None
    ready: bool
    spec: Mapping[str, Any]
    status: Mapping[str, Any]


def containers_of(manifest: Mapping[str, Any]) -> tuple[ContainerView, ...]:
    """Return the containers in the order of the manifest, init containers first. Empty for kinds
    without pods.
    """
    spec = pod_spec_of(manifest)
    is_pod = spec is mapping(manifest, "spec")
    return tuple(_all(spec, mapping(manifest, "status") if is_pod else None))


def pod_spec_of(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the spec of a pod or of a pod template. Empty for kinds without pods."""
    specs = (mapping(manifest, *path) for path in (("spec",), *_TEMPLATES))
    return next((spec for spec in specs if mappings_at(spec, "containers")), {})


def _all(spec: Mapping[str, Any], status: Mapping[str, Any] | None) -> Iterator[ContainerView]:
    for key, statuses, role in _GROUPS:
        told = {text(item.get("name")): item for item in mappings_at(status, statuses)}
        for item in mappings_at(spec, key)[:MOST]:
            yield _container(item, told.get(text(item.get("name"))), role, status is not None)


def _container(
    spec: Mapping[str, Any], status: Mapping[str, Any] | None, role: str | Promise, of_a_pod: bool
) -> ContainerView:
    sidecar = spec.get("restartPolicy") == "Always"
    limit = text(mapping(spec, "resources", "limits").get("memory"))
    waiting = mapping(status, "state", "waiting")
    ended = termination_of(mapping(status, "state", "terminated"), limit)
    severity, word = _state(status, ended) if of_a_pod else ("", "")
    return ContainerView(
        role=_("Sidecar") if sidecar else role,
        name=text(spec.get("name")),
        image=text(spec.get("image")),
        severity=severity,
        word=word,
        reason=text(waiting.get("reason")) or (ended.reason if ended else ""),
        message=text(waiting.get("message")) or (ended.message if ended else ""),
        waiting=text(waiting.get("reason")),
        since=time(mapping(status, "state", "running").get("startedAt")),
        ended=ended,
        last=termination_of(mapping(status, "lastState", "terminated"), limit),
        restarts=number(mapping(status).get("restartCount")) or 0 if of_a_pod else None,
        ready=mapping(status).get("ready") is True,
        spec=spec,
        status=mapping(status),
    )


def _state(
    status: Mapping[str, Any] | None, ended: Termination | None
) -> tuple[str, str | Promise]:
    state = mapping(status, "state")
    if ended is not None:
        if ended.code:
            return Severity.ERROR.value, _("Failed")
        return Severity.DONE.value, _("Completed")
    if state.get("running") is not None:
        if mapping(status).get("ready") is False:
            return Severity.WARN.value, _("Not ready")
        return Severity.OK.value, _("Running")
    waiting = waiting_status(text(mapping(state, "waiting").get("reason")))
    starting = waiting.severity is Severity.PROGRESS
    return waiting.severity.value, _("Waiting") if starting else translate(waiting.word)


def termination_of(terminated: Mapping[str, Any], memory_limit: str = "") -> Termination | None:
    """Return the details of a terminated state, or None if the container is not terminated."""
    if not terminated:
        return None
    code, reason = number(terminated.get("exitCode")) or 0, text(terminated.get("reason"))
    return Termination(
        code=code,
        how=_how(code, reason, memory_limit),
        reason=", ".join(part for part in (f"exit {code}", reason) if part),
        message=text(terminated.get("message")),
        finished=time(terminated.get("finishedAt")),
    )


def _how(code: int, reason: str, memory_limit: str) -> str:
    if reason == "OOMKilled" and memory_limit:
        words = {"limit": memory_limit}
        return _("it exceeded its memory limit (%(limit)s) and was killed") % words
    if reason == "OOMKilled":
        return _("it ran out of memory and was killed")
    if reason in ("StartError", "ContainerCannotRun"):
        return _("it could not be started")
    if code in _HOW:
        return str(_HOW[code])
    if 128 < code < 160:
        return _("it was terminated by signal %(signal)s") % {"signal": code - 128}
    return _("it exited with an error")


def ports_of(spec: Mapping[str, Any]) -> list[str]:
    """Return the ports, for example `8080/TCP http`, with the port of the node, if any."""
    found = []
    for port in mappings_at(spec, "ports")[:MOST]:
        shown = f"{text(port.get('containerPort'))}/{text(port.get('protocol')) or 'TCP'}"
        shown = f"{shown} {text(port.get('name'))}".strip()
        place = ":".join(part for key in ("hostIP", "hostPort") if (part := text(port.get(key))))
        found.append(
            _("%(port)s (on the node: %(place)s)") % {"port": shown, "place": place}
            if port.get("hostPort")
            else shown
        )
    return found


def resources_of(spec: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return each resource with its request and limit in words."""
    requests, limits = mapping(spec, "resources", "requests"), mapping(spec, "resources", "limits")
    names = list(dict.fromkeys((*requests, *limits)))[:MOST]
    found = []
    for name in names:
        parts = [
            _("request %(amount)s") % {"amount": text(requests[name])} if name in requests else "",
            _("limit %(amount)s") % {"amount": text(limits[name])} if name in limits else "",
        ]
        found.append((text(name), ", ".join(part for part in parts if part)))
    return found


def probes_of(spec: Mapping[str, Any]) -> list[tuple[str | Promise, str]]:
    """Return the probes of a container: target, period and failure threshold."""
    return [(label, _probe(mapping(spec, key))) for key, label in _PROBES if mapping(spec, key)]


def _probe(probe: Mapping[str, Any]) -> str:
    words = {
        "seconds": number(probe.get("periodSeconds")) or 10,
        "failures": number(probe.get("failureThreshold")) or 3,
        "successes": number(probe.get("successThreshold")) or 1,
        "delay": number(probe.get("initialDelaySeconds")) or 0,
        "timeout": number(probe.get("timeoutSeconds")) or 1,
    }
    found = [
        _asks(probe),
        _("every %(seconds)ss, fails after %(failures)s consecutive failures") % words,
    ]
    if words["successes"] > 1:
        found.append(_("succeeds after %(successes)s consecutive successes") % words)
    if words["delay"]:
        found.append(_("starts after %(delay)ss") % words)
    found.append(_("timeout: %(timeout)ss") % words)
    return " · ".join(found)


def _asks(probe: Mapping[str, Any]) -> str:
    http, tcp, grpc = (mapping(probe, key) for key in ("httpGet", "tcpSocket", "grpc"))
    if http:
        scheme = text(http.get("scheme")) or "HTTP"
        return f"{scheme} GET :{text(http.get('port'))}{text(http.get('path'))}"
    if tcp:
        return f"TCP :{text(tcp.get('port'))}"
    if grpc:
        return f"gRPC :{text(grpc.get('port'))} {text(grpc.get('service'))}".strip()
    command = " ".join(texts(mapping(probe, "exec").get("command")))
    return command or pgettext("check", "unknown")
