"""Evaluation of NetworkPolicies: the ports on which one endpoint can connect to another.

The rules are those of https://kubernetes.io/docs/concepts/services-networking/network-policies/:

- A pod is isolated in a direction if a policy of its namespace selects the pod and affects the
  direction. Without such a policy, all connections are allowed.
- Policies add up: a connection is allowed if a rule of any of these policies allows it.
- Both ends count: the egress policies of the source and the ingress policies of the destination.
- IP blocks match addresses outside the cluster, not pods. A named port is the port of the
  destination pod with that name.

Network plugins always allow connections of a pod to itself and from its node, so neither is evaluated.
Content that kube-apiserver rejects matches nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, NamedTuple

import msgspec

from console.kube.projections.common import Selector, selector_text
from console.kube.selectors import LabelSelector, read_selector

INGRESS, EGRESS = "ingress", "egress"
#: Fields of a rule with its peers, by direction.
PEERS = {INGRESS: "from", EGRESS: "to"}
PROTOCOLS = ("TCP", "UDP", "SCTP")
MAX_PORT = 65535
Network = IPv4Network | IPv6Network


class PortRange(NamedTuple):
    protocol: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class PortSet:
    """A set of ports: sorted ranges that don't overlap. `is_all` means every protocol."""

    ranges: tuple[PortRange, ...] = ()
    is_all: bool = False

    def __bool__(self) -> bool:
        return self.is_all or bool(self.ranges)

    def __or__(self, other: "PortSet") -> "PortSet":
        if self.is_all or other.is_all:
            return ALL_PORTS
        return port_set((*self.ranges, *other.ranges))

    def __and__(self, other: "PortSet") -> "PortSet":
        if self.is_all or other.is_all:
            return other if self.is_all else self
        return port_set(
            PortRange(one.protocol, max(one.first, two.first), min(one.last, two.last))
            for one in self.ranges
            for two in other.ranges
            if one.protocol == two.protocol
        )

    def has(self, protocol: str, port: int) -> bool:
        return self.is_all or any(
            one.protocol == protocol and one.first <= port <= one.last for one in self.ranges
        )


NO_PORTS, ALL_PORTS = PortSet(), PortSet(is_all=True)


def port_set(ranges: Iterable[PortRange]) -> PortSet:
    """Return the set of the ports in `ranges`. Ranges without a port are ignored."""
    found: list[PortRange] = []
    for one in sorted(one for one in ranges if one.first <= one.last):
        last = found[-1] if found else None
        if last is not None and last.protocol == one.protocol and one.first <= last.last + 1:
            found[-1] = last._replace(last=max(last.last, one.last))
        else:
            found.append(one)
    return PortSet(tuple(found))


@dataclass(frozen=True, slots=True)
class PodEnd:
    """A pod as an end of a connection. `ports` are its named ports by protocol and name."""

    namespace: str
    labels: Mapping[str, str]
    namespace_labels: Mapping[str, str] = field(default_factory=dict)
    ports: Mapping[tuple[str, str], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OutsideEnd:
    """Addresses outside the cluster. `network` is None for addresses that no policy mentions.

    Networks inside `network` that a policy mentions are not part of it.
    """

    network: Network | None = None


End = PodEnd | OutsideEnd


@dataclass(frozen=True, slots=True)
class PodPeer:
    """Pods. `pods` None means no pods, and `namespaces` None the namespace of the policy."""

    pods: LabelSelector | None
    namespaces: LabelSelector | None = None

    def matches(self, end: End, namespace: str) -> bool:
        if not isinstance(end, PodEnd) or self.pods is None:
            return False
        if self.namespaces is None:
            return end.namespace == namespace and self.pods.matches(end.labels)
        return self.namespaces.matches(end.namespace_labels) and self.pods.matches(end.labels)


@dataclass(frozen=True, slots=True)
class BlockPeer:
    """Addresses in `network`, except those in `excluded`."""

    network: Network
    excluded: tuple[Network, ...] = ()

    def matches(self, end: End, namespace: str) -> bool:
        if not isinstance(end, OutsideEnd) or end.network is None:
            return False
        inside = end.network
        return is_inside(inside, self.network) and not any(
            is_inside(inside, one) for one in self.excluded
        )


Peer = PodPeer | BlockPeer


def is_inside(inner: Network, outer: Network) -> bool:
    if isinstance(inner, IPv4Network):
        return isinstance(outer, IPv4Network) and inner.subnet_of(outer)
    return isinstance(outer, IPv6Network) and inner.subnet_of(outer)


@dataclass(frozen=True, slots=True)
class RulePort:
    """Ports of a rule: `first` to `last`, or the port with a `name`."""

    protocol: str
    first: int = 1
    last: int = MAX_PORT
    name: str = ""

    def at(self, end: End) -> PortRange | None:
        """Return the ports of a destination."""
        if not self.name:
            return PortRange(self.protocol, self.first, self.last)
        port = end.ports.get((self.protocol, self.name)) if isinstance(end, PodEnd) else None
        return PortRange(self.protocol, port, port) if port is not None else None


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a policy in `namespace`. None means all peers, or all ports."""

    namespace: str
    peers: tuple[Peer, ...] | None = None
    ports: tuple[RulePort, ...] | None = None

    def allows(self, peer: End, destination: End) -> PortSet:
        """Return the ports of `destination` on which the rule allows connections with `peer`."""
        if self.peers is not None and not any(
            one.matches(peer, self.namespace) for one in self.peers
        ):
            return NO_PORTS
        if self.ports is None:
            return ALL_PORTS
        found = (one.at(destination) for one in self.ports)
        return port_set(one for one in found if one is not None)


@dataclass(frozen=True, slots=True)
class Policy:
    """A NetworkPolicy. `ingress` or `egress` is None if the policy doesn't affect the direction."""

    namespace: str
    pods: LabelSelector | None
    ingress: tuple[Rule, ...] | None = None
    egress: tuple[Rule, ...] | None = None

    def selects(self, pod: PodEnd) -> bool:
        same = pod.namespace == self.namespace
        return same and self.pods is not None and self.pods.matches(pod.labels)

    def rules(self, direction: str) -> tuple[Rule, ...] | None:
        return self.ingress if direction == INGRESS else self.egress


def rules_of(policies: Iterable[Policy], end: End, direction: str) -> list[Rule] | None:
    """Return the rules that restrict connections of `end`, or None if it isn't isolated."""
    if not isinstance(end, PodEnd):
        return None
    found = [one.rules(direction) for one in policies if one.selects(end)]
    isolating = [one for one in found if one is not None]
    return [rule for rules in isolating for rule in rules] if isolating else None


def allowed(rules: Sequence[Rule] | None, peer: End, destination: End) -> PortSet:
    """Return the ports of `destination` on which the rules of one end allow connections with the
    other end, `peer`. See `rules_of`.
    """
    if rules is None:
        return ALL_PORTS
    found = NO_PORTS
    for rule in rules:
        found |= rule.allows(peer, destination)
    return found


def connection(policies: Sequence[Policy], source: End, destination: End) -> PortSet:
    """Return the ports of `destination` to which `source` can connect."""
    leaving = allowed(rules_of(policies, source, EGRESS), destination, destination)
    return leaving and leaving & allowed(
        rules_of(policies, destination, INGRESS), source, destination
    )


def directions(spec: Mapping[str, Any]) -> frozenset[str]:
    """Return the directions that a policy affects. By default, every policy affects ingress, and
    egress if the policy has egress rules.
    """
    types = spec.get("policyTypes")
    if not isinstance(types, list) or not types:
        types = ["Ingress", *(["Egress"] if spec.get(EGRESS) else [])]
    return frozenset(one for one in (INGRESS, EGRESS) if one.capitalize() in types)


def read_policy(manifest: Mapping[str, Any], namespace: str) -> Policy:
    """Return the policy in a manifest with any content."""
    spec = manifest.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    affected = directions(spec)

    def rules(direction: str) -> tuple[Rule, ...] | None:
        held = _mappings(spec.get(direction))
        read = (read_rule(one, direction, namespace) for one in held)
        return tuple(read) if direction in affected else None

    pods = _selector(spec.get("podSelector") or {})
    return Policy(namespace, pods, rules(INGRESS), rules(EGRESS))


def read_rule(rule: Mapping[str, Any], direction: str, namespace: str) -> Rule:
    peers, ports = rule.get(PEERS[direction]), rule.get("ports")
    read = [read_peer(one) for one in _mappings(peers)]
    return Rule(
        namespace,
        tuple(one for one in read if one is not None) if peers else None,
        tuple(one for held in _mappings(ports) if (one := _port(held))) if ports else None,
    )


def read_peer(peer: Mapping[str, Any]) -> Peer | None:
    """Return a peer, or None if it is invalid."""
    block, pods, namespaces = (
        peer.get(name) for name in ("ipBlock", "podSelector", "namespaceSelector")
    )
    if block is not None:
        return _block(block) if pods is None and namespaces is None else None
    if pods is None and namespaces is None:
        return None
    places = None if namespaces is None else _selector(namespaces)
    if namespaces is not None and places is None:
        return None
    return PodPeer(_selector({} if pods is None else pods), places)


def _block(block: Any) -> Peer | None:
    if not isinstance(block, dict):
        return None
    excluded = block.get("except") or ()
    with suppress(TypeError, ValueError):
        return BlockPeer(_network(block.get("cidr")), tuple(_network(one) for one in excluded))
    return None


def _network(value: Any) -> Network:
    """Parse a network like kube-apiserver, which ignores host bits. Raise `ValueError`."""
    if not isinstance(value, str) or "/" not in value:
        raise ValueError(value)
    return ip_network(value, strict=False)


def _port(port: Mapping[str, Any]) -> RulePort | None:
    protocol, first, last = port.get("protocol", "TCP"), port.get("port"), port.get("endPort")
    if protocol not in PROTOCOLS:
        return None
    if first is None:
        return RulePort(protocol) if last is None else None
    if isinstance(first, str):
        return RulePort(protocol, name=first) if last is None else None
    numbers = (first, first if last is None else last)
    if not all(type(one) is int and 0 < one <= MAX_PORT for one in numbers):
        return None
    return RulePort(protocol, *numbers)


def _selector(value: Any) -> LabelSelector | None:
    """Return a label selector, or None for an invalid one, which selects nothing."""
    try:
        return read_selector(selector_text(msgspec.convert(value, Selector)))
    except msgspec.ValidationError:
        return None


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
