"""Atomicity: a database failure at any statement leaves no partial changes."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import OperationalError, connection
from django.utils import timezone

from accounts.federation.signout import end_sessions
from accounts.mfa import factors as factors
from accounts.mfa import totp
from accounts.models import AccessToken, FailedAttempts, Grant, ProviderSession, SignIn
from accounts.oauth import grants
from accounts.oauth.grants import CodeParameters, Issued
from accounts.oauth.holders import Holder, holder_of
from accounts.oauth.options import options
from accounts.protection import attempts, browser_sessions
from accounts.providers.base import EndedSessions
from accounts.signin import sessions
from console.history import store as history
from console.history.models import ObjectChange
from console.kube.gvr import PODS, USERS, Key, ObjectReference
from console.kube.host_runtime import get_runtime
from console.operations import store as operations
from console.operations.models import Operation
from console.saved import service
from console.saved.models import SavedView, Sharing
from tests.accounts.oauth.conftest import CALLBACK, Config, config

__all__ = ["config"]

pytestmark = pytest.mark.django_db(transaction=True)

NOW = datetime.now(UTC)
LATER = NOW + timedelta(days=400)
POD = ObjectReference("host", PODS, Key("shop", "web"), "uid-of-web")
Act = Callable[[], object]


class Failing:
    """Execute wrapper that allows a number of write statements and then fails."""

    def __init__(self, passes: int) -> None:
        self.passes, self.failed = passes, False

    def __call__(self, execute: Callable[..., Any], sql: str, *given: Any) -> Any:
        if sql.startswith(("INSERT", "UPDATE", "DELETE")):
            self.passes -= 1
            if self.passes < 0:
                self.failed = True
                raise OperationalError("the database is away")
        return execute(sql, *given)


def rows() -> dict[str, list[dict[str, Any]]]:
    """Return the rows of all models."""
    return {
        model._meta.label: list(model._default_manager.order_by("pk").values())
        for model in apps.get_models()
    }


def alice() -> Holder:
    entry = get_runtime().informer(USERS).store.get(Key("", "alice"))
    assert entry is not None
    return holder_of(entry)


def client() -> Any:
    return options().clients["kubesphere"]


def issued() -> Issued:
    return grants.sign_in(alice(), client(), "openid", NOW)


def to_sign_in() -> Act:
    issued()
    return lambda: issued()


def to_use_a_code() -> Act:
    code = grants.make_code(alice(), client(), CodeParameters(CALLBACK, "openid"), NOW, NOW)
    return lambda: grants.use_code(code, client(), CALLBACK, "", NOW)


def to_use_a_refresh_token() -> Act:
    token = issued().refresh_token
    return lambda: grants.use_refresh(token, client(), "", NOW)


def to_forget_tokens() -> Act:
    issued()
    issued()
    Grant.objects.update(expires=NOW + timedelta(days=1))
    kept = Grant.objects.latest("pk").pk
    Grant.objects.filter(pk=kept).update(expires=LATER + timedelta(days=1))
    AccessToken.objects.filter(grant=kept).update(expires=NOW)
    return lambda: grants.discard_expired(LATER)


def code_of(secret: bytes) -> str:
    return totp._totp(secret).generate(int(NOW.timestamp())).decode()


def to_turn_a_factor_on() -> Act:
    secret = totp.new_secret()
    factors.enable("alice", "uid-of-alice", secret, code_of(secret), NOW)
    again = totp.new_secret()
    return lambda: factors.enable("alice", "uid", again, code_of(again), NOW)


def to_renew_recovery_codes() -> Act:
    secret = totp.new_secret()
    factors.enable("alice", "uid", secret, code_of(secret), NOW)
    return lambda: factors.renew_codes("alice", "uid")


def signed_in(*keys: str) -> None:
    for key in keys:
        Session.objects.create(session_key=key, session_data="", expire_date=NOW)
        SignIn.objects.create(session=key, user="alice", began=NOW, expires=NOW)
        ProviderSession.objects.create(
            session_key=key, provider="idp", subject="s", user="alice", expires=LATER
        )


def to_follow_a_session() -> Act:
    signed_in("before")
    return lambda: sessions._follow("before", "after", NOW)


def to_end_sessions() -> Act:
    signed_in("one", "two")
    return lambda: browser_sessions.end_all_sessions("alice")


def to_forget_sessions() -> Act:
    signed_in("one", "two")
    return lambda: browser_sessions.discard_expired(LATER)


def to_end_sessions_of_a_provider() -> Act:
    issued()
    signed_in("one", "two")
    return lambda: end_sessions("idp", EndedSessions("token", "s", ""), NOW)


def to_choose_a_view() -> Act:
    reader = service.ViewOwner("alice")
    one, other = (
        service.save(reader, Sharing.OWN, "host", "pods", name, f"q={name}") for name in "ab"
    )
    service.set_default(reader, one.pk, opens=True)
    assert SavedView.objects.get(opens=True) == one
    return lambda: service.set_default(reader, other.pk, opens=True)


def to_keep_a_change() -> Act:
    history.store_change(POD, "alice", "a", ("update", ""), {"a": 1}, {"a": 2})
    ObjectChange.objects.update(time=timezone.now() - timedelta(days=history.RETENTION_DAYS + 1))
    return lambda: history.store_change(POD, "alice", "b", ("update", ""), {"a": 2}, {"a": 3})


def to_begin_an_operation() -> Act:
    operations.create_operation(POD, "drain", "alice", {})
    Operation.objects.update(heartbeat=timezone.now() - 2 * operations.STALE)
    return lambda: operations.create_operation(POD, "drain", "alice", {})


ACTS = [found for name, found in globals().items() if name.startswith("to_")]


@pytest.mark.parametrize("make", ACTS)
def test_a_database_failure_leaves_no_partial_changes(
    make: Callable[[], Act], config: Config
) -> None:
    act = make()
    before = rows()
    for passes in range(100):
        failing = Failing(passes)
        try:
            with connection.execute_wrapper(failing):
                act()
        except OperationalError:
            assert rows() == before, f"after {passes} statements"
        if not failing.failed:
            break
    # A single statement is atomic anyway.
    assert passes > 1
    assert rows() != before


def test_the_two_counters_of_an_attempt_are_updated_atomically() -> None:
    """The counter of the address is updated separately before, for any name."""
    begin = partial(attempts.count_attempt, "alice", "192.0.2.0/24", options().limits, NOW)
    ticket = begin()
    of_the_name = FailedAttempts.objects.filter(key__in=(ticket.user, ticket.here))
    with connection.execute_wrapper(Failing(2)), pytest.raises(OperationalError):
        begin()
    assert list(of_the_name.values_list("count", flat=True)) == [1, 1]
