"""Tests for the syntax of names."""

import pytest

from console.kube.names import (
    API_VERSION,
    is_dns_label,
    is_dns_subdomain,
    is_dotted_name,
    is_label_name,
    is_label_value,
)


@pytest.mark.parametrize("name", ["a", "0", "a-b", "a--b", "a" * 63])
def test_dns_labels_are_accepted_everywhere(name: str) -> None:
    assert is_dns_label(name)
    assert is_dns_subdomain(name)
    assert is_dotted_name(name)
    assert is_label_name(name)
    assert API_VERSION.fullmatch(name)


@pytest.mark.parametrize("name", ["", "-a", "a-", "a b", "a\n", "é", "a/b"])
def test_malformed_names_are_rejected_everywhere(name: str) -> None:
    assert not is_dns_label(name)
    assert not is_dns_subdomain(name)
    assert not is_dotted_name(name)
    assert not is_label_name(name)


def test_dns_labels_have_at_most_63_characters_and_no_dots() -> None:
    assert not is_dns_label("a" * 64)
    assert not is_dns_label("a.b")
    assert not is_dns_label("A")


def test_subdomains_have_no_empty_parts_and_a_maximum_length() -> None:
    assert is_dns_subdomain("a.b-c.d")
    assert not is_dns_subdomain("a..b")
    assert not is_dns_subdomain("a.-b")
    assert is_dns_subdomain("a" * 253)
    assert not is_dns_subdomain("a" * 254)
    assert not is_dns_subdomain("abc", longest=2)


def test_dotted_names_may_have_empty_parts() -> None:
    assert is_dotted_name("a..b")
    assert is_dotted_name("a.-b")
    assert not is_dotted_name(".a")
    assert not is_dotted_name("A")
    assert not is_dotted_name("abc", longest=2)


def test_label_names_may_have_capitals_dots_and_underscores() -> None:
    assert is_label_name("A_b.C")
    assert not is_label_name("_a")
    assert not is_label_name("a" * 64)


def test_only_label_values_may_be_empty() -> None:
    assert is_label_value("")
    assert is_label_value("A_b")
    assert not is_label_value("-")


@pytest.mark.parametrize(
    ("version", "valid"),
    [("v1", True), ("apps/v1", True), ("a.b/v1", True), ("/v1", False), ("a/b/v1", False)],
)
def test_api_versions_are_a_version_with_an_optional_group(version: str, valid: bool) -> None:
    assert (API_VERSION.fullmatch(version) is not None) is valid
