"""Request handlers of the verbs: they connect HTTP requests with the object store."""

from collections.abc import Callable, Mapping
from typing import Any

from devcluster.certificates import REQUESTS, check_signer, stamp_requestor
from devcluster.crud import Objects
from devcluster.deletion import RETURNS_OBJECT
from devcluster.ephemeral import check_ephemeral
from devcluster.errors import StatusError, bad_request, invalid, unsupported
from devcluster.escalation import check_escalation
from devcluster.objects import Obj, meta
from devcluster.options import (
    field_validation,
    is_dry_run,
    list_metadata,
    read_list_options,
    read_selection,
)
from devcluster.pagination import list_page
from devcluster.rbac import Rbac, attributes_of
from devcluster.rendering import Renderer, choose_renderer
from devcluster.requests import Request, Response, json_response
from devcluster.store import key_of
from devcluster.write_options import Deletion, Write


class Handlers:
    """Handle requests for objects and their status. Requests are already authorized."""

    def __init__(self, objects: Objects, rbac: Rbac) -> None:
        self.objects, self.rbac = objects, rbac

    def renderer(self, call: Request) -> Renderer:
        """Return the renderer for the accepted media type. Raise a 406 error if no media type is
        supported.
        """
        custom = self.objects.customs.find(call.declared, call.version)
        include = call.query.get("includeObject", "Metadata")
        found = choose_renderer(call.accept, include, call.declared, call.version, custom)
        if found is None:
            why = "only the following media types are accepted: application/json"
            raise StatusError(406, "NotAcceptable", why)
        return found

    def write(
        self, call: Request, subresource: str = "", *, applied: bool = False, patch: str = ""
    ) -> Write:
        """Return the write options of the request, including the checks that depend on the user."""
        query = call.query

        def guard(new: Obj, old: Obj | None) -> None:
            check_escalation(self.rbac, call.user, call.declared, new, old)
            check_signer(self.rbac, call.user, call.declared, call.info.subresource, new)
            check_ephemeral(call.declared, call.info.subresource, new, old)

        return Write(
            field_validation=field_validation(query),
            dry_run=is_dry_run(query.get("dryRun", "")),
            manager=query.get("fieldManager") or call.user_agent.partition("/")[0] or "unknown",
            subresource=subresource,
            guard=guard,
            applied=applied,
            patch=patch,
        )

    def object_response(
        self, call: Request, obj: Obj, write: Write | None = None, code: int = 200
    ) -> Response:
        headers = {}
        if write and write.warnings:
            headers["Warning"] = ", ".join(f'299 - "{_quoted(w)}"' for w in write.warnings)
        return json_response(call.declared.with_type_meta(obj, call.version), code, **headers)

    # Reading ------------------------------------------------------------------------------------

    def get(self, call: Request) -> Response:
        record = self.objects.get(call.declared, call.namespace, call.info.name)
        return Response(self.renderer(call).render_object(record))

    async def list(self, call: Request) -> Response:
        options = read_list_options(call.declared, call.query, watch=False)
        renderer = self.renderer(call)
        collection = self.objects.store.collection(call.declared.storage)
        page = await list_page(self.objects.store, collection, call.namespace, options)
        metadata = list_metadata(page.resource_version, page.token, page.remaining)
        return Response(renderer.render_list(page.records, metadata))

    # Writing ------------------------------------------------------------------------------------

    def create(self, call: Request) -> Response:
        write = self.write(call)
        obj = to_stored(call, call.object())
        if call.declared.storage == REQUESTS:
            stamp_requestor(obj, call.user)
        made = self.objects.create(call.declared, call.version, call.namespace, obj, write)
        return self.object_response(call, made, write, 201)

    def update(self, call: Request, subresource: str = "") -> Response:
        declared, info = call.declared, call.info
        write = self.write(call, subresource)
        obj = to_stored(call, call.object())
        key = key_of(call.namespace, info.name)
        missing = self.objects.store.find(declared.storage, key) is None
        if missing and declared.create_on_update and not subresource:
            self.require_create(call)
            meta(obj).setdefault("name", info.name)
            made = self.objects.create(declared, call.version, call.namespace, obj, write)
            return self.object_response(call, made, write, 201)
        changed = self.objects.update(
            declared, call.version, call.namespace, info.name, lambda _: obj, write
        )
        return self.object_response(call, changed, write)

    def require_create(self, call: Request) -> None:
        """Check the additional `create` permission of an update or patch that creates a missing
        object.
        """
        self.rbac.require(attributes_of(call.user, "create", call.info))

    # Deleting -----------------------------------------------------------------------------------

    def delete(self, call: Request) -> Response:
        how = self.deletion(call, self._options(call))
        obj, gone = self.objects.delete(call.declared, call.namespace, call.info.name, how)
        if not gone or call.declared.storage in RETURNS_OBJECT:
            return self.object_response(call, obj)
        declared = call.declared
        details = {
            "name": call.info.name,
            "group": declared.group,
            "kind": declared.plural,
            "uid": meta(obj)["uid"],
        }
        return json_response(
            {
                "kind": "Status",
                "apiVersion": "v1",
                "metadata": {},
                "status": "Success",
                "details": {key: value for key, value in details.items() if value},
            }
        )

    def delete_collection(self, call: Request) -> Response:
        how = self.deletion(call, self._options(call))
        selection = read_selection(call.declared, call.query)
        collection = self.objects.store.collection(call.declared.storage)
        chosen = [r for r in collection.records_in(call.namespace) if selection.matches(r)]
        rendered = self.renderer(call).render_list(
            chosen, {"resourceVersion": str(self.objects.store.rv)}
        )
        for record in chosen:
            self.objects.delete(call.declared, record.namespace, record.name, how)
        return Response(rendered)

    def _options(self, call: Request) -> Mapping[str, Any]:
        given = call.decoded()
        if given is None:
            return {name: value for name, value in call.query.items() if value}
        return given if isinstance(given, dict) else {}

    def deletion(self, call: Request, options: Mapping[str, Any]) -> Deletion:
        """Return the deletion options of a request. `options` has the format of `DeleteOptions`."""
        preconditions = options.get("preconditions") or {}
        grace = options.get("gracePeriodSeconds")
        dry = options.get("dryRun") or call.query.get("dryRun") or ""
        policy = str(options.get("propagationPolicy") or "")
        if "orphanDependents" in options and not policy:
            policy = "Orphan" if options["orphanDependents"] else "Background"
        if policy not in ("", "Background", "Foreground", "Orphan"):
            known = ("Foreground", "Background", "Orphan")
            cause = unsupported("propagationPolicy", policy, known)
            raise invalid("meta.k8s.io", "DeleteOptions", "", [cause])
        return Deletion(
            uid=preconditions.get("uid") or "",
            resource_version=preconditions.get("resourceVersion") or "",
            grace=None if grace is None else int(grace),
            policy=policy,
            dry_run=is_dry_run(dry if isinstance(dry, str) else ",".join(dry)),
        )


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def to_stored(call: Request, obj: Obj) -> Obj:
    """Return the object without `kind` and `apiVersion`, which must match those of the request."""
    declared = call.declared
    expected = declared.group_version(call.version)
    kind, version = obj.pop("kind", None), obj.pop("apiVersion", None)
    if kind not in (None, "", declared.kind):
        raise bad_request(
            f'{kind} in version "{version}" cannot be handled as a {declared.kind}: '
            f"no kind registered"
        )
    if version not in (None, "", expected):
        raise bad_request(
            f"the API version in the data ({version}) does not match the expected API version "
            f"({expected})"
        )
    served = declared.version(call.version)
    convert: Callable[[Obj], Obj] | None = served.from_wire if served else None
    return convert(obj) if convert else obj
