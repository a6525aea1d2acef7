"""Ingresses, ingress classes and network policies, displayed like kubectl."""

from typing import Any

import pytest

from console.kube.gvr import INGRESS_CLASSES, INGRESSES, NETWORK_POLICIES
from tests.kube.projecting import DELETED, projected, said


def rule(host: str, *services: str) -> dict[str, Any]:
    paths = [{"path": "/", "backend": {"service": {"name": name}}} for name in services]
    return {"host": host, "http": {"paths": paths}}


def test_ingress_lists_hosts_backends_and_certificates() -> None:
    found = projected(
        INGRESSES,
        spec={
            "ingressClassName": "nginx",
            "defaultBackend": {"service": {"name": "fallback"}},
            "rules": [rule("a.example", "shop", "cart"), rule("a.example", "shop"), {"http": None}],
            "tls": [{"hosts": ["a.example"], "secretName": "a-tls"}, {"hosts": ["b.example"]}],
        },
        status={"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}},
    )
    assert found.class_name == "nginx"
    assert found.hosts == ("a.example", "*")
    assert found.backends == ("fallback", "shop", "cart")
    assert (found.tls, found.tls_secrets) == (True, ("a-tls",))
    assert found.addresses == ("192.0.2.1",)
    assert said(found) == ("ok", "Active", "")


def test_ingress_without_address_is_waiting() -> None:
    for status in ({}, None, {"loadBalancer": None}, {"loadBalancer": {"ingress": None}}):
        found = projected(INGRESSES, spec=None, status=status)
        assert said(found) == ("progress", "Waiting for an address", "")
        assert found.hosts == ("*",)
    assert said(projected(INGRESSES, DELETED))[0] == "ending"


def test_deprecated_class_annotation_is_supported() -> None:
    old = {"annotations": {"kubernetes.io/ingress.class": "traefik"}}
    assert projected(INGRESSES, old, spec={}).class_name == "traefik"
    assert projected(INGRESSES, old, spec={"ingressClassName": "nginx"}).class_name == "nginx"


def test_default_ingress_class_and_parameters_are_read() -> None:
    found = projected(
        INGRESS_CLASSES,
        {"annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}},
        spec={
            "controller": "example.com/ingress",
            "parameters": {"apiGroup": "k8s.example.com", "kind": "Settings", "name": "main"},
        },
    )
    assert (found.default, found.parameters) == (True, "Settings.k8s.example.com/main")
    bare = projected(INGRESS_CLASSES, spec={"parameters": {"kind": "ConfigMap", "name": "x"}})
    assert (bare.default, bare.parameters) == (False, "ConfigMap/x")


EXPRESSIONS = [
    {"key": "tier", "operator": "In", "values": ["web", "api"]},
    {"key": "env", "operator": "NotIn", "values": ["test"]},
    {"key": "team", "operator": "Exists"},
    {"key": "legacy", "operator": "DoesNotExist"},
]
POLICIES: list[tuple[str, dict[str, Any] | None, tuple[str, int | None, int | None]]] = [
    ("deny all that comes in", {"podSelector": {}, "policyTypes": ["Ingress"]}, ("", 0, None)),
    (
        "both ways",
        {
            "podSelector": {"matchLabels": {"b": "2", "a": "1"}},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{}, {"from": []}],
            "egress": [{}],
        },
        ("a=1,b=2", 2, 1),
    ),
    ("types left out", {"podSelector": {}, "egress": [{}]}, ("", 0, 1)),
    ("outwards alone", {"podSelector": {}, "policyTypes": ["Egress"]}, ("", None, 0)),
    (
        "expressions",
        {"podSelector": {"matchLabels": {"app": "x"}, "matchExpressions": EXPRESSIONS}},
        ("app=x,env notin (test),!legacy,team,tier in (api,web)", 0, None),
    ),
    ("nothing said", None, ("", 0, None)),
]


@pytest.mark.parametrize(
    ("spec", "expected"), [c[1:] for c in POLICIES], ids=[c[0] for c in POLICIES]
)
def test_network_policy_shows_selector_and_rules(
    spec: dict[str, Any] | None, expected: tuple[str, int | None, int | None]
) -> None:
    found = projected(NETWORK_POLICIES, spec=spec)
    assert (found.selector, found.ingress, found.egress) == expected
