"""Who can connect to the pods of a NetworkPolicy, and where these pods can connect to, before and
after a draft is applied.

All NetworkPolicies of the project are evaluated that the viewer may list, on pods and projects that
the viewer may list. Policies of other projects are not evaluated.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from console.kube.gvr import NAMESPACES, NETWORK_POLICIES, PODS
from console.kube.network_policies import (
    EGRESS,
    INGRESS,
    MAX_PORT,
    BlockPeer,
    End,
    Network,
    OutsideEnd,
    PodEnd,
    PodPeer,
    Policy,
    PortSet,
    Rule,
    allowed,
    read_policy,
    rules_of,
)
from console.kube.selectors import LabelSelector
from console.kube.store import Entry
from console.ui.core.manifests import mapping, mappings_at
from console.ui.core.text import split_name
from console.ui.wizard.state import WizardContext
from console.ui.wizard.wizard import name_of

#: Maximum pods and projects that are evaluated.
MAX_PODS, MAX_PROJECTS = 5000, 1000
#: Groups of pods with the same connections that are drawn one by one. More become one row.
MOST_ALIKE = 4
#: Maximum rows of a drawing, and maximum drawings of a direction.
MOST_ROWS, MOST_DRAWINGS = 12, 3
_OPPOSITE = {INGRESS: EGRESS, EGRESS: INGRESS}
_OWN, _OTHER, _OUTSIDE = range(3)


@dataclass(frozen=True, slots=True)
class Group:
    """Pods or addresses for which the same rules apply. `count` is None if it is unknown.

    `alike` is equal for groups with the same connections. `projects` are the names of the projects.
    """

    order: int
    name: str
    place: str
    count: int | None
    end: End
    alike: object
    projects: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Peer:
    """A row of a drawing: a group, and the ports before and after."""

    name: str
    place: str
    before: PortSet
    after: PortSet
    order: int
    count: int | None

    @property
    def is_changed(self) -> bool:
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class Reach:
    """The connections of pods in one direction. `name` and `count` describe the pods."""

    direction: str
    name: str
    count: int
    peers: Sequence[Peer]
    #: Number of further rows.
    more: int = 0


@dataclass
class Evaluation:
    """The connections that a draft of a NetworkPolicy changes. `manifest` is the draft.

    `is_partial` is True after an evaluation that leaves out pods: there are too many, or the viewer
    may not list them.
    """

    context: WizardContext
    manifest: Mapping[str, Any]
    is_partial: bool = field(default=False, init=False)
    _reaches: dict[str, list[Reach]] = field(default_factory=dict, init=False)

    @classmethod
    def of(cls, context: WizardContext, manifest: Mapping[str, Any]) -> "Evaluation":
        """Return the evaluation of a manifest. A request evaluates the same content once."""
        return context.once((cls, repr(manifest)), lambda: cls(context, deepcopy(manifest)))

    @property
    def namespace(self) -> str:
        return self.context.namespace

    @cached_property
    def draft(self) -> Policy:
        return read_policy(self.manifest, self.namespace)

    @cached_property
    def _current(self) -> dict[str, Policy]:
        """The policies of the project that the viewer may list, by name."""
        found = self.context.entries(NETWORK_POLICIES) if self.namespace else []
        return {one.key.name: read_policy(one.original(), self.namespace) for one in found}

    @cached_property
    def replaced(self) -> Policy | None:
        """The policy that the draft replaces."""
        return None if self.context.is_new else self._current.get(name_of(self.manifest))

    @cached_property
    def before(self) -> list[Policy]:
        return [*self._current.values()]

    @cached_property
    def after(self) -> list[Policy]:
        return [*(one for one in self.before if one is not self.replaced), self.draft]

    @cached_property
    def _concerned(self) -> list[Policy]:
        return [one for one in (self.draft, self.replaced) if one is not None]

    @property
    def may_list(self) -> bool:
        """Return True if the viewer may list the policies of the project."""
        return self.context.sees_all(NETWORK_POLICIES, self.namespace)

    def affected(self) -> list[str]:
        """Return the directions that the draft, or the policy that it replaces, restricts."""
        return [
            one
            for one in (INGRESS, EGRESS)
            if any(policy.rules(one) is not None for policy in self._concerned)
        ]

    def all(self) -> list[Reach]:
        return [reach for direction in self.affected() for reach in self.reaches(direction)]

    def reaches(self, direction: str) -> list[Reach]:
        """Return the connections of the selected pods, one result for pods with equal ones."""
        if direction not in self._reaches:
            self._reaches[direction] = self._evaluated(direction)
        return self._reaches[direction]

    def _evaluated(self, direction: str) -> list[Reach]:
        targets = self.targets or self._example
        others = [*self._own_groups, *self._other_groups(direction), *self._outside(direction)]
        compare = _Comparison((self.before, self.after), direction)
        found: dict[tuple[tuple[PortSet, PortSet], ...], list[Group]] = {}
        for target in targets:
            vector = tuple(compare.ports(target, one) for one in others)
            found.setdefault(vector, []).append(target)
        return [
            self._reach(direction, held, [*zip(others, vector, strict=True)])
            for vector, held in islice(found.items(), MOST_DRAWINGS)
        ]

    def _reach(
        self,
        direction: str,
        targets: Sequence[Group],
        found: Sequence[tuple[Group, tuple[PortSet, PortSet]]],
    ) -> Reach:
        peers = sorted(_rows(found), key=lambda one: (one.order, not one.after))
        names = [*dict.fromkeys(one.name for one in targets)]
        name = ", ".join(names[:2])
        if len(names) > 2:
            name = _("%(names)s and %(n)d more") % {"names": name, "n": len(names) - 2}
        count = sum(one.count or 0 for one in targets)
        return Reach(direction, name, count, peers[:MOST_ROWS], max(0, len(peers) - MOST_ROWS))

    @cached_property
    def targets(self) -> list[Group]:
        """The pods that the draft, or the policy that it replaces, selects."""
        return [
            one
            for one in self._own_groups
            if isinstance(one.end, PodEnd) and any(p.selects(one.end) for p in self._concerned)
        ]

    def _peers(self, direction: str) -> list[PodPeer | BlockPeer]:
        held = (one.rules(direction) or () for one in (*self.before, self.draft))
        return [peer for rules in held for rule in rules for peer in rule.peers or ()]

    @cached_property
    def _pod_peers(self) -> list[PodPeer]:
        found = (*self._peers(INGRESS), *self._peers(EGRESS))
        return [one for one in found if isinstance(one, PodPeer)]

    @cached_property
    def _pod_selectors(self) -> list[LabelSelector]:
        """The selectors that decide which rules apply to a pod."""
        policies = (one.pods for one in (*self.before, self.draft))
        return [
            *dict.fromkeys(one for one in (*(p.pods for p in self._pod_peers), *policies) if one)
        ]

    @cached_property
    def _project_selectors(self) -> list[LabelSelector]:
        found = (one.namespaces for one in self._pod_peers)
        return [*dict.fromkeys(one for one in found if one is not None)]

    def _has_names(self, direction: str) -> bool:
        """Return True if a rule has a named port."""
        held = (one.rules(direction) or () for one in (*self.before, self.draft))
        return any(port.name for rules in held for rule in rules for port in rule.ports or ())

    @cached_property
    def _reads_ports(self) -> bool:
        return self._has_names(INGRESS) or self._has_names(EGRESS)

    @cached_property
    def _own_groups(self) -> list[Group]:
        if not self.namespace:
            return []
        entries, labels = self.context.entries(PODS), self._namespaces.get(self.namespace, {})
        self.is_partial = self.is_partial or len(entries) > MAX_PODS
        place = _("this project")
        return self._pod_groups(entries[:MAX_PODS], self.namespace, labels, _OWN, place)

    @cached_property
    def _namespaces(self) -> dict[str, Mapping[str, str]]:
        """Return the labels of the visible namespaces."""
        found = self.context.entries(NAMESPACES)
        return {one.key.name: one.projection.labels for one in found[:MAX_PROJECTS]}

    def _pod_groups(
        self,
        entries: Iterable[Entry[Any]],
        namespace: str,
        labels: Mapping[str, str],
        order: int,
        place: str,
    ) -> list[Group]:
        """Return groups of pods of the same workload for which the same rules apply."""
        spaces = tuple(one.matches(labels) for one in self._project_selectors)
        counts: dict[tuple[str, object], int] = {}
        ends: dict[object, PodEnd] = {}
        read: dict[int, Mapping[tuple[str, str], int]] = {}
        for entry in entries:
            pod = entry.projection
            if pod.ended:
                continue
            if self._reads_ports and pod.spec not in read:
                read[pod.spec] = container_ports(entry.original())
            ports = read.get(pod.spec, {}) if self._reads_ports else {}
            matches = tuple(one.matches(pod.labels) for one in self._pod_selectors)
            alike = (order, spaces, matches, tuple(sorted(ports.items())))
            ends.setdefault(alike, PodEnd(namespace, pod.labels, labels, ports))
            name = split_name(entry.key.name, pod.owner, pod.labels).stem
            counts[name, alike] = counts.get((name, alike), 0) + 1
        return [
            Group(order, name, place, count, ends[alike], alike, frozenset([namespace]))
            for (name, alike), count in counts.items()
        ]

    def _other_groups(self, direction: str) -> list[Group]:
        """Return groups of pods in other projects. Pods are read only where a rule selects some of
        them by their labels.
        """
        found: list[Group] = []
        peers = [one for one in self._peers(direction) if isinstance(one, PodPeer)]
        named, left = direction == EGRESS and self._has_names(EGRESS), MAX_PODS
        for name, labels in self._namespaces.items():
            if name == self.namespace:
                continue
            is_detailed = named or any(
                one.pods and one.namespaces is not None and one.namespaces.matches(labels)
                for one in peers
            )
            if is_detailed:
                entries = self.context.entries(PODS, name)[:left]
                left -= len(entries)
                found += self._pod_groups(entries, name, labels, _OTHER, name)
                if left == 0 or not self.context.sees_all(PODS, name):
                    self.is_partial = True
            elif (count := self.context.count(PODS, name)) != 0:
                spaces = tuple(one.matches(labels) for one in self._project_selectors)
                end, alike = PodEnd(name, {}, labels), (_OTHER, spaces)
                places = frozenset([name])
                found.append(Group(_OTHER, _("All pods"), name, count, end, alike, places))
        return found

    @property
    def hides_projects(self) -> bool:
        """Return True if the viewer may not list all projects."""
        return not self.context.sees_all(NAMESPACES, "")

    def _outside(self, direction: str) -> list[Group]:
        """Return groups of addresses: the networks in rules, and all others."""
        networks = self._networks(direction)
        place = _("outside the cluster")
        found = [Group(_OUTSIDE, str(one), place, None, OutsideEnd(one), one) for one in networks]
        if not any(one.prefixlen == 0 for one in networks):
            words = _("Other addresses") if networks else _("All addresses")
            found.append(Group(_OUTSIDE, words, place, None, OutsideEnd(), None))
        return found

    def _networks(self, direction: str) -> list[Network]:
        found = [
            network
            for peer in self._peers(direction)
            if isinstance(peer, BlockPeer)
            for network in (peer.network, *peer.excluded)
        ]
        return [*dict.fromkeys(found)]

    @property
    def _example(self) -> list[Group]:
        """A pod that the draft selects, for a project without such pods."""
        selector = self.draft.pods
        if selector is None:
            return []
        labels = {
            one.key: min(one.values, default="")
            for one in selector.requirements
            if one.op in ("in", "exists")
        }
        end = PodEnd(self.namespace, labels, self._namespaces.get(self.namespace, {}))
        words = str(selector).replace(",", ", ") or _("All pods")
        return [Group(_OWN, words, _("this project"), 0, end, ("example",))]


class _Comparison:
    """Ports of connections before and after, computed once for groups with the same rules."""

    def __init__(self, policies: tuple[list[Policy], list[Policy]], direction: str) -> None:
        self._policies, self._direction = policies, direction
        self._rules: dict[tuple[int, object, str], list[Rule] | None] = {}
        self._ports: dict[tuple[object, object], tuple[PortSet, PortSet]] = {}

    def ports(self, target: Group, peer: Group) -> tuple[PortSet, PortSet]:
        key = (target.alike, peer.alike)
        if key not in self._ports:
            before, after = (self._connection(when, target, peer) for when in (0, 1))
            self._ports[key] = before, after
        return self._ports[key]

    def _connection(self, when: int, target: Group, peer: Group) -> PortSet:
        destination = target.end if self._direction == INGRESS else peer.end
        own = self._rules_of(when, target, self._direction)
        found = allowed(own, peer.end, destination)
        if not found:
            return found
        opposite = self._rules_of(when, peer, _OPPOSITE[self._direction])
        return found & allowed(opposite, target.end, destination)

    def _rules_of(self, when: int, group: Group, direction: str) -> list[Rule] | None:
        key = (when, group.alike, direction)
        if key not in self._rules:
            self._rules[key] = rules_of(self._policies[when], group.end, direction)
        return self._rules[key]


def _rows(found: Iterable[tuple[Group, tuple[PortSet, PortSet]]]) -> list[Peer]:
    """Return the rows of a drawing. Many groups with the same ports are one row."""
    alike: dict[tuple[int, PortSet, PortSet], list[Group]] = {}
    for group, (before, after) in found:
        alike.setdefault((group.order, before, after), []).append(group)
    rows = []
    for (order, before, after), groups in alike.items():
        if len(groups) > MOST_ALIKE and order != _OUTSIDE:
            groups = [_merged(order, groups)]
        rows += [Peer(one.name, _place(one), before, after, order, one.count) for one in groups]
    return rows


def _merged(order: int, groups: Sequence[Group]) -> Group:
    projects = frozenset[str]().union(*(one.projects for one in groups))
    counts = [one.count for one in groups]
    known = [one for one in counts if one is not None]
    count = sum(known) if len(known) == len(counts) else None
    words = ngettext("%(n)d project", "%(n)d projects", len(projects)) % {"n": len(projects)}
    place = groups[0].place if order == _OWN else words
    name = _("Pods of %(n)d workloads") % {"n": len(groups)} if order == _OWN else _("Other pods")
    return replace(groups[0], name=name, place=place, count=count)


def _place(group: Group) -> str:
    if group.count is None:
        return group.place
    return ngettext("%(place)s, %(n)d pod", "%(place)s, %(n)d pods", group.count) % {
        "place": group.place,
        "n": group.count,
    }


def container_ports(manifest: Mapping[str, Any]) -> dict[tuple[str, str], int]:
    """Return the named ports of a pod, by protocol and name."""
    found: dict[tuple[str, str], int] = {}
    for container in mappings_at(mapping(manifest, "spec"), "containers"):
        for port in mappings_at(container, "ports"):
            name, number = port.get("name"), port.get("containerPort")
            if isinstance(name, str) and type(number) is int:
                found.setdefault((str(port.get("protocol") or "TCP"), name), number)
    return found


def ports_text(ports: PortSet) -> str:
    """Return ports as a short text, such as `TCP 80, 8000–8080`."""
    if ports.is_all:
        return _("all ports")
    if not ports:
        return _("blocked")
    words, before = [], ""
    for one in ports.ranges:
        numbers = f"{one.first}" if one.first == one.last else f"{one.first}–{one.last}"
        if (one.first, one.last) == (1, MAX_PORT):
            numbers = pgettext("ports", "all")
        words.append(numbers if one.protocol == before else f"{one.protocol} {numbers}")
        before = one.protocol
    return ", ".join(words)
