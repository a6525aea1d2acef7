"""Presence: a long-running request lasts as long as its session or token."""

from typing import Any

import pytest
from django.db import DatabaseError

from accounts.models import NamedToken
from accounts.signin.presence import find_session, is_signed_in, session_presence, token_presence
from console.kube.gvr import PODS, USERS
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from console.ui.core.clusters import clusters
from console.ui.core.requests import UserSession
from tests.accounts.apitokens.tokens import config, make
from tests.accounts.conftest import HASH, Browser
from tests.rbac.objects import user
from tests.support.informers import bring
from tests.support.staticruntime import StaticRuntime

__all__ = ["config"]

pytestmark = pytest.mark.django_db(transaction=True)


async def of_session(browser: Browser) -> UserSession:
    found = session_presence(browser.key, await find_session(browser.key))
    assert found is not None
    return found


async def test_presence_ends_with_the_session_and_the_user(
    browser: Browser, users: Informer[Any], runtime: StaticRuntime
) -> None:
    await browser.login("admin")
    presence = await of_session(browser)
    assert await presence.is_valid()
    assert presence.access_for(clusters.host).can("list", PODS)
    bring(users, user("admin", password=HASH, state="Disabled"))
    assert not await presence.is_valid()
    assert not presence.access_for(clusters.host).can("list", PODS)
    bring(users, user("admin", password=HASH))
    assert await presence.is_valid()
    runtime._informers[USERS] = Informer(USERS, DECODERS[USERS])
    assert not await presence.is_valid()
    runtime._informers[USERS] = users
    await browser.post("/logout")
    assert not await presence.is_valid()


async def test_an_anonymous_request_has_no_presence() -> None:
    assert session_presence(None, await find_session(None)) is None


async def test_presence_ends_with_the_token(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    await browser.login("admin")
    token = await make(browser)
    presence = token_presence(token, "admin")
    assert await presence.is_valid() and not await token_presence(token, "alice").is_valid()
    assert presence.access_for(clusters.host).can("list", PODS)

    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise DatabaseError("the server closed the connection")

    with monkeypatch.context() as away:
        away.setattr("accounts.signin.presence.examine_token", fail)
        assert not await presence.is_valid()
    assert await presence.is_valid()
    await NamedToken.objects.all().adelete()
    assert not await presence.is_valid()


async def test_large_requests_require_a_valid_session_or_token(
    browser: Browser, config: None
) -> None:
    """Requests without a valid key or token are anonymous, regardless of other content."""
    assert not await is_signed_in({})
    assert not await is_signed_in({b"Cookie": [b"__Host-quarterdeck=made-up"]})
    assert not await is_signed_in({b"Authorization": [b"Bearer made-up", b"Basic \xff"]})
    await browser.login("admin")
    mine = {b"Cookie": [b"a=b; __Host-quarterdeck=" + (browser.key or "").encode()]}
    assert await is_signed_in(mine)
    await browser.post("/logout")
    assert not await is_signed_in(mine)
