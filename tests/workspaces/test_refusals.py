"""Parsing of quota refusals, and the time for which they count."""

from decimal import Decimal

import pytest

from workspaces.quota_allocation import RefusedNeed
from workspaces.refused_requests import Refusal, amounts_in, needs_of, quota_error_part

WORDS = (
    "exceeded quota: quarterdeck-workspace, requested: requests.cpu=3,requests.memory=1Gi, "
    "used: requests.cpu=500m,requests.memory=0, limited: requests.cpu=2475m,requests.memory=512Mi"
)
THREE = {"requests.cpu": Decimal(3)}
USED = {"requests.cpu": Decimal(1)}


def test_amounts_are_parsed_from_surrounding_text() -> None:
    message = f'(combined from similar events): Error creating: pods "a" is forbidden: {WORDS}'
    requested, used = amounts_in(message)
    assert requested == {"requests.cpu": Decimal(3), "requests.memory": Decimal(2**30)}
    assert used == {"requests.cpu": Decimal("0.5"), "requests.memory": Decimal(0)}
    assert quota_error_part(message) == WORDS


@pytest.mark.parametrize(
    "message",
    [
        "",
        "exceeded quota: mine, requested: pods=1, used: pods=1, limited: pods=1",
        "failed quota: quarterdeck-workspace: must specify limits.cpu for: main",
        "exceeded quota: quarterdeck-workspace, requested: " + "a" * 100_000,
        "exceeded quota: quarterdeck-workspace-2, requested: pods=1, used: pods=1, limited: pods=1",
    ],
)
def test_other_messages_contain_no_amounts(message: str) -> None:
    assert amounts_in(message) == ({}, {}) and quota_error_part(message) == ""


def test_invalid_amounts_are_ignored() -> None:
    words = (
        "exceeded quota: quarterdeck-workspace, requested: a=x,pods,b=1=2,c=1, used: ,, limited: x"
    )
    assert amounts_in(words) == ({"c": Decimal(1)}, {})


def event(first: float, last: float, about: str = "a", used: int = 1) -> Refusal:
    return Refusal(about, THREE, {"requests.cpu": Decimal(used)}, first, last)


def test_a_need_is_used_plus_requested() -> None:
    assert needs_of([event(0, 0)], USED, 1)["requests.cpu"] == (RefusedNeed(Decimal(4), 0),)


def test_a_need_does_not_grow_once_it_was_met() -> None:
    found = needs_of([event(0, 0)], {"requests.cpu": Decimal(4)}, 1)
    assert found["requests.cpu"] == (RefusedNeed(Decimal(4), 0),)


def test_a_need_shrinks_with_released_usage() -> None:
    found = needs_of([event(0, 0)], {"requests.cpu": Decimal(0)}, 1)
    assert found["requests.cpu"] == (RefusedNeed(Decimal(3), 0),)


def test_a_workload_that_lacks_pods_needs_them_on_top_of_the_current_usage() -> None:
    refusal = Refusal("a", THREE, None, 0, None)
    found = needs_of([refusal], {"requests.cpu": Decimal(9)}, 1e9)
    assert found["requests.cpu"] == (RefusedNeed(Decimal(12), 0),)


@pytest.mark.parametrize(
    ("first", "last", "now", "counts"),
    [
        (0, 0, 59, True),
        (0, 0, 61, False),
        (0, 100, 299, True),
        (0, 100, 301, False),
        (0, 90_000, 91_099, True),
        (0, 90_000, 91_101, False),
    ],
)
def test_needs_of_longer_attempts_expire_later(
    first: float, last: float, now: float, counts: bool
) -> None:
    # Attempts can be separate events.
    found = needs_of([event(first, first), event(first, last), event(last, last)], USED, now)
    assert bool(found) is counts


def test_old_refusals_do_not_extend_a_new_need() -> None:
    two = [event(0, 0), event(3000, 3000)]
    assert needs_of(two, USED, 3059)["requests.cpu"] == (RefusedNeed(Decimal(4), 3000),)
    assert not needs_of(two, USED, 3061)


def test_each_object_has_a_need_since_its_first_refusal() -> None:
    found = needs_of([event(5, 5), event(9, 9), event(3, 9, "b", 0)], USED, 10)
    assert found["requests.cpu"] == (RefusedNeed(Decimal(4), 5), RefusedNeed(Decimal(3), 3))
