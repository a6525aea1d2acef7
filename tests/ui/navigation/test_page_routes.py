"""Parsing of page URLs sent by clients."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.ui.navigation.page_routes import resolve_list, resolve_page

pytestmark = pytest.mark.usefixtures("host")


def test_list_url_is_parsed_with_its_parameters() -> None:
    place = resolve_list("/clusters/host/pods?namespace=shop&sort=-age")
    assert place is not None
    assert place.kind.segment == "pods"
    assert (place.spec.namespaces, place.spec.sort) == (("shop",), "-age")
    assert place.spec.url == "/clusters/host/pods?namespace=shop&sort=-age"


def test_parameter_errors_are_kept() -> None:
    place = resolve_list("/clusters/host/pods?limit=abc")
    assert place is not None
    assert [error.field for error in place.spec.errors] == ["limit"]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "clusters/host/pods",
        "//clusters/host/pods",
        "/clusters/host/pods/",
        "/clusters/host/../host/pods",
        "/clusters/host/planets",
        "/clusters/member/pods",
        "/clusters/host/projects/shop/pods/web/actions/delete",
        "/dashboard",
        "/login",
        "http://testserver/clusters/host/pods",
        "/clusters/host/pods\\",
        "/clusters/host/pods\t",
        "/[::1/clusters",
        "/clusters/host/pods?" + "a" * 20_000,
        "/clusters/host/pods?" + "&".join(f"x{n}" for n in range(1100)),
    ],
)
def test_other_urls_are_refused_quickly(url: str) -> None:
    started = time.thread_time()
    assert resolve_list(url) is None
    assert time.thread_time() - started < 0.25


@given(st.one_of(st.text(), st.text().map(lambda text: f"/clusters/host/pods?{text}")))
def test_any_text_is_parsed_or_refused(url: str) -> None:
    place = resolve_list(url)
    assert place is None or place.kind.segment == "pods"


@pytest.mark.parametrize("name", ["%2e%2e", ".", "a%252Fb", "a%25b", "A", "x" * 64])
def test_invalid_project_name_is_refused(name: str) -> None:
    assert resolve_page("/clusters/host/projects/shop/secrets/a") is not None
    assert resolve_page(f"/clusters/host/projects/{name}/secrets/a") is None
