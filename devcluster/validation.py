"""Validation of objects before they are stored. Errors are causes of a 422 response."""

import base64
import json
from collections.abc import Callable, Iterator, Mapping

from devcluster.certificates import REQUESTS, validate_request
from devcluster.custom_types import CRDS, validate_crd
from devcluster.errors import Cause, forbidden_value, invalid_value, required, unsupported
from devcluster.metadata_validation import CONFIG_KEY, CONFIG_KEY_RULE, validate_metadata
from devcluster.objects import Obj, dicts, dig, meta
from devcluster.podspecs import validate_pods, validate_strategy
from devcluster.resources import ResourceType
from devcluster.service_validation import validate_ingress, validate_service
from devcluster.volume_validation import CLAIMS, CLASSES, validate_claim, validate_class

Validator = Callable[[Obj, Obj | None], Iterator[Cause]]

_IMMUTABLE = "field is immutable"
#: Maximum total size of the values of a Secret or ConfigMap, in bytes.
_VALUES = 1024 * 1024
#: Required keys by Secret type, and keys that must contain JSON.
_NEEDED: Mapping[object, tuple[str, ...]] = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
_JSON_KEYS = frozenset({".dockercfg", ".dockerconfigjson"})


def _pod(new: Obj, old: Obj | None) -> Iterator[Cause]:
    if old is None:
        yield from validate_pods(new.get("spec"), "spec")
        return
    if _fixed_pod_spec(new) != _fixed_pod_spec(old):
        yield forbidden_value(
            "spec",
            "pod updates may not change fields other than `spec.containers[*].image`,"
            "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
            "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to "
            "be set to 1 if it was previously negative)",
        )


def _fixed_pod_spec(pod: Obj) -> Obj:
    spec = dict(pod.get("spec") or {})
    for name in ("activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds"):
        spec.pop(name, None)
    for name in ("containers", "initContainers"):
        spec[name] = [{**container, "image": ""} for container in dicts(spec.get(name))]
    # These fields are changed through a subresource or by the scheduler.
    spec.pop("ephemeralContainers", None)
    spec.pop("schedulingGates", None)
    return spec


def _workload(new: Obj, old: Obj | None) -> Iterator[Cause]:
    spec = new.get("spec") or {}
    selector = spec.get("selector")
    if not selector:
        yield required("spec.selector")
    labels = dig(spec, "template.metadata.labels") or {}
    wanted = dig(selector, "matchLabels") or {}
    if selector and not wanted.items() <= labels.items():
        yield invalid_value(
            "spec.template.metadata.labels",
            _go_map(labels),
            "`selector` does not match template `labels`",
        )
    replicas = spec.get("replicas")
    if isinstance(replicas, int) and replicas < 0:
        yield invalid_value("spec.replicas", replicas, "must be greater than or equal to 0")
    claims = [meta(one).get("name") for one in dicts(spec.get("volumeClaimTemplates"))]
    yield from validate_pods(dig(spec, "template.spec"), "spec.template.spec", claims)
    yield from validate_strategy(spec, "strategy", ("Recreate",))
    yield from validate_strategy(spec, "updateStrategy", ("OnDelete",))
    yield from _same(new, old, "spec.selector")


def _go_map(labels: Mapping[str, str]) -> str:
    return "{" + ",".join(f'"{key}":"{value}"' for key, value in sorted(labels.items())) + "}"


def _job(new: Obj, old: Obj | None) -> Iterator[Cause]:
    yield from validate_pods(dig(new, "spec.template.spec"), "spec.template.spec")
    if dig(new, "spec.template.spec.restartPolicy") == "Always":
        yield unsupported("spec.template.spec.restartPolicy", "Always", ("OnFailure", "Never"))
    yield from _same(new, old, "spec.template")
    yield from _same(new, old, "spec.selector")


def _cron_job(new: Obj, old: Obj | None) -> Iterator[Cause]:
    if not dig(new, "spec.schedule"):
        yield required("spec.schedule")
    path = "spec.jobTemplate.spec.template.spec"
    yield from validate_pods(dig(new, path), path)
    if dig(new, f"{path}.restartPolicy") == "Always":
        yield unsupported(f"{path}.restartPolicy", "Always", ("OnFailure", "Never"))


def _same(new: Obj, old: Obj | None, path: str) -> Iterator[Cause]:
    if old is not None and dig(new, path) != dig(old, path):
        yield invalid_value(path, "", _IMMUTABLE)


def _stored_map(new: Obj, old: Obj | None) -> Iterator[Cause]:
    for field in ("data", "binaryData"):
        for key in new.get(field) or {}:
            if not CONFIG_KEY.fullmatch(key):
                yield invalid_value(f"{field}[{key}]", key, CONFIG_KEY_RULE)
        if old and old.get("immutable") and new.get(field) != old.get(field):
            yield forbidden_value(field, "field is immutable when `immutable` is set")
    if old and "type" in old:
        yield from _same(new, old, "type")


def _config_map(new: Obj, old: Obj | None) -> Iterator[Cause]:
    yield from _stored_map(new, old)
    texts = (new.get("data") or {}).values()
    size = sum(len(str(text).encode()) for text in texts)
    size += sum(len(_decoded(value)) for value in (new.get("binaryData") or {}).values())
    yield from _not_too_large("", size)


def _secret(new: Obj, old: Obj | None) -> Iterator[Cause]:
    yield from _stored_map(new, old)
    data = {key: _decoded(value) for key, value in (new.get("data") or {}).items()}
    yield from _not_too_large("data", sum(map(len, data.values())))
    for key in _NEEDED.get(new.get("type"), ()):
        if key not in data or (key == "ssh-privatekey" and not data[key]):
            yield required(f"data[{key}]")
        elif key in _JSON_KEYS:
            yield from _is_json(f"data[{key}]", data[key])
    names = ("username", "password")
    if new.get("type") == "kubernetes.io/basic-auth" and not data.keys() & set(names):
        yield from (required(f"data[{name}]") for name in names)


def _decoded(value: object) -> bytes:
    """Return the decoded base64 value, or empty bytes if it is malformed."""
    try:
        return base64.b64decode(value if isinstance(value, str) else "")
    except ValueError:
        return b""


def _not_too_large(path: str, size: int) -> Iterator[Cause]:
    if size > _VALUES:
        why = f"Too long: may not be more than {_VALUES} bytes"
        yield Cause(path, "FieldValueTooLong", why)


def _is_json(path: str, content: bytes) -> Iterator[Cause]:
    try:
        json.loads(content)
    except ValueError:
        yield invalid_value(path, "<secret contents redacted>", "unexpected end of JSON input")


def _binding(new: Obj, old: Obj | None) -> Iterator[Cause]:
    ref = new.get("roleRef") or {}
    kinds = ("ClusterRole",) if not meta(new).get("namespace") else ("Role", "ClusterRole")
    if ref.get("kind") not in kinds:
        yield unsupported("roleRef.kind", ref.get("kind", ""), kinds)
    if not ref.get("name"):
        yield required("roleRef.name")
    for index, subject in enumerate(dicts(new.get("subjects"))):
        if subject.get("kind") not in ("User", "Group", "ServiceAccount"):
            known = ("ServiceAccount", "User", "Group")
            yield unsupported(f"subjects[{index}].kind", subject.get("kind", ""), known)
        if not subject.get("name"):
            yield required(f"subjects[{index}].name")
    if old is not None and new.get("roleRef") != old.get("roleRef"):
        yield invalid_value(
            "roleRef", f"{ref.get('kind')}/{ref.get('name')}", "cannot change roleRef"
        )


def _role(new: Obj, _: Obj | None) -> Iterator[Cause]:
    for index, rule in enumerate(dicts(new.get("rules"))):
        place = f"rules[{index}]"
        if not rule.get("verbs"):
            yield required(
                f"{place}.verbs", "Required value: verbs must contain at least one value"
            )
        if rule.get("nonResourceURLs"):
            if meta(new).get("namespace"):
                why = "namespaced rules cannot apply to non-resource URLs"
                yield invalid_value(f"{place}.nonResourceURLs", "", why)
            continue
        for field in ("apiGroups", "resources"):
            if not rule.get(field):
                one = "api group" if field == "apiGroups" else "resource"
                why = f"Required value: resource rules must supply at least one {one}"
                yield required(f"{place}.{field}", why)


def _event(new: Obj, _: Obj | None) -> Iterator[Cause]:
    place = dig(new, "involvedObject.namespace") or "default"
    if place != meta(new).get("namespace"):
        yield invalid_value("involvedObject.namespace", place, "does not match event.namespace")


_VALIDATORS: Mapping[str, Validator] = {
    "pods": _pod,
    REQUESTS: validate_request,
    "deployments.apps": _workload,
    "replicasets.apps": _workload,
    "statefulsets.apps": _workload,
    "daemonsets.apps": _workload,
    "jobs.batch": _job,
    "cronjobs.batch": _cron_job,
    "configmaps": _config_map,
    "secrets": _secret,
    "services": validate_service,
    "ingresses.networking.k8s.io": validate_ingress,
    "events": _event,
    CRDS: validate_crd,
    CLAIMS: validate_claim,
    CLASSES: validate_class,
    "roles.rbac.authorization.k8s.io": _role,
    "clusterroles.rbac.authorization.k8s.io": _role,
    "rolebindings.rbac.authorization.k8s.io": _binding,
    "clusterrolebindings.rbac.authorization.k8s.io": _binding,
}


def validate_object(declared: ResourceType, new: Obj, old: Obj | None) -> Iterator[Cause]:
    """Yield all validation errors of the object. `old` is the object that an update replaces."""
    yield from validate_metadata(declared, new)
    check = _VALIDATORS.get(declared.storage)
    if check:
        yield from check(new, old)
