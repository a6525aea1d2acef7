"""Services displayed like kubectl, and their endpoints."""

from typing import Any

import pytest

from console.kube.gvr import ENDPOINT_SLICES, SERVICES
from tests.kube.projecting import DELETED, projected, said

BALANCED = {"loadBalancer": {"ingress": [{"hostname": "b.example"}, {"ip": "192.0.2.7"}]}}

TEXTS: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    (
        "cluster IP",
        {
            "type": "ClusterIP",
            "clusterIP": "10.0.0.1",
            "clusterIPs": ["10.0.0.1", "fd00::1"],
            "ports": [{"port": 80, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}],
            "selector": {"tier": "web", "app": "shop"},
        },
        {},
        {
            "type": "ClusterIP",
            "cluster_ip": "10.0.0.1",
            "external": (),
            "ports": ("80/TCP", "53/UDP"),
            "selector": "app=shop,tier=web",
        },
    ),
    (
        "node port",
        {
            "type": "NodePort",
            "externalIPs": ["192.0.2.1"],
            "ports": [{"port": 80, "nodePort": 30080, "protocol": "TCP"}],
        },
        {},
        {"external": ("192.0.2.1",), "ports": ("80:30080/TCP",), "selector": ""},
    ),
    (
        "load balancer",
        {"type": "LoadBalancer", "externalIPs": ["192.0.2.9"]},
        BALANCED,
        {"external": ("192.0.2.7", "b.example", "192.0.2.9")},
    ),
    (
        "external name",
        {"type": "ExternalName", "externalName": "db.example"},
        {},
        {"external": ("db.example",), "cluster_ip": ""},
    ),
    ("headless", {"clusterIP": "None", "clusterIPs": ["None"]}, {}, {"cluster_ip": "None"}),
    ("nothing but a name", {}, {}, {"type": "ClusterIP", "ports": (), "external": ()}),
]


@pytest.mark.parametrize(
    ("spec", "status", "expected"), [c[1:] for c in TEXTS], ids=[c[0] for c in TEXTS]
)
def test_service_matches_kubectl(
    spec: dict[str, Any], status: dict[str, Any], expected: dict[str, Any]
) -> None:
    service = projected(SERVICES, spec=spec, status=status)
    assert {name: getattr(service, name) for name in expected} == expected


def test_load_balancer_without_address_is_waiting() -> None:
    spec = {"type": "LoadBalancer"}
    found = projected(SERVICES, spec=spec, status={"loadBalancer": {}})
    assert said(found) == ("progress", "Waiting for an address", "")
    assert said(projected(SERVICES, spec=spec, status=BALANCED)) == ("done", "Active", "")


def test_failed_load_balancer_port_is_reported() -> None:
    ingress = [
        {"ip": "192.0.2.7", "ports": [{"port": 80}, {"port": 443, "error": "QuotaExceeded"}]}
    ]
    found = projected(
        SERVICES, spec={"type": "LoadBalancer"}, status={"loadBalancer": {"ingress": ingress}}
    )
    assert said(found) == ("error", "Port failed", "443: QuotaExceeded")


def test_service_status_does_not_depend_on_its_endpoints() -> None:
    assert said(projected(SERVICES, spec={"selector": {"app": "gone"}})) == ("done", "Active", "")
    assert said(projected(SERVICES, DELETED, spec={}))[1] == "Terminating"


def endpoint(address: str, **conditions: bool | None) -> dict[str, Any]:
    return {"addresses": [address], "conditions": conditions}


SLICES: list[tuple[str, list[dict[str, Any]] | None, tuple[str, str, str], tuple[int, int]]] = [
    ("all ready", [endpoint("10.0.0.1", ready=True)], ("ok", "Ready", ""), (1, 1)),
    ("unset is ready", [endpoint("10.0.0.1")], ("ok", "Ready", ""), (1, 1)),
    ("no conditions", [{"addresses": ["10.0.0.1"]}], ("ok", "Ready", ""), (1, 1)),
    (
        "some ready",
        [endpoint("10.0.0.1", ready=True), endpoint("10.0.0.2", ready=False)],
        ("warn", "Partially ready", "1 of 2 ready"),
        (1, 2),
    ),
    (
        "none ready",
        [endpoint("10.0.0.2", ready=False)],
        ("error", "Not ready", "0 of 1 ready"),
        (0, 1),
    ),
    (
        "one goes",
        [endpoint("10.0.0.1", ready=True), endpoint("10.0.0.2", ready=False, terminating=True)],
        ("ok", "Ready", ""),
        (1, 1),
    ),
    ("empty", [], ("paused", "No endpoints", ""), (0, 0)),
    ("null", None, ("paused", "No endpoints", ""), (0, 0)),
]


@pytest.mark.parametrize(
    ("endpoints", "status", "counts"), [c[1:] for c in SLICES], ids=[c[0] for c in SLICES]
)
def test_ready_endpoints_are_counted(
    endpoints: list[dict[str, Any]] | None, status: tuple[str, str, str], counts: tuple[int, int]
) -> None:
    found = projected(ENDPOINT_SLICES, addressType="IPv4", endpoints=endpoints, ports=None)
    assert said(found) == status
    assert (found.ready, found.endpoints) == counts


def test_service_ports_and_addresses_of_a_slice_are_kept() -> None:
    found = projected(
        ENDPOINT_SLICES,
        {"labels": {"kubernetes.io/service-name": "shop"}},
        endpoints=[endpoint("10.0.0.1"), {"addresses": ["10.0.0.2", "10.0.0.3"]}],
        ports=[{"port": 80}, {"name": "metrics"}, {}],
    )
    assert found.service == "shop"
    assert found.addresses == ("10.0.0.1", "10.0.0.2", "10.0.0.3")
    assert found.ports == ("80", "metrics", "*")
