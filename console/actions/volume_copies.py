"""Actions that copy volumes: snapshots, clones, and volumes from snapshots.

https://kubernetes.io/docs/concepts/storage/volume-snapshots/
https://kubernetes.io/docs/concepts/storage/volume-pvc-datasource/
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.creation import LONGEST, create_object, new_name
from console.kube.gvr import (
    GVR,
    PERSISTENT_VOLUME_CLAIMS,
    STORAGE_CLASSES,
    VOLUME_SNAPSHOT_CLASSES,
    VOLUME_SNAPSHOTS,
    Key,
)
from console.kube.projections.storage import PROVISIONER_ANNOTATION
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.action_texts import kubectl_create
from console.ui.core.actions import Action, ActionContext, Outcome, Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import mapping, text, texts
from console.ui.core.permissions import Refused
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.details.relations.visible_type import VisibleType
from console.ui.forms.fields import SizeField
from console.ui.forms.forms import ChoiceField, ConsoleForm, TextField

ACCESS_MODES = ("ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany", "ReadOnlyMany")
VOLUME_MODES = ("Filesystem", "Block")
#: Spec fields that a clone takes from its source claim.
_SAME = ("accessModes", "storageClassName", "volumeMode")


class _CopyForm(ConsoleForm):
    error_fields: Mapping[str, str] = {
        "metadata.name": "name",
        "spec.resources": "size",
        "spec.volumeSnapshotClassName": "snapshot_class",
    }
    name = TextField(label=gettext_lazy("Name"), max_length=LONGEST)


class SnapshotForm(_CopyForm):
    """Form for a snapshot. `classes` contains the snapshot classes of the volume's driver."""

    def __init__(self, data: QueryDict | None, stem: str, classes: Sequence[Entry[Any]]) -> None:
        has_default = not classes or any(one.projection.default for one in classes)
        first = "" if has_default else classes[0].key.name
        super().__init__(data, initial={"name": new_name(stem), "snapshot_class": first})
        default = [("", _("Default class"))] if has_default else []
        choices = [*default, *_pairs(one.key.name for one in classes)]
        label = _("Volume snapshot class")
        self.fields["snapshot_class"] = ChoiceField(label=label, choices=choices)


class CloneForm(_CopyForm):
    """Form for a clone. `claim` is the manifest of the source claim, and `held` the size of its
    volume.
    """

    def __init__(
        self, data: QueryDict | None, stem: str, claim: Mapping[str, Any], held: str
    ) -> None:
        super().__init__(data, initial={"name": new_name(stem), "size": held, "claim": claim})
        self.fields["size"] = SizeField(label=_("Size"), least=held)


class VolumeForm(_CopyForm):
    """Form for a volume from a snapshot.

    `held` is the snapshot's size and `classes` the names of storage classes. `source` is the
    spec of the claim that the snapshot was taken from, or empty if unknown.
    """

    def __init__(
        self,
        data: QueryDict | None,
        stem: str,
        held: str,
        classes: Sequence[str],
        source: Mapping[str, Any],
    ) -> None:
        modes = texts(source.get("accessModes"))
        begins = {
            "name": new_name(stem),
            "size": held,
            "storage_class": text(source.get("storageClassName")),
            "access_mode": modes[0] if modes else ACCESS_MODES[0],
            "volume_mode": text(source.get("volumeMode")) or VOLUME_MODES[0],
        }
        super().__init__(data, initial=begins)
        self.fields["size"] = SizeField(label=_("Size"), least=held)
        choices = {
            "storage_class": (_("Storage class"), [("", _("Default class")), *_pairs(classes)]),
            "access_mode": (_("Access mode"), _pairs(ACCESS_MODES)),
            "volume_mode": (_("Volume mode"), _pairs(VOLUME_MODES)),
        }
        for name, (label, offered) in choices.items():
            self.fields[name] = ChoiceField(label=label, choices=offered)


class _CopyAction(Action):
    """Base of actions that create a copy. `made` is the type of the created object."""

    made: ClassVar[GVR]

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return kubectl_create(self.body(key, data.get("claim") or {}, data), key)

    async def run(self, context: ActionContext) -> Outcome:
        name, found = context.data["name"], await context.fetch()
        done = _("Created %(name)s from %(source)s.")
        words = {"name": escape_invisible(name), "source": escape_invisible(context.key.name)}
        body = self.body(context.key, found, context.data)
        return await create_object(context, self.made, body, done % words)

    def body(
        self, key: Key, found: Mapping[str, Any], data: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Return the manifest of the new object, from the source object `found` and the form's
        `data`.
        """
        raise NotImplementedError


class TakeSnapshot(_CopyAction):
    name = "snapshot"
    label = gettext_lazy("Take snapshot")
    reads_also = (STORAGE_CLASSES, VOLUME_SNAPSHOT_CLASSES)
    title_text = gettext_lazy("Take a snapshot of %(kind)s %(name)s")
    effect_text = gettext_lazy(
        "The snapshot contains the data that is on the volume at this moment. Data that pods "
        "have not written to the volume yet is not included."
    )
    weight = 2
    needs = (
        Permission("create", gvr=VOLUME_SNAPSHOTS),
        Permission("get"),
    )
    made = VOLUME_SNAPSHOTS

    def is_protected(self, access: Access, name: str) -> bool:
        """Hide the action if the cluster does not support snapshots."""
        return not access.cluster.kinds.installed(VOLUME_SNAPSHOTS)

    def applicable(self, entry: Entry[Any]) -> bool:
        return _has_volume(entry)

    def notes(self, subject: Subject) -> Sequence[str | Promise]:
        seeing = VisibleType(subject, VOLUME_SNAPSHOT_CLASSES)
        if seeing.informer is None or not seeing.sees_all("") or _snapshot_classes(subject):
            return []
        words = {"driver": escape_invisible(_driver(subject)) or _("none")}
        return [
            _("No volume snapshot class found for the driver of this volume (%(driver)s).") % words
        ]

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        """Return the form. Raise `Refused` if the storage class forbids snapshots."""
        text = _("The storage class %(name)s does not allow snapshots of its volumes.")
        _check_allowed(subject, "snapshots", text)
        return SnapshotForm(data, subject.key.name, _snapshot_classes(subject))

    def body(
        self, key: Key, found: Mapping[str, Any], data: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        chosen = data.get("snapshot_class")
        named = {"volumeSnapshotClassName": chosen} if chosen else {}
        return {
            "apiVersion": VOLUME_SNAPSHOTS.group_version,
            "kind": "VolumeSnapshot",
            "metadata": {"name": data["name"]},
            "spec": {**named, "source": {"persistentVolumeClaimName": key.name}},
        }


class Clone(_CopyAction):
    name = "clone"
    label = gettext_lazy("Clone")
    reads_also = (STORAGE_CLASSES,)
    effect_text = gettext_lazy(
        "A new PersistentVolumeClaim with the same storage class, access modes, and data is "
        "created. The volume driver must support cloning."
    )
    needs = (Permission("create"), Permission("get"))
    made = PERSISTENT_VOLUME_CLAIMS

    def applicable(self, entry: Entry[Any]) -> bool:
        return _has_volume(entry) and bool(entry.projection.storage_class)

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        """Return the form. Raise `Refused` if the storage class forbids clones."""
        text = _("The storage class %(name)s does not allow clones of its volumes.")
        _check_allowed(subject, "clones", text)
        return CloneForm(
            data, subject.key.name, subject.manifest, subject.entry.projection.capacity
        )

    def body(
        self, key: Key, found: Mapping[str, Any], data: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        spec = mapping(found, "spec")
        same = {name: spec[name] for name in _SAME if name in spec}
        source = {"kind": "PersistentVolumeClaim", "name": key.name}
        return _claim(data, {**same, "dataSource": source})


class CreateVolume(_CopyAction):
    name = "volume"
    label = gettext_lazy("Create volume")
    reads_also = (PERSISTENT_VOLUME_CLAIMS, STORAGE_CLASSES, VOLUME_SNAPSHOT_CLASSES)
    title_text = gettext_lazy("Create a volume from %(kind)s %(name)s")
    effect_text = gettext_lazy(
        "A new PersistentVolumeClaim is created. Its volume contains the data of the snapshot."
    )
    weight = 2
    needs = (
        Permission("create", gvr=PERSISTENT_VOLUME_CLAIMS),
        Permission("get"),
    )
    made = PERSISTENT_VOLUME_CLAIMS

    def applicable(self, entry: Entry[Any]) -> bool:
        return entry.projection.status.severity is Severity.OK

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        snapshot, key = subject.entry.projection, subject.key
        claim = VisibleType(subject, PERSISTENT_VOLUME_CLAIMS).get(
            Key(key.namespace, snapshot.source)
        )
        source = mapping(claim.original(), "spec") if claim is not None else {}
        named = text(source.get("storageClassName"))
        classes = sorted({*_storage_classes(subject), *([named] if named else [])})
        return VolumeForm(data, key.name, snapshot.size, classes, source)

    def body(
        self, key: Key, found: Mapping[str, Any], data: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        chosen = data.get("storage_class")
        spec = {
            **({"storageClassName": chosen} if chosen else {}),
            "accessModes": [data["access_mode"]],
            "volumeMode": data["volume_mode"],
            "dataSource": {
                "apiGroup": VOLUME_SNAPSHOTS.group,
                "kind": "VolumeSnapshot",
                "name": key.name,
            },
        }
        return _claim(data, spec)


def _storage_classes(subject: Subject) -> list[str]:
    """Return the visible storage classes of the snapshot's driver, or all if the driver is unknown."""
    classes, taken_by = (
        VisibleType(subject, STORAGE_CLASSES),
        VisibleType(subject, VOLUME_SNAPSHOT_CLASSES),
    )
    found = taken_by.get(Key("", subject.entry.projection.snapshot_class))
    driver = found.projection.driver if found is not None else ""
    return [
        one.key.name for one in classes.all_visible if driver in ("", one.projection.provisioner)
    ]


def _pairs(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return form choices whose labels are the values."""
    return [(name, name) for name in names]


def _claim(data: Mapping[str, Any], spec: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": data["name"]},
        "spec": {**spec, "resources": {"requests": {"storage": data["size"]}}},
    }


def _has_volume(entry: Entry[Any]) -> bool:
    return bool(entry.projection.capacity) and entry.projection.deleted is None


def _class(subject: Subject) -> Entry[Any] | None:
    """Return the claim's storage class if it is visible."""
    return VisibleType(subject, STORAGE_CLASSES).get(
        Key("", subject.entry.projection.storage_class)
    )


def _check_allowed(subject: Subject, what: str, text: str) -> None:
    found = _class(subject)
    if found is not None and getattr(found.projection, what) is False:
        raise Refused(text % {"name": escape_invisible(found.key.name)})


def _driver(subject: Subject) -> str:
    """Return the provisioner of the claim's volumes, or "" if unknown."""
    found = _class(subject)
    if found is not None:
        return str(found.projection.provisioner)
    return text(mapping(subject.manifest, "metadata", "annotations").get(PROVISIONER_ANNOTATION))


def _snapshot_classes(subject: Subject) -> list[Entry[Any]]:
    """Return the visible snapshot classes of the volume's driver, or all if the driver is unknown."""
    found, driver = VisibleType(subject, VOLUME_SNAPSHOT_CLASSES).all_visible, _driver(subject)
    return sorted(
        (one for one in found if driver in ("", one.projection.driver)), key=lambda one: one.key
    )
