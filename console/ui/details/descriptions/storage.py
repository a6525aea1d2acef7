"""Descriptions of volumes, claims, snapshots and their classes."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.ui.core.manifests import mapping, mappings_at, text, texts
from console.ui.details.descriptions.network import reference_text
from console.ui.details.descriptions.selectors import node_terms, selector_of
from console.ui.details.panels.description import Facts, Section, flattened, pairs_of

#: Mappings in the spec of a PersistentVolume that are not its source.
_OTHER_FIELDS = frozenset({"capacity", "claimRef", "nodeAffinity"})
#: Names of common sources of volumes. Others are shown by their field.
SOURCES: dict[str, str | Promise] = {
    "cephfs": gettext_lazy("CephFS file system"),
    "configMap": gettext_lazy("ConfigMap"),
    "csi": gettext_lazy("CSI volume"),
    "downwardAPI": gettext_lazy("fields of the pod (downward API)"),
    "emptyDir": gettext_lazy("empty directory (emptyDir)"),
    "ephemeral": gettext_lazy("claim created with the pod (ephemeral)"),
    "fc": gettext_lazy("Fibre Channel disk"),
    "hostPath": gettext_lazy("directory of a node (hostPath)"),
    "image": gettext_lazy("container image"),
    "iscsi": gettext_lazy("iSCSI disk"),
    "local": gettext_lazy("local disk of a node"),
    "nfs": gettext_lazy("NFS share"),
    "persistentVolumeClaim": gettext_lazy("persistent volume claim"),
    "projected": gettext_lazy("several sources (projected)"),
    "rbd": gettext_lazy("Ceph RBD image"),
    "secret": gettext_lazy("Secret"),
    "serviceAccountToken": gettext_lazy("token of the service account"),
}


def persistent_volume(manifest: Mapping[str, Any]) -> Iterator[Section]:
    spec = mapping(manifest, "spec")
    for name, source in spec.items():
        if isinstance(source, dict) and name not in _OTHER_FIELDS:
            title = _("Source: %(kind)s") % {"kind": SOURCES.get(name, text(name))}
            yield Facts(*flattened(source), title=title, literal=True)
    terms = node_terms(mapping(spec, "nodeAffinity", "required"))
    yield Facts(
        (_("Usable on nodes with one of") if len(terms) > 1 else _("Usable on nodes with"), terms),
        (_("Mount options"), texts(spec.get("mountOptions"))),
        (_("Message"), text(mapping(manifest, "status").get("message"))),
        title=_("Use"),
    )


def storage_class(manifest: Mapping[str, Any]) -> Iterator[Section]:
    topologies = [
        ", ".join(
            f"{text(one.get('key'))} in ({', '.join(texts(one.get('values')))})"
            for one in mappings_at(topology, "matchLabelExpressions")
        )
        for topology in mappings_at(manifest, "allowedTopologies")
    ]
    yield Facts(
        (_("Mount options"), texts(manifest.get("mountOptions"))),
        (_("Allowed topologies"), topologies),
    )
    yield _parameters(manifest)


def _parameters(manifest: Mapping[str, Any]) -> Section:
    facts = [(text(name), text(value)) for name, value in mapping(manifest, "parameters").items()]
    return Facts(*facts, title=_("Parameters"), literal=True)


def snapshot_class(manifest: Mapping[str, Any]) -> Iterator[Section]:
    yield _parameters(manifest)


def claim(manifest: Mapping[str, Any]) -> Iterator[Section]:
    spec = mapping(manifest, "spec")
    # kube-apiserver copies each of these fields to the other, if possible.
    source = mapping(spec, "dataSourceRef") or mapping(spec, "dataSource")
    selector = spec.get("selector")
    yield Facts(
        (_("Filled with data of"), reference_text(source) if source else ""),
        (
            _("Accepts volumes with"),
            selector_of(selector) or _("any labels") if isinstance(selector, dict) else "",
        ),
        (_("Limits"), pairs_of(mapping(spec, "resources", "limits"))),
        (
            _("Current volume attributes class"),
            text(mapping(manifest, "status").get("currentVolumeAttributesClassName")),
        ),
    )


def snapshot(manifest: Mapping[str, Any]) -> Iterator[Section]:
    source, error = mapping(manifest, "spec", "source"), mapping(manifest, "status", "error")
    content = text(source.get("volumeSnapshotContentName"))
    yield Facts(
        (_("Source"), _("existing content %(name)s") % {"name": content} if content else ""),
        (_("Error"), text(error.get("message"))),
    )


def snapshot_content(manifest: Mapping[str, Any]) -> Iterator[Section]:
    spec, status = mapping(manifest, "spec"), mapping(manifest, "status")
    yield Facts(
        (_("Volume handle"), text(mapping(spec, "source").get("volumeHandle"))),
        (
            _("Snapshot handle"),
            text(status.get("snapshotHandle"))
            or text(mapping(spec, "source").get("snapshotHandle")),
        ),
        (_("Source volume mode"), text(spec.get("sourceVolumeMode"))),
        (_("Error"), text(mapping(status, "error").get("message"))),
    )
