"""Progress panel of a drain, which browsers poll every few seconds.

Progress is stored in the database, so every process can show it. Only pods that the viewer may
list are counted and named.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.draining.actions import Drain
from console.draining.results import EndReason, PodResult, PodStep, decode_results
from console.kube.gvr import PODS, Key, ObjectReference
from console.kube.store import Entry
from console.operations.models import State
from console.operations.store import StoredOperation, latest
from console.ui.core.access import Access
from console.ui.core.actions import Action
from console.ui.core.clusters import Cluster
from console.ui.core.kind import ResourceKind
from console.ui.core.links import object_url
from console.ui.core.object_source import find_entry
from console.ui.core.permissions import check_visible
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.details.relations.rollout import Bar
from console.ui.lists.rows import MenuItem
from console.views.actions import FIND_WAIT, find_action
from console.views.guard import access_of
from console.views.page import page

#: Seconds between polls, while a drain is running and otherwise.
POLL_RUNNING, POLL_IDLE = 2, 15
#: Time for which an ended drain is shown, unless the node is uncordoned.
SHOW_ENDED_FOR = timedelta(hours=1)
#: Maximum number of pods shown; pods that need attention come first.
MAX_PODS_SHOWN = 50
_WORDS: Mapping[PodStep, tuple[str, str | Promise]] = {
    PodStep.UNAGREED: ("warn", gettext_lazy("Not evicted: the pod or its data would be lost")),
    PodStep.REFUSED: ("error", gettext_lazy("Refused")),
    PodStep.BLOCKED: ("warn", gettext_lazy("Blocked by a disruption budget")),
    PodStep.UNSURE: ("warn", gettext_lazy("The cluster did not respond")),
    PodStep.ENDING: ("ending", gettext_lazy("Terminating")),
    PodStep.WAITING: ("progress", gettext_lazy("Waiting")),
}
#: Severity and text of each state. The texts of `_REASONS` take precedence.
_STATES: Mapping[State, tuple[str, str | Promise]] = {
    State.RUNNING: ("progress", gettext_lazy("%(actor)s is draining this node.")),
    State.DONE: (
        "ok",
        gettext_lazy(
            "%(actor)s drained this node. All pods that had to be evicted have left the node."
        ),
    ),
    State.STOPPED: ("paused", gettext_lazy("%(stopper)s stopped draining this node.")),
    State.FAILED: (
        "error",
        gettext_lazy("Drain stopped because of an internal error in the console."),
    ),
    State.INTERRUPTED: (
        "warn",
        gettext_lazy(
            "Drain interrupted: the console process that drained the node for %(actor)s stopped."
        ),
    ),
}
_REASONS: Mapping[str, str | Promise] = {
    EndReason.UNCORDONED: gettext_lazy("Drain stopped because the node was uncordoned."),
    EndReason.SESSION: gettext_lazy("Drain stopped because %(actor)s signed out."),
    EndReason.RIGHT: gettext_lazy(
        "Drain stopped because %(actor)s no longer has permission to drain this node."
    ),
    EndReason.TIME: gettext_lazy(
        "Drain stopped because the timeout of %(minutes)s minutes was reached."
    ),
    EndReason.NODE: gettext_lazy(
        "Drain stopped because the node was deleted, or replaced by another node with the "
        "same name."
    ),
    EndReason.CONSENT: gettext_lazy(
        "No pods were evicted: some pods or their data would be lost, and %(actor)s did not "
        "confirm this. Drain the node again to confirm."
    ),
    EndReason.REFUSED: gettext_lazy(
        "Drain stopped because the cluster refused to evict some pods."
    ),
}


@dataclass(frozen=True, slots=True)
class RemainingPod:
    """Remaining pod. `since` is the time its termination was first observed."""

    name: str
    namespace: str
    url: str
    severity: str
    word: str | Promise
    note: str
    since: datetime | None


async def progress_html(access: Access, kind: ResourceKind, entry: Entry[Any]) -> str:
    """Render the progress panel of a visible node."""
    node = ObjectReference(access.cluster.name, kind.gvr, entry.key, entry.projection.uid)
    found = await sync_to_async(latest)(node, Drain.name)
    shown = found if found is not None and _is_news(found, entry) else None
    context = {
        "url": progress_url(access.cluster.name, kind, entry.key),
        "every": POLL_RUNNING if shown is not None and shown.running else POLL_IDLE,
        "uid": entry.projection.uid,
        **(_context(access, kind, entry, shown) if shown is not None else {}),
    }
    return render_to_string("console/draining/progress.html", context)


def progress_url(cluster: str, kind: ResourceKind, key: Key) -> str:
    return reverse("drain_progress", args=(cluster, kind.segment, key.name))


def _is_news(kept: StoredOperation, entry: Entry[Any]) -> bool:
    if kept.ended is None:
        return True
    return bool(entry.projection.cordoned) and timezone.now() - kept.ended < SHOW_ENDED_FOR


def _context(
    access: Access, kind: ResourceKind, entry: Entry[Any], kept: StoredOperation
) -> Mapping[str, Any]:
    results = [
        one
        for one in decode_results(kept.results)
        if access.can("list", PODS, namespace=one.namespace, name=one.name)
    ]
    for one in results:
        if _is_gone(access, one):
            one.step = PodStep.GONE
    gone = sum(one.step is PodStep.GONE for one in results)
    left = [one for step in _WORDS for one in results if one.step is step]
    share = 100 * gone // len(results) if results else 0
    bar = Bar(_("Removed pods"), f"{gone:,}", f"{len(results):,}", share, "ok")
    return {
        "kept": kept,
        "severity": _STATES[kept.state][0],
        "text": _text(kept),
        "bars": (bar,) if results else (),
        "partial": access.namespaces_where("list", PODS) is not None,
        "lines": [_line(access, one, running=kept.running) for one in left[:MAX_PODS_SHOWN]],
        "more": max(0, len(left) - MAX_PODS_SHOWN),
        "cordoned": not kept.running and bool(entry.projection.cordoned),
        "buttons": list(_buttons(access, kind, entry, kept)),
    }


def _is_gone(access: Access, result: PodResult) -> bool:
    """Return True if the pod no longer exists in the cache, which also works if the drain is no
    longer running.
    """
    informer = access.cluster.runtime.informers().get(PODS)
    if informer is None or not informer.freshness.synced:
        return False
    entry = informer.store.get(Key(result.namespace, result.name))
    return entry is None or entry.projection.uid != result.uid


def _line(access: Access, result: PodResult, *, running: bool) -> RemainingPod:
    severity, word = _WORDS[result.step]
    since = datetime.fromtimestamp(result.since, UTC) if result.step is PodStep.ENDING else None
    if result.step is PodStep.WAITING and not running:
        severity, word = "paused", _("Not evicted")
    return RemainingPod(
        escape_invisible(result.name),
        escape_invisible(result.namespace),
        object_url(access.cluster.name, PODS.resource, Key(result.namespace, result.name)),
        severity,
        word,
        escape_invisible(result.note),
        since,
    )


def _text(kept: StoredOperation) -> str:
    """Return the text that describes the drain's state."""
    words = {
        "actor": escape_invisible(kept.actor),
        "stopper": escape_invisible(kept.stopper),
        "minutes": f"{kept.data.get('minutes', 0):,}",
    }
    if kept.running and kept.stopper:
        text: str | Promise = _(
            "%(stopper)s stopped the drain. Evictions that have already started will finish."
        )
    else:
        text = _REASONS.get(kept.reason) or _STATES[kept.state][1]
    return str(text) % words


def _buttons(
    access: Access, kind: ResourceKind, entry: Entry[Any], kept: StoredOperation
) -> Iterator[MenuItem]:
    cluster, segment, key = access.cluster.name, kind.segment, entry.key
    for action in _offered(kind, entry, kept):
        if action.is_allowed(access, kind.gvr, key):
            yield MenuItem(action, action.url(cluster, segment, key))


def _offered(kind: ResourceKind, entry: Entry[Any], kept: StoredOperation) -> Iterator[Action]:
    actions = kind.actions_by_name
    if kept.running:
        if not kept.stopper:
            yield actions["stop-drain"]
        return
    if kept.state is not State.DONE and kept.reason != EndReason.CONSENT:
        yield actions["resume-drain"]
    if entry.projection.cordoned:
        yield actions["uncordon"]


@page("GET")
async def drain_progress(
    request: ConsoleRequest, cluster: Cluster, resource: str, name: str
) -> HttpResponse:
    """Return the panel. The response is empty if the node no longer exists, which stops polling."""
    kind, _action = find_action(cluster, "", resource, Drain.name)
    access, key = access_of(request), Key("", name)
    check_visible(kind, access, key)
    entry = await find_entry(kind, access, key, seconds=FIND_WAIT)
    return HttpResponse(await progress_html(access, kind, entry) if entry is not None else "")
