"""Deletion rules: preconditions, propagation policies and grace periods."""

from datetime import UTC, datetime, timedelta

from devcluster.errors import conflict
from devcluster.objects import Obj, meta, timestamp
from devcluster.resources import ResourceType
from devcluster.write_options import Deletion

# Deleting an object of these types returns the object instead of a Status.
RETURNS_OBJECT = frozenset(
    {"pods", "services", "serviceaccounts", "resourcequotas", "podtemplates"}
    | {"persistentvolumes", "persistentvolumeclaims"}
)


def check_preconditions(declared: ResourceType, obj: Obj, how: Deletion) -> None:
    """Raise a 409 error if the UID or resourceVersion differs from the precondition."""
    about = meta(obj)
    for title, wanted, found in (
        ("UID", how.uid, about["uid"]),
        ("ResourceVersion", how.resource_version, about["resourceVersion"]),
    ):
        if wanted and wanted != found:
            why = (
                f"the {title} in the precondition ({wanted}) does not match the {title} in "
                f"record ({found}). The object might have been deleted and then recreated"
            )
            raise conflict(declared.group, declared.plural, about["name"], why)


def mark_policy(obj: Obj, how: Deletion) -> None:
    """Set the finalizers that instruct the garbage collector to follow the propagation policy."""
    finalizers = list(meta(obj).get("finalizers") or ())
    kept = [f for f in finalizers if f not in ("orphan", "foregroundDeletion")]
    if how.policy == "Orphan":
        kept.append("orphan")
    elif how.policy == "Foreground":
        kept.append("foregroundDeletion")
    elif not how.policy:
        kept = finalizers
    if kept != finalizers:
        meta(obj)["finalizers"] = kept


def mark_deleted(declared: ResourceType, obj: Obj, grace: int) -> None:
    """Set the deletion timestamp of the object, with a grace period of `grace` seconds."""
    about = meta(obj)
    end = datetime.now(UTC) + timedelta(seconds=grace)
    begins = "deletionTimestamp" not in about
    if begins and declared.generation:
        about["generation"] = int(about.get("generation", 0)) + 1
    # A later deletion can shorten the grace period but not extend it.
    if begins or grace < int(about.get("deletionGracePeriodSeconds") or 0):
        about["deletionTimestamp"] = timestamp(end)
        about["deletionGracePeriodSeconds"] = grace


def has_namespace_finalizers(declared: ResourceType, obj: Obj) -> bool:
    """Return True for a namespace that must be emptied before it is removed."""
    return declared.storage == "namespaces" and bool((obj.get("spec") or {}).get("finalizers"))


def grace_period(declared: ResourceType, obj: Obj, how: Deletion) -> int:
    """Return the grace period in seconds of a pod that runs on a node, or 0 for all other objects."""
    if declared.storage != "pods":
        return 0
    spec, phase = obj.get("spec") or {}, (obj.get("status") or {}).get("phase")
    if not spec.get("nodeName") or phase in ("Failed", "Succeeded"):
        return 0
    if how.grace is not None:
        return how.grace
    return int(spec.get("terminationGracePeriodSeconds", 30))
