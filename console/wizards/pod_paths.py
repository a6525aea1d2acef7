"""Paths of the pod template in workloads, and its content."""

from collections.abc import Mapping
from typing import Any

from console.ui.wizard.paths import Path
from console.ui.wizard.state import FieldScope

#: Paths of pod specs: of most workloads, and of CronJobs.
POD: Path = ("spec", "template", "spec")
CRON_POD: Path = ("spec", "jobTemplate", *POD)


def pod_of(scope: FieldScope) -> FieldScope:
    """Return the scope of the pod spec around a scope."""
    end = scope.base.index("template") + 2 if "template" in scope.base else 1
    return FieldScope(scope.state, scope.slot).within(scope.base[:end])


def own_labels(scope: FieldScope) -> Mapping[str, Any]:
    """Return the labels that select the workload's pods, for a scope in the pod spec."""
    document = FieldScope(scope.state, scope.slot)
    of_template = document.get(*pod_of(scope).base[:-1], "metadata", "labels")
    for labels in (document.get("spec", "selector", "matchLabels"), of_template):
        if isinstance(labels, dict) and labels:
            return labels
    return {}
