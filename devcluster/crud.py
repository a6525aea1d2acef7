"""Creation, update and deletion of objects of any type, like kube-apiserver's generic registry.

All methods are synchronous and run on the cluster's event loop. The read, the resourceVersion
check and the write are therefore one atomic step. Callers authorize requests first. Objects are
passed in their stored form, without `kind` and `apiVersion`.
"""

from devcluster.custom_types import CRDS, CustomTypes, mark_crd_terminating, prepare_crd
from devcluster.defaults import DEFAULTS, INITIAL_STATUS, quality_of_service
from devcluster.deletion import (
    check_preconditions,
    grace_period,
    has_namespace_finalizers,
    mark_deleted,
    mark_policy,
)
from devcluster.errors import (
    Cause,
    StatusError,
    already_exists,
    bad_request,
    forbidden,
    invalid,
    invalid_value,
    not_found,
)
from devcluster.fields import normalize
from devcluster.managed_fields import Manager, track_update
from devcluster.merge_rules import BuiltinShape, Shape
from devcluster.objects import Obj, clone, dig, meta, new_uid, suffix, timestamp
from devcluster.quotas import check_quotas
from devcluster.resources import Registry, ResourceType
from devcluster.schema import prune, set_defaults, validate
from devcluster.service_addresses import ServiceAddresses
from devcluster.store import Record, Store, key_of
from devcluster.update_rules import (
    check_finalizers,
    check_identity,
    count_generation,
    keep_server_fields,
)
from devcluster.validation import validate_object
from devcluster.volume_validation import check_expansion
from devcluster.write_options import Deletion, Mutation, Write

_PROTECTED = frozenset({"default", "kube-system", "kube-public"})


class Objects:
    """Create, read, update and delete objects of all types."""

    def __init__(self, store: Store, registry: Registry, customs: CustomTypes) -> None:
        self.store, self.registry, self.customs = store, registry, customs
        self._addresses = ServiceAddresses(store)

    def get(self, declared: ResourceType, namespace: str, name: str) -> Record:
        found = self.store.find(declared.storage, key_of(namespace, name))
        if found is None:
            raise not_found(declared.group, declared.plural, name)
        return found

    def shape(self, declared: ResourceType, version: str) -> Shape:
        custom = self.customs.find(declared, version)
        return custom.shape if custom else BuiltinShape()

    def has_status(self, declared: ResourceType, version: str) -> bool:
        """Return True if the type has a status subresource."""
        custom = self.customs.find(declared, version)
        return custom.has_status if custom else declared.has_status

    # Create -------------------------------------------------------------------------------------

    def create(
        self, declared: ResourceType, version: str, namespace: str, obj: Obj, write: Write
    ) -> Obj:
        """Create the object and return it as stored, or as it would be stored in a dry run."""
        about = meta(obj)
        if about.get("resourceVersion"):
            # kube-apiserver returns this error without a reason.
            text = "resourceVersion should not be set on objects to be created"
            raise StatusError(500, "", text)
        self._place(declared, namespace, about)
        for name in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
            about.pop(name, None)
        if not write.applied:
            about.pop("managedFields", None)
        about["uid"], about["creationTimestamp"] = new_uid(), timestamp()
        if declared.generation:
            about["generation"] = 1
        self._check_fields(declared, version, obj, write)
        self._first_status(declared, version, obj)
        self._fill(declared, version, obj, None)
        key = key_of(about.get("namespace", ""), about.get("name", ""))
        if write.guard:
            write.guard(obj, None)
        self._validate(declared, version, obj, None)
        if self.store.find(declared.storage, key):
            raise already_exists(declared.group, declared.plural, about["name"])
        if declared.namespaced:
            check_quotas(self.store, declared, obj)
        if declared.storage == "services":
            self._addresses.assign(obj)
        if write.manager and not write.applied:
            self._track(declared, version, None, obj, write)
        if not write.dry_run:
            self.store.put(declared.storage, obj)
        return obj

    def _place(self, declared: ResourceType, namespace: str, about: Obj) -> None:
        if declared.namespaced:
            if about.setdefault("namespace", namespace) not in ("", namespace):
                raise bad_request(
                    "the namespace of the provided object does not match the namespace sent on "
                    "the request"
                )
            about["namespace"] = namespace
            self._check_namespace(declared, namespace, about.get("name", ""))
        if about.get("generateName") and not about.get("name"):
            about["name"] = about["generateName"][: 63 - 5] + suffix()

    def _check_namespace(self, declared: ResourceType, namespace: str, name: str) -> None:
        found = self.store.find("namespaces", namespace)
        if found is None:
            raise not_found("", "namespaces", namespace)
        if found.deleting:
            why = f"unable to create new content in namespace {namespace} because it is being terminated"
            text = f"namespace {namespace} is being terminated"
            cause = Cause("metadata.namespace", "NamespaceTerminating", text)
            raise forbidden(declared.group, declared.plural, name, why, cause)

    def _first_status(self, declared: ResourceType, version: str, obj: Obj) -> None:
        custom = self.customs.find(declared, version)
        if custom:
            if custom.has_status:
                obj.pop("status", None)
        elif declared.storage == "pods":
            quality = quality_of_service(obj.get("spec") or {})
            obj["status"] = {"phase": "Pending", "qosClass": quality}
        elif declared.storage in INITIAL_STATUS:
            obj["status"] = clone(INITIAL_STATUS[declared.storage])

    # Update -------------------------------------------------------------------------------------

    def update(
        self,
        declared: ResourceType,
        version: str,
        namespace: str,
        name: str,
        mutate: Mutation,
        write: Write,
    ) -> Obj:
        """Apply `mutate` to a copy of the object and store the result if it differs.

        Raise a conflict if the result has another resourceVersion or UID than the object.
        """
        record = self.get(declared, namespace, name)
        old = record.load()
        new = mutate(record.load())
        check_identity(declared, old, new, write)
        self._check_fields(declared, version, new, write)
        has_status = self.has_status(declared, version)
        keep_server_fields(declared, old, new, write.subresource, has_status=has_status)
        self._fill(declared, version, new, old)
        count_generation(declared, old, new, has_status=has_status)
        check_finalizers(declared, new, old)
        if write.guard:
            write.guard(new, old)
        # The cluster itself may change fields that are immutable for clients.
        self._validate(declared, version, new, old if write.manager else None)
        if write.manager:
            check_expansion(self.store, declared, new, old)
        if write.manager and not write.subresource and declared.namespaced:
            check_quotas(self.store, declared, new, old)
        if write.manager and not write.applied:
            self._track(declared, version, old, new, write)
        return self._store(declared, record, old, new, write)

    def _store(
        self, declared: ResourceType, record: Record, old: Obj, new: Obj, write: Write
    ) -> Obj:
        about = meta(new)
        if "deletionTimestamp" in about and not about.get("finalizers"):
            waits = about.get("deletionGracePeriodSeconds") or has_namespace_finalizers(
                declared, new
            )
            if not waits and not write.dry_run:
                # As in Kubernetes, the DELETED event contains the last stored state, without this
                # change.
                self.store.remove(declared.storage, record.key)
                return new
        if new == old or write.dry_run:
            return new
        return self.store.put(declared.storage, new).load()

    # Delete -------------------------------------------------------------------------------------

    def delete(
        self, declared: ResourceType, namespace: str, name: str, how: Deletion
    ) -> tuple[Obj, bool]:
        """Delete the object. Return its last state, and True if it was removed immediately."""
        record = self.get(declared, namespace, name)
        obj = record.load()
        check_preconditions(declared, obj, how)
        if declared.storage == "namespaces" and name in _PROTECTED:
            raise forbidden("", "namespaces", name, "this namespace may not be deleted")
        grace = grace_period(declared, obj, how)
        mark_policy(obj, how)
        if declared.storage == "namespaces":
            obj.setdefault("status", {})["phase"] = "Terminating"
        if declared.storage == CRDS and not record.deleting:
            mark_crd_terminating(obj)
        about = meta(obj)
        if about.get("finalizers") or grace or has_namespace_finalizers(declared, obj):
            mark_deleted(declared, obj, grace)
            if not how.dry_run and obj != record.load():
                obj = self.store.put(declared.storage, obj).load()
            return obj, False
        if how.dry_run:
            return obj, True
        if declared.storage == "pods":
            # Mark a pod as deleted even if it is removed immediately, so that watchers receive both
            # events.
            mark_deleted(declared, obj, 0)
            self.store.put(declared.storage, obj)
        return self.store.remove(declared.storage, record.key).load(), True

    def _check_fields(self, declared: ResourceType, version: str, obj: Obj, write: Write) -> None:
        """Remove unknown fields and set the defaults of a custom resource."""
        for path in declared.dropped:
            place, _, name = path.rpartition(".")
            (dig(obj, place) or {}).pop(name, None)
        custom = self.customs.find(declared, version)
        if custom:
            paths = prune(obj, custom.schema)
        elif write.manager:
            paths = normalize(obj, declared.struct)
        else:
            # The write comes from the cluster itself.
            return
        unknown = [f'unknown field "{path}"' for path in paths]
        if unknown and write.field_validation == "Strict":
            why = f"strict decoding error: {', '.join(unknown)}"
            if write.patch:
                raise invalid("", "", "", [invalid_value("patch", write.patch, why)])
            raise bad_request(why)
        if write.field_validation == "Warn":
            write.warnings.extend(unknown)
        if custom:
            set_defaults(obj, custom.schema)

    def _fill(self, declared: ResourceType, version: str, obj: Obj, old: Obj | None) -> None:
        if declared.storage == CRDS:
            prepare_crd(obj, old, self.customs.conflict)
        fill = DEFAULTS.get(declared.storage)
        if fill:
            fill(obj)
        if declared.storage == "services" and old:
            self._addresses.preserve(obj, old)

    def _validate(self, declared: ResourceType, version: str, new: Obj, old: Obj | None) -> None:
        causes = list(validate_object(declared, new, old))
        custom = self.customs.find(declared, version)
        if custom:
            causes += validate(new, custom.checker, custom.schema)
        if causes:
            raise invalid(declared.group, declared.kind, meta(new).get("name", ""), causes)

    def _track(
        self, declared: ResourceType, version: str, old: Obj | None, new: Obj, write: Write
    ) -> None:
        api_version = declared.group_version(version)
        manager = Manager(write.manager, "Update", api_version, write.subresource)
        has_status = self.has_status(declared, version)
        # The initial status is set by the server and has no field manager.
        ignored = "f:status" if has_status and write.subresource != "status" else ""
        track_update(old, new, manager, self.shape(declared, version), ignored)
