"""Wizard of NetworkPolicies: rules as sentences, and a drawing of who can connect to whom."""

from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_network
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from console.kube.gvr import INGRESSES, NAMESPACES, NETWORK_POLICIES, PODS, SERVICES
from console.kube.network_policies import EGRESS, INGRESS, PEERS, PROTOCOLS, directions
from console.kube.selectors import LabelSelector, read_selector
from console.ui.core.manifests import mapping
from console.ui.core.text import escape_invisible
from console.ui.details.descriptions.network_policies import rule_sentences
from console.ui.wizard import fields
from console.ui.wizard.fields import Choice, Text
from console.ui.wizard.parts import Case, FillButton, Group, Preset, Rows, Variant
from console.ui.wizard.paths import ABSENT, Path, write_at
from console.ui.wizard.state import MOST_SUGGESTIONS, FieldScope, FormState
from console.ui.wizard.wizard import Warning
from console.wizards.label_selectors import SelectorInput, read_labels
from console.wizards.metadata import short_wizard
from console.wizards.reach import Evaluation, Reach
from console.wizards.reach_drawing import ReachPart
from console.wizards.targets import pods_matching, selected_labels

_SPEC: Path = ("spec",)
_PODS, _PROJECTS, _BLOCK = "podSelector", "namespaceSelector", "ipBlock"
_NAME_LABEL = "kubernetes.io/metadata.name"
_DNS = 53


def _workload_selectors(scope: FieldScope) -> list[str]:
    """Return the selectors of the workloads of the project, as texts."""
    found = [
        ", ".join(f"{key}={value}" for key, value in labels.items())
        for _choice, labels in selected_labels(scope)
    ]
    return found[:MOST_SUGGESTIONS]


def _project_selectors(scope: FieldScope) -> list[str]:
    return [f"{_NAME_LABEL}={name}" for name in scope.state.context.names(NAMESPACES)]


def _matching(scope: FieldScope, selector: LabelSelector, namespaces: Sequence[str]) -> str:
    context = scope.state.context
    pods = (pod for name in namespaces for pod in context.entries(PODS, name))
    return pods_matching(
        sum(not pod.projection.ended and selector.matches(pod.projection.labels) for pod in pods)
    )


def _matching_here(value: Any, scope: FieldScope) -> Text:
    """Return how many pods of the project a selector matches."""
    selector = read_labels({} if value is ABSENT else value)
    namespace = scope.state.context.namespace
    return _matching(scope, selector, [namespace]) if selector is not None and namespace else ""


def _matching_projects(value: Any, scope: FieldScope) -> Text:
    """Return how many visible projects a selector matches."""
    selector = read_labels({} if value is ABSENT else value)
    if selector is None:
        return ""
    count = sum(
        selector.matches(one.projection.labels) for one in scope.state.context.entries(NAMESPACES)
    )
    return ngettext("%(n)d project matches now.", "%(n)d projects match now.", count) % {"n": count}


def _network_problem(value: str) -> Text:
    try:
        if "/" not in value:
            raise ValueError(value)
        ip_network(value, strict=False)
    except ValueError:
        return _("Enter a network, such as 10.0.0.0/8.")
    return ""


def _excluded_problem(value: Any, scope: FieldScope) -> Text:
    """Check that excluded networks are inside the block."""
    block = scope.get(_BLOCK, "cidr")
    try:
        outer = ip_network(block, strict=False)
        for one in value:
            inner = ip_network(one, strict=False)
            if inner.version != outer.version or not inner.subnet_of(outer):  # type: ignore[arg-type]
                return _("%(network)s is not inside %(block)s.") % {"network": one, "block": block}
            if inner == outer:
                return _("Exclude only a part of %(block)s.") % {"block": block}
    except ValueError:
        return ""
    return ""


def _labels(id: str, label: Text, name: str, **options: Any) -> SelectorInput:
    return SelectorInput(id=id, path=(name,), label=label, **options)


_POD_LABELS = _labels("pods", gettext_lazy("Labels of the pods"), _PODS)
_PROJECT_LABELS = _labels(
    "projects",
    gettext_lazy("Labels of the projects"),
    _PROJECTS,
    suggest=_project_selectors,
    finding=_matching_projects,
)


def _peer(id: str, label: Text, *parts: fields.Field) -> Case:
    """Return a case of a peer. `parts` are the fields that the peer has."""
    needs: dict[str | Path, Any] = {str(part.place[0]): {} for part in parts}
    names = (_PODS, _PROJECTS, _BLOCK)
    return Case(
        id=id,
        label=label,
        when=lambda scope: all(scope.has(name) == (name in needs) for name in names),
        needs=needs,
        start={name: ABSENT for name in names if name not in needs},
        parts=parts,
    )


_PEER = Variant(
    id="kind",
    label=gettext_lazy("Who"),
    cases=(
        _peer(
            "pods",
            gettext_lazy("Pods of this project"),
            _labels(
                "pods",
                gettext_lazy("Labels of the pods"),
                _PODS,
                suggest=_workload_selectors,
                finding=_matching_here,
            ),
        ),
        _peer("projects", gettext_lazy("Projects"), _PROJECT_LABELS),
        _peer("both", gettext_lazy("Pods of projects"), _PROJECT_LABELS, _POD_LABELS),
        _peer(
            "block",
            gettext_lazy("Addresses"),
            fields.TextInput(
                id="cidr",
                path=(_BLOCK, "cidr"),
                label=gettext_lazy("Network"),
                required=True,
                code=True,
                placeholder="10.0.0.0/8",
                max_length=64,
                missing=gettext_lazy("Enter a network, such as 10.0.0.0/8."),
                check=lambda value, scope: _network_problem(value),
            ),
            fields.Words(
                id="except",
                path=(_BLOCK, "except"),
                label=gettext_lazy("Except"),
                placeholder=gettext_lazy("None"),
                verify=_network_problem,
                check=_excluded_problem,
            ),
        ),
    ),
)


def _last_port(value: int, scope: FieldScope) -> Text:
    first = scope.get("port")
    if not isinstance(first, int):
        return _("A range starts with a port number.")
    return "" if value >= first else _("Enter %(least)s or more.") % {"least": first}


_PORTS = Rows(
    id="ports",
    title=gettext_lazy("On ports"),
    hint=gettext_lazy("Without entries: all ports"),
    add=gettext_lazy("Add port"),
    of="range",
    keeps_new=True,
    new=lambda scope: {"port": 80},
    name=lambda scope: str(scope.get("port") or _("port")),
    parts=(
        fields.Select(
            id="protocol",
            label=gettext_lazy("Protocol"),
            choices=(Choice("", "TCP"), *(Choice(one, one) for one in PROTOCOLS[1:])),
            implied="TCP",
            size="",
        ),
        fields.IntOrText(
            id="port",
            label=gettext_lazy("Port"),
            placeholder=gettext_lazy("All"),
            size="",
            accepts=fields.port_or_name,
            usage=gettext_lazy("Enter a port number up to 65535 or a port name."),
        ),
        fields.NumberInput(
            id="endPort",
            label=gettext_lazy("To port"),
            least=1,
            most=fields.MAX_PORT,
            size="",
            check=_last_port,
        ),
    ),
)


def _sentence(direction: str) -> Callable[[FieldScope], str]:
    """Return the function that describes a rule in a sentence."""

    def sentence(scope: FieldScope) -> str:
        rule = scope.get()
        found = rule_sentences(rule if isinstance(rule, dict) else {}, direction)
        more = len(found) - 1
        return f"{found[0]} {_('(+%(n)d)') % {'n': more}}" if more else found[0]

    return sentence


def _rules(direction: str, title: Text, hint: Text, who: Text, anyone: Text, add: Text) -> Group:
    peers = PEERS[direction]
    return Group(
        title=title,
        hint=hint,
        parts=(
            Rows(
                id=direction,
                add=add,
                is_item=True,
                keeps_new=True,
                new=lambda scope: {peers: [{_PODS: {}}]},
                name=_sentence(direction),
                parts=(
                    Rows(
                        id=peers,
                        title=who,
                        hint=anyone,
                        add=gettext_lazy("Add pods or addresses"),
                        of="peer",
                        keeps_new=True,
                        new=lambda scope: {_PODS: {}},
                        name=lambda scope: str(scope.get(_BLOCK, "cidr") or _("pods or addresses")),
                        parts=(_PEER,),
                    ),
                    _PORTS,
                ),
            ),
            *((_ALLOW_DNS,) if direction == EGRESS else ()),
        ),
    )


def _add_dns(scope: FieldScope) -> None:
    """Add a rule that allows DNS."""
    held = scope.get(EGRESS)
    ports = [{"protocol": protocol, "port": _DNS} for protocol in ("UDP", "TCP")]
    rules = held if isinstance(held, list) else []
    write_at(scope.document, (*scope.base, EGRESS), [*rules, {"ports": ports}])


def _dns_words(scope: FieldScope) -> Text:
    if _allows_dns(scope):
        return _("Pods can resolve host names.")
    return _("Without DNS (port 53), pods can't resolve host names.")


def _allows_dns(scope: FieldScope) -> bool:
    after = Evaluation.of(scope.state.context, scope.document)
    held = [rule for one in after.after for rule in one.egress or ()]
    return any(
        rule.ports is None
        or any(
            one.name or (one.protocol == "UDP" and one.first <= _DNS <= one.last)
            for one in rule.ports
        )
        for rule in held
    )


_ALLOW_DNS = FillButton(id="dns", label=gettext_lazy("Allow DNS"), fill=_add_dns, now=_dns_words)
_INCOMING = _rules(
    INGRESS,
    gettext_lazy("Incoming connections"),
    gettext_lazy("Without rules, all are blocked"),
    gettext_lazy("From"),
    gettext_lazy("Without entries: anyone"),
    gettext_lazy("Allow more incoming connections"),
)
_OUTGOING = _rules(
    EGRESS,
    gettext_lazy("Outgoing connections"),
    gettext_lazy("Without rules, all are blocked"),
    gettext_lazy("To"),
    gettext_lazy("Without entries: anyone"),
    gettext_lazy("Allow more outgoing connections"),
)


def _restricts(*wanted: str) -> Callable[[FieldScope], bool]:
    def restricts(scope: FieldScope) -> bool:
        spec = scope.get()
        types = spec.get("policyTypes") if isinstance(spec, dict) else None
        is_plain = types is None or (
            isinstance(types, list) and all(one in ("Ingress", "Egress") for one in types)
        )
        return is_plain and directions(spec if isinstance(spec, dict) else {}) == {*wanted}

    return restricts


def _case(id: str, label: Text, hint: Text, parts: Mapping[str, Group]) -> Case:
    return Case(
        id=id,
        label=label,
        hint=hint,
        when=_restricts(*parts),
        fixed={"policyTypes": [one.capitalize() for one in parts]},
        start={one: ABSENT for one in (INGRESS, EGRESS) if one not in parts},
        parts=(*parts.values(),),
    )


_RESTRICTION = Variant(
    id="types",
    path=_SPEC,
    label=gettext_lazy("Restricts"),
    picks=True,
    cases=(
        _case(
            INGRESS,
            gettext_lazy("Incoming"),
            gettext_lazy("Connections to the pods"),
            {INGRESS: _INCOMING},
        ),
        _case(
            EGRESS,
            gettext_lazy("Outgoing"),
            gettext_lazy("Connections from the pods"),
            {EGRESS: _OUTGOING},
        ),
        _case(
            "both",
            gettext_lazy("Both"),
            gettext_lazy("Connections in both directions"),
            {INGRESS: _INCOMING, EGRESS: _OUTGOING},
        ),
    ),
)


def _presets(scope: FieldScope) -> Sequence[tuple[Choice, Any]]:
    """Return common policies for the selected pods."""
    held = scope.get("spec", _PODS)
    pods = {} if held is ABSENT else held
    same: list[Any] = [{"from": [{_PODS: {}}]}]
    dns = [{"ports": [{"protocol": one, "port": _DNS} for one in ("UDP", "TCP")]}]
    found: Sequence[tuple[str, Text, Mapping[str, Any]]] = (
        ("deny-in", _("Block all incoming connections"), {"policyTypes": ["Ingress"]}),
        ("deny-out", _("Block all outgoing connections"), {"policyTypes": ["Egress"]}),
        ("deny", _("Block all connections"), {"policyTypes": ["Ingress", "Egress"]}),
        (
            "project",
            _("Allow incoming connections only from this project"),
            {"policyTypes": ["Ingress"], INGRESS: same},
        ),
        (
            "dns",
            _("Block all outgoing connections except DNS"),
            {"policyTypes": ["Egress"], EGRESS: dns},
        ),
    )
    return [(Choice(id, label), {_PODS: pods, **spec}) for id, label, spec in found]


def _pod_choices(scope: FieldScope) -> Sequence[tuple[Choice, Any]]:
    workloads = [(choice, {"matchLabels": labels}) for choice, labels in selected_labels(scope)]
    return [(Choice("all", _("All pods of the project")), {}), *workloads]


_SELECTED = Preset(
    id="selected",
    label=gettext_lazy("Applies to the pods of"),
    path=(*_SPEC, _PODS),
    values=_pod_choices,
    other=gettext_lazy("Labels"),
    target=SelectorInput(
        id="podSelector",
        path=(*_SPEC, _PODS),
        label=gettext_lazy("Labels of the pods"),
        hint=gettext_lazy("Such as app=web, tier in (a, b). Empty: all pods of the project."),
        finding=_matching_here,
    ),
)


def _reaching(reaches: Sequence[Reach], *, after: bool) -> str:
    """Return how many pods can connect to the selected pods."""
    count = max(
        (
            sum(one.count or 0 for one in reach.peers if (one.after if after else one.before))
            for reach in reaches
        ),
        default=0,
    )
    return ngettext("%(n)d pod can connect", "%(n)d pods can connect", count) % {"n": count}


def _facts(scope: FieldScope) -> Sequence[tuple[Text, str]]:
    evaluation = Evaluation.of(scope.state.context, scope.document)
    selected = sum(one.count or 0 for one in evaluation.targets)
    facts: list[tuple[Text, str]] = [
        (
            gettext_lazy("Applies to"),
            ngettext("%(n)d pod", "%(n)d pods", selected) % {"n": selected},
        )
    ]
    if INGRESS in evaluation.affected():
        reaches = evaluation.reaches(INGRESS)
        facts.append((gettext_lazy("Before"), _reaching(reaches, after=False)))
        facts.append((gettext_lazy("After"), _reaching(reaches, after=True)))
    return facts


def _warnings(state: FormState) -> Sequence[Warning]:
    scope = FieldScope(state)
    evaluation = Evaluation.of(state.context, scope.document)
    found = []
    if EGRESS in directions(mapping(scope.document, "spec")) and not _allows_dns(scope):
        found.append(
            Warning(text=_("No rule allows DNS (UDP port 53), so names can't be resolved."))
        )
    if INGRESS in evaluation.affected() and _loses_others(evaluation.reaches(INGRESS)):
        words = _("Ingress %(name)s may stop working: no pods of other projects can connect.")
        names = _ingresses(evaluation)
        found += [Warning(text=words % {"name": escape_invisible(name)}) for name in names]
    return found


def _loses_others(reaches: Sequence[Reach]) -> bool:
    """Return True if no pods of other projects can connect any more."""
    others = [one for reach in reaches for one in reach.peers if one.order]
    return any(one.before for one in others) and not any(one.after for one in others)


def _ingresses(evaluation: Evaluation) -> list[str]:
    """Return the names of the Ingresses that lead to the selected pods."""
    context = evaluation.context
    pods = [one.end for one in evaluation.targets]
    services = {
        one.key.name
        for one in context.entries(SERVICES)
        if one.projection.selector
        and (selector := read_selector(one.projection.selector)) is not None
        and any(selector.matches(pod.labels) for pod in pods if hasattr(pod, "labels"))
    }
    found = context.entries(INGRESSES)
    return [one.key.name for one in found if services & {*one.projection.backends}]


NETWORK_POLICY = short_wizard(
    NETWORK_POLICIES,
    "NetworkPolicy",
    Group(parts=(_SELECTED,)),
    Group(
        parts=(
            Preset(
                id="preset",
                label=gettext_lazy("Start from"),
                path=_SPEC,
                values=_presets,
                other=gettext_lazy("Own rules"),
                target=_RESTRICTION,
            ),
        )
    ),
    ReachPart(),
    start=lambda context: {
        "spec": {
            _PODS: {},
            "policyTypes": ["Ingress"],
            INGRESS: [{"from": [{_PODS: {}}]}],
        }
    },
    facts=_facts,
    warnings=_warnings,
)
