"""Choices of the workloads and pods that an object refers to."""

from collections.abc import Callable, Sequence
from typing import Any

from django.utils.translation import gettext_lazy, ngettext

from console.kube.gvr import DAEMON_SETS, DEPLOYMENTS, GVR, PODS, STATEFUL_SETS
from console.kube.selectors import read_selector
from console.ui.core.labels import label_problem
from console.ui.wizard import fields
from console.ui.wizard.fields import Choice, Text
from console.ui.wizard.parts import Group, Preset
from console.ui.wizard.paths import Path
from console.ui.wizard.state import FieldScope

#: Types of workloads with their kinds.
WORKLOADS: Sequence[tuple[GVR, str]] = (
    (DEPLOYMENTS, "Deployment"),
    (STATEFUL_SETS, "StatefulSet"),
    (DAEMON_SETS, "DaemonSet"),
)
_PODS_OF, _LABELS = gettext_lazy("Pods of"), gettext_lazy("Labels")


def selected_labels(scope: FieldScope) -> Sequence[tuple[Choice, dict[str, str]]]:
    """Return the workloads of the project with the labels that select their pods."""
    found: list[tuple[Choice, dict[str, str]]] = []
    for gvr, kind in WORKLOADS:
        for entry in scope.state.context.entries(gvr):
            selector = read_selector(entry.projection.selector)
            terms = selector.requirements if selector is not None else ()
            if terms and all(one.op == "in" and len(one.values) == 1 for one in terms):
                labels = {one.key: next(iter(one.values)) for one in terms}
                name = f"{kind} {entry.key.name}"
                found.append((Choice(name, name), labels))
    return found


def _matching(path: Path) -> Callable[[FieldScope], Text]:
    """Return a function that counts the pods with the labels at `path`."""

    def count(scope: FieldScope) -> Text:
        labels = scope.get(*path)
        if not isinstance(labels, dict) or not labels:
            return ""
        wanted = labels.items()
        matching = sum(
            wanted <= entry.projection.labels.items()
            for entry in scope.state.context.entries(PODS)
            if all(isinstance(value, str) for value in labels.values())
        )
        return pods_matching(matching)

    return count


def pods_matching(count: int) -> str:
    return ngettext("%(n)d pod matches now.", "%(n)d pods match now.", count) % {"n": count}


def pod_labels(
    path: Path,
    *,
    label: Text = _PODS_OF,
    hint: Text = "",
    other: Text = _LABELS,
    required: bool = False,
) -> Preset:
    """Return fields that select pods by the labels of a workload or by other labels."""
    return Preset(
        id="pods",
        label=label,
        path=path,
        values=selected_labels,
        other=other,
        note=_matching(path),
        target=fields.Pairs(
            id="podLabels",
            path=path,
            label=gettext_lazy("Labels of the pods"),
            hint=hint or gettext_lazy("One key=value per line. Pods must have all of them."),
            verify=label_problem,
            required=required,
            missing=gettext_lazy("Choose a workload, or enter labels."),
        ),
    )


def _scalable(scope: FieldScope) -> Sequence[tuple[Choice, Any]]:
    return [
        (
            Choice(f"{kind} {name}", f"{kind} {name}"),
            {"apiVersion": gvr.group_version, "kind": kind, "name": name},
        )
        for gvr, kind in WORKLOADS[:2]
        for name in scope.state.context.names(gvr)
    ]


#: The workload of an autoscaler.
SCALE_TARGET = Preset(
    id="target",
    label=gettext_lazy("Workload"),
    path=("spec", "scaleTargetRef"),
    values=_scalable,
    target=Group(
        pairs=True,
        path=("spec", "scaleTargetRef"),
        parts=(
            fields.Suggested(
                id="targetKind",
                path=("kind",),
                label=gettext_lazy("Kind"),
                required=True,
                suggest=lambda scope: [kind for _gvr, kind in WORKLOADS[:2]],
            ),
            fields.TextInput(
                id="targetName",
                path=("name",),
                label=gettext_lazy("Name"),
                required=True,
                missing=gettext_lazy("Choose a workload, or enter its name."),
            ),
        ),
    ),
)
