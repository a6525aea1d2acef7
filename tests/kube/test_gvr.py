"""Paths to kube-apiserver name what they say and nothing else."""

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
def test_a_name_is_one_segment(name: str) -> None:
    assert URL("https://server" + PODS.path("shop", name)).raw_parts[1:-1] == (
        "api", "v1", "namespaces", "shop", "pods"
    )  # fmt: skip
    assert URL("https://server" + PODS.path("shop", name)).name == name


@pytest.mark.parametrize("step", [".", "..", "a/../b", "web/exec", "a%2f..%2fb", "%2e%2e", "..%00"])
def test_no_name_is_a_step_in_the_path_or_several(step: str) -> None:
    """kube-apiserver reads paths decoded: `web%2Fexec` is a subresource."""
    for place in ((step, "web"), ("shop", step), ("shop", "web", step)):
        with pytest.raises(NotFound):
            PODS.path(*place)


@pytest.mark.parametrize("place", [("", ""), ("shop", ""), ("shop", "", "status")])
def test_without_a_name_it_is_no_object(place: tuple[str, ...]) -> None:
    """Else somebody would delete all of them instead of one."""
    with pytest.raises(NotFound):
        PODS.object_path(*place)
