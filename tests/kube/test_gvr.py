"""Paths to kube-apiserver name what they say and nothing else."""

import pytest
from yarl import URL

from console.kube.errors import NotFound
from console.kube.gvr import PODS


@pytest.mark.parametrize(
    "name", ["a/../b", "a%2f..%2fb", "%2e%2e", "..%00", "?watch=1", "#", "a b"]
)
def test_a_name_is_one_segment(name: str) -> None:
    assert URL("https://server" + PODS.path("shop", name)).raw_parts[1:-1] == (
        "api", "v1", "namespaces", "shop", "pods"
    )  # fmt: skip
    assert URL("https://server" + PODS.path("shop", name)).name == name


@pytest.mark.parametrize("step", [".", ".."])
def test_no_name_is_a_step_in_the_path(step: str) -> None:
    for place in ((step, "web"), ("shop", step), ("shop", "web", step)):
        with pytest.raises(NotFound):
            PODS.path(*place)
