"""Validation of paths that different programs could interpret differently."""

from itertools import product

import pytest

from console.kube.gvr import PODS, SERVICES, Key
from console.proxying.paths import BadPath, read_path, read_query, without_prefix
from console.proxying.target import ProxyTarget

WEB = ProxyTarget(PODS, Key("shop", "web-1"), 8080)
#: A dot, a slash and a backslash: literal, encoded once and encoded twice.
DOTS = (".", "%2e", "%2E", "%252e", "%252E")
SLASHES = ("/", "%2f", "%2F", "%252f", "\\", "%5c", "%255C")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "//",
        "/a/b/",
        "/a%20b",
        "/100%25",
        "/caf%C3%A9",
        "/a%2Fb",
        "/.well-known/x",
        "/...",
        "/a..b/c",
        "/x;v=1",
        "/%7Euser/{id}/[0]",
        "/api/v1/namespaces/shop/pods",
    ],
)
def test_valid_path_is_passed_on_unchanged(path: str) -> None:
    assert read_path(path.encode()) == path


@pytest.mark.parametrize(
    "path",
    [
        *(f"/a{s}{one}{two}" for s, one, two in product(SLASHES, DOTS, DOTS)),
        *(f"/{one}{two}{s}a" for s, one, two in product(SLASHES, DOTS, DOTS)),
        *(f"/{dot}/a" for dot in DOTS),
        "/..;/a",
        "/a/..;x=1/b",
        "/%2e%2e%3b/a",
        "/a%00",
        "/a%0d%0aHost: x",
        "/a%250a",
        "/a%7f",
        "/a\\b",
        "/a%5cb",
        "/a b",
        "/a#b",
        "/a%",
        "/a%zz",
        "/a\x01",
        "/\xe9",
        "a",
        "",
        "*",
        "http://elsewhere.example/",
    ],
)
def test_path_traversal_in_any_encoding_is_refused(path: str) -> None:
    with pytest.raises(BadPath):
        read_path(path.encode("latin-1"))


@pytest.mark.parametrize("query", [b"", b"a=b&c=%2e%2e", b"q=%00", b"path=/x&watch=true", b"?"])
def test_valid_query_is_passed_on_unchanged(query: bytes) -> None:
    assert read_query(query) == query.decode()


@pytest.mark.parametrize("query", [b"a b", b"a\r\nb", b"\xe9", b"a#b", b"a\x00"])
def test_invalid_query_is_refused(query: bytes) -> None:
    with pytest.raises(BadPath):
        read_query(query)


def test_proxy_path_of_pods_and_services() -> None:
    assert WEB.path == "/api/v1/namespaces/shop/pods/web-1:8080/proxy"
    front = ProxyTarget(SERVICES, Key("shop", "front"), 443, "https")
    assert front.path == "/api/v1/namespaces/shop/services/https:front:443/proxy"
    assert front.resource_name == Key("shop", "https:front:443")


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (f"{WEB.path}/a/b", "/a/b"),
        (f"{WEB.path}/", "/"),
        (WEB.path, WEB.path),
        (f"{WEB.path}x/", f"{WEB.path}x/"),
        ("/a", "/a"),
        (f"/a{WEB.path}/b", f"/a{WEB.path}/b"),
    ],
)
def test_prefix_added_by_kube_apiserver_is_removed(path: str, found: str) -> None:
    assert without_prefix(path, WEB) == found
