"""Permission coverage: rules within the permissions that a user holds. Compared with kube-apiserver
in test_agreement.py.
"""

import pytest

from rbac.escalation_check import MAX_COMPARISONS, covers, uncovered
from rbac.rules import Rule

PODS = Rule(("get", "list"), ("",), ("pods",))
CASES = [
    # held, wanted, covered
    ((PODS,), PODS, True),
    ((), PODS, False),
    ((), Rule(), True),
    ((Rule(("*",), ("*",), ("*",)),), PODS, True),
    ((Rule(("*",), ("*",), ("*",)),), Rule(("get",), non_resource_urls=("/x",)), False),
    ((PODS,), Rule(("*",), ("",), ("pods",)), False),
    ((PODS,), Rule(("get",), ("*",), ("pods",)), False),
    ((PODS,), Rule(("get",), ("",), ("*",)), False),
    ((PODS,), Rule(("get",), ("",), ("pods/log",)), False),
    ((Rule(("get",), ("",), ("*/log",)),), Rule(("get",), ("",), ("pods/log",)), True),
    ((Rule(("get",), ("",), ("*/log",)),), Rule(("get",), ("",), ("pods/exec",)), False),
    # Two rules together cover permissions that neither covers alone.
    (
        (Rule(("get",), ("",), ("pods",)), Rule(("list",), ("",), ("pods",))),
        PODS,
        True,
    ),
    (
        (Rule(("get",), ("",), ("pods",)), Rule(("list",), ("apps",), ("pods",))),
        PODS,
        False,
    ),
    # Names.
    ((Rule(("get",), ("",), ("pods",), ("a",)),), Rule(("get",), ("",), ("pods",)), False),
    ((Rule(("get",), ("",), ("pods",)),), Rule(("get",), ("",), ("pods",), ("a",)), True),
    (
        (Rule(("get",), ("",), ("pods",), ("a", "b")),),
        Rule(("get",), ("",), ("pods",), ("b",)),
        True,
    ),
    (
        (Rule(("get",), ("",), ("pods",), ("a",)),),
        Rule(("get",), ("",), ("pods",), ("a", "b")),
        False,
    ),
    # Paths.
    (
        (Rule(("get",), non_resource_urls=("/logs/*",)),),
        Rule(("get",), non_resource_urls=("/logs/a",)),
        True,
    ),
    (
        (Rule(("get",), non_resource_urls=("/logs/*",)),),
        Rule(("get",), non_resource_urls=("*",)),
        False,
    ),
]


@pytest.mark.parametrize(("held", "wanted", "covered"), CASES, ids=range(len(CASES)))
def test_rules_are_compared_per_verb_group_and_resource(
    held: tuple[Rule, ...], wanted: Rule, covered: bool
) -> None:
    assert covers(held, [wanted]) is covered


def test_uncovered_permissions_are_returned_individually() -> None:
    wanted = Rule(("get", "delete"), ("",), ("pods", "secrets"))
    assert set(uncovered((PODS,), [wanted])) == {
        Rule(("delete",), ("",), ("pods",)),
        Rule(("get",), ("",), ("secrets",)),
        Rule(("delete",), ("",), ("secrets",)),
    }


def _halves(count: int) -> tuple[tuple[Rule, Rule], Rule]:
    """Return permissions as two rules, and the same permissions as one rule."""
    many = tuple(f"r{number}" for number in range(count))
    return (Rule(("get",), ("",), many), Rule(("list",), ("",), many)), Rule(
        ("get", "list"), ("",), many
    )


def test_rules_too_large_to_compare_are_uncovered() -> None:
    held, wanted = _halves(MAX_COMPARISONS // 4 + 1)
    assert uncovered(held, [wanted]) == (wanted,)
    assert covers((wanted,), [wanted])


def test_the_expansion_limit_applies_to_all_rules_together() -> None:
    held, wanted = _halves(MAX_COMPARISONS // 8 + 1)
    assert covers(held, [wanted])
    assert uncovered(held, [wanted, wanted]) == (wanted,)
