"""The "needs attention" list: objects with problems, the reason and start of each problem, and
links to matching lists.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import pgettext

from console.kube.gvr import GVR, PODS, Key
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui.core.clusters import Cluster
from console.ui.core.container_actions import READ_LOG
from console.ui.core.kind import ResourceKind
from console.ui.core.links import log_url
from console.ui.core.page_data import PageData, VisibleKind
from console.ui.core.registry import kinds
from console.ui.core.text import escape_invisible
from console.ui.core.words import translate, translate_message
from console.ui.details.relations.owners import HIGHEST
from console.ui.details.relations.references import target_named
from console.ui.diagnosis.conditions import conditions_of
from console.ui.diagnosis.problems import Problem, ProblemCause, ProblemGroup, problems_of
from console.ui.lists.columns import LinkTarget, target_url
from console.ui.lists.selection import ensure_current
from console.ui.lists.viewspec import ViewSpec

#: Maximum number of lines. Remaining objects are only counted.
MOST = 20

#: The problem of workloads without any pods that could explain it.
_NO_PODS = "Cannot create pods"
_UNWELL = frozenset((Severity.ERROR, Severity.WARN, Severity.UNKNOWN))
_rank = attrgetter("rank")


class ProblemState(NamedTuple):
    """The state of an object, with the severity that lists show for it."""

    severity: str
    word: str | Promise


@dataclass(frozen=True, slots=True)
class AttentionLine:
    """The problems of one object and the objects it owns.

    - `state`: the state that explains the problem best. `also` are the other states. Lines are
      sorted by the worst of them.
    - `count`: number of affected objects, such as "2 pods", or "" for the object itself.
      `count_url` lists exactly these objects.
    - `url`: "" if the user may not see the owner.
    - `said`: the reason, including the message from Kubernetes.
    - `log_url`: "" if a log would not help or the user may not read it.
    """

    state: ProblemState
    also: tuple[ProblemState, ...]
    noun: str | Promise
    name: str
    url: str
    namespace: str
    count: str
    count_url: str
    reason: str
    said: str
    since: datetime | None
    log_url: str


@dataclass(frozen=True, slots=True)
class RemainingProblem:
    """The objects with a problem that are not covered by a line. `url` lists all objects with the
    problem.
    """

    severity: str
    word: str | Promise
    count: str
    url: str


@dataclass(frozen=True, slots=True)
class Attention:
    """The content of the list. `loading` names the kinds that are not loaded yet."""

    lines: tuple[AttentionLine, ...]
    rests: tuple[RemainingProblem, ...]
    loading: tuple[str | Promise, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """A problem group of a finding and its first object."""

    seen: VisibleKind
    cause: ProblemCause
    lot: ProblemGroup
    entry: Entry[Any]

    @property
    def rank(self) -> tuple[int, int]:
        """Sort key that puts the most specific explanation first.

        Pods come before their owners, unless they have terminated. If pods can't be created at
        all, the owner comes first.
        """
        if self.cause.word == _NO_PODS:
            depth = 0
        elif self.seen.kind.gvr != PODS:
            depth = 2
        else:
            depth = 3 if self.entry.projection.ended else 1
        return (depth, self.cause.severity.rank)


def checked_types(*, in_projects: bool = False) -> list[GVR]:
    """Return the types that are checked for problems: cluster-scoped types first, then namespaced
    types in menu order.
    """
    return [kind.gvr for kind in _watched(in_projects=in_projects)]


def cached_types(cluster: Cluster) -> list[GVR]:
    """Return the types of custom resources that are checked for problems because they are cached."""
    return [kind.gvr for kind in cluster.cached_customs]


def dependent_types(*, in_projects: bool = False) -> list[GVR]:
    """Return the types that the list depends on: the checked types and the types that explain their
    problems.
    """
    found = _watched(in_projects=in_projects)
    return [*(kind.gvr for kind in found), *(gvr for kind in found for gvr in kind.diagnosed_with)]


def _watched(*, in_projects: bool) -> list[ResourceKind]:
    found = [
        kind
        for kind in kinds
        if kind.checked_for_problems and (kind.view.namespaced or not in_projects)
    ]
    return sorted(found, key=_place)


def _checked(sight: PageData) -> list[VisibleKind]:
    found = [seen for seen in sight.seen.values() if seen.kind.checked_for_problems]
    return sorted(found, key=lambda seen: _place(seen.kind))


def _place(kind: ResourceKind) -> tuple[bool, tuple[int, int], GVR]:
    return kind.view.namespaced, kind.nav.rank, kind.gvr


async def update_problem_indexes(sight: PageData) -> None:
    """Bring the problem indexes up to date, and let other tasks run meanwhile."""
    for seen in _checked(sight):
        await ensure_current(problems_of(seen.kind, seen.informer))


def attention(sight: PageData) -> Attention:
    """Return the objects with problems, most severe first. Problems of a workload, its pods and its
    jobs share one line.
    """
    checked = _checked(sight)
    places = [seen.kind.gvr for seen in checked]
    findings = [
        (seen, finding)
        for seen in checked
        for finding in problems_of(seen.kind, seen.informer).of(seen.readable, seen.wanted)
    ]
    groups: dict[tuple[GVR, Key] | ProblemGroup, list[_Found]] = {}
    for seen, finding in findings:
        for lot in finding.lots:
            entry = seen.informer.store.get(lot.first)
            if entry is not None:
                found = _Found(seen, finding.cause, lot, entry)
                groups.setdefault(_root(sight, found) or lot, []).append(found)
    ranked = sorted(groups.items(), key=lambda group: _order(places, group[1]))[:MOST]
    told = Counter[tuple[GVR, ProblemCause]]()
    for _of, several in ranked:
        for one in several:
            told[one.seen.kind.gvr, one.cause] += one.lot.count
    rests = tuple(
        _rest(seen, finding, left)
        for seen, finding in findings
        if (left := finding.count - told[seen.kind.gvr, finding.cause]) > 0
    )
    lines = tuple(_line(sight, of, sorted(several, key=_rank)) for of, several in ranked)
    loading = tuple(kind.nouns for kind in sight.loading if kind.checked_for_problems)
    return Attention(lines, rests, loading)


def _order(places: Sequence[GVR], several: list[_Found]) -> tuple[int, int, int, Key]:
    first = min(several, key=_rank)
    kind = places.index(first.seen.kind.gvr)
    worst = min(one.cause.severity.rank for one in several)
    return (worst, kind, -first.lot.count, first.lot.first)


def _root(sight: PageData, found: _Found) -> tuple[GVR, Key] | None:
    """Return the object itself or its highest owner that the user may see. Return None for several
    objects without such an owner.
    """
    kind, entry, owned = found.seen.kind, found.entry, bool(found.lot.owner)
    itself = (kind.gvr, entry.key)
    known = None if owned else itself
    for _generation in range(HIGHEST):
        owner = _owner(sight, kind, entry)
        if owner is None:
            break
        kind, entry = owner
        known = (kind.gvr, entry.key)
    return known if known is not None or found.lot.count > 1 else itself


def _owner(
    sight: PageData, kind: ResourceKind, entry: Entry[Any]
) -> tuple[ResourceKind, Entry[Any]] | None:
    word, _slash, name = kind.owner(entry.projection).partition("/")
    target = target_named(word, entry.key.namespace, name)
    seen = sight.get(target[0]) if target is not None else None
    if target is None or seen is None or not seen.readable.includes(target[1]):
        return None
    found = seen.informer.store.get(target[1])
    return (seen.kind, found) if found is not None else None


def _line(
    sight: PageData, of: tuple[GVR, Key] | ProblemGroup, several: list[_Found]
) -> AttentionLine:
    first, *others = several
    kind, cause, lot = first.seen.kind, first.cause, first.lot
    key, cluster, itself = first.entry.key, sight.cluster, False
    noun: str | Promise
    if isinstance(of, ProblemGroup):
        noun, name, url = "", lot.owner.partition("/")[2], ""
    else:
        seen, root = sight.seen[of[0]], of[1]
        noun, name = seen.kind.singular, root.name
        url = target_url(cluster.name, LinkTarget(seen.kind.segment, root.namespace, root.name))
        itself = of == (kind.gvr, key)
    also = dict.fromkeys(_state(one.cause) for one in others if one.cause.word != cause.word)
    spec = _spec(first.seen, cause)
    if lot.owner:
        spec = spec.with_values("namespace", (key.namespace,)).with_values("owner", (lot.owner,))
    log = cause.word in kind.states_with_logs and READ_LOG.granted(sight.access, kind.gvr, key)
    manifest = _manifest(first.entry)
    status = kind.status(first.entry)
    said = translate_message(status.reason) if status is not None else ""
    reason = kind.diagnosis(first.entry, manifest, sight.access) or said
    return AttentionLine(
        state=_state(cause),
        also=tuple(also),
        noun=noun,
        name=escape_invisible(name),
        url=url,
        namespace="" if len(sight.namespaces) == 1 else escape_invisible(key.namespace),
        count="" if itself else _so_many(kind, lot.count),
        count_url=spec.url,
        reason=escape_invisible(reason),
        said=escape_invisible(said if reason in said else f"{reason} {said}"),
        since=_since(manifest),
        log_url=log_url(cluster.name, kind.segment, key) if log else "",
    )


def _state(cause: ProblemCause) -> ProblemState:
    return ProblemState(cause.severity.value, translate(cause.word))


def _manifest(entry: Entry[Any]) -> Mapping[str, Any]:
    """Return the manifest, or an empty one if it is nested too deeply to decode."""
    try:
        return entry.original()
    except RecursionError:
        return {}


def _since(manifest: Mapping[str, Any]) -> datetime | None:
    """Return the time since which the worst condition applies, or None if no condition is bad."""
    worst = next(iter(conditions_of(manifest)), None)
    return worst.since if worst is not None and worst.severity in _UNWELL else None


def _rest(seen: VisibleKind, finding: Problem, left: int) -> RemainingProblem:
    cause = finding.cause
    return RemainingProblem(
        cause.severity.value,
        translate(cause.word),
        _so_many(seen.kind, left),
        _spec(seen, cause).url,
    )


def _spec(seen: VisibleKind, cause: ProblemCause) -> ViewSpec:
    spec = ViewSpec(seen.kind, seen.cluster.name).with_values("state", (cause.word,))
    return spec.with_values("namespace", seen.wanted) if seen.wanted else spec


def _so_many(kind: ResourceKind, count: int) -> str:
    words = {"n": f"{count:,}", "nouns": kind.singular if count == 1 else kind.nouns}
    return pgettext("so many of a kind", "%(n)s %(nouns)s") % words
