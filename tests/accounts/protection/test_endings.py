"""Automatic revocation by the controller, and periodic cleanup."""

import asyncio
from datetime import datetime, timedelta
from typing import Any, cast

import pytest
from asgiref.sync import sync_to_async
from django.contrib.sessions.models import Session
from django.db import OperationalError

from accounts.models import FailedAttempts, Grant, SignIn
from accounts.protection import browser_sessions
from accounts.protection.revocation import RevocationReconciler, clean, clean_periodically
from console.drafts import store as drafts
from console.drafts.models import Draft
from console.kube.controller import DependencyUnavailable, Request
from console.kube.gvr import USERS
from console.kube.informer import Informer
from console.kube.runtime import Runtime
from console.saved.models import Pin, SavedView, Sharing
from console.saved.pins import pin
from console.saved.service import ViewOwner, save
from tests.accounts.conftest import HASH, Browser
from tests.accounts.oauth.conftest import Config, Program
from tests.rbac.fakes import MovableClock
from tests.rbac.objects import user
from tests.support.informers import bring, take_away
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def endings(runtime: StaticRuntime, clock: MovableClock) -> RevocationReconciler:
    runtime.clock = clock
    return RevocationReconciler(cast(Runtime, runtime))


@pytest.fixture(autouse=True)
def config(settings: Any, tmp_path: Any) -> Config:
    settings.AUTHENTICATION_CONFIG = str(tmp_path / "authentication.yaml")
    return Config(tmp_path / "authentication.yaml")


@pytest.mark.parametrize("ending", ["disabled", "going"])
async def test_drafts_views_and_pins_are_deleted_with_their_user(
    endings: RevocationReconciler, users: Informer[Any], ending: str
) -> None:
    """They are kept for a disabled user, who may return. A later user of the same name must not
    read them.
    """
    for name in ("alice", "bob"):
        place = drafts.DraftKey(name, "host", "pods", "shop", "web")
        await sync_to_async(drafts.store_draft)(place, drafts.DraftContent("a", "b", "u"), 0)
        await sync_to_async(pin)(name, "host", "pods")
        await sync_to_async(save)(ViewOwner(name), Sharing.OWN, "host", "pods", "mine", "q=secret")
    await sync_to_async(save)(ViewOwner("alice", True), Sharing.PLATFORM, "host", "pods", "all", "")
    if ending == "disabled":
        bring(users, user("alice", password=HASH, state="Disabled"))
    else:
        bring(users, user("alice", password=HASH, deletionTimestamp="2026-03-01T12:00:00Z"))
    await endings.reconcile(Request("", "alice"))
    left = [draft.account async for draft in Draft.objects.order_by("account")]
    assert left == (["alice", "bob"] if ending == "disabled" else ["bob"])
    assert [one.account async for one in Pin.objects.order_by("account")] == left
    assert [one.holder async for one in SavedView.objects.order_by("holder")] == ["", *left]


@pytest.mark.parametrize("ending", ["disabled", "deleted", "going"])
async def test_disabled_and_deleted_users_lose_sessions_and_tokens(
    endings: RevocationReconciler, users: Informer[Any], ending: str
) -> None:
    program = Program()
    tokens = await program.signed_in("alice")
    await Browser().login("alice")
    await Browser().login("bob")
    if ending == "disabled":
        bring(users, user("alice", password=HASH, state="Disabled"))
    elif ending == "deleted":
        take_away(users, user("alice"))
    else:
        bring(users, user("alice", password=HASH, deletionTimestamp="2026-03-01T12:00:00Z"))
    await endings.reconcile(Request("", "alice"))
    bring(users, user("alice", password=HASH))
    assert await Session.objects.acount() == await SignIn.objects.acount() == 1
    assert await Grant.objects.filter(ended=None).acount() == 0
    assert not await program.works(tokens["access_token"])


async def test_an_unavailable_database_raises_away(
    monkeypatch: pytest.MonkeyPatch, endings: RevocationReconciler, users: Informer[Any]
) -> None:
    def stopped(name: str) -> int:
        raise OperationalError("terminating connection")

    monkeypatch.setattr(browser_sessions, "end_all_sessions", stopped)
    bring(users, user("alice", password=HASH, state="Disabled"))
    with pytest.raises(DependencyUnavailable, match="terminating connection"):
        await endings.reconcile(Request("", "alice"))


@pytest.mark.parametrize("state", ["Active", "AuthLimitExceeded"])
async def test_active_and_locked_users_keep_sessions(
    endings: RevocationReconciler, users: Informer[Any], state: str
) -> None:
    await Browser().login("alice")
    bring(users, user("alice", password=HASH, state=state))
    await endings.reconcile(Request("", "alice"))
    assert await Session.objects.acount() == 1


async def test_nothing_is_revoked_before_users_are_synced(
    endings: RevocationReconciler, runtime: StaticRuntime
) -> None:
    await Browser().login("alice")
    empty: Informer[Any] = Informer(USERS, runtime.informer(USERS).store._decode)
    endings._users = empty
    await endings.reconcile(Request("", "alice"))
    assert await Session.objects.acount() == 1


async def test_cleanup_deletes_only_expired_rows(clock: MovableClock) -> None:
    await Browser().login("alice")
    await Browser().login("alice", "wrong")
    await Program().signed_in("alice")
    await asyncio.to_thread(clean, clock.now())
    tables = (Session, SignIn, FailedAttempts, Grant)
    assert 0 not in [await table._default_manager.acount() for table in tables]
    later = clock.now() + timedelta(hours=13)
    await asyncio.to_thread(clean, later)
    assert [await table._default_manager.acount() for table in tables] == [0, 0, 0, 0]


async def test_cleanup_continues_after_a_database_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Once(MovableClock):
        rounds = 0

        async def sleep(self, seconds: float) -> None:
            self.rounds += 1
            if self.rounds == 2:
                raise asyncio.CancelledError

    cleaned: list[datetime] = []

    def once(now: datetime) -> None:
        cleaned.append(now)
        if len(cleaned) == 1:
            raise OperationalError("database is locked")

    monkeypatch.setattr("accounts.protection.revocation.clean", once)
    with pytest.raises(asyncio.CancelledError):
        await clean_periodically(Once())
    assert len(cleaned) == 2
