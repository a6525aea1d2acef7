"""Browser sessions with two consoles that share a PostgreSQL database."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.accounts.conftest import HASH, hashed
from tests.accounts.oauth.visitor import TIMEOUT, Visitor
from tests.accounts.oauth.world import TRIES, World
from tests.controlplane.waiting import eventually
from tests.rbac.objects import user
from tests.support.depth import fewer, number


@pytest.fixture
def visitor(world: World) -> Iterator[Visitor]:
    yield Visitor(world)


def both(visitor: Visitor) -> set[bool]:
    return {visitor.is_in(replica) for replica in (0, 1)}


def test_a_session_is_valid_at_both_replicas(world: World, visitor: Visitor) -> None:
    world.add_user("lena")
    assert visitor.login(0, "lena") == 302
    assert both(visitor) == {True}
    visitor.post(1, "/logout", "/account")
    assert both(visitor) == {False}


def test_a_session_revoked_at_one_replica_is_refused_at_the_other(
    world: World, visitor: Visitor
) -> None:
    world.add_user("nell")
    other = Visitor(world)
    assert visitor.login(0, "nell") == other.login(1, "nell") == 302
    visitor.post(1, "/account/sessions/end", "/account", session="others")
    assert both(other) == {False}
    assert both(visitor) == {True}


# test_ends_on_replicas also tests sessions of a disabled user. Sessions of a deleted user end for
# the same reason.
@pytest.mark.parametrize(
    "ending", fewer(["deleted", "disabled", "another password"], "another password")
)
def test_user_changes_revoke_sessions_at_both_replicas(
    world: World, visitor: Visitor, ending: str
) -> None:
    name = "nora-" + ending.replace(" ", "-")
    world.add_user(name)
    assert visitor.login(1, name) == 302
    if ending == "deleted":
        world.delete_user(name)
    elif ending == "disabled":
        world.put(user(name, password=HASH, state="Disabled"))
    else:
        world.put(user(name, password=hashed("Another1")))
    eventually(lambda: both(visitor) == {False}, "both have ended it", timeout=TIMEOUT)


def test_a_lockout_applies_to_both_replicas(world: World) -> None:
    world.add_user("editor")
    held = Visitor(world)
    assert held.login(0, "editor") == 302
    with ThreadPoolExecutor(max_workers=8) as pool:
        guesses = range(TRIES + 4)
        found = list(pool.map(lambda n: Visitor(world).login(n % 2, "editor", "wrong"), guesses))
    assert sorted(found) == [401] * TRIES + [429] * 4
    assert [Visitor(world).login(replica, "editor") for replica in (0, 1)] == [429, 429]
    # Existing sessions remain valid.
    assert both(held) == {True}


def test_many_concurrent_sign_ins_at_both_replicas(world: World) -> None:
    world.add_user("petra")
    visitors = [Visitor(world) for _ in range(number(TRIES + 4, 50))]
    with ThreadPoolExecutor(max_workers=len(visitors)) as pool:
        found = list(pool.map(lambda n: visitors[n].login(n % 2, "petra"), range(len(visitors))))
    # More sign-ins than allowed attempts, but queued sign-ins don't count as failed.
    assert found == [302] * len(visitors) > [302] * TRIES
    assert all(one.is_in(at % 2) for at, one in enumerate(visitors))


def test_an_api_token_is_accepted_and_revoked_at_both_replicas(
    world: World, visitor: Visitor
) -> None:
    world.add_user("quinn")
    assert visitor.login(0, "quinn") == 302
    fields = {"name": "ci", "scope": "read", "days": "7"}
    _status, page, _ = visitor.post(0, "/account/tokens", "/account", **fields)
    token = re.findall(r"qdt_[\w-]{43}", page)[0]
    assert world.statuses("quinn", token) == {200}
    assert world.whoami(token) is None
    id = re.findall(r'name="token" value="([0-9a-f-]{36})"', page)[0]
    visitor.post(1, "/account/tokens/end", "/account", token=id)
    # The gateway reuses the result of a token for a second.
    eventually(lambda: world.statuses("quinn", token) == {401}, "the token is refused")
