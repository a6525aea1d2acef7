"""PATCH requests: JSON patch, merge patch, strategic merge patch and server-side apply."""

from typing import Any

from console.kube.merging import apply_merge_patch
from devcluster.apply import apply_patch, without_server_fields
from devcluster.errors import (
    bad_request,
    conflict,
    invalid,
    not_found,
    required,
    unsupported_media_type,
)
from devcluster.handlers import Handlers, to_stored
from devcluster.json_patches import json_patch
from devcluster.managed_fields import Manager
from devcluster.objects import Obj, meta
from devcluster.options import is_true
from devcluster.requests import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    Request,
    Response,
)
from devcluster.store import key_of
from devcluster.strategic import strategic_merge
from devcluster.write_options import Mutation


class Patches:
    """Handle PATCH requests for objects and their status. Requests are already authorized."""

    def __init__(self, handlers: Handlers) -> None:
        self._handlers = handlers

    def patch(self, call: Request, subresource: str = "") -> Response:
        kind = call.content_type.partition(";")[0].strip()
        if kind == APPLY_PATCH:
            return self._apply(call, subresource)
        self._check_patch_type(call, kind)
        text = call.body.decode(errors="replace")
        write = self._handlers.write(call, subresource, patch=text)
        info, document = call.info, call.decoded()
        changed = self._handlers.objects.update(
            call.declared,
            call.version,
            call.namespace,
            info.name,
            self._patcher(call, kind, document),
            write,
        )
        return self._handlers.object_response(call, changed, write)

    def _check_patch_type(self, call: Request, kind: str) -> None:
        known = [JSON_PATCH, MERGE_PATCH, APPLY_PATCH]
        if not call.declared.custom:
            known.insert(2, STRATEGIC_PATCH)
        if kind not in known:
            raise unsupported_media_type(known)

    def _patcher(self, call: Request, kind: str, document: Any) -> Mutation:
        shape = self._handlers.objects.shape(call.declared, call.version)
        if kind != JSON_PATCH and not isinstance(document, dict):
            raise bad_request("the patch must be an object")

        def patched(typed: Obj) -> Any:
            if kind == JSON_PATCH:
                return json_patch(typed, document)
            if kind == MERGE_PATCH:
                return apply_merge_patch(typed, document)
            return strategic_merge(typed, document, shape)

        def mutate(obj: Obj) -> Obj:
            result = patched(call.declared.with_type_meta(obj, call.version))
            if not isinstance(result.get("metadata"), dict):
                raise bad_request("the patch does not leave the object its metadata")
            return to_stored(call, result)

        return mutate

    def _apply(self, call: Request, subresource: str) -> Response:
        write = self._handlers.write(call, subresource, applied=True)
        if not call.query.get("fieldManager"):
            cause = required("fieldManager", "Required value: is required for apply patch")
            raise invalid("meta.k8s.io", "PatchOptions", "", [cause])
        wanted = self._applied_object(call)
        info, declared = call.info, call.declared
        api_version = declared.group_version(call.version)
        manager = Manager(write.manager, "Apply", api_version, subresource)
        shape = self._handlers.objects.shape(declared, call.version)
        force = is_true(call.query, "force")

        given = meta(call.object())
        expected = {name: given[name] for name in ("uid", "resourceVersion") if given.get(name)}

        def mutate(live: Obj) -> Obj:
            merged = apply_patch(live, wanted, manager, shape, force=force)
            # The update compares these fields with those of the stored object.
            meta(merged).update(expected)
            return merged

        if (
            self._handlers.objects.store.find(declared.storage, key_of(call.namespace, info.name))
            is None
        ):
            if subresource:
                raise not_found(declared.group, declared.plural, info.name)
            if expected:
                raise conflict(declared.group, declared.plural, info.name)
            self._handlers.require_create(call)
            fresh = mutate({"metadata": {"name": info.name}})
            made = self._handlers.objects.create(
                declared, call.version, call.namespace, fresh, write
            )
            return self._handlers.object_response(call, made, write, 201)
        changed = self._handlers.objects.update(
            declared, call.version, call.namespace, info.name, mutate, write
        )
        return self._handlers.object_response(call, changed, write)

    def _applied_object(self, call: Request) -> Obj:
        found = call.object()
        if meta(found).get("managedFields"):
            raise bad_request("metadata.managedFields must be nil")
        name = meta(found).get("name")
        if not name:
            raise bad_request("metadata.name is required for apply")
        if name != call.info.name:
            raise bad_request(
                f"the name of the object ({name}) does not match the name on the URL "
                f"({call.info.name})"
            )
        wanted = to_stored(call, without_server_fields(found))
        has_status = self._handlers.objects.has_status(call.declared, call.version)
        if has_status and not call.info.subresource:
            wanted.pop("status", None)
        return wanted
