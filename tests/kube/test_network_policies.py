"""Which connections NetworkPolicies allow, compared with cases that were computed by hand from
https://kubernetes.io/docs/concepts/services-networking/network-policies/.
"""

from ipaddress import ip_network
from typing import Any

import pytest

from console.kube.network_policies import (
    ALL_PORTS,
    NO_PORTS,
    End,
    OutsideEnd,
    PodEnd,
    Policy,
    PortRange,
    PortSet,
    connection,
    directions,
    port_set,
    read_policy,
)

SHOP, OPS = {"team": "shop"}, {"team": "ops", "kubernetes.io/metadata.name": "ops"}
WEB = PodEnd("shop", {"app": "web"}, SHOP)
DB = PodEnd("shop", {"app": "db"}, SHOP, {("TCP", "sql"): 5432, ("UDP", "sql"): 5433})
CACHE = PodEnd("shop", {"app": "cache"}, SHOP)
PROBE = PodEnd("ops", {"app": "probe"}, OPS)
OTHER = PodEnd("ops", {"app": "web"}, OPS)
INTERNET = OutsideEnd()
SELECT_DB: dict[str, Any] = {"podSelector": {"matchLabels": {"app": "db"}}}


def outside(network: str) -> OutsideEnd:
    return OutsideEnd(ip_network(network))


def pods(**labels: str) -> dict[str, Any]:
    return {"podSelector": {"matchLabels": labels}}


def projects(**labels: str) -> dict[str, Any]:
    return {"namespaceSelector": {"matchLabels": labels}}


def policy(namespace: str = "shop", /, **spec: Any) -> Policy:
    return read_policy({"spec": {"podSelector": {}, **spec}}, namespace)


def tcp(first: int, last: int | None = None) -> PortSet:
    return port_set([PortRange("TCP", first, first if last is None else last)])


DENY_INGRESS = policy(policyTypes=["Ingress"])
DENY_EGRESS = policy(policyTypes=["Egress"])
WEB_TO_DB = policy(**SELECT_DB, ingress=[{"from": [pods(app="web")], "ports": [{"port": 5432}]}])


@pytest.mark.parametrize(
    ("policies", "source", "destination", "expected"),
    [
        # Without policies, pods accept all connections.
        ((), WEB, DB, ALL_PORTS),
        ((), INTERNET, DB, ALL_PORTS),
        # A policy without rules isolates the selected pods in one direction.
        ((DENY_INGRESS,), WEB, DB, NO_PORTS),
        ((DENY_INGRESS,), WEB, PROBE, ALL_PORTS),
        ((DENY_INGRESS,), DB, INTERNET, ALL_PORTS),
        ((DENY_EGRESS,), WEB, DB, NO_PORTS),
        ((DENY_EGRESS,), PROBE, DB, ALL_PORTS),
        ((DENY_EGRESS,), WEB, INTERNET, NO_PORTS),
        # Pods that no policy selects are not isolated.
        ((WEB_TO_DB,), CACHE, WEB, ALL_PORTS),
        ((WEB_TO_DB,), WEB, DB, tcp(5432)),
        ((WEB_TO_DB,), CACHE, DB, NO_PORTS),
        # A pod selector alone matches only pods in the namespace of the policy.
        ((WEB_TO_DB,), OTHER, DB, NO_PORTS),
        # Policies add up.
        ((WEB_TO_DB, DENY_INGRESS), WEB, DB, tcp(5432)),
        (
            (WEB_TO_DB, policy(**SELECT_DB, ingress=[{"ports": [{"port": 80}]}])),
            WEB,
            DB,
            port_set([PortRange("TCP", 80, 80), PortRange("TCP", 5432, 5432)]),
        ),
        ((WEB_TO_DB, policy(ingress=[{}])), OTHER, DB, ALL_PORTS),
        # Both ends must allow a connection.
        ((WEB_TO_DB, DENY_EGRESS), WEB, DB, NO_PORTS),
        (
            (
                WEB_TO_DB,
                policy(
                    policyTypes=["Egress"], egress=[{"ports": [{"port": 5000, "endPort": 6000}]}]
                ),
            ),
            WEB,
            DB,
            tcp(5432),
        ),
        # A policy of another namespace doesn't affect the pods.
        ((policy("ops", policyTypes=["Ingress"]),), WEB, DB, ALL_PORTS),
        ((policy("ops", policyTypes=["Ingress"]),), WEB, PROBE, NO_PORTS),
        ((policy("ops", policyTypes=["Egress"]),), PROBE, DB, NO_PORTS),
        # Namespace selector alone: all pods of the matching namespaces.
        ((policy(ingress=[{"from": [projects(team="ops")]}]),), PROBE, DB, ALL_PORTS),
        ((policy(ingress=[{"from": [projects(team="ops")]}]),), WEB, DB, NO_PORTS),
        ((policy(ingress=[{"from": [{"namespaceSelector": {}}]}]),), WEB, DB, ALL_PORTS),
        ((policy(ingress=[{"from": [{"namespaceSelector": {}}]}]),), INTERNET, DB, NO_PORTS),
        # Both selectors in one peer: matching pods in matching namespaces.
        (
            (policy(ingress=[{"from": [projects(team="ops") | pods(app="web")]}]),),
            OTHER,
            DB,
            ALL_PORTS,
        ),
        (
            (policy(ingress=[{"from": [projects(team="ops") | pods(app="web")]}]),),
            PROBE,
            DB,
            NO_PORTS,
        ),
        (
            (policy(ingress=[{"from": [projects(team="ops") | pods(app="web")]}]),),
            WEB,
            DB,
            NO_PORTS,
        ),
        # The same selectors in two peers: either of them.
        (
            (policy(ingress=[{"from": [projects(team="ops"), pods(app="web")]}]),),
            PROBE,
            DB,
            ALL_PORTS,
        ),
        (
            (policy(ingress=[{"from": [projects(team="ops"), pods(app="web")]}]),),
            WEB,
            DB,
            ALL_PORTS,
        ),
        # Empty lists of peers and ports mean all of them.
        ((policy(ingress=[{"from": [], "ports": []}]),), INTERNET, DB, ALL_PORTS),
        # IP blocks match addresses outside the cluster, except those they exclude.
        (
            (
                policy(
                    ingress=[
                        {"from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}]}
                    ]
                ),
            ),
            outside("10.0.0.0/8"),
            DB,
            ALL_PORTS,
        ),
        (
            (
                policy(
                    ingress=[
                        {"from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}]}
                    ]
                ),
            ),
            outside("10.1.0.0/16"),
            DB,
            NO_PORTS,
        ),
        (
            (policy(ingress=[{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]),),
            outside("10.1.2.0/24"),
            DB,
            ALL_PORTS,
        ),
        (
            (policy(ingress=[{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]),),
            outside("0.0.0.0/0"),
            DB,
            NO_PORTS,
        ),
        (
            (policy(ingress=[{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]),),
            INTERNET,
            DB,
            NO_PORTS,
        ),
        ((policy(ingress=[{"from": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}]),), WEB, DB, NO_PORTS),
        (
            (policy(ingress=[{"from": [{"ipBlock": {"cidr": "::/0"}}]}]),),
            outside("10.0.0.0/8"),
            DB,
            NO_PORTS,
        ),
        # Host bits of an address are ignored.
        (
            (policy(egress=[{"to": [{"ipBlock": {"cidr": "10.0.0.9/8"}}]}]),),
            WEB,
            outside("10.0.0.0/8"),
            ALL_PORTS,
        ),
        # A named port is looked up in the destination's containers.
        ((policy(ingress=[{"ports": [{"port": "sql"}]}]),), WEB, DB, tcp(5432)),
        (
            (policy(ingress=[{"ports": [{"port": "sql", "protocol": "UDP"}]}]),),
            WEB,
            DB,
            port_set([PortRange("UDP", 5433, 5433)]),
        ),
        ((policy(ingress=[{"ports": [{"port": "sql"}]}]),), DB, WEB, NO_PORTS),
        (
            (policy(policyTypes=["Egress"], egress=[{"ports": [{"port": "sql"}]}]),),
            WEB,
            DB,
            tcp(5432),
        ),
        (
            (policy(policyTypes=["Egress"], egress=[{"ports": [{"port": "sql"}]}]),),
            WEB,
            INTERNET,
            NO_PORTS,
        ),
        # A protocol without a port means all ports of the protocol.
        (
            (policy(ingress=[{"ports": [{"protocol": "UDP"}]}]),),
            WEB,
            DB,
            port_set([PortRange("UDP", 1, 65535)]),
        ),
        # Expressions of selectors.
        (
            (
                policy(
                    ingress=[
                        {
                            "from": [
                                {
                                    "podSelector": {
                                        "matchExpressions": [
                                            {"key": "app", "operator": "In", "values": ["web", "x"]}
                                        ]
                                    }
                                }
                            ]
                        }
                    ]
                ),
            ),
            WEB,
            DB,
            ALL_PORTS,
        ),
        (
            (
                policy(
                    ingress=[
                        {
                            "from": [
                                {
                                    "podSelector": {
                                        "matchExpressions": [
                                            {"key": "app", "operator": "NotIn", "values": ["web"]}
                                        ]
                                    }
                                }
                            ]
                        }
                    ]
                ),
            ),
            WEB,
            DB,
            NO_PORTS,
        ),
        (
            (
                policy(
                    ingress=[
                        {
                            "from": [
                                {
                                    "podSelector": {
                                        "matchExpressions": [
                                            {"key": "app", "operator": "DoesNotExist"}
                                        ]
                                    }
                                }
                            ]
                        }
                    ]
                ),
            ),
            WEB,
            DB,
            NO_PORTS,
        ),
        # Content that kube-apiserver rejects matches nothing.
        ((policy(ingress=[{"from": [{}]}]),), WEB, DB, NO_PORTS),
        ((policy(ingress=[{"from": ["x"]}]),), WEB, DB, NO_PORTS),
        (
            (policy(ingress=[{"from": [{"ipBlock": {"cidr": "10.0.0.0"}}]}]),),
            outside("10.0.0.0/32"),
            DB,
            NO_PORTS,
        ),
        (
            (policy(ingress=[{"from": [{"podSelector": {"matchLabels": {"app": 1}}}]}]),),
            WEB,
            DB,
            NO_PORTS,
        ),
        (
            (
                policy(
                    ingress=[
                        {"ports": [{"port": 0}, {"port": True}, {"port": "sql", "endPort": 9}]}
                    ]
                ),
            ),
            WEB,
            DB,
            NO_PORTS,
        ),
        ((policy(podSelector={"matchLabels": {"app": []}}),), WEB, DB, ALL_PORTS),
    ],
)
def test_a_connection_is_allowed_on_the_expected_ports(
    policies: tuple[Policy, ...], source: End, destination: End, expected: PortSet
) -> None:
    assert connection(policies, source, destination) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, {"ingress"}),
        ({"policyTypes": []}, {"ingress"}),
        ({"egress": [{}]}, {"ingress", "egress"}),
        ({"egress": []}, {"ingress"}),
        ({"policyTypes": ["Egress"], "ingress": [{}]}, {"egress"}),
        ({"policyTypes": ["Egress", "Ingress"]}, {"ingress", "egress"}),
        ({"policyTypes": "Egress"}, {"ingress"}),
    ],
)
def test_the_affected_directions_follow_the_policy_types(
    spec: dict[str, Any], expected: set[str]
) -> None:
    assert directions(spec) == expected


def test_ranges_of_ports_are_merged_and_compared() -> None:
    found = port_set([PortRange("TCP", 81, 90), PortRange("TCP", 80, 80), PortRange("UDP", 80, 80)])
    assert found.ranges == (PortRange("TCP", 80, 90), PortRange("UDP", 80, 80))
    assert found.has("TCP", 85) and not found.has("UDP", 85) and ALL_PORTS.has("SCTP", 1)
    assert found & tcp(85, 99) == tcp(85, 90) and not found & tcp(91)
    assert found | ALL_PORTS == ALL_PORTS and found & ALL_PORTS == found


def test_any_content_of_a_manifest_is_read() -> None:
    found: tuple[Any, ...] = (None, "x", [], {"ingress": 1, "egress": {}}, {"ingress": [None, 1]})
    for spec in found:
        assert read_policy({"spec": spec}, "shop").ingress == ()
