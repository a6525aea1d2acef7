"""Wizards of Deployments, StatefulSets, DaemonSets, and the parts that they share with jobs."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import (
    DAEMON_SETS,
    DEPLOYMENTS,
    GVR,
    INGRESS_CLASSES,
    INGRESSES,
    SERVICES,
    STATEFUL_SETS,
    STORAGE_CLASSES,
)
from console.ui.core.manifests import mapping, mappings_at
from console.ui.wizard import fields
from console.ui.wizard.fields import STORAGE_UNITS, Choice, Text
from console.ui.wizard.parts import Case, FormPart, Group, OptionalDocument, Rows, Variant
from console.ui.wizard.paths import ABSENT, Blocked, Path, value_at, write_at
from console.ui.wizard.state import FieldScope, FormState
from console.ui.wizard.wizard import Slot, Step, Wizard, name_of
from console.wizards import metadata, pods
from console.wizards.mounts import log_files
from console.wizards.pod_paths import POD, own_labels
from console.wizards.resources import GPUS, RESOURCES
from console.wizards.scheduling import relabel, scheduling
from console.wizards.security import POD_SECURITY

SERVICE, INGRESS = "service", "ingress"
#: The label that pods of a new workload have, as in Kubernetes' examples.
APP = "app"
_SELECTOR = ("spec", "selector", "matchLabels")
_GOVERNING = ("spec", "serviceName")
#: Ports of a Service until the containers have some.
NO_PORTS = [{"port": 80}]
_AMOUNT_OF_PODS = gettext_lazy("Enter a number of pods or a percentage, such as 1 or 25%.")


def pods_or_percent(id: str, path: Sequence[str], label: Text, usual: str) -> fields.IntOrText:
    return fields.IntOrText(
        id=id,
        path=tuple(path),
        label=label,
        accepts=fields.percent_or_number,
        usage=_AMOUNT_OF_PODS,
        placeholder=usual,
    )


@dataclass(frozen=True, kw_only=True)
class Following:
    """Completes a new workload: labels, selector, Service and Ingress follow its name.

    - `pod`: path of the pod spec. `selects`: the workload has a selector.
    - `governs`: the workload names its Service.
    """

    pod: Path = POD
    selects: bool = True
    governs: bool = False

    @property
    def labels(self) -> Path:
        return (*self.pod[:-1], "metadata", "labels")

    @property
    def implied(self) -> Sequence[tuple[str, Path]]:
        """Documents and paths that are written."""
        return (
            ("", _SELECTOR),
            ("", (*self.labels, APP)),
            (SERVICE, ("spec", "selector")),
            (SERVICE, ("spec", "clusterIP")),
            *((INGRESS, ("spec", "rules", 0, "http", "paths", 0, name)) for name in _OF_PATH),
        )

    def __call__(self, state: FormState, before: str) -> None:
        if not state.context.is_new:
            return
        main, scope = state.documents[""], FieldScope(state).within(self.pod)
        name, labels = name_of(main), dict(own_labels(scope))
        paths = (*((_SELECTOR,) if self.selects else ()), self.labels, ("metadata", "labels"))
        if labels and labels.get(APP) not in (name, before, ""):
            # Labels that don't come from the name, such as those of a chart, stay unchanged.
            paths = ()
        for path in paths:
            label = value_at(main, (*path, APP))
            if name and (label is ABSENT or label == before or not label):
                with suppress(Blocked):
                    write_at(main, (*path, APP), name)
        relabel(scope.get(), labels, own_labels(scope))
        with suppress(Blocked):
            self._follow_with_service(state, before)

    def _follow_with_service(self, state: FormState, before: str) -> None:
        main, service = state.documents[""], state.documents.get(SERVICE)
        for slot in (SERVICE, INGRESS):
            found = state.documents.get(slot)
            if found is not None:
                if name_of(found) in ("", before) and name_of(main):
                    write_at(found, ("metadata", "name"), name_of(main))
                namespace = value_at(main, ("metadata", "namespace"))
                if isinstance(namespace, str):
                    write_at(found, ("metadata", "namespace"), namespace)
        if service is None:
            return
        labels = own_labels(FieldScope(state).within(self.pod))
        if labels and not self._is_selected(main, service):
            write_at(service, ("spec", "selector"), dict(labels))
        if value_at(service, ("spec", "ports")) == NO_PORTS:
            write_at(service, ("spec", "ports"), first_ports(FieldScope(state).within(POD)))
        if self.governs and name_of(service):
            write_at(main, _GOVERNING, name_of(service))
        ingress = state.documents.get(INGRESS)
        if ingress is not None:
            _lead(ingress, service)

    def _is_selected(self, main: Mapping[str, Any], service: Mapping[str, Any]) -> bool:
        """Return True if a Service has a selector that selects the pods."""
        selector = value_at(service, ("spec", "selector"))
        labels = value_at(main, self.labels)
        if not isinstance(selector, dict) or not isinstance(labels, dict):
            return False
        return bool(selector) and selector.items() <= labels.items()

    def has_service(
        self, documents: Mapping[str, dict[str, Any]], service: Mapping[str, Any]
    ) -> bool:
        """Return True if a Service belongs to the workload: it selects its pods, or nothing yet."""
        main = documents.get("", {})
        governing = value_at(main, _GOVERNING)
        if self.governs and isinstance(governing, str) and governing not in ("", name_of(service)):
            return False
        selector = value_at(service, ("spec", "selector"))
        selects = not selector or selector is ABSENT or self._is_selected(main, service)
        return selects and _in_same_project(main, service)


def _in_same_project(main: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    places = [value_at(one, ("metadata", "namespace")) for one in (main, other)]
    return ABSENT in places or places[0] == places[1]


def _leads_to_service(documents: Mapping[str, dict[str, Any]], ingress: Mapping[str, Any]) -> bool:
    """Return True if the first path of an Ingress leads to the Service of the draft, or nowhere."""
    path = ("spec", "rules", 0, "http", "paths", 0)
    name = value_at(ingress, (*path, "backend", "service", "name"))
    other = value_at(ingress, (*path, "backend", "resource"))
    service = name_of(documents.get(SERVICE, {}))
    leads = other is ABSENT and (name is ABSENT or name in ("", service))
    return leads and _in_same_project(documents.get("", {}), ingress)


#: Fields of an Ingress's path that follow the Service.
_OF_PATH = ("pathType", "backend")


def _lead(ingress: dict[str, Any], service: Mapping[str, Any]) -> None:
    """Let an Ingress with one path lead to the first port of the Service."""
    paths = value_at(ingress, ("spec", "rules", 0, "http", "paths"))
    port = value_at(service, ("spec", "ports", 0, "port"))
    held = value_at(ingress, ("spec", "rules", 0, "http", "paths", 0, "backend", "service"))
    ports = mappings_at(mapping(service, "spec"), "ports")
    known = [
        *({"number": one.get("port")} for one in ports),
        *({"name": one.get("name")} for one in ports),
    ]
    named = isinstance(held, dict) and held.get("name") == name_of(service)
    if named and held.get("port") in known:
        return
    if isinstance(paths, list) and len(paths) == 1 and isinstance(port, int):
        backend = {"service": {"name": name_of(service), "port": {"number": port}}}
        write_at(ingress, ("spec", "rules", 0, "http", "paths", 0, "backend"), backend)


def first_ports(pod: FieldScope) -> list[dict[str, Any]]:
    """Return ports of a Service for all ports of the containers. `pod` is the pod spec's scope."""
    found: dict[int, dict[str, Any]] = {}
    for container in pod.mappings("containers"):
        held = container.get("ports")
        for port in held if isinstance(held, list) else ():
            number = port.get("containerPort") if isinstance(port, dict) else None
            if isinstance(number, int):
                name = port.get("name") or f"port-{number}"
                target = port.get("name") or number
                found.setdefault(number, {"name": name, "port": number, "targetPort": target})
    return [*found.values()] or deepcopy(NO_PORTS)


def new_service(state: FormState) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {},
        "spec": {"ports": first_ports(FieldScope(state).within(POD))},
    }


def new_headless_service(state: FormState) -> dict[str, Any]:
    return {
        **new_service(state),
        "spec": {"clusterIP": "None", "ports": first_ports(FieldScope(state).within(POD))},
    }


def new_ingress(state: FormState, host: str = "") -> dict[str, Any]:
    """Return an Ingress that leads to the draft's Service, which it adds if it's missing."""
    service = state.documents.setdefault(SERVICE, new_service(state))
    path = {"path": "/", "pathType": "Prefix", "backend": {}}
    rule = {**({"host": host} if host else {}), "http": {"paths": [path]}}
    ingress = {
        "apiVersion": INGRESSES.group_version,
        "kind": "Ingress",
        "metadata": {},
        "spec": {"rules": [rule]},
    }
    _lead(ingress, service)
    return ingress


SERVICE_PORTS = Rows(
    id="ports",
    path=("spec", "ports"),
    title=gettext_lazy("Ports"),
    add=gettext_lazy("Add port"),
    of="service-port",
    least=1,
    name=lambda scope: str(scope.get("name") or scope.get("port") or _("port")),
    parts=(
        fields.TextInput(
            id="name",
            label=gettext_lazy("Name"),
            max_length=63,
            required=True,
            needed=lambda scope: len(value_at(scope.document, scope.base[:-1])) > 1,
            missing=gettext_lazy("If a Service has several ports, each port needs a name."),
            check=fields.only_once(gettext_lazy("Another port has this name."), fields.dns_label),
        ),
        fields.NumberInput(
            id="port", label=gettext_lazy("Port"), least=1, most=fields.MAX_PORT, required=True
        ),
        fields.IntOrText(
            id="targetPort",
            label=gettext_lazy("Port of the container"),
            accepts=fields.port_or_name,
            usage=gettext_lazy("Enter a port number up to 65535 or a port name."),
            placeholder=gettext_lazy("Same"),
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

SERVICE_TYPE = fields.Select(
    id="type",
    path=("spec", "type"),
    label=gettext_lazy("Reached from"),
    picks=True,
    choices=(
        Choice("", "ClusterIP", gettext_lazy("Inside the cluster")),
        Choice("NodePort", "NodePort", gettext_lazy("A port of every node")),
        Choice("LoadBalancer", "LoadBalancer", gettext_lazy("An address of the provider")),
    ),
    implied="ClusterIP",
)


def _object_name(label: Text, check: fields.Check = fields.dns_label) -> fields.TextInput:
    return fields.TextInput(
        id="name",
        path=("metadata", "name"),
        label=label,
        required=True,
        size="medium",
        max_length=253,
        check=check,
    )


_WITH_SERVICE = OptionalDocument(
    slot=SERVICE,
    dependents=(INGRESS,),
    label=gettext_lazy("Create a Service for this workload"),
    hint=gettext_lazy("A Service gives the pods one name and address."),
    start=new_service,
    parts=(_object_name(gettext_lazy("Name of the Service")), SERVICE_TYPE, SERVICE_PORTS),
)

_WITH_HEADLESS_SERVICE = OptionalDocument(
    slot=SERVICE,
    dependents=(INGRESS,),
    label=gettext_lazy("Create a headless Service for this workload"),
    hint=gettext_lazy("Each pod gets a name of its own, which stays the same after a restart."),
    start=new_headless_service,
    parts=(_object_name(gettext_lazy("Name of the Service")), SERVICE_PORTS),
)

HOST = fields.TextInput(
    id="host",
    path=("spec", "rules", 0, "host"),
    label=gettext_lazy("Public host name"),
    placeholder="shop.example.com",
    max_length=253,
    check=lambda value, scope: fields.dns_subdomain(value.removeprefix("*."), scope),
)

_WITH_INGRESS = OptionalDocument(
    slot=INGRESS,
    label=gettext_lazy("Create an Ingress for this workload"),
    hint=gettext_lazy("An Ingress makes the Service reachable from outside by a host name."),
    start=new_ingress,
    parts=(
        _object_name(gettext_lazy("Name of the Ingress"), fields.dns_subdomain),
        HOST,
        fields.TextInput(
            id="path",
            path=("spec", "rules", 0, "http", "paths", 0, "path"),
            label=gettext_lazy("Path"),
            code=True,
            size="medium",
        ),
        fields.Suggested(
            id="ingressClassName",
            path=("spec", "ingressClassName"),
            label=gettext_lazy("Ingress class"),
            placeholder=gettext_lazy("Default class"),
            suggest=lambda scope: scope.state.context.names(INGRESS_CLASSES),
        ),
    ),
)

_GOVERNING_SERVICE = Group(
    shown_if=lambda scope: SERVICE not in scope.state.documents,
    parts=(
        fields.Suggested(
            id="serviceName",
            path=_GOVERNING,
            label=gettext_lazy("Headless Service"),
            hint=gettext_lazy("The pods are reached by their names below this Service's name."),
            suggest=lambda scope: scope.state.context.names(SERVICES),
        ),
    ),
)

REPLICAS = fields.NumberInput(
    id="replicas",
    path=("spec", "replicas"),
    label=gettext_lazy("Replicas"),
    placeholder="1",
)


def _claim_title(scope: FieldScope) -> str:
    name = scope.get("metadata", "name")
    return name if isinstance(name, str) and name else str(_("Volume claim"))


CLAIM_TEMPLATES = Rows(
    id="volumeClaimTemplates",
    path=("spec", "volumeClaimTemplates"),
    title=gettext_lazy("Volume claims of each pod"),
    add=gettext_lazy("Add volume claim"),
    is_item=True,
    new=lambda scope: {
        "metadata": {},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "10Gi"}},
        },
    },
    name=_claim_title,
    facts=lambda scope: str(scope.get("spec", "resources", "requests", "storage") or ""),
    parts=(
        fields.TextInput(
            id="name",
            path=("metadata", "name"),
            label=gettext_lazy("Name"),
            required=True,
            size="medium",
            check=fields.dns_label,
        ),
        fields.Suggested(
            id="storageClassName",
            path=("spec", "storageClassName"),
            label=gettext_lazy("Storage class"),
            placeholder=gettext_lazy("Default class"),
            suggest=lambda scope: scope.state.context.names(STORAGE_CLASSES),
        ),
        fields.Words(
            id="accessModes",
            path=("spec", "accessModes"),
            label=gettext_lazy("Access modes"),
            required=True,
            suggest=lambda scope: ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"),
        ),
        fields.QuantityInput(
            id="storage",
            path=("spec", "resources", "requests", "storage"),
            label=gettext_lazy("Size"),
            units=STORAGE_UNITS,
            required=True,
        ),
    ),
)


def _strategy(path: str, cases: Sequence[Case]) -> Variant:
    default = Case(
        id="default", label=gettext_lazy("Default"), hint=gettext_lazy("As Kubernetes does")
    )
    return Variant(
        id="strategy",
        path=("spec", path),
        label=gettext_lazy("Update strategy"),
        picks=True,
        cases=(default, *cases),
    )


def _rolling(hint: Text, start: Mapping[str, Any], *parts: FormPart) -> Case:
    return Case(
        id="rolling",
        label=gettext_lazy("Rolling"),
        hint=hint,
        keys=("rollingUpdate",),
        fixed={"type": "RollingUpdate"},
        start={"rollingUpdate": start},
        parts=parts,
    )


_ON_DELETE = Case(
    id="on-delete",
    label=gettext_lazy("When pods are deleted"),
    hint=gettext_lazy("Old pods stay until someone deletes them"),
    fixed={"type": "OnDelete"},
)


def _unavailable(usual: str) -> fields.IntOrText:
    path = ("rollingUpdate", "maxUnavailable")
    return pods_or_percent("maxUnavailable", path, gettext_lazy("Unavailable pods"), usual)


def _surge(usual: str) -> fields.IntOrText:
    path = ("rollingUpdate", "maxSurge")
    return pods_or_percent("maxSurge", path, gettext_lazy("Additional pods"), usual)


_MIN_READY = fields.NumberInput(
    id="minReadySeconds",
    path=("spec", "minReadySeconds"),
    label=gettext_lazy("Ready for at least"),
    unit="s",
    placeholder="0",
)
_REVISIONS = fields.NumberInput(
    id="revisionHistoryLimit",
    path=("spec", "revisionHistoryLimit"),
    label=gettext_lazy("Kept revisions"),
    placeholder="10",
)


def new_pod(**spec: Any) -> dict[str, Any]:
    """Return the pod template of a new workload."""
    return {"template": {"spec": {**spec, "containers": [{"name": "app"}]}}}


def facts_of(pod: Path, scope: FieldScope) -> list[tuple[Text, str]]:
    """Return what the summary of a workload shows."""
    containers = scope.within(pod).mappings("containers")
    images = ", ".join(str(one["image"]) for one in containers if one.get("image"))
    replicas = scope.get("spec", "replicas")
    found: list[tuple[Text, str]] = [(gettext_lazy("Images"), images)]
    if isinstance(replicas, int):
        found.insert(0, (gettext_lazy("Replicas"), str(replicas)))
    service = scope.state.documents.get(SERVICE)
    if service is not None:
        ports = [str(one.get("port")) for one in scope.in_slot(SERVICE).mappings("spec", "ports")]
        found.append((gettext_lazy("Service"), f"{name_of(service)}:{', '.join(ports)}"))
    host = scope.in_slot(INGRESS).get("spec", "rules", 0, "host")
    if isinstance(host, str):
        found.append((gettext_lazy("Public host name"), host))
    return found


def basics(gvr: GVR, *further: FormPart, check: fields.Check = fields.dns_label) -> Step:
    return Step(
        id="basics",
        title=gettext_lazy("Basics"),
        parts=(
            metadata.basics(gvr, check),
            metadata.DESCRIPTION,
            *((Group(parts=further),) if further else ()),
        ),
        facts=lambda scope: name_of(scope.document),
    )


def network(*parts: FormPart) -> Step:
    return Step(
        id="network",
        title=gettext_lazy("Network"),
        is_optional=True,
        is_only_for_new=True,
        parts=parts,
    )


def _sections(pod: Path, updates: Group | None) -> Sequence[Step]:
    """Return the sections of an existing workload."""
    each = pods.of_each_container

    def section(id: str, title: Text, *parts: FormPart) -> Step:
        return Step(id=id, title=title, parts=(Group(path=pod, parts=parts),))

    return (
        section("set-image", gettext_lazy("Images"), *each(pods.IMAGE)),
        section("set-resources", gettext_lazy("Resources"), *each(RESOURCES, GPUS)),
        section("environment", gettext_lazy("Environment"), *each(pods.VARIABLES, pods.ENV_FROM)),
        section("probes", gettext_lazy("Health checks"), *each(pods.PROBES)),
        Step(
            id="volumes",
            title=gettext_lazy("Volumes"),
            parts=(
                Group(title=gettext_lazy("Volumes"), path=pod, parts=(pods.VOLUMES,)),
                Group(title=gettext_lazy("Containers"), path=pod, parts=each(pods.MOUNTS)),
            ),
        ),
        *(
            (Step(id="strategy", title=gettext_lazy("Updates"), parts=(updates,)),)
            if updates
            else ()
        ),
    )


def template_steps(
    pod: Path,
    *settings: FormPart,
    runs: Sequence[FormPart] = (),
    storage: Sequence[FormPart] = (),
    between: Sequence[Step] = (),
    placed: bool = True,
) -> Sequence[Step]:
    """Return the steps for a pod template.

    - `runs`: fields of the pod spec that belong to the containers. `storage`: volumes besides the
      pod's. `between`: steps before the scheduling. `settings`: the first settings.
    - `placed`: see `console.wizards.scheduling.scheduling`.
    """
    annotations = fields.Pairs(
        id="pod-annotations",
        path=(*pod[:-1], "metadata", "annotations"),
        label=gettext_lazy("Annotations of the pods"),
        hint=gettext_lazy("One key=value per line."),
    )
    return (
        Step(
            id="containers",
            title=gettext_lazy("Containers"),
            parts=(
                *((Group(path=pod, parts=runs),) if runs else ()),
                Group(path=pod, parts=(pods.CONTAINERS,)),
                Group(path=pod, parts=(pods.INIT_CONTAINERS,)),
            ),
            facts=lambda scope: pods.container_count(scope.within(pod)),
        ),
        Step(
            id="storage",
            title=gettext_lazy("Storage"),
            is_optional=True,
            hint=gettext_lazy("Containers use a volume through a mount in their own settings."),
            parts=(Group(path=pod, parts=(pods.VOLUMES,)), *storage, log_files(pod)),
        ),
        *between,
        Step(
            id="scheduling",
            title=gettext_lazy("Scheduling"),
            is_optional=True,
            parts=scheduling(pod, placed=placed),
        ),
        Step(
            id="settings",
            title=gettext_lazy("Settings"),
            is_optional=True,
            parts=(
                *settings,
                Group(path=pod, parts=(pods.POD_SETTINGS,)),
                Group(path=pod, parts=(POD_SECURITY,)),
                Group(parts=(annotations,)),
                metadata.LABELS,
            ),
        ),
    )


def workload_wizard(
    slot: Slot,
    steps: Sequence[Step],
    start: Mapping[str, Any],
    following: Following,
    *,
    updates: Group | None = None,
    **other: Any,
) -> Wizard:
    """Return the wizard of a workload. `updates` are the fields of the update strategy. `other`: see
    `Wizard`.
    """
    pod = following.pod
    further = (
        Slot(id=SERVICE, gvr=SERVICES, api_kind="Service", belongs=following.has_service),
        Slot(id=INGRESS, gvr=INGRESSES, api_kind="Ingress", belongs=_leads_to_service),
    )
    return Wizard(
        slots=(slot, *(further if any(one.id == "network" for one in steps) else ())),
        start=lambda context: start,
        steps=steps,
        sections=_sections(pod, updates),
        finish=following,
        implied=following.implied,
        warnings=lambda state: pods.pod_warnings(
            FieldScope(state).within(pod), "containers", is_probed=following.selects
        ),
        **{"facts": partial(facts_of, pod), **other},
    )


def _begin_with_service(state: FormState) -> None:
    state.documents[SERVICE] = new_headless_service(state)


_DEPLOYMENT_UPDATES = Group(
    title=gettext_lazy("Updates"),
    parts=(
        _strategy(
            "strategy",
            (
                _rolling(
                    gettext_lazy("New pods start before old ones stop"),
                    {"maxSurge": "25%", "maxUnavailable": "25%"},
                    _surge("25%"),
                    _unavailable("25%"),
                ),
                Case(
                    id="recreate",
                    label=gettext_lazy("Recreate"),
                    hint=gettext_lazy("All old pods stop first"),
                    fixed={"type": "Recreate"},
                ),
            ),
        ),
        Group(
            pairs=True,
            parts=(
                _MIN_READY,
                fields.NumberInput(
                    id="progressDeadlineSeconds",
                    path=("spec", "progressDeadlineSeconds"),
                    label=gettext_lazy("Rollout fails after"),
                    unit="s",
                    least=1,
                    placeholder="600",
                ),
                _REVISIONS,
            ),
        ),
    ),
)

DEPLOYMENT = workload_wizard(
    Slot(id="", gvr=DEPLOYMENTS, api_kind="Deployment"),
    (
        basics(DEPLOYMENTS, REPLICAS),
        *template_steps(
            POD,
            _DEPLOYMENT_UPDATES,
            between=(network(_WITH_SERVICE, _WITH_INGRESS),),
        ),
    ),
    {"spec": {"replicas": 1, **new_pod()}},
    Following(),
    updates=_DEPLOYMENT_UPDATES,
)

_STATEFUL_SET_UPDATES = Group(
    title=gettext_lazy("Updates"),
    parts=(
        _strategy(
            "updateStrategy",
            (
                _rolling(
                    gettext_lazy("One pod after the other, the last one first"),
                    {"partition": 0},
                    fields.NumberInput(
                        id="partition",
                        path=("rollingUpdate", "partition"),
                        label=gettext_lazy("First pod to update"),
                        hint=gettext_lazy("Pods with a smaller number stay as they are."),
                        placeholder="0",
                    ),
                    _unavailable("1"),
                ),
                _ON_DELETE,
            ),
        ),
        fields.Select(
            id="podManagementPolicy",
            path=("spec", "podManagementPolicy"),
            label=gettext_lazy("Start and stop of pods"),
            picks=True,
            choices=(
                Choice(
                    "",
                    gettext_lazy("In order"),
                    gettext_lazy("Each pod waits for the one before"),
                ),
                Choice(
                    "Parallel",
                    gettext_lazy("At the same time"),
                    gettext_lazy("Pods don't wait for each other"),
                ),
            ),
            implied="OrderedReady",
        ),
        Group(pairs=True, parts=(_MIN_READY, _REVISIONS)),
    ),
)

STATEFUL_SET = workload_wizard(
    Slot(id="", gvr=STATEFUL_SETS, api_kind="StatefulSet"),
    (
        basics(STATEFUL_SETS, REPLICAS),
        *template_steps(
            POD,
            _STATEFUL_SET_UPDATES,
            storage=(Group(parts=(CLAIM_TEMPLATES,)),),
            between=(network(_WITH_HEADLESS_SERVICE, _GOVERNING_SERVICE, _WITH_INGRESS),),
        ),
    ),
    {"spec": {"replicas": 1, **new_pod()}},
    Following(governs=True),
    updates=_STATEFUL_SET_UPDATES,
    begin=_begin_with_service,
)

_DAEMON_SET_UPDATES = Group(
    title=gettext_lazy("Updates"),
    parts=(
        _strategy(
            "updateStrategy",
            (
                _rolling(
                    gettext_lazy("Some nodes at a time"),
                    {"maxUnavailable": "20%"},
                    _unavailable("1"),
                    _surge("0"),
                ),
                _ON_DELETE,
            ),
        ),
        Group(pairs=True, parts=(_MIN_READY, _REVISIONS)),
    ),
)

DAEMON_SET = workload_wizard(
    Slot(id="", gvr=DAEMON_SETS, api_kind="DaemonSet"),
    (
        basics(DAEMON_SETS),
        *template_steps(
            POD,
            _DAEMON_SET_UPDATES,
            between=(network(_WITH_SERVICE, _WITH_INGRESS),),
            placed=False,
        ),
    ),
    {"spec": new_pod()},
    Following(),
    updates=_DAEMON_SET_UPDATES,
)
