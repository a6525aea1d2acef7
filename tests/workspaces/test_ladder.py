"""Quota allocation: the shares never exceed the quota in total, in no transition between states."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workspaces.quota_allocation import QuotaShare, RefusedNeed, allocate, quantity_text

PODS, CPU = "pods", "requests.cpu"


def shares(**numbers: tuple[int | None, int | None, int]) -> dict[str, QuotaShare]:
    """Return shares by project from (asked, enforced, used)."""
    return {
        name: QuotaShare(
            None if asked is None else Decimal(asked),
            None if enforced is None else Decimal(enforced),
            Decimal(used),
        )
        for name, (asked, enforced, used) in numbers.items()
    }


def whole(found: dict[str, Decimal]) -> dict[str, int]:
    return {name: int(amount) for name, amount in found.items()}


def test_new_projects_get_equal_parts() -> None:
    new = shares(a=(None, None, 0), b=(None, None, 0))
    assert whole(allocate(PODS, Decimal(10), new)) == {"a": 5, "b": 5}


def test_the_remainder_is_allocated() -> None:
    new = shares(a=(None, None, 0), b=(None, None, 0), c=(None, None, 0))
    assert whole(allocate(PODS, Decimal(10), new)) == {"a": 4, "b": 3, "c": 3}


def test_a_new_project_waits_until_reduced_shares_are_confirmed() -> None:
    now = shares(a=(10, 10, 2), b=(None, None, 0))
    assert whole(allocate(PODS, Decimal(10), now)) == {"a": 6, "b": 0}
    unconfirmed = shares(a=(6, 10, 2), b=(0, 0, 0))
    assert whole(allocate(PODS, Decimal(10), unconfirmed)) == {"a": 6, "b": 0}
    confirmed = shares(a=(6, 6, 2), b=(0, 0, 0))
    assert whole(allocate(PODS, Decimal(10), confirmed)) == {"a": 6, "b": 4}


def test_usage_above_a_reduced_share_is_kept() -> None:
    now = shares(a=(6, 6, 9), b=(0, 0, 0))
    found = whole(allocate(PODS, Decimal(10), now))
    assert found["b"] <= 1


def test_late_counted_usage_does_not_exceed_the_quota() -> None:
    # The usage of `b` was not counted when its share was reduced, and `c` got the difference.
    now = shares(a=(3, 3, 3), b=(1, 1, 3), c=(6, 6, 1))
    found = whole(allocate(PODS, Decimal(10), now))
    assert found["b"] == 1 and found["c"] < 6
    given_way = {name: replace(now[name], requested=Decimal(found[name])) for name in now}
    assert whole(allocate(PODS, Decimal(10), given_way)) == found, "it is not confirmed yet"
    confirmed = {one: replace(old, enforced=old.requested) for one, old in given_way.items()}
    assert whole(allocate(PODS, Decimal(10), confirmed))["b"] >= 3


def test_a_project_that_uses_its_share_gets_a_larger_share() -> None:
    now = shares(a=(5, 5, 5), b=(5, 5, 0))
    assert whole(allocate(PODS, Decimal(10), now)) == {"a": 5, "b": 2}
    later = shares(a=(5, 5, 5), b=(2, 2, 0))
    assert whole(allocate(PODS, Decimal(10), later)) == {"a": 8, "b": 2}


@pytest.mark.parametrize("climber", "abc")
def test_a_single_active_project_can_use_the_whole_quota(climber: str) -> None:
    now = {name: QuotaShare(Decimal(0), Decimal(0)) for name in "abc"}
    for _step in range(40):
        found = allocate(PODS, Decimal(7), now)
        one = now[climber]
        used = one.used + 1 if one.enforced and one.used < one.enforced else one.used
        now = {name: QuotaShare(found[name], found[name]) for name in now}
        now[climber] = QuotaShare(found[climber], found[climber], used)
    assert now[climber].used == 7


def test_a_project_quota_is_reserved_for_the_project() -> None:
    own = {
        "a": QuotaShare(None, None, Decimal(0), Decimal(8)),
        "b": QuotaShare(None, None, Decimal(0), None),
    }
    assert whole(allocate(PODS, Decimal(10), own)) == {"a": 8, "b": 2}


def test_overcommitted_project_quotas_stay_within_the_quota() -> None:
    own = {
        name: QuotaShare(None, None, Decimal(used), Decimal(8))
        for name, used in (("a", 4), ("b", 0))
    }
    found = allocate(PODS, Decimal(10), own)
    assert sum(found.values()) <= 10
    assert found["a"] >= 4


def test_a_quota_below_usage_stops_all_projects() -> None:
    now = shares(a=(5, 5, 5), b=(5, 5, 3))
    found = allocate(PODS, Decimal(4), now)
    assert sum(found.values()) <= 4
    assert all(found[name] <= now[name].used for name in now)


def test_cpu_is_allocated_in_millicores_and_pods_in_integers() -> None:
    new = shares(a=(None, None, 0), b=(None, None, 0), c=(None, None, 0))
    found = allocate(CPU, Decimal(1), new)
    assert [quantity_text(CPU, found[name]) for name in "abc"] == ["334m", "333m", "333m"]


def test_a_sufficient_share_is_not_changed() -> None:
    now = shares(a=(5, 5, 0), b=(5, 5, 0))
    assert whole(allocate(PODS, Decimal(10), now)) == {"a": 5, "b": 5}


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        *(
            ("pods", "2", "2"),
            (CPU, "1.5", "1500m"),
            ("pods", "1e3", "1000"),
            ("pods", "1024", "1024"),
        ),
        *(
            ("limits.memory", str(40 << 30), "40Gi"),
            ("memory", "1536", "1536"),
            ("memory", "0", "0"),
        ),
        *(("requests.storage", str(1 << 40), "1Ti"), ("limits.memory", str(100 << 20), "100Mi")),
    ],
)
def test_quantities(resource: str, amount: str, text: str) -> None:
    assert quantity_text(resource, Decimal(amount)) == text


def test_a_large_request_gets_the_unused_quota() -> None:
    now = {name: QuotaShare(Decimal("2.475"), Decimal("2.475")) for name in "abcd"}
    now["a"] = replace(now["a"], needs=(RefusedNeed(Decimal(3)),))
    total = Decimal("9.9")
    first = allocate(CPU, total, now)
    assert first["a"] == Decimal("2.475") and all(first[name] < Decimal("2.475") for name in "bcd")
    given_way = {
        name: replace(now[name], requested=first[name], enforced=first[name]) for name in now
    }
    found = allocate(CPU, total, given_way)
    assert found["a"] >= 3 and sum(found.values()) <= total


def test_a_request_slightly_above_the_share_is_served() -> None:
    """A share that is sufficient otherwise is not sufficient for a refused request."""
    now = shares(a=(95, 95, 0), b=(5, 5, 0))
    now["a"] = replace(now["a"], needs=(RefusedNeed(Decimal(100)),))
    for _ in range(2):
        found = allocate(PODS, Decimal(100), now)
        now = {
            name: replace(share, requested=found[name], enforced=found[name])
            for name, share in now.items()
        }
    assert whole(found) == {"a": 100, "b": 0}


def test_a_request_above_the_free_quota_does_not_block_others() -> None:
    now = shares(a=(5, 5, 4), b=(5, 5, 0))
    now["a"] = replace(now["a"], needs=(RefusedNeed(Decimal(11)),))
    now["b"] = replace(now["b"], needs=(RefusedNeed(Decimal(6), 1.0),))
    assert whole(allocate(PODS, Decimal(10), now)) == {"a": 4, "b": 5}


def test_the_first_of_two_competing_requests_is_served() -> None:
    now = shares(a=(5, 5, 0), b=(5, 5, 0))
    needs = {"a": replace(now["a"], needs=(RefusedNeed(Decimal(8), 2.0),))}
    needs["b"] = replace(now["b"], needs=(RefusedNeed(Decimal(7), 1.0),))
    found = allocate(PODS, Decimal(10), needs)
    needs["a"] = replace(needs["a"], requested=found["a"], enforced=found["a"])
    assert whole(allocate(PODS, Decimal(10), needs))["b"] >= 7


def test_the_reservation_of_an_idle_project_yields_to_a_request() -> None:
    own = {
        "a": QuotaShare(Decimal(5), Decimal(5), own_quota=Decimal(8)),
        "b": QuotaShare(
            Decimal(5), Decimal(5), own_quota=Decimal(8), needs=(RefusedNeed(Decimal(7)),)
        ),
    }
    found = allocate(PODS, Decimal(10), own)
    own["a"] = replace(own["a"], requested=found["a"], enforced=found["a"])
    assert whole(allocate(PODS, Decimal(10), own))["b"] >= 7


@pytest.mark.parametrize(
    ("resource", "amount", "given"),
    [(PODS, "1.5", "2"), (CPU, "0.0001", "0.001"), (PODS, "11", "2")],
)
def test_fractional_and_excessive_requests_are_rounded_or_ignored(
    resource: str, amount: str, given: str
) -> None:
    """Users with permission to write events can request half a pod."""
    asking = {
        "a": QuotaShare(Decimal(0), Decimal(0), needs=(RefusedNeed(Decimal(amount)),)),
        "b": QuotaShare(Decimal(10), Decimal(10), used=Decimal(5)),
    }
    for _ in range(3):
        found = allocate(resource, Decimal(10), asking)
        asking = {
            one: replace(share, requested=found[one], enforced=found[one])
            for one, share in asking.items()
        }
    assert found["a"] >= Decimal(given)
    assert found["a"] % (1 if resource == PODS else Decimal("0.001")) == 0
    assert found == allocate(resource, Decimal(10), asking), "it comes to rest"


def test_a_share_does_not_exceed_the_project_quota() -> None:
    own = {
        "a": QuotaShare(None, None, own_quota=Decimal(2), needs=(RefusedNeed(Decimal(7)),)),
        "b": QuotaShare(None, None),
    }
    assert whole(allocate(PODS, Decimal(10), own)) == {"a": 2, "b": 8}


_SORTS = ("use", "use", "use", "free", "confirm", "deal", "own", "refuse", "forget")


def events(*further: str) -> st.SearchStrategy[list[tuple[str, str, int]]]:
    """Strategy for sequences of (event, project, amount)."""
    sort = st.sampled_from((*_SORTS, *further))
    return st.lists(st.tuples(sort, st.sampled_from("abcd"), st.integers(0, 12)), max_size=60)


def after(share: QuotaShare, sort: str, number: int, at: int) -> QuotaShare:
    """Return the share after an event, as kube-apiserver behaves: usage only grows within the
    enforced share, which is an earlier asked share.
    """
    if sort == "use" and share.enforced is not None and share.used + number <= share.enforced:
        return replace(share, used=share.used + number)
    if sort == "free":
        return replace(share, used=max(Decimal(0), share.used - number))
    if sort == "confirm":
        return replace(share, enforced=share.requested)
    if sort == "own":
        return replace(share, own_quota=Decimal(number) if number else None)
    if sort == "refuse":
        return replace(share, needs=(*share.needs, RefusedNeed(share.used + number, float(at))))
    return replace(share, needs=()) if sort == "forget" else share


def dealt(total: Decimal, world: dict[str, QuotaShare]) -> dict[str, QuotaShare]:
    found = allocate(PODS, total, world)
    assert sum(found.values()) <= total
    return {one: replace(old, requested=found[one]) for one, old in world.items()}


def at_rest(total: Decimal, world: dict[str, QuotaShare]) -> dict[str, QuotaShare]:
    for _ in range(6):
        world = {
            one: replace(old, enforced=old.requested) for one, old in dealt(total, world).items()
        }
    assert dealt(total, world) == world, "it comes to rest"
    return world


@given(events("miscount"))
def test_delayed_usage_counts_never_exceed_the_quota(
    happened: list[tuple[str, str, int]],
) -> None:
    """The quota controller can miss objects that were just created, and count them later."""
    total = Decimal(20)
    world = {name: QuotaShare(None, None) for name in "bcd"} | {"a": QuotaShare(total, total)}
    left_out = dict.fromkeys(world, Decimal(0))
    for at, (sort, name, number) in enumerate(happened):
        if sort == "deal":
            world = dealt(total, world)
        elif sort == "miscount":
            used = world[name].used + left_out[name]
            left_out[name] = min(used, Decimal(number))
            world[name] = replace(world[name], used=used - left_out[name])
        else:
            world[name] = after(world[name], sort, number, at)
        assert sum(share.highest_limit for share in world.values()) <= total
    world = {one: replace(old, used=old.used + left_out[one]) for one, old in world.items()}
    world = at_rest(total, world)
    if sum(share.used for share in world.values()) <= total:
        assert all((share.requested or 0) >= share.used for share in world.values())


@given(events())
def test_no_event_order_allows_usage_above_the_quota(
    happened: list[tuple[str, str, int]],
) -> None:
    total = Decimal(20)
    world = {name: QuotaShare(None, None) for name in "bcd"} | {"a": QuotaShare(total, total)}
    for at, (sort, name, number) in enumerate(happened):
        if sort == "deal":
            world = dealt(total, world)
        else:
            world[name] = after(world[name], sort, number, at)
        assert sum(share.used for share in world.values()) <= total
    world = at_rest(total, world)
    free = total - sum(share.used for share in world.values())
    waiting = sorted(
        (need.since, name, need.amount) for name in world for need in world[name].needs
    )
    got = {name: share.used for name, share in world.items()}
    for _since, name, amount in waiting:
        own, more = world[name].own_quota, amount - got[name]
        if (own is None or amount <= own) and 0 < more <= free:
            got[name], free = amount, free - more
            assert (world[name].requested or 0) >= amount, "what fits is not refused again"
