"""Description of a container of a pod or a pod template, except for its state, image and probes."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.ui.core.manifests import mapping, mappings_at, text
from console.ui.details.panels.description import (
    DescriptionTable,
    Facts,
    Section,
    flattened,
    pairs_of,
)

#: Objects with values, by field of `valueFrom` and of `envFrom`.
_KEYS: dict[str, str | Promise] = {
    "configMapKeyRef": gettext_lazy("key %(key)s of ConfigMap %(name)s"),
    "secretKeyRef": gettext_lazy("key %(key)s of Secret %(name)s"),
    "fileKeyRef": gettext_lazy("key %(key)s of file %(path)s in volume %(volumeName)s"),
}
_PULLS: dict[str, str | Promise] = {
    "Always": gettext_lazy("always pull"),
    "IfNotPresent": gettext_lazy("pull if the node does not have the image"),
    "Never": gettext_lazy("never pull"),
}
_OBJECTS: dict[str, str | Promise] = {
    "configMapRef": gettext_lazy("all keys of ConfigMap %(name)s"),
    "secretRef": gettext_lazy("all keys of Secret %(name)s"),
}


def container(spec: Mapping[str, Any], status: Mapping[str, Any]) -> Iterator[Section]:
    """Describe a container. `status` is empty for a template."""
    pull = text(spec.get("imagePullPolicy"))
    yield Facts(
        (_("Command"), _arguments(spec.get("command"))),
        (_("Arguments"), _arguments(spec.get("args"))),
        (_("Working directory"), text(spec.get("workingDir"))),
        (_("Image pull policy"), _PULLS.get(pull, pull)),
        (_("Image ID"), text(status.get("imageID"))),
        (_("Container ID"), text(status.get("containerID"))),
        (_("Debugged container"), text(spec.get("targetContainerName"))),
        (_("Environment from"), [_all_keys(one) for one in mappings_at(spec, "envFrom")]),
        (
            _("Resource claims"),
            [
                "/".join(part for part in (text(one.get("name")), text(one.get("request"))) if part)
                for one in mappings_at(spec, "resources", "claims")
            ],
        ),
    )
    variables = mappings_at(spec, "env")
    yield DescriptionTable(
        (_("Name"), _("Value")),
        ((text(one.get("name")), value_text(one)) for one in variables),
        len(variables),
        _("Environment variables"),
    )
    mounts, devices = mappings_at(spec, "volumeMounts"), mappings_at(spec, "volumeDevices")
    yield DescriptionTable(
        (_("Path"), _("Volume"), _("Access")),
        (
            *((text(one.get("mountPath")), _mounted(one), _access(one)) for one in mounts),
            *(
                (text(one.get("devicePath")), text(one.get("name")), _("block device"))
                for one in devices
            ),
        ),
        len(mounts) + len(devices),
        _("Mounts"),
    )
    yield Facts(
        *flattened(mapping(spec, "securityContext")), title=_("Security context"), literal=True
    )
    yield Facts(*flattened(mapping(spec, "lifecycle")), title=_("Lifecycle handlers"), literal=True)


def _arguments(value: Any) -> list[str]:
    """Return the lines of the arguments. A script can be a single argument with several lines."""
    found = value if isinstance(value, list) else []
    return [text(line) for one in found for line in str(one).splitlines()]


def value_text(variable: Mapping[str, Any]) -> str:
    """Return the value of an environment variable, or where the value comes from."""
    source = mapping(variable, "valueFrom")
    for field, words in _KEYS.items():
        if reference := mapping(source, field):
            return _optional(str(words), reference)
    if path := text(mapping(source, "fieldRef").get("fieldPath")):
        return _("pod field %(path)s") % {"path": path}
    if resource := text(mapping(source, "resourceFieldRef").get("resource")):
        name = text(mapping(source, "resourceFieldRef").get("containerName"))
        parts = {"resource": resource, "container": name}
        return _("%(resource)s of container %(container)s") % parts if name else resource
    if source:
        return "; ".join(f"{path}: {', '.join(lines)}" for path, lines in flattened(source))
    return text(variable.get("value"))


def _all_keys(source: Mapping[str, Any]) -> str:
    prefix = text(source.get("prefix"))
    for field, words in _OBJECTS.items():
        if reference := mapping(source, field):
            found = _optional(str(words), reference)
            names = {"source": found, "prefix": prefix}
            return _("%(source)s, with prefix %(prefix)s") % names if prefix else found
    return ", ".join(pairs_of(source))


def _optional(words: str, reference: Mapping[str, Any]) -> str:
    fields = ("key", "name", "path", "volumeName")
    found = words % {field: text(reference.get(field)) for field in fields}
    return _("%(source)s (optional)") % {"source": found} if reference.get("optional") else found


def _mounted(mount: Mapping[str, Any]) -> str:
    name, path = text(mount.get("name")), text(mount.get("subPath") or mount.get("subPathExpr"))
    return _("%(path)s in %(volume)s") % {"path": path, "volume": name} if path else name


def _access(mount: Mapping[str, Any]) -> str:
    access = _("read only") if mount.get("readOnly") is True else _("read and write")
    others = (text(mount.get("mountPropagation")), text(mount.get("recursiveReadOnly")))
    return ", ".join((access, *(one for one in others if one not in ("", "None", "Disabled"))))
