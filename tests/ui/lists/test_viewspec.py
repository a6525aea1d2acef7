"""Parsing of list URLs: any input is handled quickly, and errors are reported."""

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from console.kinds.pods import PodKind
from console.ui.lists.viewspec import ViewSpec
from tests.support.cputime import at_most

KIND = PodKind()


def parse(query: str) -> ViewSpec:
    return ViewSpec.parse(KIND, QueryDict(query), cluster="host")


def test_empty_query_is_the_default_view() -> None:
    spec = parse("")
    assert (spec.values, spec.sort, spec.page, spec.limit, spec.errors) == ((), "", 1, 50, ())
    assert spec.url == "/clusters/host/pods"


def test_all_parameters_are_in_the_canonical_url() -> None:
    spec = parse(
        "limit=20&page=3&sort=-age&status=failing&status=warn&label=app%3Dweb&label=tier"
        "%3Dfront&q=+node-1++web+&namespace=shop&namespace=team-a&unknown=1"
    )
    assert not spec.errors
    assert spec.url == (
        "/clusters/host/pods?q=node-1+web&namespace=shop&namespace=team-a&label=app%3Dweb"
        "&label=tier%3Dfront&status=error&status=warn&sort=-age&page=3&limit=20"
    )


@pytest.mark.parametrize(
    "query", ["", "q=a%26b%3Dc&sort=-name", "label=app+in+(a,b)&page=2", "namespace=shop&limit=500"]
)
def test_canonical_query_is_a_fixed_point(query: str) -> None:
    spec = parse(query)
    assert not spec.errors
    assert parse(spec.query) == parse(query)
    assert parse(spec.query).query == spec.query


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=abc", "limit"),
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("limit=-1", "limit"),
        ("limit=1e2", "limit"),
        ("limit=%D9%A5", "limit"),
        ("page=-1", "page"),
        ("page=0", "page"),
        ("page=1e9", "page"),
        ("page=9999999999", "page"),
        ("page=1_0", "page"),
        ("page=+1", "page"),
        ("label=a+in+(", "label"),
        ("label=" + "a" * 600, "label"),
        ("&".join(f"label=a{n}=b" for n in range(30)), "label"),
        ("q=" + "a" * 65536, "q"),
        ("q=a%00b", "q"),
        ("namespace=" + "n" * 300, "namespace"),
        ("namespace=a%0Ab", "namespace"),
        *(
            (f"namespace={name}", "namespace")
            for name in ("..", ".", "a%2Fb", "a%252Fb", "A", "a.b")
        ),
        ("status=bogus", "status"),
        ("sort=bogus", "sort"),
        ("sort=__x", "sort"),
        ("sort=--name", "sort"),
        ("sort=__class__", "sort"),
        ("sort=name&sort=age", "sort"),
        ("page=1&page=2", "page"),
        ("limit=10&limit=10", "limit"),
        ("q=a&q=b", "q"),
    ],
)
def test_invalid_parameter_is_reported_at_its_field_quickly(query: str, field: str) -> None:
    with at_most(0.5):
        spec = parse(query)
    assert [error.field for error in spec.errors] == [field]
    assert spec.errors[0].message
    assert len(spec.errors[0].value) <= 60


def test_several_invalid_fields_are_all_reported() -> None:
    assert {error.field for error in parse("limit=abc&sort=x&page=0").errors} == {
        "limit",
        "sort",
        "page",
    }


def test_very_large_page_number_is_valid() -> None:
    assert parse("page=999999999").page == 999_999_999


def test_empty_values_are_ignored() -> None:
    assert parse("q=&namespace=&label=&status=&sort=&page=&limit=") == parse("page=&limit=")
    assert not parse("q=&namespace=&sort=").errors


def test_ascending_status_is_the_default_sort() -> None:
    assert parse("sort=status").sort == ""
    assert parse("sort=-status").sort == "-status"


def test_repeated_values_are_merged() -> None:
    assert parse("namespace=shop&namespace=shop").namespaces == ("shop",)


def test_changes_of_filters_sort_or_limit_reset_the_page() -> None:
    spec = parse("page=7&q=web&limit=20")
    assert spec.with_sort("name").page == 1
    assert spec.with_values("status", ("error",)).page == 1
    assert spec.with_limit(100).page == 1
    assert spec.cleared().query == "limit=20"
    assert spec.with_page(8).query == "q=web&page=8&limit=20"


@given(
    st.text(max_size=300), st.sampled_from(["q", "label", "namespace", "status", "sort", "page"])
)
def test_any_text_is_parsed_or_refused(text: str, param: str) -> None:
    query = QueryDict(mutable=True)
    query.appendlist(param, text)
    spec = ViewSpec.parse(KIND, query, cluster="host")
    if not spec.errors:
        assert parse(spec.query).values == spec.values
        assert parse(spec.query).sort == spec.sort
