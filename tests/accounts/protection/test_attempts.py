"""The counter of failed attempts. test_lockout and test_replicas test concurrent attempts."""

from datetime import timedelta
from functools import partial

import pytest

from accounts.models import FailedAttempts
from accounts.oauth.options import DEFAULTS, Limits, read_limits
from accounts.protection import attempts
from tests.accounts.races import overtaken
from tests.rbac.fakes import MovableClock

pytestmark = pytest.mark.django_db(transaction=True)

HERE = "192.0.2.1"


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


def guess(clock: MovableClock, name: str = "alice", network: str = HERE) -> float | None:
    return attempts.count_attempt(name, network, DEFAULTS, clock.now()).wait


def guesses(clock: MovableClock, number: int, name: str = "alice", network: str = HERE) -> int:
    """Make attempts and return how many were allowed to check the password."""
    return sum(guess(clock, name, network) is None for _ in range(number))


def test_ten_attempts_are_allowed(clock: MovableClock) -> None:
    assert guesses(clock, 15) == 10
    assert guess(clock) == 600.0


def test_concurrent_attempts_at_two_replicas_are_both_counted(clock: MovableClock) -> None:
    guesses(clock, 1, network="")
    assert overtaken(partial(guess, clock, network="")) == (None, None)
    assert guesses(clock, 15, network="") == 7


def test_the_lock_duration_starts_at_the_last_attempt(clock: MovableClock) -> None:
    guesses(clock, 9)
    clock.move(minutes=4)
    guesses(clock, 1)
    clock.move(minutes=3, seconds=30)
    assert guess(clock) == 390.0
    clock.move(seconds=389)
    assert guess(clock) == 1.0
    clock.move(seconds=1)
    assert guesses(clock, 15) == 10


def test_old_attempts_do_not_count(clock: MovableClock) -> None:
    guesses(clock, 9)
    clock.move(minutes=10)
    assert guesses(clock, 15) == 10


def test_a_correct_password_resets_the_user_but_not_the_address(clock: MovableClock) -> None:
    for _ in range(11):
        assert guesses(clock, 9) == 9
        ticket = attempts.count_attempt("alice", HERE, DEFAULTS, clock.now())
        assert ticket.wait is None
        attempts.record_success(ticket)
    assert guesses(clock, 9, name="bob") == 1


def test_a_cancelled_attempt_does_not_count(clock: MovableClock) -> None:
    for _ in range(15):
        ticket = attempts.count_attempt("alice", HERE, DEFAULTS, clock.now())
        assert ticket.wait is None
        attempts.cancel_attempt(ticket)


@pytest.mark.parametrize("name", ["ALICE", " alice", "alice\n", "\uff41lice"])
def test_names_are_normalized(clock: MovableClock, name: str) -> None:
    guesses(clock, 10)
    assert guess(clock, name) is not None
    assert guess(clock, "bob") is None


def test_other_names_do_not_evict_counters(clock: MovableClock) -> None:
    guesses(clock, 10)
    for number in range(300):
        guess(clock, f"random-{number}", network=f"198.51.100.{number % 200}")
    assert guess(clock) is not None


def test_an_address_has_a_hundred_attempts_for_all_names(clock: MovableClock) -> None:
    assert sum(guess(clock, f"name-{n}") is None for n in range(120)) == 100
    assert guess(clock, "alice") is not None
    assert guess(clock, "alice", network="192.0.2.2") is None
    assert guess(clock, "alice", network="") is None


def test_a_user_can_be_unlocked(clock: MovableClock) -> None:
    guesses(clock, 10)
    assert attempts.locked_for("alice", DEFAULTS, clock.now()) == 600.0
    attempts.unlock("alice")
    assert attempts.locked_for("alice", DEFAULTS, clock.now()) is None
    assert guesses(clock, 15) == 10


def test_outdated_rows_are_deleted(clock: MovableClock) -> None:
    guesses(clock, 10)
    clock.move(minutes=9)
    guess(clock, "bob", network="192.0.2.2")
    attempts.discard_old(DEFAULTS, clock.now())
    assert guess(clock) is not None
    clock.move(minutes=1)
    attempts.discard_old(DEFAULTS, clock.now())
    assert FailedAttempts.objects.count() == 4


def test_entered_names_are_not_stored(clock: MovableClock) -> None:
    guess(clock, "hunter2-in-the-wrong-field")
    assert "hunter2" not in str(list(FailedAttempts.objects.values()))


def test_limits_are_read_from_a_kubesphere_configuration() -> None:
    problems: list[str] = []
    raw = {
        "authenticateRateLimiterMaxTries": 5,
        "authenticateRateLimiterDuration": "30m0s",
        "loginHistoryRetentionPeriod": "168h",
        "loginHistoryMaximumEntries": 3,
    }
    found = read_limits(raw, problems.append)
    assert found == Limits(5, timedelta(minutes=30), timedelta(days=7), 5)
    assert problems == []


@pytest.mark.parametrize("value", [0, -1, "5", True, 10**9, None, [], 1.5])
def test_invalid_limits_are_reported_and_ignored(value: object) -> None:
    problems: list[str] = []
    raw = {"authenticateRateLimiterMaxTries": value, "authenticateRateLimiterDuration": value}
    found = read_limits(raw, problems.append)
    assert found.tries == DEFAULTS.tries
    assert found.duration == DEFAULTS.duration
    assert len(problems) == 2
