"""Matching of each field of a rule, as in kube-apiserver."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rbac.rules import AccessQuestion, Rule, parse_rules
from tests.rbac.objects import rule

GET_POD = AccessQuestion("get", "", "pods", "", "shop", "web")


def allows(given: dict[str, Any], asked: AccessQuestion) -> bool:
    (parsed,) = parse_rules([given])
    return parsed.allows(asked)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (rule("get", "pods"), True),
        (rule("*", "*", "*"), True),
        (rule("list get", "services pods", "apps core"), True),
        (rule("list", "pods"), False),
        (rule("get", "pod"), False),
        (rule("get", "pods", "apps"), False),
        (rule("get", "pods/*"), False),
        (rule("get", "*/pods"), False),
        (rule("get", "pods/log"), False),
        (rule("ge*", "pods"), False),
        (rule("get", "pods", names="web"), True),
        (rule("get", "pods", names="db web"), True),
        (rule("get", "pods", names="db"), False),
        (rule("get", "pods", names="*"), False),
        (rule("get", "", paths="*"), False),
        ({"verbs": ["get"]}, False),
        ({}, False),
    ],
)
def test_rules_match_requests_for_an_object(given: dict[str, Any], expected: bool) -> None:
    assert allows(given, GET_POD) is expected


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ("pods/log", True),
        ("*/log", True),
        ("*", True),
        ("pods", False),
        ("pods/*", False),
        ("log", False),
        ("*/lo", False),
        ("pods/logs", False),
    ],
)
def test_rules_match_subresources(resources: str, expected: bool) -> None:
    assert allows(rule("get", resources), GET_POD._replace(subresource="log")) is expected


def test_a_list_has_a_name_only_by_field_selector() -> None:
    named = rule("list watch create", "pods", names="web")
    assert not allows(named, AccessQuestion("list", "", "pods", namespace="shop"))
    assert not allows(named, AccessQuestion("create", "", "pods", namespace="shop"))
    assert allows(named, AccessQuestion("list", "", "pods", namespace="shop", name="web"))
    assert allows(named, AccessQuestion("watch", "", "pods", namespace="shop", name="web"))


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*", "/metrics", True),
        ("/metrics", "/metrics", True),
        ("/metrics", "/metrics/", False),
        ("/logs/*", "/logs/a/b", True),
        ("/logs/*", "/logs", False),
        ("/logs*", "/logs", True),
        ("/l*s", "/logs", False),
        ("", "/", False),
    ],
)
def test_rules_match_non_resource_paths(pattern: str, path: str, expected: bool) -> None:
    found = Rule(verbs=("get",), non_resource_urls=(pattern,))
    assert found.allows_path("get", path) is expected
    assert not found.allows_path("post", path)


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
fields = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")


@given(json | st.lists(st.dictionaries(st.sampled_from(fields), json, max_size=5), max_size=3))
def test_malformed_rules_allow_nothing(found: Any) -> None:
    for parsed in parse_rules(found):
        assert not parsed.allows(AccessQuestion("get", "example.com", "things"))


def test_null_fields_are_empty() -> None:
    (parsed,) = parse_rules([{"verbs": ["get"], "apiGroups": None, "resources": None}])
    assert parsed == Rule(verbs=("get",))
    assert parse_rules(None) == parse_rules({}) == parse_rules("abc") == ()
