"""The action that edits the volumes and volume mounts of a workload.

https://kubernetes.io/docs/concepts/storage/volumes/
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from console.actions.workloads.base import GROUPS
from console.actions.workloads.resources import AmountField
from console.actions.workloads.templates import (
    MOST_ROWS,
    EditTemplate,
    TemplateContainer,
    TemplateForm,
)
from console.kube.gvr import CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS
from console.ui.core.manifests import mapping, mappings_at
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import ChoiceField, TextField, is_line
from console.ui.forms.row_forms import MOST, FormRows, SubmittedRow, duplicated

LONGEST_PATH = 4096
KEPT, EMPTY = "kept", "emptyDir"
#: Volume types that refer to an object, with the field for its name.
NAMED: Mapping[str, str] = {
    "configMap": "name",
    "secret": "secretName",
    "persistentVolumeClaim": "claimName",
}
KINDS: Mapping[str, str | Promise] = {
    "configMap": gettext_lazy("ConfigMap"),
    "secret": gettext_lazy("Secret"),
    "persistentVolumeClaim": gettext_lazy("Persistent volume claim"),
    EMPTY: gettext_lazy("Empty directory (emptyDir)"),
}
MEDIA: Mapping[str, str | Promise] = {
    "": gettext_lazy("Node disk"),
    "Memory": gettext_lazy("Memory"),
}
READ_ONLY = "readOnly"
MODES: Mapping[str, str | Promise] = {
    "": gettext_lazy("Read and write"),
    READ_ONLY: gettext_lazy("Read only"),
}
#: Ids of the datalists with suggested names.
OBJECT_NAMES, VOLUME_NAMES = "object-names", "volume-names"
_STEM = "volumes"
#: Path in a mount, by field of a row.
_MOUNT = {"volume": "name", "path": "mountPath", "sub_path": "subPath"}
_MOUNT_CAUSES = {"": "volume", **{path: part for part, path in _MOUNT.items()}, READ_ONLY: "mode"}
_VOLUME_CAUSES = {
    "": "name",
    "name": "name",
    **dict.fromkeys(NAMED, "object"),
    EMPTY: "medium",
    f"{EMPTY}.sizeLimit": "size",
}


class VolumesForm(TemplateForm):
    edited_fields = (*GROUPS, "volumes")
    edited_container_fields = ("volumeMounts",)

    def __init__(
        self,
        data: QueryDict | None,
        spec: Mapping[str, Any],
        place: Sequence[str],
        names: Collection[str] = (),
    ) -> None:
        super().__init__(data, spec, place, names)
        volumes = mappings_at(self.found, "volumes")
        here = [escape_invisible(one["name"]) for one in volumes]
        self.suggestions = {OBJECT_NAMES: names, VOLUME_NAMES: here}
        self._volumes = FormRows(
            self,
            _STEM,
            _volume_fields,
            found=[_begins(one) for one in volumes],
            titles=[one["name"] for one in volumes],
            heading=_("Volumes"),
            add=_("Add a volume"),
            hint=_("An empty directory is created with each pod and deleted with the pod."),
        )
        self._mounts = {one.stem: self._mounts_of(one) for one in self.containers}
        self.groups = (self._volumes, *self._mounts.values())

    def _mounts_of(self, container: TemplateContainer) -> FormRows:
        found = mappings_at(container.manifest, "volumeMounts")
        return FormRows(
            self,
            container.stem,
            _mount_fields,
            found=[_mount_begins(one) for one in found],
            titles=[one["mountPath"] for one in found],
            heading=_("Mounts of %(container)s") % {"container": container.title},
            add=_("Add a mount"),
            hint=_("If you enter a path in the volume, only that file or directory is mounted."),
        )

    def can_represent(self, found: Mapping[str, Any]) -> bool:
        volumes = found.get("volumes", [])
        containers = (one for name in GROUPS for one in found.get(name, ()))
        return (
            super().can_represent(found)
            and isinstance(volumes, list)
            and len(volumes) <= MOST
            and all(isinstance(one, dict) and is_line(one.get("name")) for one in volumes)
            and len(volumes) + sum(len(one.get("volumeMounts", ())) for one in containers)
            <= MOST_ROWS
        )

    def can_represent_container(self, container: Mapping[str, Any]) -> bool:
        mounts = container.get("volumeMounts", [])
        return isinstance(mounts, list) and len(mounts) <= MOST and all(map(_is_mount, mounts))

    def new_values(self) -> Mapping[str, Any]:
        return {**super().new_values(), "volumes": [*self._wanted_volumes()]}

    def _wanted_volumes(self) -> Iterator[Mapping[str, Any]]:
        before, rows = mappings_at(self.found, "volumes"), [*self._volumes.rows_to_keep()]
        again = duplicated(rows, "name")
        for n, row in enumerate(rows):
            if not row.values["name"]:
                self.add_row_error(row, "name", _("Enter a name."))
            elif row.name in again:
                self.add_row_error(row, "name", _("A volume with this name already exists."))
            self.map_causes(f"volumes[{n}]", row, _VOLUME_CAUSES)
            yield self._volume(row, before[row.index] if row.index is not None else {})

    def _volume(self, row: SubmittedRow, before: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the new volume, including fields that the form does not show."""
        values, kind = row.values, row.values["kind"]
        own = ("object",) if kind in NAMED else ("medium", "size") if kind == EMPTY else ()
        for part in ("object", "size"):
            if part not in own and values[part] and row.changed(part):
                self.add_row_error(
                    row, part, _("The selected kind of volume does not use this field.")
                )
        if kind not in KINDS or not row.changed("kind", *own):
            return {**before, "name": values["name"]}
        source = mapping(before, kind)
        if kind == EMPTY:
            limits = {"medium": values["medium"], "sizeLimit": values["size"]}
            source = {part: value for part, value in {**source, **limits}.items() if value}
        elif not values["object"]:
            self.add_row_error(row, "object", _("Enter a name."))
        else:
            source = {**source, NAMED[kind]: values["object"]}
        return {"name": values["name"], kind: source}

    def new_container_values(self, container: TemplateContainer) -> Mapping[str, Any]:
        return {"volumeMounts": [*self._wanted_mounts(container)]}

    def _wanted_mounts(self, container: TemplateContainer) -> Iterator[Mapping[str, Any]]:
        before = mappings_at(container.manifest, "volumeMounts")
        for n, row in enumerate(self._mounts[container.stem].rows_to_keep()):
            for part, text in (
                ("volume", _("Enter a volume.")),
                ("path", _("Enter a path.")),
            ):
                if not row.values[part]:
                    self.add_row_error(row, part, text)
            self.map_causes(f"{container.path}.volumeMounts[{n}]", row, _MOUNT_CAUSES)
            yield _mount(row, before[row.index] if row.index is not None else {})


def _volume_fields(begins: Mapping[str, Any]) -> Mapping[str, forms.Field]:
    kept = {KEPT: begins["as_it_is"]} if begins.get("as_it_is") else {}
    names = forms.TextInput({"list": OBJECT_NAMES, "data-only": " ".join(NAMED)})
    medium = ChoiceField(label=_("Storage medium"), choices=[*MEDIA.items()])
    medium.widget.attrs["data-only"] = EMPTY
    size = forms.TextInput({"data-only": EMPTY})
    return {
        "name": TextField(label=_("Name"), required=False),
        "kind": ChoiceField(
            label=_("Kind"), choices=[*{**KINDS, **kept}.items()], initial=next(iter(KINDS))
        ),
        "object": TextField(label=_("Object name"), required=False, widget=names),
        "medium": medium,
        "size": AmountField(label=_("Maximum"), widget=size),
    }


def _mount_fields(_begins: Mapping[str, Any]) -> Mapping[str, forms.Field]:
    names = forms.TextInput({"list": VOLUME_NAMES})
    return {
        "volume": TextField(label=_("Volume"), required=False, widget=names),
        "path": TextField(label=_("Path"), required=False, max_length=LONGEST_PATH),
        "sub_path": TextField(
            label=_("Path in the volume"), required=False, max_length=LONGEST_PATH
        ),
        "mode": ChoiceField(label=pgettext("mount", "Access"), choices=[*MODES.items()]),
    }


def _begins(volume: Mapping[str, Any]) -> Mapping[str, Any]:
    kind = _kind_of(volume)
    source = mapping(volume, kind)
    others = ", ".join(escape_invisible(one) for one in volume if one != "name")
    return {
        "name": volume["name"],
        "kind": kind,
        "as_it_is": others if kind == KEPT else "",
        "object": source.get(NAMED.get(kind, ""), ""),
        "medium": source.get("medium", ""),
        "size": source.get("sizeLimit", ""),
    }


def _kind_of(volume: Mapping[str, Any]) -> str:
    """Return the volume type, or `KEPT` if the form can't represent the volume."""
    kind = next((one for one in volume if one != "name"), KEPT)
    source = mapping(volume, kind)
    texts = (source.get(NAMED.get(kind, ""), ""), source.get("sizeLimit", ""))
    shown = all(map(is_line, texts)) and source.get("medium", "") in (*MEDIA,)
    return kind if kind in KINDS and len(volume) == 2 and shown else KEPT


def _mount_begins(mount: Mapping[str, Any]) -> Mapping[str, Any]:
    mode = READ_ONLY if mount.get(READ_ONLY) else ""
    return {**{part: mount.get(path, "") for part, path in _MOUNT.items()}, "mode": mode}


def _mount(row: SubmittedRow, before: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the new mount, including fields that the form does not show."""
    found = {**before}
    values = {path: row.values[part] for part, path in _MOUNT.items() if row.changed(part)}
    if row.changed("mode"):
        values[READ_ONLY] = row.values["mode"] == READ_ONLY
    for path, value in values.items():
        found.pop(path, None)
        if value:
            found[path] = value
    return found


def _is_mount(mount: object) -> bool:
    return (
        isinstance(mount, dict)
        and all(is_line(mount.get(path, ""), LONGEST_PATH) for path in _MOUNT.values())
        and is_line(mount.get("name"))
        and is_line(mount.get("mountPath"), LONGEST_PATH)
        and isinstance(mount.get(READ_ONLY, False), bool)
    )


class EditVolumes(EditTemplate):
    name = "volumes"
    label = gettext_lazy("Edit volumes")
    reads_also = (CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS)
    title_text = gettext_lazy("Edit the volumes of %(kind)s %(name)s")
    form = VolumesForm
