"""`/login/confirm`: new users of identity providers choose an unused name."""

import asyncio
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from hypothesis import given
from hypothesis import strategies as st

from accounts.federation.linking import subject_label, suggested_name
from console.kube.errors import ApiError
from console.kube.gvr import USERS
from console.kube.informer import Informer
from tests.accounts.conftest import Browser
from tests.accounts.federation.accounts import accounts_in, linked
from tests.accounts.federation.code_flow import GITHUB, log_in
from tests.accounts.federation.conftest import Providers, entry, reasons
from tests.accounts.federation.servers import CodeServer, Serve
from tests.rbac.fakes import FakeConsole, MovableClock
from tests.rbac.objects import user
from tests.support.informers import bring
from tests.support.staticruntime import StaticRuntime

PODS = "/clusters/host/pods"

pytestmark = pytest.mark.django_db(transaction=True)

CONFIRM = "/login/confirm"
COOKIE = "__Host-quarterdeck-pending"


@pytest.fixture
async def hub(serve: Serve, providers: Providers, console: FakeConsole) -> CodeServer:
    found = CodeServer(person={"login": "Jane_Doe", "id": 4711, "email": "jane@example.com"})
    url = await serve(found.application())
    providers.write(entry("hub", GITHUB, found.fields(url), mappingMethod="mixed"))
    return found


@pytest.fixture
async def waiting(browser: Browser, hub: CodeServer) -> Browser:
    """Jane's browser, which is asked for a name."""
    answer = await log_in(browser, hub, PODS)
    assert (answer.status_code, answer["Location"]) == (302, CONFIRM)
    return browser


def chosen(name: str = "jane", email: str = "jane@example.com") -> dict[str, str]:
    return {"name": name, "email": email}


async def test_a_new_user_chooses_a_name_and_is_redirected(
    waiting: Browser, console: FakeConsole
) -> None:
    page = (await waiting.get(CONFIRM)).content.decode()
    assert 'value="jane-doe"' in page and 'value="jane@example.com"' in page
    answer = await waiting.post(CONFIRM, chosen("j.doe"))
    assert (answer.status_code, answer["Location"]) == (302, PODS)
    assert console.of(USERS)["j.doe"]["metadata"]["labels"] == {
        "iam.kubesphere.io/identify-provider": "hub",
        "iam.kubesphere.io/origin-uid": "Jane_Doe",
    }
    assert await accounts_in() == ["j.doe"]
    # The pending sign-in can be used once.
    assert (await waiting.get(CONFIRM))["Location"] == "/login"


@pytest.mark.parametrize("more", [{}, {"mappingMethod": ""}, {"mappingMethod": "auto"}])
async def test_mapping_auto_asks_for_a_name_unless_disabled(
    hub: CodeServer, providers: Providers, serve: Serve, more: dict[str, str]
) -> None:
    fields = hub.fields(await serve(hub.application()))
    providers.write(entry("hub", GITHUB, fields, disableLoginConfirmation=False, **more))
    assert (await log_in(Browser(), hub))["Location"] == CONFIRM


async def test_taken_and_invalid_names_are_asked_for_even_if_disabled(
    hub: CodeServer, providers: Providers, serve: Serve, console: FakeConsole
) -> None:
    """A provider account named `admin` must not become the user admin."""
    providers.write(entry("hub", GITHUB, hub.fields(await serve(hub.application()))))
    for number, login in enumerate(["admin", "ADMIN", "alice", "jane_doe", "-", "ad\u0131min"]):
        hub.person = {"login": login, "id": 1, "email": f"new{number}@example.com"}
        answer = await log_in(Browser(), hub, code=f"c{number}")
        assert (answer.status_code, answer["Location"]) == (302, CONFIRM)
    assert console.calls == [] and await accounts_in() == []


async def test_no_user_is_created_without_a_provider_callback(browser: Browser) -> None:
    for method in (browser.get, browser.post):
        answer = await method(CONFIRM)
        assert (answer.status_code, answer["Location"]) == (302, "/login")


@pytest.mark.parametrize("edit", [str.upper, lambda v: v[1:], lambda v: "x", lambda v: v + "x"])
async def test_a_modified_pending_cookie_is_refused(
    waiting: Browser, console: FakeConsole, edit: Any
) -> None:
    one = Browser()
    one.client.cookies[COOKIE] = edit(waiting.client.cookies[COOKIE].value)
    assert (await one.get(CONFIRM)).status_code == 403
    one.client.cookies[COOKIE] = edit(waiting.client.cookies[COOKIE].value)
    assert (await one.post(CONFIRM, chosen())).status_code == 403
    assert console.calls == []


async def test_provider_and_subject_in_the_form_are_ignored(
    waiting: Browser, console: FakeConsole
) -> None:
    more = {"provider": "evil", "subject": "1", "labels": "x", "next": "//evil.example"}
    answer = await waiting.post(CONFIRM, {**chosen(), **more})
    assert answer["Location"] == PODS
    made = console.of(USERS)["jane"]
    assert made["metadata"]["labels"]["iam.kubesphere.io/identify-provider"] == "hub"
    assert set(made["spec"]) == {"email"} and "annotations" not in made["metadata"]


NAMES = [
    "",
    " ",
    "-jane",
    "jane-",
    "Jane",
    "ja ne",
    "jane\0",
    "j\u00e4ne",
    "\uff4aane",
    "jane\u200b",
    "a" * 64,
    "system:admin",
    "jane/x",
    "../x",
    "a..b",
    ".",
    "jane\nx",
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
async def test_invalid_names_are_refused(waiting: Browser, console: FakeConsole, name: str) -> None:
    answer = await waiting.post(CONFIRM, chosen(name))
    assert answer.status_code == 400
    assert "name-error" in answer.content.decode()
    assert console.calls == []
    # The input is kept, and the sign-in is still pending.
    assert answer.context["form"].email == "jane@example.com"
    assert (await waiting.post(CONFIRM, chosen())).status_code == 302


@pytest.mark.parametrize("name", ["admin", "alice", "disabled", "going"])
async def test_names_of_existing_users_are_refused(
    waiting: Browser, console: FakeConsole, name: str
) -> None:
    before = console.of(USERS)[name]
    answer = await waiting.post(CONFIRM, chosen(name))
    assert answer.status_code == 400 and "name-error" in answer.content.decode()
    assert console.of(USERS)[name] == before and await accounts_in() == []


async def test_names_with_existing_bindings_are_refused(
    waiting: Browser, console: FakeConsole, role_bindings: Informer[Any]
) -> None:
    """A name in a binding belongs to a user, even if the User object doesn't exist (any more)."""
    bring(
        role_bindings,
        {
            "metadata": {"name": "b", "namespace": "shop", "uid": "u", "resourceVersion": "5"},
            "roleRef": {"kind": "Role", "name": "edit"},
            "subjects": [
                {"kind": "User", "name": "kubernetes-admin"},
                {"kind": "Group", "name": "free"},
            ],
        },
    )
    answer = await waiting.post(CONFIRM, chosen("kubernetes-admin"))
    assert answer.status_code == 400 and "name-error" in answer.content.decode()
    assert console.of(USERS).keys().isdisjoint({"kubernetes-admin"})
    assert (await waiting.post(CONFIRM, chosen("free"))).status_code == 302


async def test_no_user_is_created_before_bindings_are_synced(
    waiting: Browser, console: FakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: object, **__: object) -> bool:
        return False

    monkeypatch.setattr(StaticRuntime, "wait_synced", never)
    assert (await waiting.post(CONFIRM, chosen())).status_code == 503
    assert console.calls == []
    monkeypatch.undo()


@pytest.mark.parametrize(
    "email",
    [
        "",
        "x",
        "a@b@example.com",
        "alice@example.com",
        "ALICE@example.com",
        "j\u00e4ne@example.com",
        "a@example.com\n",
        "a" * 250 + "@example.com",
        "a@example.com\0",
    ],
)
async def test_invalid_and_taken_email_addresses_are_refused(
    waiting: Browser, console: FakeConsole, email: str
) -> None:
    answer = await waiting.post(CONFIRM, chosen(email=email))
    if email == "a@example.com\n":
        # Whitespace around an email address is stripped.
        assert answer.status_code == 302
        return
    assert answer.status_code == 400 and "email-error" in answer.content.decode()
    assert console.calls == []


async def test_concurrent_confirmations_create_one_user(
    waiting: Browser, console: FakeConsole
) -> None:
    cookie = waiting.client.cookies[COOKIE].value

    async def choose(name: str) -> int:
        one = Browser()
        one.client.cookies[COOKIE] = cookie
        return int((await one.post(CONFIRM, chosen(name, f"{name}@example.org"))).status_code)

    found = await asyncio.gather(*(choose(f"jane{n}") for n in range(10)))
    assert found.count(302) >= 1 and set(found) <= {302, 403, 503}
    assert [call[:2] for call in console.calls].count(("create", "users")) == 1
    assert len({row async for row in Session.objects.values_list("session_key")}) <= 10


async def test_a_user_created_meanwhile_is_not_taken_over(
    waiting: Browser, console: FakeConsole, users: Informer[Any]
) -> None:
    """kube-apiserver has a User that is not in the cache yet."""
    console.objects[USERS, "jane"] = user("jane")
    answer = await waiting.post(CONFIRM, chosen())
    assert answer.status_code == 400 and "name-error" in answer.content.decode()
    assert await accounts_in() == []
    assert (await waiting.post(CONFIRM, chosen("jane2"))).status_code == 302


async def test_a_user_linked_meanwhile_is_signed_in(waiting: Browser, console: FakeConsole) -> None:
    console.put(USERS, linked("known", "Jane_Doe"))
    assert (await waiting.post(CONFIRM, chosen())).status_code == 302
    assert await accounts_in() == ["known"]
    assert "users" not in {call[1] for call in console.calls}


async def test_the_confirmation_expires_after_ten_minutes(
    browser: Browser, hub: CodeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = MovableClock()
    monkeypatch.setattr("accounts.time.clock", clock)
    await log_in(browser, hub)
    clock.move(seconds=540)
    assert (await browser.get(CONFIRM)).status_code == 200
    # An invalid name does not extend the time.
    assert (await browser.post(CONFIRM, chosen("-"))).status_code == 400
    clock.move(seconds=61)
    assert (await browser.get(CONFIRM)).status_code == 403


async def test_a_removed_provider_creates_no_users(
    waiting: Browser, providers: Providers, console: FakeConsole
) -> None:
    providers.write()
    assert (await waiting.post(CONFIRM, chosen())).status_code == 403
    assert console.calls == []


async def test_a_refused_creation_is_reported_and_can_be_retried(
    waiting: Browser, console: FakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise ApiError(403, "no")

    monkeypatch.setattr(console, "create", refuse)
    assert (await waiting.post(CONFIRM, chosen())).status_code == 503
    monkeypatch.undo()
    assert (await waiting.post(CONFIRM, chosen())).status_code == 302
    assert (await reasons())[-1][0] == 200


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("jane", "jane"),
        ("Jane_Doe", "jane-doe"),
        ("jane@example.com", "jane"),
        ("J\u00e4ne", "j-ne"),
        ("a" * 80, "a" * 63),
        ("--x--", "x"),
        ("\u738b", ""),
        ("", ""),
        ("a..b", ""),
    ],
)
def test_suggested_names_are_valid(given: str, name: str) -> None:
    assert suggested_name(given) == name


@given(st.text(max_size=300))
def test_every_subject_has_a_unique_label(subject: str) -> None:
    label = subject_label(subject)
    assert 0 < len(label) <= 63 and label.isascii()
    assert subject_label(label) == label if label == subject else subject_label(label) != label
