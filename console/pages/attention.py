"""What needs attention, in plain words: by cause, how many, which, and the list of exactly those."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from console.kube.gvr import (
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    GVR,
    HORIZONTAL_POD_AUTOSCALERS,
    JOBS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    RESOURCE_QUOTAS,
    STATEFUL_SETS,
    Key,
)
from console.pages.sight import Seen, Sight
from console.ui.access import Access
from console.ui.columns import Target, target_url
from console.ui.links import log_url
from console.ui.logs import READ_LOG
from console.ui.selection import brought_up
from console.ui.text import visible
from console.ui.troubles import Finding, troubles_of
from console.ui.viewspec import ViewSpec
from console.ui.words import translate

#: Where trouble is looked for.
WATCHED: tuple[GVR, ...] = (
    NODES,
    PODS,
    DEPLOYMENTS,
    STATEFUL_SETS,
    DAEMON_SETS,
    JOBS,
    CRON_JOBS,
    PERSISTENT_VOLUME_CLAIMS,
    RESOURCE_QUOTAS,
    HORIZONTAL_POD_AUTOSCALERS,
)
#: Causes that are shown; the lists have the others.
MOST = 20

_NO_VOLUME = gettext_lazy("They have no volume yet. Pods that use them do not start.")
#: What a cause means and what to do next, by type and word.
_HINTS: Mapping[tuple[GVR, str], str | Promise] = {
    (PODS, "Crash loop"): gettext_lazy("A container keeps ending. Its last log says why."),
    (PODS, "Image pull failed"): gettext_lazy(
        "Check the image's name and tag, and the registry's credentials."
    ),
    (PODS, "Unschedulable"): gettext_lazy("No node has room for them, or none fits their rules."),
    (PODS, "Killed for memory"): gettext_lazy("They used more memory than their limit."),
    (PODS, "Config error"): gettext_lazy("A config map, secret or key that they name is missing."),
    (PODS, "Not ready"): gettext_lazy("They run, but their readiness check fails."),
    (PODS, "Evicted"): gettext_lazy("Their node ran out of memory or disk space."),
    (PODS, "Init failed"): gettext_lazy("An init container fails, so the others wait."),
    (NODES, "Not ready"): gettext_lazy("Their kubelet does not report. Pods there may be lost."),
    (NODES, "Unknown"): gettext_lazy("They have not reported yet."),
    (DEPLOYMENTS, "Stuck rollout"): gettext_lazy(
        "New pods did not become ready in time. Look at them, or roll back."
    ),
    (DEPLOYMENTS, "Cannot create pods"): gettext_lazy("A quota or a policy refuses their pods."),
    (JOBS, "Failed"): gettext_lazy("They gave up. Their pods' logs say why."),
    (CRON_JOBS, "Last run failed"): gettext_lazy("The next run may go the same way."),
    (PERSISTENT_VOLUME_CLAIMS, "Waiting"): _NO_VOLUME,
    (PERSISTENT_VOLUME_CLAIMS, "Creating"): _NO_VOLUME,
    (PERSISTENT_VOLUME_CLAIMS, "Binding"): _NO_VOLUME,
    (PERSISTENT_VOLUME_CLAIMS, "No storage class"): gettext_lazy(
        "They name no storage class, and there is no default."
    ),
    (RESOURCE_QUOTAS, "Full"): gettext_lazy("New pods that need more are refused."),
    (RESOURCE_QUOTAS, "Nearly full"): gettext_lazy("Less than a tenth is left."),
}


#: Causes of which a log says more.
_LOGGED = frozenset(
    (PODS, word) for word in ("Crash loop", "Failed", "Killed for memory", "Not ready")
)


@dataclass(frozen=True, slots=True)
class Example:
    """`log_url`: "" where no log says more, or the viewer may not read it."""

    name: str
    namespace: str
    url: str
    reason: str
    log_url: str


@dataclass(frozen=True, slots=True)
class Item:
    """`url` shows exactly the `count` objects; `more`: how many there are beside the examples."""

    severity: str
    word: str | Promise
    hint: str | Promise
    count: int
    nouns: str | Promise
    url: str
    examples: tuple[Example, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Attention:
    """`left_out`: causes beyond the `items`. `loading`: kinds that are yet to be looked at."""

    items: tuple[Item, ...]
    left_out: int
    loading: tuple[str | Promise, ...]


async def attention(sight: Sight) -> Attention:
    items: list[Item] = []
    for seen in sight.all(WATCHED):
        troubles = troubles_of(seen.kind, seen.informer)
        await brought_up(troubles)
        found = troubles.of(seen.readable, seen.wanted)
        items += (_item(sight, seen, finding) for finding in found)
    items.sort(key=lambda item: _SEVERITIES.get(item.severity, len(_SEVERITIES)))
    return Attention(tuple(items[:MOST]), max(0, len(items) - MOST), _nouns(sight))


_SEVERITIES = {"error": 0, "warn": 1}


def _nouns(sight: Sight) -> tuple[str | Promise, ...]:
    return tuple(kind.nouns for kind in sight.loading if kind.gvr in WATCHED)


def _item(sight: Sight, seen: Seen, finding: Finding) -> Item:
    kind, cause = seen.kind, finding.cause
    spec = ViewSpec(kind, seen.cluster.name).with_values("state", (cause.word,))
    if sight.namespace:
        spec = spec.with_values("namespace", seen.wanted)
    logs = sight.access if (kind.gvr, cause.word) in _LOGGED else None
    examples = tuple(_examples(seen, finding.keys, logs))
    return Item(
        severity=cause.severity.value,
        word=translate(cause.word),
        hint=_HINTS.get((kind.gvr, cause.word), ""),
        count=finding.count,
        nouns=kind.singular if finding.count == 1 else kind.nouns,
        url=spec.url,
        examples=examples,
        more=finding.count - len(examples),
    )


def _examples(seen: Seen, keys: Iterable[Key], logs: Access | None) -> Iterable[Example]:
    """`logs`: with the way to their logs, if these rights let somebody read them."""
    for key in keys:
        entry = seen.informer.store.get(key)
        status = seen.kind.status(entry) if entry is not None else None
        if status is not None:
            url = target_url(seen.cluster.name, Target(seen.kind.segment, key.namespace, key.name))
            namespace = "" if seen.wanted else visible(key.namespace)
            log = ""
            if logs is not None and READ_LOG.granted(logs, PODS, key):
                log = log_url(seen.cluster.name, seen.kind.segment, key)
            yield Example(visible(key.name), namespace, url, visible(status.reason), log)
