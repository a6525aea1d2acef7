"""Wizard of composed applications: services with their workloads, routes, and the Application that
groups them, with the labels that KubeSphere sets.

The form edits one document: the Application with two additional lists, `components` and `routes`.
Each component consists of a `workload` and its `service`. The draft's text contains the objects.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import APPLICATIONS, SERVICES
from console.kube.names import is_label_value
from console.kube.projections.application import NAME_LABEL, VERSION_LABEL
from console.ui.wizard import fields
from console.ui.wizard.fields import Choice, Text
from console.ui.wizard.parts import Group, Rows
from console.ui.wizard.paths import ABSENT, ANY, Blocked, Path, remove_at, value_at, write_at
from console.ui.wizard.state import FieldScope, FormState
from console.ui.wizard.wizard import Slot, Step, Warning, Wizard, name_of
from console.wizards import metadata, pods
from console.wizards.network import ingress_fields, ingress_start
from console.wizards.pod_paths import POD
from console.wizards.workloads import (
    APP,
    CLAIM_TEMPLATES,
    NO_PORTS,
    REPLICAS,
    SERVICE_PORTS,
    SERVICE_TYPE,
    first_ports,
    new_pod,
)

#: Fields of the document for the objects of the application. No field of an Application has such a name.
COMPONENTS, ROUTES = "~components", "~routes"
#: The version of a component, as in KubeSphere. Gray releases add others.
_VERSION, _V1 = "version", "v1"
_MESH = "servicemesh.kubesphere.io/enabled"
_WORKLOAD_KINDS = ("Deployment", "StatefulSet")
_MATCH: Path = ("spec", "selector", "matchLabels")
#: The kinds that KubeSphere's Applications contain.
_COMPONENT_KINDS = [
    {"group": "", "kind": "Service"},
    {"group": "apps", "kind": "Deployment"},
    {"group": "apps", "kind": "StatefulSet"},
    {"group": "networking.k8s.io", "kind": "Ingress"},
]


def _is(manifest: Mapping[str, Any], api_version: str, *api_kinds: str) -> bool:
    return manifest.get("apiVersion") == api_version and manifest.get("kind") in api_kinds


def _template_labels(workload: Mapping[str, Any]) -> Mapping[str, Any]:
    labels = value_at(workload, ("spec", "template", "metadata", "labels"))
    return labels if isinstance(labels, dict) else {}


def _belongs(service: Mapping[str, Any], workload: Mapping[str, Any]) -> bool:
    """Return True if the Service selects the workload's pods."""
    selector = value_at(service, ("spec", "selector"))
    if not isinstance(selector, dict) or not selector:
        return False
    return selector.items() <= _template_labels(workload).items()


def join(manifests: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the manifests with the components and routes in the Application, which is added if it is
    missing.
    """
    if not manifests:
        return []
    new = {"apiVersion": APPLICATIONS.group_version, "kind": _MAIN.api_kind, "metadata": {}}
    app = next((one for one in manifests if _MAIN.matches(one)), new)
    workloads = [one for one in manifests if _is(one, "apps/v1", *_WORKLOAD_KINDS)]
    services = [one for one in manifests if _is(one, "v1", "Service")]
    components = []
    for workload in workloads:
        service = next((one for one in services if _belongs(one, workload)), None)
        services = [one for one in services if one is not service]
        components.append({"workload": workload, **({"service": service} if service else {})})
    routes = [one for one in manifests if _is(one, "networking.k8s.io/v1", "Ingress")]
    joined = {**app, COMPONENTS: components, ROUTES: routes}
    taken = [app, *workloads, *routes, *(one["service"] for one in components if "service" in one)]
    return [joined, *(one for one in manifests if not any(one is other for other in taken))]


def split(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the manifests in a joined document."""
    app = {name: one for name, one in document.items() if name not in (COMPONENTS, ROUTES)}
    parts = [
        component[name]
        for component in _mappings(document, COMPONENTS)
        for name in ("workload", "service")
        if isinstance(component.get(name), dict)
    ]
    return [app, *parts, *_mappings(document, ROUTES)]


def _mappings(document: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = document.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _follow(state: FormState, _before: str) -> None:
    """Complete a new application: labels, selectors and names follow the names of application and
    services.
    """
    app = state.documents[""]
    if not state.context.is_new:
        return
    version = value_at(app, ("metadata", "labels", VERSION_LABEL))
    own = {NAME_LABEL: name_of(app), VERSION_LABEL: version if isinstance(version, str) else _V1}
    mesh = value_at(app, ("metadata", "annotations", _MESH))
    marks = {"labels": own, **({"annotations": {_MESH: mesh}} if isinstance(mesh, str) else {})}
    with suppress(Blocked):
        _mark(app, marks)
        write_at(app, _MATCH, dict(own))
        write_at(app, ("spec", "addOwnerRef"), True)
        write_at(app, ("spec", "componentKinds"), deepcopy(_COMPONENT_KINDS))
    for at, component in enumerate(_mappings(app, COMPONENTS)):
        with suppress(Blocked):
            _follow_in_component(FieldScope(state).within((COMPONENTS, at)), component, marks)
    for route in _mappings(app, ROUTES):
        with suppress(Blocked):
            _mark(route, marks)


def _mark(manifest: dict[str, Any], marks: Mapping[str, Mapping[str, str]]) -> None:
    for field, values in marks.items():
        for key, value in values.items():
            write_at(manifest, ("metadata", field, key), value)


def _follow_in_component(
    scope: FieldScope, component: dict[str, Any], marks: Mapping[str, Mapping[str, str]]
) -> None:
    workload = component.setdefault("workload", _new_workload())
    service = component.setdefault("service", _new_service())
    name = name_of(service)
    before = _template_labels(workload).get(APP, "")
    if name and name_of(workload) in ("", f"{before}-{_V1}"):
        write_at(workload, ("metadata", "name"), f"{name}-{_V1}")
    labels = {APP: name, _VERSION: _V1, **marks["labels"]}
    for manifest in (workload, service):
        _mark(manifest, {**marks, "labels": labels})
    write_at(workload, _MATCH, dict(labels))
    for key, value in labels.items():
        write_at(workload, ("spec", "template", "metadata", "labels", key), value)
    selector = {key: value for key, value in labels.items() if key != _VERSION}
    write_at(service, ("spec", "selector"), selector)
    if value_at(service, ("spec", "ports")) == NO_PORTS:
        write_at(service, ("spec", "ports"), first_ports(scope.within(("workload", *POD))))
    is_stateful = workload.get("kind") == "StatefulSet"
    if is_stateful and value_at(service, ("spec", "type")) is ABSENT:
        write_at(service, ("spec", "clusterIP"), "None")
    elif value_at(service, ("spec", "clusterIP")) == "None":
        remove_at(service, ("spec", "clusterIP"))
    if is_stateful:
        write_at(workload, ("spec", "serviceName"), name)
    else:
        for path in (("spec", "serviceName"), ("spec", "volumeClaimTemplates")):
            remove_at(workload, path)


def _new_workload() -> dict[str, Any]:
    spec = {"replicas": 1, **new_pod()}
    # The Service of a component selects its pods, also before the component has a name.
    write_at(spec, ("template", "metadata", "labels"), {APP: ""})
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {}, "spec": spec}


def _new_service() -> dict[str, Any]:
    spec = {"ports": deepcopy(NO_PORTS), "selector": {APP: ""}}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {}, "spec": spec}


def _new_component(_scope: FieldScope) -> dict[str, Any]:
    return {"workload": _new_workload(), "service": _new_service()}


def _new_route(_scope: FieldScope) -> dict[str, Any]:
    head = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {}}
    return {**head, **ingress_start()}


def _copied(copy: dict[str, Any], items: Sequence[Any]) -> None:
    """Give a copied component or route names that no other one has."""
    for manifest in (copy.get("service", copy), copy.get("workload")):
        if isinstance(manifest, dict):
            remove_at(manifest, ("metadata", "name"), 1)
    labels = value_at(copy, ("workload", "spec", "template", "metadata", "labels"))
    if isinstance(labels, dict):
        labels.pop(APP, None)


def _component_name(scope: FieldScope) -> str:
    # Rows need different names, also before the user has entered one.
    return name_of(scope.get("service") or {}) or f"{_('Service')} {int(scope.base[-1]) + 1}"


def _component_kind(scope: FieldScope) -> Text:
    return _("Stateful") if scope.get("workload", "kind") == "StatefulSet" else _("Stateless")


def _component_facts(scope: FieldScope) -> str:
    images = (str(one.get("image") or "") for one in scope.mappings("workload", *POD, "containers"))
    return ", ".join(filter(None, images))


def _service_names(scope: FieldScope) -> Sequence[str]:
    """Return the services of the application, and those of the project."""
    components = FieldScope(scope.state).mappings(COMPONENTS)
    own = [name for one in components if (name := name_of(one.get("service") or {}))]
    return [*dict.fromkeys([*own, *scope.state.context.names(SERVICES)])]


def _name(path: Path, hint: Text) -> fields.TextInput:
    return fields.TextInput(
        id="name",
        path=path,
        label=gettext_lazy("Name"),
        hint=hint,
        required=True,
        missing=gettext_lazy("Enter a name."),
        size="medium",
        max_length=63,
        check=fields.dns_label,
    )


_SERVICES = Rows(
    id="components",
    path=(COMPONENTS,),
    add=gettext_lazy("Add service"),
    is_item=True,
    least=1,
    new=_new_component,
    name=_component_name,
    kind=_component_kind,
    facts=_component_facts,
    copied=_copied,
    parts=(
        _name(
            ("service", "metadata", "name"), gettext_lazy("Other services reach it by this name.")
        ),
        fields.Select(
            id="kind",
            path=("workload", "kind"),
            label=gettext_lazy("Type"),
            picks=True,
            choices=(
                Choice(
                    "Deployment",
                    gettext_lazy("Stateless"),
                    gettext_lazy("Replicas are interchangeable (Deployment)"),
                ),
                Choice(
                    "StatefulSet",
                    gettext_lazy("Stateful"),
                    gettext_lazy("Each replica keeps its name and volumes (StatefulSet)"),
                ),
            ),
        ),
        Group(path=("workload",), parts=(REPLICAS,)),
        Group(title=gettext_lazy("Containers"), path=("workload", *POD), parts=(pods.CONTAINERS,)),
        Group(
            title=gettext_lazy("Service"), path=("service",), parts=(SERVICE_TYPE, SERVICE_PORTS)
        ),
        Group(
            title=gettext_lazy("Storage"),
            is_advanced=True,
            now=lambda scope: (
                ", ".join(
                    str(one.get("name") or value_at(one, ("metadata", "name")) or "")
                    for path in ((*POD, "volumes"), ("spec", "volumeClaimTemplates"))
                    for one in scope.mappings(*path)
                )
                or _("No volumes")
            ),
            path=("workload",),
            parts=(
                Group(path=POD, parts=(pods.VOLUMES,)),
                Group(
                    shown_if=lambda scope: scope.get("kind") == "StatefulSet",
                    parts=(CLAIM_TEMPLATES,),
                ),
            ),
        ),
    ),
)

_ROUTES = Rows(
    id="routes",
    path=(ROUTES,),
    add=gettext_lazy("Add route"),
    is_item=True,
    new=_new_route,
    name=lambda scope: name_of(scope.get() or {}) or str(_("Route")),
    facts=lambda scope: ", ".join(
        str(one.get("host") or "*") for one in scope.mappings("spec", "rules")
    ),
    copied=_copied,
    parts=(_name(("metadata", "name"), ""), *ingress_fields(_service_names)),
)


def _check_version(value: str, _scope: FieldScope) -> Text:
    if is_label_value(value):
        return ""
    return _("Use up to 63 letters, digits, -, _ and dots. Start and end with a letter or digit.")


def _warnings(state: FormState) -> list[Warning]:
    found = []
    if state.context.is_new and not state.context.serves(APPLICATIONS):
        text = _(
            "This cluster has no type Application (app.k8s.io). The services and routes are created "
            "with its labels, but without an Application."
        )
        found.append(Warning(text=text))
    scope = FieldScope(state)
    for at in range(len(scope.mappings(COMPONENTS))):
        pod = scope.within((COMPONENTS, at, "workload", *POD))
        found += pods.pod_warnings(pod, "services")
    return found


_MAIN = Slot(id="", gvr=APPLICATIONS, api_kind="Application")
_LABELLED: Sequence[Path] = (
    (),
    (COMPONENTS, ANY, "workload"),
    (COMPONENTS, ANY, "service"),
    (ROUTES, ANY),
)

APPLICATION = Wizard(
    slots=(_MAIN,),
    start=lambda context: {
        "metadata": {"labels": {VERSION_LABEL: _V1}, "annotations": {_MESH: "false"}},
        COMPONENTS: [_new_component(FieldScope(FormState(context, {})))],
    },
    join=join,
    split=split,
    is_main_optional=True,
    finish=_follow,
    implied=[
        *(("", (*path, name)) for path in _LABELLED for name in ("apiVersion", "kind")),
        *(("", (*path, "metadata", "labels", NAME_LABEL)) for path in _LABELLED),
        *(("", (*path, "metadata", "labels", VERSION_LABEL)) for path in _LABELLED),
        *(("", (*path, "metadata", "annotations", _MESH)) for path in _LABELLED),
        *(("", ("spec", name)) for name in ("selector", "addOwnerRef", "componentKinds")),
        *(
            ("", (COMPONENTS, ANY, name, "metadata", "labels", label))
            for name in ("workload", "service")
            for label in (APP, _VERSION)
        ),
        *(
            ("", (COMPONENTS, ANY, *path))
            for path in (
                ("workload", "metadata", "name"),
                ("workload", "spec", "selector"),
                ("workload", "spec", "serviceName"),
                ("workload", "spec", "template", "metadata", "labels"),
                ("service", "spec", "selector"),
                ("service", "spec", "clusterIP"),
            )
        ),
    ],
    warnings=_warnings,
    steps=(
        Step(
            id="basics",
            title=gettext_lazy("Basics"),
            parts=(
                metadata.basics(APPLICATIONS, fields.dns_label),
                Group(
                    parts=(
                        fields.TextInput(
                            id="app-version",
                            path=("metadata", "labels", VERSION_LABEL),
                            label=gettext_lazy("Version"),
                            required=True,
                            size="short",
                            max_length=63,
                            check=_check_version,
                        ),
                    )
                ),
                metadata.DESCRIPTION,
                Group(
                    parts=(
                        fields.CheckBox(
                            id="mesh",
                            path=("metadata", "annotations", _MESH),
                            label=gettext_lazy("Application governance"),
                            hint=gettext_lazy("KubeSphere's service mesh manages the traffic."),
                            on="true",
                            off="false",
                        ),
                    )
                ),
            ),
            facts=lambda scope: name_of(scope.document),
        ),
        Step(
            id="services",
            title=gettext_lazy("Services"),
            hint=gettext_lazy("Each service has a workload that runs its containers."),
            is_only_for_new=True,
            parts=(_SERVICES,),
            facts=lambda scope: ", ".join(
                filter(
                    None, (name_of(one.get("service") or {}) for one in scope.mappings(COMPONENTS))
                )
            ),
        ),
        Step(
            id="routes",
            title=gettext_lazy("Routes"),
            hint=gettext_lazy("Routes make services reachable from outside by a host name."),
            is_optional=True,
            is_only_for_new=True,
            parts=(_ROUTES,),
            facts=lambda scope: ", ".join(
                str(rule.get("host") or "*")
                for one in scope.mappings(ROUTES)
                for rule in (value_at(one, ("spec", "rules")) or ())
                if isinstance(rule, dict)
            ),
        ),
    ),
    facts=lambda scope: [
        (gettext_lazy("Version"), str(scope.get("metadata", "labels", VERSION_LABEL) or "")),
        (
            gettext_lazy("Services"),
            ", ".join(
                filter(
                    None, (name_of(one.get("service") or {}) for one in scope.mappings(COMPONENTS))
                )
            ),
        ),
    ],
)
