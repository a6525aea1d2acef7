"""The scale subresource of built-in workloads and custom resources.

https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#scale-subresource
"""

from console.kube.merging import apply_merge_patch
from devcluster.custom_types import CRDS
from devcluster.errors import bad_request, conflict, invalid, invalid_value
from devcluster.handlers import Handlers
from devcluster.json_patches import json_patch
from devcluster.objects import Obj, dig, encode, meta
from devcluster.requests import APPLY_PATCH, JSON_PATCH, Request, Response, json_response


class Scales:
    def __init__(self, handlers: Handlers) -> None:
        self._handlers, self._objects = handlers, handlers.objects

    def answer(self, call: Request) -> Response:
        record = self._objects.get(call.declared, call.namespace, call.info.name)
        scale = self._as_scale(call, record.load())
        if call.info.verb == "get":
            return json_response(scale)
        wanted = self._wanted_scale(call, scale)
        replicas = dig(wanted, "spec.replicas") or 0
        if not isinstance(replicas, int) or abs(replicas) >= 2**31:
            why = "json: cannot unmarshal it into Go struct field ScaleSpec.spec.replicas of type int32"
            raise invalid("", "", "", [invalid_value("patch", encode(wanted).decode(), why)])
        if replicas < 0:
            cause = invalid_value("spec.replicas", replicas, "must be greater than or equal to 0")
            raise invalid("autoscaling", "Scale", call.info.name, [cause])
        rv, uid = meta(wanted).get("resourceVersion"), meta(wanted).get("uid")

        def mutate(obj: Obj) -> Obj:
            about, own = meta(obj), f"{call.declared.plural}/scale"
            if uid and uid != about["uid"]:
                why = f"UID in precondition: {uid}, UID in object meta: {about['uid']}"
                text = f"Precondition failed: {why}"
                raise conflict(call.declared.group, own, call.info.name, text)
            if rv and rv != about["resourceVersion"]:
                raise conflict(call.declared.group, call.declared.plural, call.info.name)
            _put(obj, self._paths(call)[0], replicas)
            return obj

        write = self._handlers.write(call, "scale")
        changed = self._objects.update(
            call.declared, call.version, call.namespace, call.info.name, mutate, write
        )
        return json_response(self._as_scale(call, changed))

    def _wanted_scale(self, call: Request, scale: Obj) -> Obj:
        if call.info.verb == "update":
            return call.object()
        kind, document = call.content_type.partition(";")[0], call.decoded()
        if kind == JSON_PATCH:
            return json_patch(scale, document)
        if kind == APPLY_PATCH:
            document = {"spec": (document or {}).get("spec", {})}
        merged = apply_merge_patch(scale, document)
        if not isinstance(merged, dict):
            raise bad_request("the patch must be an object")
        return merged

    def _paths(self, call: Request) -> tuple[str, str, str]:
        """Return the paths of the desired replicas, the current replicas and the selector."""
        if not call.declared.custom:
            return "spec.replicas", "status.replicas", "status.selector"
        definitions = self._objects.registry.get(CRDS)
        crd = self._objects.get(definitions, "", call.declared.qualified).load()
        version = next(v for v in crd["spec"]["versions"] if v["name"] == call.version)
        scale = dig(version, "subresources.scale") or {}
        found = (
            scale.get(f"{n}Path", "") for n in ("specReplicas", "statusReplicas", "labelSelector")
        )
        spec, status, selector = (path.lstrip(".") for path in found)
        return spec, status, selector

    def _as_scale(self, call: Request, obj: Obj) -> Obj:
        spec, status, selector = self._paths(call)
        about = meta(obj)
        kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
        found: Obj = {
            "kind": "Scale",
            "apiVersion": "autoscaling/v1",
            "metadata": {name: about[name] for name in kept if name in about},
            "spec": {"replicas": wanted} if (wanted := dig(obj, spec)) else {},
            "status": {"replicas": dig(obj, status) or 0},
        }
        labels = dig(obj, "spec.selector.matchLabels")
        text = dig(obj, selector) if selector else None
        if isinstance(labels, dict) and not text:
            text = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
        if text:
            found["status"]["selector"] = text
        return found


def _put(obj: Obj, path: str, value: object) -> None:
    *parents, last = path.split(".")
    for name in parents:
        obj = obj.setdefault(name, {})
    obj[last] = value
