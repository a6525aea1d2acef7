"""Fields that an update must not change: identity, server fields, and status or spec."""

from devcluster.ephemeral import SUBRESOURCE, keep_all_but_ephemeral
from devcluster.errors import bad_request, conflict, forbidden_value, invalid, invalid_value
from devcluster.objects import Obj, meta
from devcluster.resources import ResourceType
from devcluster.write_options import Write

# Fields that only the server sets.
_KEPT = (
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generateName",
)


def check_identity(declared: ResourceType, old: Obj, new: Obj, write: Write) -> None:
    """Raise an error if the new state has another name, namespace, UID or resourceVersion (400, 409
    or 422).
    """
    about, held = meta(new), meta(old)
    if about.get("name", held["name"]) != held["name"]:
        raise bad_request(
            f"the name of the object ({about.get('name')}) does not match the name on the URL "
            f"({held['name']})"
        )
    if about.get("namespace") not in (None, "", held.get("namespace")):
        raise bad_request("the namespace of the object does not match the namespace on the URL")
    uid = about.get("uid") or held["uid"]
    if uid != held["uid"] and write.patch:
        cause = invalid_value("metadata.uid", uid, "field is immutable")
        raise invalid(declared.group, declared.kind, held["name"], [cause])
    if uid != held["uid"]:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {held['uid']}"
        raise conflict(declared.group, declared.plural, held["name"], why)
    rv = about.get("resourceVersion")
    if not rv and not declared.unconditional:
        cause = invalid_value("metadata.resourceVersion", 0, "must be specified for an update")
        raise invalid(declared.group, declared.kind, held["name"], [cause])
    if rv and rv != held["resourceVersion"]:
        raise conflict(declared.group, declared.plural, held["name"])


def keep_server_fields(
    declared: ResourceType, old: Obj, new: Obj, subresource: str, *, has_status: bool
) -> None:
    """Restore the fields that this write must not change."""
    about, held = meta(new), meta(old)
    for name in _KEPT:
        about.pop(name, None)
        if name in held:
            about[name] = held[name]
    if "managedFields" not in about and "managedFields" in held:
        about["managedFields"] = held["managedFields"]
    if subresource == "status":
        _keep_all_but_status(declared, old, new)
    elif subresource == SUBRESOURCE:
        keep_all_but_ephemeral(old, new)
    elif has_status and not subresource:
        new.pop("status", None)
        if "status" in old:
            new["status"] = old["status"]


def _keep_all_but_status(declared: ResourceType, old: Obj, new: Obj) -> None:
    status, about = new.get("status"), meta(new)
    if declared.custom:
        # A status update of a custom resource can change only managedFields in the metadata.
        managed = about.get("managedFields")
        about = dict(meta(old))
        if managed is not None:
            about["managedFields"] = managed
    new.clear()
    new.update(old)
    new["metadata"] = about
    new.pop("status", None)
    if status is not None:
        new["status"] = status


def count_generation(declared: ResourceType, old: Obj, new: Obj, *, has_status: bool) -> None:
    """Increment the generation if fields other than metadata and status changed."""
    if not declared.generation:
        return
    apart = {"metadata", "status"} if has_status or not declared.custom else {"metadata"}

    def wanted(obj: Obj) -> Obj:
        return {name: value for name, value in obj.items() if name not in apart}

    if wanted(old) != wanted(new):
        meta(new)["generation"] = int(meta(old).get("generation", 0)) + 1


def check_finalizers(declared: ResourceType, new: Obj, old: Obj) -> None:
    """Reject new finalizers on an object that is being deleted."""
    if "deletionTimestamp" not in meta(old):
        return
    held = meta(old).get("finalizers") or []
    added = [f for f in meta(new).get("finalizers") or [] if f not in held]
    if added:
        listed = ", ".join(f'"{name}"' for name in added)
        why = (
            "no new finalizers can be added if the object is being deleted, found new finalizers "
            f"[]string{{{listed}}}"
        )
        cause = forbidden_value("metadata.finalizers", why)
        raise invalid(declared.group, declared.kind, meta(old)["name"], [cause])
