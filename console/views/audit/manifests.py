"""Manifests of an audit record. Reading them requires permission to get the object."""

from console.audit.changes import Manifest, unpack
from console.audit.models import AuditRecord
from console.kube.gvr import GVR
from console.ui.core.access import Access
from console.ui.core.clusters import clusters
from console.ui.core.kind import ResourceKind
from console.ui.core.threads import in_thread
from console.ui.editing.yaml_text import yaml_text
from console.views.audit.scope import access_in, own_records
from console.views.audit.text import kind_in


def may_see_change(access: Access | None, row: AuditRecord, kind: ResourceKind | None) -> bool:
    """Return True if the viewer may read the object in its cluster. `access` is in any cluster."""
    cluster = clusters.get(row.cluster)
    if access is None or cluster is None:
        return False
    gvr = kind.gvr if kind is not None else GVR(row.group, row.version, row.resource)
    there = access_in(access, cluster)
    return there.can("get", gvr, namespace=row.namespace, name=row.name)


async def manifests_of(row: AuditRecord) -> tuple[Manifest | None, Manifest | None]:
    """Return the manifests before and after a change. The record must have an `AuditChange`."""
    found = await AuditRecord.objects.select_related("change").aget(pk=row.pk)
    return unpack(bytes(found.change.before)), unpack(bytes(found.change.after))


async def restorable_text(access: Access, audit_id: str) -> str | None:
    """Return the last manifest of a deleted object as YAML for *Create from YAML*, without
    references to other objects, or None if the viewer may not read it or it doesn't exist.
    """
    row = await AuditRecord.objects.filter(
        audit_id=audit_id, cluster=access.cluster.name, change__isnull=False
    ).afirst()
    kind = kind_in(access.cluster.kinds, row) if row is not None else None
    if row is None or kind is None or not may_see_change(access, row, kind):
        return None
    own = AuditRecord.objects.filter(own_records(access, row.namespace), pk=row.pk)
    if not await own.aexists():
        return None
    before, _after = await manifests_of(row)
    if before is None:
        return None
    metadata = {
        name: value
        for name, value in (before.get("metadata") or {}).items()
        if name not in ("ownerReferences", "finalizers")
    }
    return await in_thread(yaml_text, kind, {**before, "metadata": metadata})
