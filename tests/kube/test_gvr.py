"""Paths of requests to kube-apiserver contain exactly the given names."""

import pytest
from yarl import URL

from console.kube.errors import NotFound
from console.kube.gvr import PODS

NAMES = (
    "?watch=1",
    "#",
    "a b",
    "..;",
    "..\\..",
    "a\r\nHost: x",
    "a\0",
    "\u202e",
    "．．",
    "a;b=c",
    "@x",
)


@pytest.mark.parametrize("name", [*NAMES, "x" * 5000])
def test_name_is_one_path_segment(name: str) -> None:
    assert URL("https://server" + PODS.path("shop", name)).raw_parts[1:-1] == (
        "api", "v1", "namespaces", "shop", "pods"
    )  # fmt: skip
    assert URL("https://server" + PODS.path("shop", name)).name == name


@pytest.mark.parametrize("step", [".", "..", "a/../b", "web/exec", "a%2f..%2fb", "%2e%2e", "..%00"])
def test_name_with_path_syntax_is_refused(step: str) -> None:
    """kube-apiserver decodes paths before parsing: `web%2Fexec` is a subresource."""
    for place in ((step, "web"), ("shop", step), ("shop", "web", step)):
        with pytest.raises(NotFound):
            PODS.path(*place)


@pytest.mark.parametrize("place", [("", ""), ("shop", ""), ("shop", "", "status")])
def test_empty_name_is_refused(place: tuple[str, ...]) -> None:
    """Otherwise a deletion would apply to the whole collection."""
    with pytest.raises(NotFound):
        PODS.object_path(*place)
