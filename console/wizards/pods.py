"""Fields of pod templates, shared by the wizards of all workloads."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from console.kube.gvr import (
    CONFIG_MAPS,
    PERSISTENT_VOLUME_CLAIMS,
    PRIORITY_CLASSES,
    SECRETS,
    SERVICE_ACCOUNTS,
)
from console.ui.wizard import fields
from console.ui.wizard.fields import MEMORY_UNITS, Choice, Text
from console.ui.wizard.parts import Case, FormPart, Group, Rows, Variant
from console.ui.wizard.paths import Path
from console.ui.wizard.state import FieldScope
from console.ui.wizard.wizard import Warning
from console.wizards.images import ImageInput
from console.wizards.mounts import HOST_TIME
from console.wizards.pod_paths import pod_of
from console.wizards.resources import GPUS, RESOURCES
from console.wizards.security import CONTAINER_SECURITY

_DEFAULT = Choice("", gettext_lazy("Default"))


def image_name(image: str) -> str:
    """Return the last part of an image's name: `api` of `registry.example.com/shop/api:2.18`."""
    return image.rpartition("/")[2].partition("@")[0].partition(":")[0]


def _unique(key: str) -> Any:
    """Return a function that gives a copied item a `key` that no other item has."""

    def rename(copy: dict[str, Any], items: Sequence[Any]) -> None:
        taken = {str(one.get(key)) for one in items if isinstance(one, dict)}
        stem = str(copy.get(key) or "")
        number = next(n for n in range(2, len(taken) + 3) if f"{stem}-{n}" not in taken)
        copy[key] = f"{stem}-{number}"

    return rename


def _title(fallback: Text) -> Any:
    def title(scope: FieldScope) -> str:
        name = scope.get("name")
        return name if isinstance(name, str) and name else str(fallback)

    return title


def _name_once(value: str, scope: FieldScope) -> Text:
    """Check a name that is a DNS label and that no other item of the list has."""
    problem = fields.dns_label(value, scope)
    if problem:
        return problem
    pod = pod_of(scope)
    names = [
        item.get("name") for path in ("containers", "initContainers") for item in pod.mappings(path)
    ]
    return _("Another container has this name.") if names.count(value) > 1 else ""


PORTS = Rows(
    id="ports",
    title=gettext_lazy("Ports"),
    add=gettext_lazy("Add port"),
    of="port",
    name=lambda scope: str(scope.get("name") or scope.get("containerPort") or _("port")),
    parts=(
        fields.TextInput(
            id="name",
            label=gettext_lazy("Name"),
            check=fields.port_name,
            placeholder="http",
            max_length=15,
        ),
        fields.NumberInput(
            id="containerPort",
            label=gettext_lazy("Container port"),
            least=1,
            most=fields.MAX_PORT,
            required=True,
        ),
        fields.Select(
            id="protocol",
            label=gettext_lazy("Protocol"),
            choices=(
                Choice("", "TCP"),
                Choice("UDP", "UDP"),
                Choice("SCTP", "SCTP"),
            ),
            implied="TCP",
        ),
    ),
)


def _optional(*path: str | int) -> fields.CheckBox:
    """Return the field that allows a referenced object or key to be missing."""
    return fields.CheckBox(
        id="optional", path=(*path, "optional"), label=gettext_lazy("May be missing")
    )


def _key_parts(kind: Text, gvr: Any, path: Path) -> Sequence[Any]:
    suggest = (lambda scope: scope.state.context.names(gvr)) if gvr is not SECRETS else None
    return (
        fields.Suggested(
            id="name", path=(*path, "name"), label=kind, required=True, suggest=suggest
        ),
        fields.TextInput(id="key", path=(*path, "key"), label=gettext_lazy("Key"), required=True),
        _optional(*path),
    )


ENV_SOURCE = Variant(
    id="source",
    label=gettext_lazy("Source"),
    beside=("name",),
    default="value",
    cases=(
        Case(
            id="value",
            label=gettext_lazy("Value"),
            keys=("value",),
            start={},
            parts=(fields.TextArea(id="value", label=gettext_lazy("Value"), rows=1),),
        ),
        Case(
            id="secret",
            label=gettext_lazy("Secret"),
            keys=(("valueFrom", "secretKeyRef"),),
            parts=_key_parts(gettext_lazy("Secret"), SECRETS, ("valueFrom", "secretKeyRef")),
        ),
        Case(
            id="configMap",
            label=gettext_lazy("ConfigMap"),
            keys=(("valueFrom", "configMapKeyRef"),),
            parts=_key_parts(
                gettext_lazy("ConfigMap"), CONFIG_MAPS, ("valueFrom", "configMapKeyRef")
            ),
        ),
        Case(
            id="field",
            label=gettext_lazy("Pod field"),
            keys=(("valueFrom", "fieldRef"),),
            start={"valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            parts=(
                fields.Suggested(
                    id="fieldPath",
                    path=("valueFrom", "fieldRef", "fieldPath"),
                    label=gettext_lazy("Field"),
                    required=True,
                    suggest=lambda scope: (
                        "metadata.name",
                        "metadata.namespace",
                        "metadata.uid",
                        "spec.nodeName",
                        "spec.serviceAccountName",
                        "status.hostIP",
                        "status.podIP",
                    ),
                ),
            ),
        ),
        Case(
            id="resource",
            label=gettext_lazy("Resource"),
            keys=(("valueFrom", "resourceFieldRef"),),
            start={"valueFrom": {"resourceFieldRef": {"resource": "limits.memory"}}},
            parts=(
                fields.Suggested(
                    id="resource",
                    path=("valueFrom", "resourceFieldRef", "resource"),
                    label=gettext_lazy("Resource"),
                    required=True,
                    suggest=lambda scope: (
                        "limits.cpu",
                        "limits.memory",
                        "requests.cpu",
                        "requests.memory",
                    ),
                ),
            ),
        ),
    ),
)

VARIABLES = Rows(
    id="env",
    title=gettext_lazy("Environment variables"),
    add=gettext_lazy("Add variable"),
    of="variable",
    name=_title(gettext_lazy("variable")),
    parts=(
        fields.TextInput(
            id="name",
            label=gettext_lazy("Name"),
            code=True,
            required=True,
            check=fields.only_once(gettext_lazy("Another variable has this name.")),
        ),
        ENV_SOURCE,
    ),
)

ENV_FROM = Rows(
    id="envFrom",
    title=gettext_lazy("All keys of"),
    add=gettext_lazy("Add all keys of a Secret or ConfigMap"),
    of="source",
    new=lambda scope: {"configMapRef": {}},
    name=lambda scope: str(scope.get("prefix") or _("source")),
    parts=(
        Variant(
            id="source",
            label=gettext_lazy("Source"),
            beside=("prefix",),
            cases=(
                Case(
                    id="configMap",
                    label=gettext_lazy("ConfigMap"),
                    keys=("configMapRef",),
                    parts=(
                        fields.Suggested(
                            id="name",
                            path=("configMapRef", "name"),
                            label=gettext_lazy("ConfigMap"),
                            required=True,
                            suggest=lambda scope: scope.state.context.names(CONFIG_MAPS),
                        ),
                        _optional("configMapRef"),
                    ),
                ),
                Case(
                    id="secret",
                    label=gettext_lazy("Secret"),
                    keys=("secretRef",),
                    parts=(
                        fields.Suggested(
                            id="name",
                            path=("secretRef", "name"),
                            label=gettext_lazy("Secret"),
                            required=True,
                        ),
                        _optional("secretRef"),
                    ),
                ),
            ),
        ),
        fields.TextInput(id="prefix", label=gettext_lazy("Prefix"), code=True),
    ),
)


def _port_field(*path: str) -> fields.IntOrText:
    return fields.IntOrText(
        id="port",
        path=(*path, "port"),
        label=gettext_lazy("Port"),
        required=True,
        accepts=fields.port_or_name,
        usage=gettext_lazy("Enter a port number up to 65535 or a port name."),
        suggest=lambda scope: [],
    )


def _probe(id: str, label: Text, hint: Text) -> Variant:
    times: Sequence[tuple[str, Text, int, int]] = (
        ("initialDelaySeconds", gettext_lazy("Initial delay"), 0, 0),
        ("periodSeconds", gettext_lazy("Period"), 1, 10),
        ("timeoutSeconds", gettext_lazy("Timeout"), 1, 1),
        ("successThreshold", gettext_lazy("Success threshold"), 1, 1),
        ("failureThreshold", gettext_lazy("Failure threshold"), 1, 3),
    )
    return Variant(
        id=id,
        path=(id,),
        label=label,
        hint=hint,
        cases=(
            Case(id="none", label=gettext_lazy("None")),
            Case(
                id="httpGet",
                label=gettext_lazy("HTTP request"),
                hint=gettext_lazy("Succeeds when GET returns 200 to 399"),
                keys=("httpGet",),
                start={"httpGet": {"path": "/"}},
                parts=(
                    fields.TextInput(
                        id="path", path=("httpGet", "path"), label=gettext_lazy("Path"), code=True
                    ),
                    _port_field("httpGet"),
                    fields.Select(
                        id="scheme",
                        path=("httpGet", "scheme"),
                        label=gettext_lazy("Scheme"),
                        choices=(
                            Choice("", "HTTP"),
                            Choice("HTTPS", "HTTPS"),
                        ),
                        implied="HTTP",
                    ),
                ),
            ),
            Case(
                id="tcpSocket",
                label=gettext_lazy("TCP connection"),
                hint=gettext_lazy("Succeeds when the port accepts connections"),
                keys=("tcpSocket",),
                parts=(_port_field("tcpSocket"),),
            ),
            Case(
                id="exec",
                label=gettext_lazy("Command"),
                hint=gettext_lazy("Succeeds when it exits with 0"),
                keys=("exec",),
                parts=(
                    fields.Command(
                        id="command",
                        path=("exec", "command"),
                        label=gettext_lazy("Command"),
                        required=True,
                    ),
                ),
            ),
            Case(
                id="grpc",
                label=gettext_lazy("gRPC health check"),
                keys=("grpc",),
                parts=(
                    fields.NumberInput(
                        id="port",
                        path=("grpc", "port"),
                        label=gettext_lazy("Port"),
                        least=1,
                        most=fields.MAX_PORT,
                        required=True,
                    ),
                    fields.TextInput(
                        id="service", path=("grpc", "service"), label=gettext_lazy("Service")
                    ),
                ),
            ),
        ),
        common=tuple(
            fields.NumberInput(id=name, label=text, least=least, placeholder=str(usual))
            for name, text, least, usual in times
        ),
    )


READINESS = _probe(
    "readinessProbe",
    gettext_lazy("Readiness"),
    gettext_lazy("A pod that is not ready receives no traffic."),
)


PROBES = Group(
    title=gettext_lazy("Health checks"),
    parts=(
        READINESS,
        _probe(
            "livenessProbe",
            gettext_lazy("Liveness"),
            gettext_lazy("The container is restarted when this check fails."),
        ),
        _probe(
            "startupProbe",
            gettext_lazy("Startup"),
            gettext_lazy("The other checks start after this one succeeds."),
        ),
    ),
)


def _probes_now(scope: FieldScope) -> Text:
    words = {
        "startupProbe": _("startup"),
        "readinessProbe": _("readiness"),
        "livenessProbe": _("liveness"),
    }
    found = [word for name, word in words.items() if scope.has(name)]
    return ", ".join(found) or _("None. A pod is ready when its process starts.")


def _command_now(scope: FieldScope) -> Text:
    found = [str(one) for name in ("command", "args") for one in scope.texts(name)]
    return " ".join(found) or _("From the image")


def _hooks_now(scope: FieldScope) -> Text:
    return _("Customized") if scope.get("lifecycle") else _("No hooks")


def _pull_now(scope: FieldScope) -> Text:
    policy = scope.get("imagePullPolicy")
    return (
        str(PULL_WORDS.get(policy, PULL_WORDS[""]))
        if isinstance(policy, str)
        else str(PULL_WORDS[""])
    )


PULL_WORDS: Mapping[str, Text] = {
    "": gettext_lazy("If not on the node yet; always for the tag latest"),
    "IfNotPresent": gettext_lazy("If not on the node yet"),
    "Always": gettext_lazy("Always"),
    "Never": gettext_lazy("Never"),
}


def _hook(id: str, label: Text) -> Variant:
    return Variant(
        id=id,
        path=("lifecycle", id),
        label=label,
        cases=(
            Case(id="none", label=gettext_lazy("None")),
            Case(
                id="exec",
                label=gettext_lazy("Command"),
                keys=("exec",),
                parts=(
                    fields.Command(
                        id="command",
                        path=("exec", "command"),
                        label=gettext_lazy("Command"),
                        required=True,
                    ),
                ),
            ),
            Case(
                id="httpGet",
                label=gettext_lazy("HTTP request"),
                keys=("httpGet",),
                start={"httpGet": {"path": "/"}},
                parts=(
                    fields.TextInput(
                        id="path", path=("httpGet", "path"), label=gettext_lazy("Path"), code=True
                    ),
                    _port_field("httpGet"),
                ),
            ),
            Case(
                id="sleep",
                label=gettext_lazy("Wait"),
                keys=("sleep",),
                start={"sleep": {"seconds": 5}},
                parts=(
                    fields.NumberInput(
                        id="seconds",
                        path=("sleep", "seconds"),
                        label=gettext_lazy("Time"),
                        unit="s",
                        required=True,
                    ),
                ),
            ),
        ),
    )


def _mounts_name(scope: FieldScope) -> str:
    return str(scope.get("mountPath") or scope.get("name") or _("mount"))


def volume_names(scope: FieldScope) -> list[str]:
    """Return the names of the pod's volumes and of the volume claim templates."""
    found = [one.get("name") for one in pod_of(scope).mappings("volumes")]
    for claim in FieldScope(scope.state, scope.slot).mappings("spec", "volumeClaimTemplates"):
        metadata = claim.get("metadata")
        found.append(metadata.get("name") if isinstance(metadata, dict) else None)
    return [one for one in found if isinstance(one, str)]


def _known_volume(value: str, scope: FieldScope) -> Text:
    return "" if value in volume_names(scope) else _("The pod has no volume with this name.")


MOUNTS = Rows(
    id="volumeMounts",
    title=gettext_lazy("Volume mounts"),
    add=gettext_lazy("Add mount"),
    of="mount",
    name=_mounts_name,
    parts=(
        fields.Suggested(
            id="name",
            label=gettext_lazy("Volume"),
            required=True,
            check=_known_volume,
            suggest=volume_names,
        ),
        fields.TextInput(id="mountPath", label=gettext_lazy("Path"), code=True, required=True),
        fields.TextInput(id="subPath", label=gettext_lazy("Path in the volume"), code=True),
        fields.CheckBox(id="readOnly", label=gettext_lazy("Read-only")),
    ),
)

IMAGE = ImageInput(
    id="image",
    label=gettext_lazy("Image"),
    code=True,
    required=True,
    missing=gettext_lazy("Enter an image."),
    placeholder="registry.example.com/shop/api:2.18.4",
    check=lambda value, scope: _("An image contains no spaces.") if len(value.split()) > 1 else "",
)

_NAME = fields.TextInput(
    id="name",
    label=gettext_lazy("Name"),
    required=True,
    size="medium",
    max_length=63,
    check=_name_once,
)


def _container_parts(*first: Any) -> tuple[Any, ...]:
    return (
        Group(parts=(IMAGE, Group(pairs=True, parts=(_NAME, *first)))),
        RESOURCES,
        Group(parts=(PORTS,)),
        Group(parts=(VARIABLES, ENV_FROM)),
        Group(parts=(MOUNTS, HOST_TIME)),
        replace(PROBES, is_advanced=True, now=_probes_now),
        Group(
            title=gettext_lazy("Command"),
            is_advanced=True,
            now=_command_now,
            pairs=True,
            parts=(
                fields.Command(
                    id="command",
                    label=gettext_lazy("Command"),
                    hint=gettext_lazy("Quote arguments that contain spaces."),
                ),
                fields.Command(id="args", label=gettext_lazy("Arguments")),
                fields.TextInput(
                    id="workingDir", label=gettext_lazy("Working directory"), code=True
                ),
            ),
        ),
        CONTAINER_SECURITY,
        GPUS,
        Group(
            title=gettext_lazy("Start and stop"),
            is_advanced=True,
            now=_hooks_now,
            parts=(
                _hook("postStart", gettext_lazy("After the start")),
                _hook("preStop", gettext_lazy("Before the stop")),
            ),
        ),
        Group(
            title=gettext_lazy("Image pull"),
            is_advanced=True,
            now=_pull_now,
            parts=(
                fields.Select(
                    id="imagePullPolicy",
                    label=gettext_lazy("When to pull"),
                    choices=tuple(Choice(value, word) for value, word in PULL_WORDS.items()),
                ),
            ),
        ),
    )


def _container_facts(scope: FieldScope) -> str:
    image = scope.get("image")
    parts = [image] if isinstance(image, str) else []
    for resource, word in (("cpu", _("CPU")), ("memory", _("memory"))):
        amounts = [
            str(one)
            for of in ("requests", "limits")
            if isinstance(one := scope.get("resources", of, resource), str | int)
        ]
        if amounts:
            parts.append(f"{' – '.join(amounts)} {word}")
    return " · ".join(parts)


CONTAINERS = Rows(
    id="containers",
    path=("containers",),
    title=gettext_lazy("Containers"),
    add=gettext_lazy("Add container"),
    is_item=True,
    least=1,
    name=_title(gettext_lazy("Container")),
    facts=_container_facts,
    copied=_unique("name"),
    parts=_container_parts(),
)

INIT_CONTAINERS = Rows(
    id="initContainers",
    path=("initContainers",),
    title=gettext_lazy("Init containers and sidecars"),
    add=gettext_lazy("Add init container or sidecar"),
    is_item=True,
    name=_title(gettext_lazy("Init container")),
    kind=lambda scope: (
        _("Sidecar") if scope.get("restartPolicy") == "Always" else _("Init container")
    ),
    facts=_container_facts,
    copied=_unique("name"),
    parts=_container_parts(
        fields.Select(
            id="restartPolicy",
            label=gettext_lazy("Runs as"),
            choices=(
                Choice("", gettext_lazy("Init container: ends before the app starts")),
                Choice("Always", gettext_lazy("Sidecar: keeps running")),
            ),
        )
    ),
)


def of_each_container(*parts: FormPart) -> tuple[Rows, Rows]:
    """Return the rows with only these fields of all containers, for an existing workload."""
    return (
        replace(CONTAINERS, parts=parts, is_fixed=True),
        replace(INIT_CONTAINERS, parts=parts, is_fixed=True),
    )


POD_SETTINGS = Group(
    title=gettext_lazy("Pod"),
    parts=(
        fields.Suggested(
            id="serviceAccountName",
            label=gettext_lazy("Service account"),
            placeholder="default",
            suggest=lambda scope: scope.state.context.names(SERVICE_ACCOUNTS),
        ),
        fields.NumberInput(
            id="terminationGracePeriodSeconds",
            label=gettext_lazy("Time to stop"),
            unit="s",
            placeholder="30",
        ),
        fields.Suggested(
            id="priorityClassName",
            label=gettext_lazy("Priority class"),
            suggest=lambda scope: scope.state.context.names(PRIORITY_CLASSES),
        ),
        fields.Select(
            id="dnsPolicy",
            label=gettext_lazy("DNS"),
            choices=(
                Choice("", gettext_lazy("Of the cluster")),
                Choice(
                    "ClusterFirstWithHostNet", gettext_lazy("Of the cluster, with host network")
                ),
                Choice("Default", gettext_lazy("Of the node")),
                Choice("None", gettext_lazy("Only as set in YAML")),
            ),
            implied="ClusterFirst",
        ),
        fields.CheckBox(
            id="hostNetwork",
            label=gettext_lazy("Use the network of the node"),
            hint=gettext_lazy("Ports of the pod are ports of the node."),
        ),
        Rows(
            id="imagePullSecrets",
            title=gettext_lazy("Image pull secrets"),
            add=gettext_lazy("Add image pull secret"),
            of="name",
            name=_title(gettext_lazy("secret")),
            parts=(fields.TextInput(id="name", label=gettext_lazy("Secret"), required=True),),
        ),
    ),
)


def _volume_kind(scope: FieldScope) -> Text:
    case = VOLUME_SOURCE.current(scope)
    return str(case.label) if case is not None else ""


def _key_files(source: str) -> Rows:
    return Rows(
        id="items",
        path=(source, "items"),
        title=gettext_lazy("Only these keys"),
        add=gettext_lazy("Select a key"),
        of="pair",
        name=lambda scope: str(scope.get("key") or _("key")),
        parts=(
            fields.TextInput(id="key", label=gettext_lazy("Key"), code=True, required=True),
            fields.TextInput(id="path", label=gettext_lazy("File"), code=True, required=True),
        ),
    )


VOLUME_SOURCE = Variant(
    id="source",
    label=gettext_lazy("Content"),
    beside=("name",),
    cases=(
        Case(
            id="persistentVolumeClaim",
            label=gettext_lazy("Existing volume claim"),
            keys=("persistentVolumeClaim",),
            parts=(
                fields.Suggested(
                    id="claim",
                    path=("persistentVolumeClaim", "claimName"),
                    label=gettext_lazy("Volume claim"),
                    required=True,
                    suggest=lambda scope: scope.state.context.names(PERSISTENT_VOLUME_CLAIMS),
                ),
                fields.CheckBox(
                    id="readOnly",
                    path=("persistentVolumeClaim", "readOnly"),
                    label=gettext_lazy("Read-only"),
                ),
            ),
        ),
        Case(
            id="emptyDir",
            label=gettext_lazy("Temporary directory"),
            keys=("emptyDir",),
            parts=(
                fields.Select(
                    id="medium",
                    path=("emptyDir", "medium"),
                    label=gettext_lazy("Medium"),
                    choices=(
                        Choice("", gettext_lazy("Disk of the node")),
                        Choice("Memory", gettext_lazy("Memory")),
                    ),
                ),
                fields.QuantityInput(
                    id="sizeLimit",
                    path=("emptyDir", "sizeLimit"),
                    label=gettext_lazy("Size limit"),
                    units=MEMORY_UNITS,
                    placeholder=gettext_lazy("No limit"),
                ),
            ),
        ),
        Case(
            id="configMap",
            label=gettext_lazy("ConfigMap"),
            keys=("configMap",),
            parts=(
                fields.Suggested(
                    id="name",
                    path=("configMap", "name"),
                    label=gettext_lazy("ConfigMap"),
                    required=True,
                    suggest=lambda scope: scope.state.context.names(CONFIG_MAPS),
                ),
                _key_files("configMap"),
                _optional("configMap"),
            ),
        ),
        Case(
            id="secret",
            label=gettext_lazy("Secret"),
            keys=("secret",),
            parts=(
                fields.TextInput(
                    id="name",
                    path=("secret", "secretName"),
                    label=gettext_lazy("Secret"),
                    required=True,
                    size="medium",
                ),
                _key_files("secret"),
                _optional("secret"),
            ),
        ),
        Case(
            id="hostPath",
            label=gettext_lazy("Directory of the node"),
            keys=("hostPath",),
            parts=(
                fields.TextInput(
                    id="path",
                    path=("hostPath", "path"),
                    label=gettext_lazy("Path"),
                    code=True,
                    required=True,
                ),
                fields.Select(
                    id="type",
                    path=("hostPath", "type"),
                    label=gettext_lazy("Type"),
                    choices=(
                        Choice("", gettext_lazy("No check")),
                        Choice("DirectoryOrCreate", "DirectoryOrCreate"),
                        Choice("Directory", "Directory"),
                        Choice("FileOrCreate", "FileOrCreate"),
                        Choice("File", "File"),
                        Choice("Socket", "Socket"),
                    ),
                ),
            ),
        ),
        Case(
            id="nfs",
            label=gettext_lazy("NFS share"),
            keys=("nfs",),
            parts=(
                fields.TextInput(
                    id="server",
                    path=("nfs", "server"),
                    label=gettext_lazy("Server"),
                    required=True,
                    size="medium",
                ),
                fields.TextInput(
                    id="path",
                    path=("nfs", "path"),
                    label=gettext_lazy("Path"),
                    code=True,
                    required=True,
                ),
                fields.CheckBox(
                    id="readOnly", path=("nfs", "readOnly"), label=gettext_lazy("Read-only")
                ),
            ),
        ),
    ),
)

VOLUMES = Rows(
    id="volumes",
    title=gettext_lazy("Volumes"),
    add=gettext_lazy("Add volume"),
    is_item=True,
    new=lambda scope: {"emptyDir": {}},
    name=_title(gettext_lazy("Volume")),
    kind=_volume_kind,
    copied=_unique("name"),
    parts=(
        fields.TextInput(
            id="name",
            label=gettext_lazy("Name"),
            required=True,
            size="medium",
            check=fields.only_once(gettext_lazy("Another volume has this name."), fields.dns_label),
        ),
        VOLUME_SOURCE,
    ),
)


def pod_warnings(scope: FieldScope, step: str, *, is_probed: bool = True) -> list[Warning]:
    """Return warnings about the containers of a pod template. `scope` is the pod spec's.

    `is_probed`: containers should have a readiness check.
    """
    found = []
    for container in scope.mappings("containers"):
        name = str(container.get("name") or container.get("image") or "")
        image = str(container.get("image") or "")
        tag = image.rpartition("/")[2]
        words = {"name": name}
        if image and "@" not in tag and (":" not in tag or tag.endswith(":latest")):
            text = _("%(name)s uses the tag latest. Pods can run different versions.") % words
            found.append(Warning(text=text, step=step))
        resources = container.get("resources")
        limits = resources.get("limits") if isinstance(resources, dict) else None
        if not (isinstance(limits, dict) and limits.get("memory")):
            text = _("%(name)s has no memory limit.") % words
            found.append(Warning(text=text, step=step))
        if is_probed and not container.get("readinessProbe"):
            text = _(
                "%(name)s has no readiness check. Traffic can reach a pod before the app is ready."
            )
            found.append(Warning(text=text % words, step=step))
        security = container.get("securityContext")
        if isinstance(security, dict) and security.get("privileged") is True:
            text = _("%(name)s is privileged and has full access to its node.") % words
            found.append(Warning(text=text, step=step))
    return found


def container_count(scope: FieldScope) -> str:
    """Return the number of containers in words. `scope` is the pod spec's."""
    count = len(scope.mappings("containers"))
    return ngettext("%(n)d container", "%(n)d containers", count) % {"n": count}
