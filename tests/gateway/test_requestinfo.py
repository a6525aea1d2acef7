"""Attributes of requests, and the addresses that the gateway answers."""

import pytest

from console.gateway.errors import Refusal
from console.gateway.paths import is_gateway_path
from console.gateway.requestinfo import read_request

NAMESPACE = "/api/v1/namespaces/shop"


@pytest.mark.parametrize(
    ("method", "address", "verb", "attributes"),
    [
        ("GET", "/api/v1/pods", "list", "- v1 - pods - -"),
        ("GET", "/api/v1/pods?watch=true", "watch", "- v1 - pods - -"),
        ("GET", "/api/v1/pods?watch=", "watch", "- v1 - pods - -"),
        ("GET", "/api/v1/pods?watch=0", "list", "- v1 - pods - -"),
        ("GET", "/api/v1/watch/pods", "watch", "- v1 - pods - -"),
        ("GET", "/api/v1/watch/namespaces/shop/pods/web", "watch", "- v1 shop pods web -"),
        ("HEAD", "/api/v1/namespaces/shop/pods/web", "get", "- v1 shop pods web -"),
        ("POST", "/api/v1/namespaces/shop/pods", "create", "- v1 shop pods - -"),
        ("DELETE", "/api/v1/namespaces/shop/pods", "deletecollection", "- v1 shop pods - -"),
        ("DELETE", "/api/v1/namespaces/shop/pods/web", "delete", "- v1 shop pods web -"),
        ("GET", "/api/v1/namespaces/shop", "get", "- v1 shop namespaces shop -"),
        ("PUT", "/api/v1/namespaces/shop/finalize", "update", "- v1 shop namespaces shop finalize"),
        ("GET", "/api/v1/namespaces/shop/pods/web/log", "get", "- v1 shop pods web log"),
        (
            "GET",
            "/api/v1/namespaces/shop/services/a:80/proxy/x%2Fy//z",
            "get",
            "- v1 shop services a:80 proxy",
        ),
        (
            "PATCH",
            "/apis/apps/v1/namespaces/shop/deployments/web/scale",
            "patch",
            "apps v1 shop deployments web scale",
        ),
        ("GET", "/apis/rbac/v1/clusterroles/a:b%2Bc", "get", "rbac v1 - clusterroles a:b+c -"),
        ("GET", "/apis/apps/v1", "get", "- - - - - -"),
        ("GET", "/version", "get", "- - - - - -"),
    ],
)
def test_attributes_are_those_of_kubernetes(
    method: str, address: str, verb: str, attributes: str
) -> None:
    path, _mark, query = address.partition("?")
    for prefix in ("", "/clusters/east"):
        info = read_request(method, f"{prefix}{path}".encode(), query.encode())
        assert (info.verb, info.path, info.query) == (verb, path, query)
        found = (info.group, info.version, info.namespace, info.resource, info.name)
        assert " ".join(one or "-" for one in (*found, info.subresource)) == attributes
        assert info.cluster == ("east" if prefix else "host")
        assert info.console_path(path) == f"{prefix}{path}"


def test_the_cluster_may_follow_the_first_segment() -> None:
    info = read_request("GET", b"/apis/clusters/east/apps/v1/deployments", b"")
    assert (info.cluster, info.path) == ("east", "/apis/apps/v1/deployments")
    assert info.console_path("/apis/apps/v1") == "/apis/clusters/east/apps/v1"
    assert info.console_path("//elsewhere") == "//elsewhere"


@pytest.mark.parametrize(
    ("address", "is_long", "changes"),
    [
        (f"{NAMESPACE}/pods?watch=1", True, False),
        (f"{NAMESPACE}/pods", False, False),
        (f"{NAMESPACE}/pods/web/log?follow=true", True, False),
        (f"{NAMESPACE}/pods/web/log", False, False),
        (f"{NAMESPACE}/pods/web/exec?command=sh", True, True),
        (f"{NAMESPACE}/pods/web/portforward", True, True),
        ("/api/v1/nodes/a/proxy/run", True, True),
    ],
)
def test_reading_requests_of_connections_count_as_changes(
    address: str, is_long: bool, changes: bool
) -> None:
    path, _mark, query = address.partition("?")
    info = read_request("GET", path.encode(), query.encode())
    assert (info.is_long, info.changes) == (is_long, changes)


@pytest.mark.parametrize(
    "path",
    [
        *("/api", "/apis/", "/api?x=/y", "/version", "/openapi/v3/apis/apps/v1", "/%61pi/v1"),
        *("/clusters/host/api/v1", "/clusters/host/apis", "/clusters/host/version"),
        *("/clusters/host/openapi/v2", "/clusters/host/openapi/v3/api/v1"),
        *("/kapis/version", "/clusters/host/kapis/version"),
        *("/clusters/host/healthz", "/clusters/host/readyz/etcd"),
    ],
)
def test_addresses_of_the_gateway(path: str) -> None:
    assert is_gateway_path(path.encode())


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", "/apix", "/login", "/livez", "/readyz", "http://x/api"),
        *("/clusters", "/clusters/host", "/clusters/host/pods", "/clusters/host/openapi"),
        *("/clusters/host/openapi/apps/v1/Deployment", "/clusters/api", "/oauth/token"),
        "/clusters/host/apiservices.apiregistration.k8s.io",
    ],
)
def test_other_addresses_are_those_of_pages(path: str) -> None:
    assert not is_gateway_path(path.encode())


@pytest.mark.parametrize(
    ("method", "path", "query", "code"),
    [
        ("TRACE", "/api", "", 405),
        ("CONNECT", "/api", "", 405),
        ("GET", "/api/v1/" + "x" * 3000, "", 414),
        ("GET", "/api/v1/namespaces/a%2Fb", "", 400),
        ("GET", "/api/v1/namespaces/a%252Fb", "", 400),
        ("GET", "/api//v1", "", 400),
        ("GET", "/api/v1/../x", "", 400),
        ("GET", "/api/v1/pods/x/proxy/../../y", "", 400),
        ("GET", "/api", "access_token=x", 400),
        ("GET", "/api", "a=b#c", 400),
    ],
)
def test_ambiguous_requests_are_refused(method: str, path: str, query: str, code: int) -> None:
    with pytest.raises(Refusal) as refused:
        read_request(method, path.encode(), query.encode())
    assert refused.value.code == code
