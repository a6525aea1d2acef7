"""Usage access of viewers, and messages for missing usage data.

The numbers come from kube-apiserver. They are visible to viewers who can list `metrics.k8s.io`,
that is, users who could run `kubectl top`.
"""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from console.kube.gvr import NODE_METRICS, POD_METRICS
from console.kube.metricslist import Problem
from console.ui.access import Access
from console.ui.gauges import Gauge, Plot

#: Documentation of metrics-server.
DOCS = "https://github.com/kubernetes-sigs/metrics-server#readme"


@dataclass(frozen=True, slots=True)
class NotMetered:
    """Message about missing usage data. `url` is the documentation, or ""."""

    text: str | Promise
    url: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """A selectable time range of a plot, with the URL that shows it."""

    label: str
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class Capacity:
    """Template context of a capacity panel.

    `note` is the reason why usage is missing, or None. `spans` are the selectable time ranges,
    if any.
    """

    gauges: tuple[Gauge, ...]
    plots: tuple[Plot, ...]
    note: NotMetered | None
    spans: tuple[Span, ...] = ()


DENIED = NotMetered(gettext_lazy("You may not see what is used (list metrics.k8s.io)."))
_TEXTS = {
    Problem.WAITING: NotMetered(gettext_lazy("Usage is not known yet.")),
    Problem.ABSENT: NotMetered(
        gettext_lazy("What is used is not measured: the cluster has no metrics-server."), DOCS
    ),
    Problem.FORBIDDEN: NotMetered(
        gettext_lazy("The console may not read what is used (list metrics.k8s.io)."), DOCS
    ),
    Problem.UNAVAILABLE: NotMetered(
        gettext_lazy("What is used is not known now: metrics-server does not answer."), DOCS
    ),
    Problem.UNREADABLE: NotMetered(
        gettext_lazy("What is used is not known: metrics-server's answer cannot be read."), DOCS
    ),
}


_PAST = {
    Problem.UNAVAILABLE: NotMetered(gettext_lazy("Prometheus does not answer.")),
    Problem.UNREADABLE: NotMetered(gettext_lazy("Prometheus' answer cannot be read.")),
}


def why_no_past(problem: Problem | None) -> NotMetered | None:
    """Return the message for a problem with the usage history, or None without a problem."""
    return None if problem is None else _PAST[problem]


def why_not(problem: Problem | None) -> NotMetered | None:
    """Return the message for a problem with current usage, or None without a problem."""
    return None if problem is None else _TEXTS[problem]


def sees_node_usage(access: Access) -> bool:
    return access.can("list", NODE_METRICS)


def usage_namespaces(access: Access) -> frozenset[str] | None:
    """Return the namespaces in which the viewer can see pod usage, or None for all."""
    return access.namespaces_where("list", POD_METRICS)
