"""Wizards of Services, Ingresses and HTTPRoutes."""

import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import GATEWAYS, HTTP_ROUTES, INGRESS_CLASSES, INGRESSES, SERVICES
from console.kube.names import is_dns_subdomain
from console.ui.core.manifests import mapping
from console.ui.wizard import fields
from console.ui.wizard.fields import Choice, Text
from console.ui.wizard.parts import Case, FormPart, Group, Preset, Rows, Variant
from console.ui.wizard.paths import ABSENT, remove_at, value_at
from console.ui.wizard.state import FieldScope, FormState
from console.ui.wizard.wizard import Warning
from console.wizards.metadata import short_wizard, suggested
from console.wizards.targets import pod_labels
from console.wizards.workloads import SERVICE_PORTS

_TYPE, _CLUSTER_IP, _AFFINITY = ("spec", "type"), ("spec", "clusterIP"), ("spec", "sessionAffinity")
#: Maximum session affinity timeout of kube-apiserver, in seconds.
_LONGEST_AFFINITY = 86400

#: Annotations that cloud providers need for a load balancer, as KubeSphere fills them in.
PROVIDERS: Sequence[tuple[str, Text, dict[str, str]]] = (
    (
        "aliyun",
        gettext_lazy("Alibaba Cloud"),
        {
            "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-address-type": "internet",
            "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-spec": "slb.s1.small",
        },
    ),
    (
        "aws",
        "AWS",
        {
            "service.beta.kubernetes.io/aws-load-balancer-type": "external",
            "service.beta.kubernetes.io/aws-load-balancer-scheme": "internet-facing",
            "service.beta.kubernetes.io/aws-load-balancer-nlb-target-type": "ip",
        },
    ),
    (
        "azure",
        gettext_lazy("Azure, internal address"),
        {"service.beta.kubernetes.io/azure-load-balancer-internal": "true"},
    ),
    (
        "gcp",
        gettext_lazy("Google Cloud, internal address"),
        {"networking.gke.io/load-balancer-type": "Internal"},
    ),
    (
        "openelb",
        gettext_lazy("OpenELB"),
        {
            "lb.kubesphere.io/v1alpha1": "openelb",
            "protocol.openelb.kubesphere.io/v1alpha1": "layer2",
        },
    ),
    (
        "qingcloud",
        gettext_lazy("QingCloud"),
        {
            "service.beta.kubernetes.io/qingcloud-load-balancer-eip-ids": "",
            "service.beta.kubernetes.io/qingcloud-load-balancer-type": "0",
        },
    ),
)
_PROVIDER_KEYS = frozenset(key for _id, _label, notes in PROVIDERS for key in notes)


def _is_of_provider(key: str) -> bool:
    return key in _PROVIDER_KEYS or key.startswith("service.beta.kubernetes.io/")


def _service_name(value: str, scope: FieldScope) -> Text:
    """Check a name of a Service (RFC 1035 label)."""
    if fields.dns_label(value, scope):
        return fields.dns_label(value, scope)
    return "" if value[0].isalpha() else _("Start with a letter.")


def _is(kind: str) -> Any:
    return lambda scope: scope.get(*_TYPE) == kind


def _is_cluster_ip(scope: FieldScope) -> bool:
    return scope.get(*_TYPE) in (ABSENT, "ClusterIP")


def _without_node_ports(scope: FieldScope) -> None:
    """Remove what only Services with node ports may have."""
    for port in scope.mappings("spec", "ports"):
        if isinstance(port, dict):
            port.pop("nodePort", None)
    for path in (("externalTrafficPolicy",), ("healthCheckNodePort",)):
        remove_at(scope.document, ("spec", *path))


_PORTS = replace(SERVICE_PORTS, path=("spec", "ports"))
_NODE_PORT = fields.NumberInput(
    id="nodePort",
    label=gettext_lazy("Node port"),
    least=1,
    most=fields.MAX_PORT,
    placeholder=gettext_lazy("Automatic"),
)
_WITH_NODE_PORTS = replace(
    _PORTS, of="node-port", parts=(*_PORTS.parts[:3], _NODE_PORT, *_PORTS.parts[3:])
)
_TRAFFIC = fields.Select(
    id="externalTrafficPolicy",
    path=("spec", "externalTrafficPolicy"),
    label=gettext_lazy("External traffic"),
    choices=(
        Choice("", gettext_lazy("All pods")),
        Choice("Local", gettext_lazy("Pods of the same node, keeps the client address")),
    ),
    implied="Cluster",
)
_SELECTOR = pod_labels(
    ("spec", "selector"),
    hint=gettext_lazy("One key=value per line. Without labels, you manage the endpoints."),
)
_PODS_AND_PORTS = (_SELECTOR, _PORTS)


def _provider_notes(scope: FieldScope) -> Sequence[tuple[Choice, Any]]:
    """Return the providers with the annotations of the Service for them."""
    held = mapping(scope.document, "metadata", "annotations")
    rest = {key: value for key, value in held.items() if not _is_of_provider(key)}
    return [(Choice(id, label), {**rest, **notes}) for id, label, notes in PROVIDERS]


_KIND = Variant(
    id="kind",
    label=gettext_lazy("Reached from"),
    picks=True,
    cases=(
        Case(
            id="headless",
            label=gettext_lazy("Pods directly"),
            hint=gettext_lazy("No virtual IP (headless)"),
            keys=(_CLUSTER_IP, _TYPE, ("spec", "clusterIPs")),
            when=lambda scope: _is_cluster_ip(scope) and scope.get(*_CLUSTER_IP) == "None",
            start={_CLUSTER_IP: "None"},
            parts=_PODS_AND_PORTS,
        ),
        Case(
            id="cluster",
            label=gettext_lazy("Inside the cluster"),
            hint=gettext_lazy("One virtual IP (ClusterIP)"),
            keys=(_TYPE,),
            when=_is_cluster_ip,
            start={},
            parts=_PODS_AND_PORTS,
        ),
        Case(
            id="node",
            label=gettext_lazy("Nodes"),
            hint=gettext_lazy("A port of every node (NodePort)"),
            keys=(_TYPE,),
            when=_is("NodePort"),
            start={_TYPE: "NodePort"},
            left=_without_node_ports,
            parts=(_SELECTOR, _WITH_NODE_PORTS, _TRAFFIC),
        ),
        Case(
            id="balancer",
            label=gettext_lazy("Outside"),
            hint=gettext_lazy("An address of the provider (LoadBalancer)"),
            keys=(
                _TYPE,
                ("spec", "loadBalancerClass"),
                ("spec", "loadBalancerSourceRanges"),
                ("spec", "allocateLoadBalancerNodePorts"),
            ),
            when=_is("LoadBalancer"),
            start={_TYPE: "LoadBalancer"},
            left=_without_node_ports,
            parts=(
                _SELECTOR,
                _WITH_NODE_PORTS,
                Preset(
                    id="provider",
                    label=gettext_lazy("Provider"),
                    path=("metadata", "annotations"),
                    values=_provider_notes,
                    other=gettext_lazy("Other"),
                    target=fields.Pairs(
                        id="providerAnnotations",
                        path=("metadata", "annotations"),
                        label=gettext_lazy("Annotations of the provider"),
                        own=_is_of_provider,
                    ),
                ),
                fields.TextInput(
                    id="loadBalancerClass",
                    path=("spec", "loadBalancerClass"),
                    label=gettext_lazy("Load balancer class"),
                    placeholder=gettext_lazy("Default class"),
                    size="medium",
                ),
                fields.Words(
                    id="loadBalancerSourceRanges",
                    path=("spec", "loadBalancerSourceRanges"),
                    label=gettext_lazy("Allowed client addresses"),
                    placeholder=gettext_lazy("All"),
                    hint=gettext_lazy("Networks separated by commas, such as 10.0.0.0/8."),
                ),
                _TRAFFIC,
            ),
        ),
        Case(
            id="external",
            label=gettext_lazy("Other name"),
            hint=gettext_lazy("An alias for an external host (ExternalName)"),
            keys=(("spec", "externalName"), _TYPE),
            when=_is("ExternalName"),
            start={_TYPE: "ExternalName"},
            parts=(
                fields.TextInput(
                    id="externalName",
                    path=("spec", "externalName"),
                    label=gettext_lazy("External host name"),
                    required=True,
                    size="medium",
                    check=fields.dns_subdomain,
                ),
            ),
        ),
    ),
)

_SESSIONS = Variant(
    id="affinity",
    path=("spec",),
    label=gettext_lazy("Session affinity"),
    cases=(
        Case(
            id="none",
            label=gettext_lazy("None: any pod"),
            keys=("sessionAffinity", "sessionAffinityConfig"),
            when=lambda scope: scope.get("sessionAffinity") in (ABSENT, "None"),
            start={},
        ),
        Case(
            id="client",
            label=gettext_lazy("Same pod for each client IP address (ClientIP)"),
            keys=("sessionAffinity", "sessionAffinityConfig"),
            when=lambda scope: scope.get("sessionAffinity") == "ClientIP",
            start={"sessionAffinity": "ClientIP"},
            parts=(
                fields.NumberInput(
                    id="timeoutSeconds",
                    path=("sessionAffinityConfig", "clientIP", "timeoutSeconds"),
                    label=gettext_lazy("Session timeout"),
                    unit="s",
                    least=1,
                    most=_LONGEST_AFFINITY,
                    placeholder="10800",
                ),
            ),
        ),
    ),
)


def _session_words(scope: FieldScope) -> Text:
    by_client = scope.get(*_AFFINITY) == "ClientIP"
    return _("By client address.") if by_client else _("None. Any pod gets a request.")


def _warnings(state: FormState) -> Sequence[Warning]:
    scope = FieldScope(state)
    named = scope.get(*_TYPE) == "ExternalName"
    if named or scope.get("spec", "selector"):
        return ()
    return (Warning(text=_("The Service selects no pods. Endpoints must be managed manually.")),)


SERVICE = short_wizard(
    SERVICES,
    "Service",
    Group(parts=(_KIND,)),
    Group(
        title=gettext_lazy("Sessions"),
        is_advanced=True,
        now=_session_words,
        shown_if=lambda scope: scope.get(*_TYPE) != "ExternalName",
        parts=(_SESSIONS,),
    ),
    check=_service_name,
    apart=_is_of_provider,
    section="service",
    # kube-apiserver fills in these fields.
    implied=[
        ("", ("spec", name))
        for name in (
            "clusterIP",
            "clusterIPs",
            "ipFamilies",
            "ipFamilyPolicy",
            "internalTrafficPolicy",
            "sessionAffinity",
        )
    ],
    start=lambda context: {"spec": {"ports": [{"port": 80}]}},
    warnings=_warnings,
    facts=lambda scope: [
        (gettext_lazy("Type"), str(scope.get(*_TYPE) or "ClusterIP")),
        (
            gettext_lazy("Ports"),
            ", ".join(str(one.get("port", "")) for one in scope.mappings("spec", "ports")),
        ),
    ],
)


def _host_word(value: str) -> Text:
    if is_dns_subdomain(value.removeprefix("*.")):
        return ""
    return _("Enter a host name, such as shop.example.com or *.example.com.")


def _host(value: str, _scope: FieldScope) -> Text:
    return _host_word(value)


def _path_text(value: str, _scope: FieldScope) -> Text:
    return "" if value.startswith("/") else _("Start with /.")


@dataclass(frozen=True, kw_only=True)
class _BackendPort(fields.IntOrText):
    """The port of a Service: `{number: 80}` or `{name: http}`."""

    def shown(self, value: Any) -> str | None:
        if value is ABSENT:
            return ""
        if not isinstance(value, dict) or len(value) != 1:
            return None
        [(key, port)] = value.items()
        fits = type(port) is (int if key == "number" else str) and key in ("number", "name")
        return super().shown(port) if fits else None

    def parsed(self, text: str) -> Any:
        port = super().parsed(text)
        if port is ABSENT:
            return port
        return {"number" if isinstance(port, int) else "name": port}


_PORT_USAGE = gettext_lazy("Enter a port number up to 65535 or a port name.")
_BACKEND = ("backend", "service")
_INGRESS_PATH: Mapping[str, Any] = {
    "path": "/",
    "pathType": "Prefix",
    "backend": {"service": {"port": {"number": 80}}},
}


def _title_of(*path: str) -> Callable[[FieldScope], str]:
    def title(scope: FieldScope) -> str:
        found = scope.get(*path)
        return found if isinstance(found, str) and found else str(_("All hosts"))

    return title


def ingress_start() -> dict[str, Any]:
    """Return the content of a new Ingress."""
    return {"spec": {"rules": [{"http": {"paths": [deepcopy(dict(_INGRESS_PATH))]}}]}}


def _leads_to_service(scope: FieldScope) -> bool:
    """Return False for a path that leads to another resource, which is only visible as YAML."""
    return not scope.has("backend", "resource")


def ingress_fields(services: Callable[[FieldScope], Sequence[str]]) -> Sequence[FormPart]:
    """Return the fields of an Ingress. `services` returns the suggested Services."""
    return (
        Group(
            parts=(
                suggested(
                    "ingressClassName",
                    gettext_lazy("Ingress class"),
                    INGRESS_CLASSES,
                    path=("spec", "ingressClassName"),
                    placeholder=gettext_lazy("Default class"),
                ),
            )
        ),
        Group(
            title=gettext_lazy("Rules"),
            parts=(
                Rows(
                    id="rules",
                    path=("spec", "rules"),
                    add=gettext_lazy("Add host"),
                    is_item=True,
                    new=lambda scope: {"http": {"paths": [deepcopy(dict(_INGRESS_PATH))]}},
                    name=_title_of("host"),
                    facts=lambda scope: ", ".join(
                        str(one.get("path", "")) for one in scope.mappings("http", "paths")
                    ),
                    parts=(
                        fields.TextInput(
                            id="host",
                            label=gettext_lazy("Host name"),
                            placeholder=gettext_lazy("All hosts"),
                            max_length=253,
                            check=_host,
                        ),
                        Rows(
                            id="paths",
                            path=("http", "paths"),
                            title=gettext_lazy("Paths"),
                            add=gettext_lazy("Add path"),
                            least=1,
                            new=lambda scope: _INGRESS_PATH,
                            name=lambda scope: str(scope.get("path") or _("path")),
                            parts=(
                                fields.TextInput(
                                    id="path",
                                    label=gettext_lazy("Path"),
                                    code=True,
                                    required=True,
                                    needed=lambda scope: (
                                        scope.get("pathType") != "ImplementationSpecific"
                                    ),
                                    check=_path_text,
                                ),
                                fields.Select(
                                    id="pathType",
                                    label=gettext_lazy("Match"),
                                    choices=(
                                        Choice("Prefix", gettext_lazy("Prefix")),
                                        Choice("Exact", gettext_lazy("Exact")),
                                        Choice("ImplementationSpecific", gettext_lazy("By class")),
                                    ),
                                ),
                                fields.Suggested(
                                    id="service",
                                    label=gettext_lazy("Service"),
                                    suggest=services,
                                    path=(*_BACKEND, "name"),
                                    required=True,
                                    needed=_leads_to_service,
                                    size="",
                                    missing=gettext_lazy("Choose a Service."),
                                ),
                                _BackendPort(
                                    id="port",
                                    path=(*_BACKEND, "port"),
                                    label=gettext_lazy("Port"),
                                    required=True,
                                    needed=_leads_to_service,
                                    accepts=fields.port_or_name,
                                    usage=_PORT_USAGE,
                                ),
                            ),
                        ),
                    ),
                ),
            ),
        ),
        Group(
            title=gettext_lazy("Certificates"),
            hint=gettext_lazy("Hosts with a certificate are served over HTTPS."),
            parts=(
                Rows(
                    id="tls",
                    path=("spec", "tls"),
                    add=gettext_lazy("Add certificate"),
                    of="pair",
                    name=lambda scope: str(scope.get("secretName") or _("certificate")),
                    parts=(
                        fields.Words(
                            id="hosts",
                            label=gettext_lazy("Hosts"),
                            hint=gettext_lazy("Separated by commas."),
                            verify=_host_word,
                        ),
                        fields.TextInput(
                            id="secretName",
                            label=gettext_lazy("Secret with the certificate"),
                            placeholder=gettext_lazy("Default certificate of the controller"),
                            check=fields.dns_subdomain,
                        ),
                    ),
                ),
            ),
        ),
    )


INGRESS = short_wizard(
    INGRESSES,
    "Ingress",
    *ingress_fields(lambda scope: scope.state.context.names(SERVICES)),
    section="rules",
    start=lambda context: ingress_start(),
    facts=lambda scope: [
        (
            gettext_lazy("Hosts"),
            ", ".join(str(one.get("host") or "*") for one in scope.mappings("spec", "rules")),
        )
    ],
)

_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH")
#: https://www.rfc-editor.org/rfc/rfc9110#name-tokens, as the Gateway API requires it.
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+\-.^_|~]{1,256}")


def _token(value: str, _scope: FieldScope) -> Text:
    return "" if _TOKEN.fullmatch(value) else _("Use letters, digits and -.")


def _values(id: str, title: Text, add: Text, kind: Text) -> Rows:
    """Return rows for values that a request must have, such as headers."""
    return Rows(
        id=id,
        title=title,
        add=add,
        name=lambda scope: str(scope.get("name") or kind),
        parts=(
            fields.TextInput(
                id="name", label=gettext_lazy("Name"), code=True, required=True, check=_token
            ),
            fields.TextInput(
                id="value",
                label=gettext_lazy("Value"),
                code=True,
                required=True,
                max_length=4096,
            ),
            fields.Select(
                id="type",
                label=gettext_lazy("Match"),
                choices=(
                    Choice("", gettext_lazy("Exact")),
                    Choice("RegularExpression", gettext_lazy("Regular expression")),
                ),
                implied="Exact",
            ),
        ),
    )


def _match_title(scope: FieldScope) -> str:
    path, method = scope.get("path", "value"), scope.get("method")
    words = [one for one in (method, path) if isinstance(one, str) and one]
    return _("Requests: %(what)s") % {"what": " ".join(words) or _("Any path")}


def _match_facts(scope: FieldScope) -> str:
    names = [
        str(one.get("name", ""))
        for part in ("headers", "queryParams")
        for one in scope.mappings(part)
    ]
    return ", ".join(names)


_MATCHES = Rows(
    id="matches",
    title=gettext_lazy("Requests"),
    hint=gettext_lazy("Without entries: all requests"),
    add=gettext_lazy("Add requests"),
    is_item=True,
    name=_match_title,
    facts=_match_facts,
    new=lambda scope: {"path": {"value": "/"}},
    parts=(
        Group(
            pairs=True,
            path=("path",),
            parts=(
                fields.TextInput(
                    id="path",
                    path=("value",),
                    label=gettext_lazy("Path"),
                    code=True,
                    placeholder="/",
                    max_length=1024,
                    check=_path_text,
                ),
                fields.Select(
                    id="type",
                    label=gettext_lazy("Match"),
                    choices=(
                        Choice("", gettext_lazy("Prefix")),
                        Choice("Exact", gettext_lazy("Exact")),
                        Choice("RegularExpression", gettext_lazy("Regular expression")),
                    ),
                    implied="PathPrefix",
                ),
            ),
        ),
        fields.Select(
            id="method",
            label=gettext_lazy("Method"),
            choices=(
                Choice("", gettext_lazy("All methods")),
                *(Choice(one, one) for one in _METHODS),
            ),
        ),
        _values(
            "headers",
            gettext_lazy("Headers"),
            gettext_lazy("Add header"),
            gettext_lazy("header"),
        ),
        _values(
            "queryParams",
            gettext_lazy("Query parameters"),
            gettext_lazy("Add query parameter"),
            gettext_lazy("query parameter"),
        ),
    ),
)


@dataclass(frozen=True, kw_only=True)
class _StatusCode(fields.Select):
    """The status code of a redirect, a number."""

    def shown(self, value: Any) -> str | None:
        return super().shown(
            str(value) if type(value) is int else value if value is ABSENT else None
        )

    def parsed(self, text: str) -> Any:
        found = super().parsed(text)
        return found if found is ABSENT else int(found)


def _new_path(filter: str) -> Variant:
    """Return the fields for the path of a redirect or a rewrite."""

    def case(id: str, label: Text, type: str, key: str) -> Case:
        field = fields.TextInput(
            id="to", path=(key,), label=gettext_lazy("New path"), code=True, required=True
        )
        return Case(id=id, label=label, keys=(key,), fixed={"type": type}, parts=(field,))

    return Variant(
        id="path",
        path=(filter, "path"),
        label=gettext_lazy("Path"),
        cases=(
            Case(id="same", label=gettext_lazy("Unchanged")),
            case("full", gettext_lazy("Replace the path"), "ReplaceFullPath", "replaceFullPath"),
            case(
                "prefix",
                gettext_lazy("Replace the matched prefix"),
                "ReplacePrefixMatch",
                "replacePrefixMatch",
            ),
        ),
    )


def _new_host(filter: str) -> fields.TextInput:
    return fields.TextInput(
        id="hostname",
        path=(filter, "hostname"),
        label=gettext_lazy("Host name"),
        placeholder=gettext_lazy("Unchanged"),
        check=fields.dns_subdomain,
    )


_REDIRECT, _REWRITE = "requestRedirect", "urlRewrite"
_FILTERS = Rows(
    id="filters",
    title=gettext_lazy("Changes of the request"),
    hint=gettext_lazy("A rule with a redirect has no Services"),
    add=gettext_lazy("Add change"),
    is_item=True,
    keeps_new=True,
    new=lambda scope: {"type": "RequestRedirect", _REDIRECT: {"scheme": "https"}},
    name=lambda scope: str(
        {"RequestRedirect": _("Redirect"), "URLRewrite": _("Rewrite")}.get(
            str(scope.get("type")), scope.get("type") or _("change")
        )
    ),
    parts=(
        Variant(
            id="type",
            label=gettext_lazy("Change"),
            picks=True,
            cases=(
                Case(
                    id="redirect",
                    label=gettext_lazy("Redirect"),
                    hint=gettext_lazy("The client requests another address"),
                    keys=(_REDIRECT,),
                    fixed={"type": "RequestRedirect"},
                    start={_REDIRECT: {"scheme": "https"}},
                    parts=(
                        fields.Select(
                            id="scheme",
                            path=(_REDIRECT, "scheme"),
                            label=gettext_lazy("Scheme"),
                            choices=(
                                Choice("", gettext_lazy("Unchanged")),
                                Choice("https", "https"),
                                Choice("http", "http"),
                            ),
                        ),
                        _new_host(_REDIRECT),
                        fields.NumberInput(
                            id="port",
                            path=(_REDIRECT, "port"),
                            label=gettext_lazy("Port"),
                            least=1,
                            most=fields.MAX_PORT,
                            placeholder=gettext_lazy("Port of the scheme"),
                        ),
                        _StatusCode(
                            id="statusCode",
                            path=(_REDIRECT, "statusCode"),
                            label=gettext_lazy("Status code"),
                            choices=(
                                Choice("", gettext_lazy("302, temporary")),
                                Choice("301", gettext_lazy("301, permanent")),
                            ),
                            implied="302",
                        ),
                        _new_path(_REDIRECT),
                    ),
                ),
                Case(
                    id="rewrite",
                    label=gettext_lazy("Rewrite"),
                    hint=gettext_lazy("The Service gets another path or host"),
                    keys=(_REWRITE,),
                    fixed={"type": "URLRewrite"},
                    parts=(_new_host(_REWRITE), _new_path(_REWRITE)),
                ),
            ),
        ),
    ),
)

HTTP_ROUTE = short_wizard(
    HTTP_ROUTES,
    "HTTPRoute",
    Group(
        parts=(
            fields.Words(
                id="hostnames",
                path=("spec", "hostnames"),
                label=gettext_lazy("Host names"),
                hint=gettext_lazy("Separated by commas. Empty: the hosts of the gateways."),
                verify=_host_word,
            ),
            Rows(
                id="parentRefs",
                path=("spec", "parentRefs"),
                title=gettext_lazy("Gateways"),
                add=gettext_lazy("Add gateway"),
                least=1,
                name=lambda scope: str(scope.get("name") or _("gateway")),
                parts=(
                    suggested("name", gettext_lazy("Gateway"), GATEWAYS, required=True, size=""),
                    fields.TextInput(
                        id="namespace",
                        label=gettext_lazy("Project"),
                        placeholder=gettext_lazy("Same"),
                        check=fields.dns_label,
                    ),
                    fields.TextInput(
                        id="sectionName",
                        label=gettext_lazy("Listener"),
                        placeholder=gettext_lazy("All"),
                        check=fields.dns_subdomain,
                    ),
                ),
            ),
        )
    ),
    Group(
        title=gettext_lazy("Rules"),
        parts=(
            Rows(
                id="rules",
                path=("spec", "rules"),
                add=gettext_lazy("Add rule"),
                is_item=True,
                new=lambda scope: {"backendRefs": [{"port": 80}]},
                name=lambda scope: (
                    ", ".join(
                        str(value_at(one, ("path", "value")) or "/")
                        for one in scope.mappings("matches")
                    )
                    or str(_("All requests"))
                ),
                facts=lambda scope: ", ".join(
                    str(one.get("name", "")) for one in scope.mappings("backendRefs")
                ),
                parts=(
                    _MATCHES,
                    Rows(
                        id="backendRefs",
                        title=gettext_lazy("Services"),
                        add=gettext_lazy("Add Service"),
                        name=lambda scope: str(scope.get("name") or _("Service")),
                        parts=(
                            suggested(
                                "name", gettext_lazy("Service"), SERVICES, required=True, size=""
                            ),
                            fields.NumberInput(
                                id="port",
                                label=gettext_lazy("Port"),
                                least=1,
                                most=fields.MAX_PORT,
                                required=True,
                            ),
                            fields.NumberInput(
                                id="weight",
                                label=gettext_lazy("Weight"),
                                most=1_000_000,
                                placeholder="1",
                            ),
                        ),
                    ),
                    _FILTERS,
                ),
            ),
        ),
    ),
    start=lambda context: {
        "spec": {"parentRefs": [{}], "rules": [{"backendRefs": [{"port": 80}]}]}
    },
    facts=lambda scope: [
        (gettext_lazy("Hosts"), ", ".join(scope.texts("spec", "hostnames"))),
    ],
)
