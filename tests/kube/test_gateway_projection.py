"""Gateways, gateway classes and routes: statuses derived from their conditions."""

from typing import Any

import pytest

from console.kube.gvr import GATEWAY_CLASSES, GATEWAYS, GRPC_ROUTES, HTTP_ROUTES
from tests.kube.projecting import DELETED, condition, projected, said

UNSEEN = condition("Accepted", "Unknown", "Pending", "Waiting for controller")
ACCEPTED = condition("Accepted", "True", "Accepted")
REFUSED = condition("Accepted", "False", "InvalidParameters", "no such parameters")
WAITS = ("progress", "Waiting", "Pending: Waiting for controller")
NO = ("error", "Not accepted", "InvalidParameters: no such parameters")

CLASSES = [
    ([UNSEEN], WAITS),
    ([ACCEPTED], ("ok", "Accepted", "")),
    ([REFUSED], NO),
    (None, ("progress", "Waiting", "")),
]
GATEWAY_STATES = [
    ([], ("progress", "Waiting", "")),
    ([UNSEEN, condition("Programmed", "Unknown", "Pending")], WAITS),
    ([REFUSED], NO),
    ([ACCEPTED], ("progress", "Waiting", "")),
    ([ACCEPTED, condition("Programmed", "True", "Programmed")], ("ok", "Ready", "")),
    ([ACCEPTED, condition("Programmed", "False", "Pending")], ("progress", "Waiting", "Pending")),
    (
        [ACCEPTED, condition("Programmed", "False", "AddressNotAssigned", "no pool")],
        ("progress", "Waiting for an address", "AddressNotAssigned: no pool"),
    ),
    (
        [ACCEPTED, condition("Programmed", "False", "Invalid", "port taken")],
        ("error", "Not ready", "Invalid: port taken"),
    ),
]
LOST = condition("ResolvedRefs", "False", "BackendNotFound", 'service "x" not found')
ROUTE_STATES: list[tuple[list[list[dict[str, str]]] | None, tuple[str, str, str]]] = [
    (None, ("progress", "Waiting", "")),
    ([], ("progress", "Waiting", "")),
    ([[ACCEPTED]], ("ok", "Accepted", "")),
    ([[ACCEPTED], [REFUSED]], NO),
    (
        [[ACCEPTED, LOST]],
        ("error", "Broken reference", 'BackendNotFound: service "x" not found'),
    ),
    ([[ACCEPTED], [UNSEEN]], WAITS),
]


@pytest.mark.parametrize(("conditions", "expected"), CLASSES)
def test_gateway_class_status(
    conditions: list[dict[str, str]] | None, expected: tuple[str, str, str]
) -> None:
    status = {"conditions": conditions}
    assert said(projected(GATEWAY_CLASSES, spec={}, status=status)) == expected


@pytest.mark.parametrize(("conditions", "expected"), GATEWAY_STATES)
def test_gateway_status(conditions: list[dict[str, str]], expected: tuple[str, str, str]) -> None:
    status = {"conditions": conditions}
    assert said(projected(GATEWAYS, spec={}, status=status)) == expected


@pytest.mark.parametrize(("parents", "expected"), ROUTE_STATES)
def test_route_status_is_the_worst_of_its_parents(
    parents: list[list[dict[str, str]]] | None, expected: tuple[str, str, str]
) -> None:
    listed = None if parents is None else [{"conditions": found} for found in parents]
    for gvr in (HTTP_ROUTES, GRPC_ROUTES):
        assert said(projected(gvr, spec={}, status={"parents": listed})) == expected
        assert said(projected(gvr, DELETED, status={"parents": listed}))[1] == "Terminating"


def test_listeners_and_addresses_of_a_gateway_are_kept() -> None:
    found = projected(
        GATEWAYS,
        spec={
            "gatewayClassName": "example",
            "listeners": [{"protocol": "HTTP", "port": 80}, {"protocol": "HTTPS", "port": 443}],
        },
        status={
            "addresses": [{"type": "IPAddress", "value": "192.0.2.1"}, {"value": None}],
            "listeners": [{"attachedRoutes": 2}, {"attachedRoutes": 1}, {}],
        },
    )
    assert found.listeners == ("HTTP/80", "HTTPS/443")
    assert (found.addresses, found.routes) == (("192.0.2.1",), 3)


def test_references_to_other_namespaces_contain_the_namespace() -> None:
    backends: list[dict[str, Any]] = [{"name": "shop"}, {"name": "x", "namespace": "other"}]
    found = projected(
        HTTP_ROUTES,
        {"namespace": "team"},
        spec={
            "hostnames": ["a.example"],
            "parentRefs": [{"name": "edge", "namespace": "infra"}, {"namespace": "infra"}],
            "rules": [{"backendRefs": backends}, {"backendRefs": None}, {"backendRefs": backends}],
        },
    )
    assert found.parents == ("infra/edge",)
    assert found.backends == ("shop", "other/x")
