"""References as text."""

import pytest

from console.kube.group_kind import group_kind, group_of, without_group


@pytest.mark.parametrize(
    ("api_version", "group"),
    [
        ("v1", ""),
        ("apps/v1", "apps"),
        ("apps.advanced.example.org/v1", "apps.advanced.example.org"),
    ],
)
def test_group_is_the_part_before_the_version(api_version: str, group: str) -> None:
    assert group_of(api_version) == group


def test_kinds_of_the_core_group_have_no_suffix() -> None:
    assert group_kind("Pod", "") == "Pod"
    assert group_kind("StatefulSet", "apps") == "StatefulSet.apps"


@pytest.mark.parametrize(
    ("reference", "shown"),
    [
        ("StatefulSet.apps/db", "StatefulSet/db"),
        ("Pod/web.example.org", "Pod/web.example.org"),
        ("Widget.example.org", "Widget"),
        ("", ""),
    ],
)
def test_group_is_not_displayed(reference: str, shown: str) -> None:
    assert without_group(reference) == shown
