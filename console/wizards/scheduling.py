"""Fields for scheduling: nodes, tolerations, affinity and topology spread."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR, NODES
from console.ui.wizard import fields
from console.ui.wizard.fields import Choice, Text
from console.ui.wizard.parts import Case, FormPart, Group, Rows, Variant
from console.ui.wizard.paths import ABSENT, Path
from console.ui.wizard.state import FieldScope
from console.wizards.pod_paths import own_labels

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_IP_POOLS = GVR("crd.projectcalico.org", "v1", "ippools")
#: Annotation of Calico: the pools of a pod's address, as a JSON list.
POOLS = "cni.projectcalico.org/ipv4pools"


def _matching_nodes(value: Any, scope: FieldScope) -> Text:
    """Return how many of the visible nodes have the labels."""
    nodes = scope.state.context.entries(NODES)
    if not nodes:
        return ""
    wanted = value.items() if isinstance(value, dict) else ()
    found = [
        node
        for node in nodes
        if all(node.projection.labels.get(key) == label for key, label in wanted)
    ]
    words = {"n": len(found), "total": len(nodes)}
    return _("Matching nodes now: %(n)d of %(total)d") % words


def _term(scope: FieldScope, key: str) -> Mapping[str, Any]:
    return {"topologyKey": key, "labelSelector": {"matchLabels": dict(own_labels(scope))}}


def _weighted(scope: FieldScope, key: str) -> Mapping[str, Any]:
    return {"weight": 100, "podAffinityTerm": _term(scope, key)}


def _prefers(kind: str, other: str, key: str) -> Callable[[FieldScope], Mapping[str, Any]]:
    """Return the affinity of a preset: only the workload's own pods, if possible."""
    return lambda scope: {kind: {_PREFERRED: [_weighted(scope, key)]}, other: ABSENT}


def _terms(kind: str, when: str, title: Text, add: Text) -> Rows:
    inner: Path = ("podAffinityTerm",) if when == _PREFERRED else ()
    weight = fields.NumberInput(
        id="weight", label=gettext_lazy("Weight"), least=1, most=100, required=True
    )
    new = _weighted if inner else _term
    return Rows(
        id=f"{kind}-{when[:9]}",
        path=(kind, when),
        title=title,
        add=add,
        of="affinity",
        new=lambda scope: new(scope, HOST),
        name=lambda scope: str(scope.get(*inner, "topologyKey") or ""),
        parts=(
            *((weight,) if inner else ()),
            fields.Suggested(
                id="topologyKey",
                path=(*inner, "topologyKey"),
                label=gettext_lazy("Within the same"),
                required=True,
                suggest=lambda scope: (HOST, ZONE),
            ),
            fields.Pairs(
                id="matchLabels",
                path=(*inner, "labelSelector", "matchLabels"),
                label=gettext_lazy("Pods with these labels"),
                rows=1,
            ),
        ),
    )


PLACEMENT = Variant(
    id="placement",
    path=("affinity",),
    label=gettext_lazy("Pods of this workload"),
    picks=True,
    beside=("nodeAffinity",),
    otherwise="custom",
    cases=(
        Case(
            id="default",
            label=gettext_lazy("Default"),
            hint=gettext_lazy("As the scheduler decides"),
        ),
        Case(
            id="nodes",
            label=gettext_lazy("Spread across nodes"),
            hint=gettext_lazy("Different nodes if possible"),
            fixed=_prefers("podAntiAffinity", "podAffinity", HOST),
        ),
        Case(
            id="zones",
            label=gettext_lazy("Spread across zones"),
            hint=gettext_lazy("Different zones if possible"),
            fixed=_prefers("podAntiAffinity", "podAffinity", ZONE),
        ),
        Case(
            id="together",
            label=gettext_lazy("Keep together"),
            hint=gettext_lazy("The same node if possible"),
            fixed=_prefers("podAffinity", "podAntiAffinity", HOST),
        ),
        Case(
            id="custom",
            label=gettext_lazy("Custom"),
            hint=gettext_lazy("Near to or apart from any pods"),
            keys=("podAffinity", "podAntiAffinity"),
            parts=(
                _terms(
                    "podAffinity",
                    _REQUIRED,
                    gettext_lazy("Only near these pods"),
                    gettext_lazy("Add pods that are required"),
                ),
                _terms(
                    "podAffinity",
                    _PREFERRED,
                    gettext_lazy("Better near these pods"),
                    gettext_lazy("Add pods that are preferred"),
                ),
                _terms(
                    "podAntiAffinity",
                    _REQUIRED,
                    gettext_lazy("Never near these pods"),
                    gettext_lazy("Add pods that are excluded"),
                ),
                _terms(
                    "podAntiAffinity",
                    _PREFERRED,
                    gettext_lazy("Better apart from these pods"),
                    gettext_lazy("Add pods that are avoided"),
                ),
            ),
        ),
    ),
)


def relabel(tree: Any, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Replace label selectors for the labels `before`, anywhere in a pod spec."""
    if isinstance(tree, dict):
        for name, inside in tree.items():
            if name == "labelSelector" and isinstance(inside, dict):
                if before and inside.get("matchLabels") == before:
                    inside["matchLabels"] = dict(after)
            else:
                relabel(inside, before, after)
    elif isinstance(tree, list):
        for inside in tree:
            relabel(inside, before, after)


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


@dataclass(frozen=True, kw_only=True)
class JsonWords(fields.Words):
    """Words in an annotation that is a JSON list."""

    def shown(self, value: Any) -> str | None:
        if value is ABSENT:
            return ""
        try:
            found = json.loads(value) if isinstance(value, str) else None
        except (ValueError, RecursionError):
            return None
        return super().shown(found) if _compact(found) == value else None

    def parsed(self, text: str) -> Any:
        found = super().parsed(text)
        return found if found is ABSENT else _compact(found)


_TOLERATIONS = Rows(
    id="tolerations",
    title=gettext_lazy("Tolerated taints"),
    add=gettext_lazy("Add toleration"),
    of="toleration",
    name=lambda scope: str(scope.get("key") or _("toleration")),
    parts=(
        fields.TextInput(id="key", label=gettext_lazy("Key"), code=True),
        fields.Select(
            id="operator",
            label=gettext_lazy("Operator"),
            choices=(Choice("", "Equal"), Choice("Exists", "Exists")),
            implied="Equal",
        ),
        fields.TextInput(id="value", label=gettext_lazy("Value"), code=True),
        fields.Select(
            id="effect",
            label=gettext_lazy("Effect"),
            choices=(
                Choice("", gettext_lazy("All effects")),
                Choice("NoSchedule", "NoSchedule"),
                Choice("PreferNoSchedule", "PreferNoSchedule"),
                Choice("NoExecute", "NoExecute"),
            ),
        ),
    ),
)

_SPREAD = Rows(
    id="topologySpreadConstraints",
    title=gettext_lazy("Even distribution"),
    add=gettext_lazy("Spread pods evenly"),
    of="spread",
    new=lambda scope: {"maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway", **_term(scope, HOST)},
    name=lambda scope: str(scope.get("topologyKey") or ""),
    parts=(
        fields.Suggested(
            id="topologyKey",
            label=gettext_lazy("Across"),
            required=True,
            suggest=lambda scope: (HOST, ZONE),
        ),
        fields.NumberInput(
            id="maxSkew", label=gettext_lazy("Largest difference"), least=1, required=True
        ),
        fields.Select(
            id="whenUnsatisfiable",
            label=gettext_lazy("Otherwise"),
            choices=(
                Choice("ScheduleAnyway", gettext_lazy("Start anyway")),
                Choice("DoNotSchedule", gettext_lazy("Wait")),
            ),
        ),
    ),
)


def _has_pools(scope: FieldScope) -> bool:
    return scope.has(POOLS) or scope.state.context.serves(_IP_POOLS)


def scheduling(pod: Path, *, placed: bool = True) -> tuple[FormPart, ...]:
    """Return the parts of the step. With `placed`, pods can be spread or kept together."""
    placement = Group(
        title=gettext_lazy("Placement"), path=pod, parts=(PLACEMENT, Group(parts=(_SPREAD,)))
    )
    return (
        *((placement,) if placed else ()),
        Group(
            title=gettext_lazy("Nodes"),
            path=pod,
            parts=(
                fields.Pairs(
                    id="nodeSelector",
                    label=gettext_lazy("Only nodes with these labels"),
                    hint=gettext_lazy("One key=value per line."),
                    placeholder="disktype=ssd",
                    finding=_matching_nodes,
                ),
                _TOLERATIONS,
            ),
        ),
        Group(
            title=gettext_lazy("Addresses"),
            path=(*pod[:-1], "metadata", "annotations"),
            shown_if=_has_pools,
            parts=(
                JsonWords(
                    id="ippools",
                    path=(POOLS,),
                    label=gettext_lazy("IP pools"),
                    hint=gettext_lazy("Names, separated by commas."),
                    suggest=lambda scope: scope.state.context.names(_IP_POOLS),
                ),
            ),
        ),
    )
