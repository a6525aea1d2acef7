"""Wizards of volume claims, storage classes and volume snapshots."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import (
    GVR,
    PERSISTENT_VOLUME_CLAIMS,
    STORAGE_CLASSES,
    VOLUME_SNAPSHOT_CLASSES,
    VOLUME_SNAPSHOTS,
)
from console.kube.projections.storage import DEFAULT_ANNOTATIONS, DEFAULT_SNAPSHOT_CLASS
from console.ui.core.manifests import mapping
from console.ui.wizard import fields
from console.ui.wizard.fields import STORAGE_UNITS, Choice, Text
from console.ui.wizard.parts import Case, Group, MapRows, Rows, Variant
from console.ui.wizard.paths import ABSENT
from console.ui.wizard.state import FieldScope
from console.wizards.metadata import short_wizard, suggested


def _is_new(scope: FieldScope) -> bool:
    return scope.state.context.is_new


def _access_mode(id: str, label: Text) -> fields.Membership:
    return fields.Membership(id=id, path=("spec", "accessModes"), label=label, on=id)


ACCESS_MODES: Mapping[str, Text] = {
    "ReadWriteOnce": gettext_lazy("Read and write on one node (RWO)"),
    "ReadWriteOncePod": gettext_lazy("Read and write in one pod (RWOP)"),
    "ReadOnlyMany": gettext_lazy("Read on many nodes (ROX)"),
    "ReadWriteMany": gettext_lazy("Read and write on many nodes (RWX)"),
}
#: KubeSphere's list of the access modes that volumes of a class support, as JSON.
_SUPPORTED_MODES = "storageclass.kubesphere.io/supported-access-modes"


def _class_words(value: Any, scope: FieldScope) -> Text:
    """Return what the storage class says about its volumes."""
    classes = scope.state.context.entries(STORAGE_CLASSES)
    found = next(
        (
            one
            for one in classes
            if one.key.name == value or (value is ABSENT and one.projection.default)
        ),
        None,
    )
    if found is None:
        return ""
    words = [_("Volumes of %(driver)s.") % {"driver": found.projection.provisioner}]
    manifest = found.original()
    if manifest.get("volumeBindingMode") == "WaitForFirstConsumer":
        words.append(_("The volume is created when a pod uses the claim."))
    text = mapping(manifest, "metadata", "annotations").get(_SUPPORTED_MODES)
    modes = _AccessModes(id="", label="").shown(text) if text else ""
    if modes:
        words.append(_("Supports %(modes)s.") % {"modes": modes})
    return " ".join(words)


@dataclass(frozen=True, kw_only=True)
class _AccessModes(fields.Words):
    """Names of access modes, in a JSON list."""

    def shown(self, value: Any) -> str | None:
        if value is ABSENT:
            return ""
        try:
            names = json.loads(value)
        except (TypeError, ValueError, RecursionError):
            return None
        text = super().shown(names)
        return text if text and self.parsed(text) == value else None

    def parsed(self, text: str) -> Any:
        names = super().parsed(text)
        return names if names is ABSENT else json.dumps(names, separators=(",", ":"))


def _source(id: str, label: Text, hint: Text, gvr: GVR, kind: str) -> Case:
    """Return the case of a claim with the data of another object."""
    start: Mapping[str | tuple[str | int, ...], Any] = {
        **({"apiGroup": gvr.group} if gvr.group else {}),
        "kind": kind,
    }
    return Case(
        id=id,
        label=label,
        hint=hint,
        keys=("name", "kind", "apiGroup"),
        when=lambda scope: scope.get("kind") == kind,
        start=start,
        parts=(suggested("name", label, gvr, required=True),),
    )


PERSISTENT_VOLUME_CLAIM = short_wizard(
    PERSISTENT_VOLUME_CLAIMS,
    "PersistentVolumeClaim",
    Group(
        shown_if=_is_new,
        parts=(
            Variant(
                id="source",
                path=("spec", "dataSource"),
                label=gettext_lazy("Content"),
                picks=True,
                cases=(
                    Case(
                        id="none",
                        label=gettext_lazy("New volume"),
                        hint=gettext_lazy("Empty"),
                        when=lambda scope: not scope.has(),
                    ),
                    _source(
                        "snapshot",
                        gettext_lazy("Snapshot"),
                        gettext_lazy("Restore a volume snapshot"),
                        VOLUME_SNAPSHOTS,
                        "VolumeSnapshot",
                    ),
                    _source(
                        "claim",
                        gettext_lazy("Clone"),
                        gettext_lazy("Copy another volume"),
                        PERSISTENT_VOLUME_CLAIMS,
                        "PersistentVolumeClaim",
                    ),
                ),
            ),
        ),
    ),
    Group(
        parts=(
            suggested(
                "storageClassName",
                gettext_lazy("Storage class"),
                STORAGE_CLASSES,
                path=("spec", "storageClassName"),
                placeholder=gettext_lazy("Default class"),
                hint=gettext_lazy("The class decides where and how the volume is stored."),
                finding=_class_words,
            ),
            fields.QuantityInput(
                id="storage",
                path=("spec", "resources", "requests", "storage"),
                label=gettext_lazy("Size"),
                units=STORAGE_UNITS,
                required=True,
                missing=gettext_lazy("Enter a size."),
            ),
        )
    ),
    Group(
        title=gettext_lazy("Access modes"),
        shown_if=_is_new,
        parts=tuple(_access_mode(name, label) for name, label in ACCESS_MODES.items()),
    ),
    Group(
        shown_if=_is_new,
        parts=(
            fields.Select(
                id="volumeMode",
                path=("spec", "volumeMode"),
                label=gettext_lazy("Volume mode"),
                choices=(
                    Choice("", gettext_lazy("File system")),
                    Choice("Block", gettext_lazy("Block device")),
                ),
                implied="Filesystem",
            ),
        ),
    ),
    start=lambda context: {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "10Gi"}},
        }
    },
    facts=lambda scope: [
        (
            gettext_lazy("Size"),
            str(scope.get("spec", "resources", "requests", "storage") or ""),
        ),
        (gettext_lazy("Storage class"), str(scope.get("spec", "storageClassName") or "")),
        (gettext_lazy("Access modes"), ", ".join(scope.texts("spec", "accessModes"))),
    ],
)


def _default_class(annotation: str, label: Text) -> fields.CheckBox:
    return fields.CheckBox(
        id="default", path=("metadata", "annotations", annotation), label=label, on="true"
    )


def _deletion(id: str, label: Text, **options: Any) -> fields.Select:
    return fields.Select(
        id=id,
        label=label,
        choices=(
            Choice(options.pop("first", "Delete"), gettext_lazy("Delete the data")),
            Choice("Retain", gettext_lazy("Keep the data")),
        ),
        **options,
    )


_PARAMETERS = MapRows(
    id="parameters",
    title=gettext_lazy("Parameters of the driver"),
    add=gettext_lazy("Add parameter"),
    of="pair",
    name=lambda scope: str(scope.get("key") or _("parameter")),
    parts=(
        fields.RowKey(label=gettext_lazy("Name"), code=True),
        fields.TextInput(id="value", label=gettext_lazy("Value"), code=True),
    ),
)


def _drivers(scope: FieldScope) -> Sequence[str]:
    """Return the drivers of the storage classes in the cluster."""
    entries = scope.state.context.entries(STORAGE_CLASSES)
    return sorted({entry.projection.provisioner for entry in entries})


_TOPOLOGIES = Rows(
    id="allowedTopologies",
    title=gettext_lazy("Allowed places"),
    hint=gettext_lazy("Without entries: everywhere"),
    add=gettext_lazy("Add place"),
    is_item=True,
    new=lambda scope: {"matchLabelExpressions": [{}]},
    name=lambda scope: (
        "; ".join(
            f"{one.get('key', '')}: {', '.join(map(str, one.get('values') or ()))}"
            for one in scope.mappings("matchLabelExpressions")
        )
        or str(_("place"))
    ),
    parts=(
        Rows(
            id="labels",
            path=("matchLabelExpressions",),
            title=gettext_lazy("Labels of the nodes"),
            add=gettext_lazy("Add label"),
            of="pair",
            least=1,
            name=lambda scope: str(scope.get("key") or _("label")),
            parts=(
                fields.Suggested(
                    id="key",
                    label=gettext_lazy("Key"),
                    code=True,
                    required=True,
                    size="",
                    suggest=lambda scope: (
                        "topology.kubernetes.io/zone",
                        "topology.kubernetes.io/region",
                        "kubernetes.io/hostname",
                    ),
                ),
                fields.Words(
                    id="values",
                    label=gettext_lazy("Values"),
                    required=True,
                    placeholder=gettext_lazy("Separated by commas."),
                ),
            ),
        ),
    ),
)

STORAGE_CLASS = short_wizard(
    STORAGE_CLASSES,
    "StorageClass",
    Group(
        shown_if=_is_new,
        parts=(
            fields.Suggested(
                id="provisioner",
                label=gettext_lazy("Storage system (driver)"),
                required=True,
                suggest=_drivers,
                missing=gettext_lazy("Enter the name of a driver."),
            ),
            _PARAMETERS,
        ),
    ),
    Group(
        shown_if=_is_new,
        pairs=True,
        parts=(
            _deletion(
                "reclaimPolicy",
                gettext_lazy("After a claim is deleted"),
                first="",
                implied="Delete",
            ),
            fields.Select(
                id="volumeBindingMode",
                label=gettext_lazy("Create volumes"),
                choices=(
                    Choice("", gettext_lazy("Immediately")),
                    Choice("WaitForFirstConsumer", gettext_lazy("When a pod uses the claim")),
                ),
                implied="Immediate",
            ),
        ),
    ),
    Group(shown_if=_is_new, parts=(_TOPOLOGIES,)),
    Group(
        parts=(
            _AccessModes(
                id="accessModes",
                path=("metadata", "annotations", _SUPPORTED_MODES),
                label=gettext_lazy("Supported access modes"),
                placeholder="ReadWriteOnce, ReadOnlyMany",
                hint=gettext_lazy("Shown where a claim of this class is created."),
                verify=lambda value: (
                    "" if value in ACCESS_MODES else _("This is not an access mode.")
                ),
            ),
            fields.CheckBox(
                id="allowVolumeExpansion",
                label=gettext_lazy("Volumes can be expanded"),
            ),
            _default_class(
                DEFAULT_ANNOTATIONS[0], gettext_lazy("Use for claims without a storage class")
            ),
            fields.Words(
                id="mountOptions",
                label=gettext_lazy("Mount options"),
                placeholder=gettext_lazy("None"),
                hint=gettext_lazy("Separated by commas."),
            ),
        ),
    ),
    namespaced=False,
    apart=lambda key: key in (DEFAULT_ANNOTATIONS[0], _SUPPORTED_MODES),
    start=lambda context: {
        "allowVolumeExpansion": True,
        "volumeBindingMode": "WaitForFirstConsumer",
    },
    facts=lambda scope: [(gettext_lazy("Driver"), str(scope.get("provisioner") or ""))],
)

VOLUME_SNAPSHOT = short_wizard(
    VOLUME_SNAPSHOTS,
    "VolumeSnapshot",
    Group(
        shown_if=_is_new,
        parts=(
            suggested(
                "claim",
                gettext_lazy("Persistent volume claim"),
                PERSISTENT_VOLUME_CLAIMS,
                path=("spec", "source", "persistentVolumeClaimName"),
                required=True,
                missing=gettext_lazy("Choose a persistent volume claim."),
            ),
            suggested(
                "volumeSnapshotClassName",
                gettext_lazy("Volume snapshot class"),
                VOLUME_SNAPSHOT_CLASSES,
                path=("spec", "volumeSnapshotClassName"),
                placeholder=gettext_lazy("Default class"),
            ),
        ),
    ),
    start=lambda context: {"spec": {"source": {}}},
    facts=lambda scope: [
        (
            gettext_lazy("Persistent volume claim"),
            str(scope.get("spec", "source", "persistentVolumeClaimName") or ""),
        ),
    ],
)

VOLUME_SNAPSHOT_CLASS = short_wizard(
    VOLUME_SNAPSHOT_CLASSES,
    "VolumeSnapshotClass",
    Group(
        parts=(
            fields.Suggested(
                id="driver",
                label=gettext_lazy("Storage system (driver)"),
                required=True,
                suggest=_drivers,
                missing=gettext_lazy("Enter the name of a driver."),
            ),
            _deletion("deletionPolicy", gettext_lazy("After a snapshot is deleted")),
            _default_class(
                DEFAULT_SNAPSHOT_CLASS, gettext_lazy("Use for snapshots without a class")
            ),
            _PARAMETERS,
        )
    ),
    namespaced=False,
    apart=lambda key: key == DEFAULT_SNAPSHOT_CLASS,
    start=lambda context: {"deletionPolicy": "Delete"},
    facts=lambda scope: [(gettext_lazy("Driver"), str(scope.get("driver") or ""))],
)
