"""Redirects of each sign-in step: KubeSphere's behavior and intended differences.

`federation` tests the callbacks of identity providers and `/login/confirm`, `factors` the second
factor.
"""

import base64
from itertools import zip_longest

import pytest

from accounts.signin.views import _FILLING, KEY, decode
from console.kube.gvr import USERS
from tests.accounts.conftest import HASH, PASSWORD, Browser
from tests.rbac.objects import user
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

PODS = "/clusters/host/pods"


async def test_the_root_redirects_to_the_dashboard(browser: Browser) -> None:
    await browser.login("alice")
    assert (await browser.get("/"))["Location"] == "/dashboard"


async def test_anonymous_requests_redirect_to_sign_in_and_back(browser: Browser) -> None:
    answer = await browser.get(f"{PODS}?q=web")
    assert (answer.status_code, answer["Location"]) == (
        302, "/login?next=%2Fclusters%2Fhost%2Fpods%3Fq%3Dweb"
    )  # fmt: skip
    form = (await browser.get(answer["Location"])).context["form"]
    assert (await browser.login("alice", next=form.next))["Location"] == f"{PODS}?q=web"


async def test_the_referer_parameter_of_kubesphere_is_accepted(browser: Browser) -> None:
    page = await browser.get("/login?referer=/clusters/host/pods")
    assert page.context["form"].next == PODS
    for bad in ("//e", "https://e", "javascript:alert(1)", "/login"):
        page = await browser.get(f"/login?referer={bad}")
        assert page.context["form"].next == "/"


async def test_the_sign_in_page_redirects_signed_in_users(browser: Browser) -> None:
    await browser.login("alice")
    assert (await browser.get("/login"))["Location"] == "/"
    assert (await browser.get(f"/login?next={PODS}"))["Location"] == PODS


async def test_an_initial_password_must_be_changed_first(
    browser: Browser, runtime: StaticRuntime
) -> None:
    mark = {"iam.kubesphere.io/uninitialized": "true"}
    runtime.console.put(USERS, user("alice", password=HASH, annotations=mark))
    there = "/password/confirm?next=%2Fclusters%2Fhost%2Fpods"
    assert (await browser.login("alice", next=PODS))["Location"] == there
    assert (await browser.get(PODS))["Location"] == there
    assert (await Browser().login("alice"))["Location"] == "/password/confirm"
    new = {"current": PASSWORD, "password": "Quarterdeck-7", "again": "Quarterdeck-7"}
    assert (await browser.post("/password/confirm", {**new, "next": PODS}))["Location"] == PODS


async def test_the_password_page_redirects_other_users(browser: Browser) -> None:
    assert (await browser.get("/password/confirm"))["Location"].startswith("/login?next=")
    await browser.login("alice")
    assert (await browser.get("/password/confirm"))["Location"] == "/account"


async def test_the_confirmation_page_redirects_without_a_pending_sign_in(browser: Browser) -> None:
    assert (await browser.get("/login/confirm"))["Location"] == "/login"
    await browser.login("alice")
    assert (await browser.get("/login/confirm"))["Location"] == "/login"


async def test_signing_out_redirects_to_the_sign_in_page(browser: Browser) -> None:
    await browser.login("alice")
    assert (await browser.post("/logout"))["Location"] == "/login"
    assert (await Browser().get("/dashboard"))["Location"] == "/login?next=%2Fdashboard"
    # Applies to a user without a session too.
    assert (await browser.post("/logout"))["Location"] == "/login"
    assert (await browser.get("/logout")).status_code == 405


async def test_another_user_in_the_same_browser_is_redirected_by_the_form(
    browser: Browser,
) -> None:
    """KubeSphere redirects a different user to the start page, because the URL belonged to the
    previous user. Here the form's value decides.
    """
    await browser.login("alice", next=PODS)
    assert (await browser.login("bob"))["Location"] == "/"


async def test_an_ended_session_is_reported_on_the_sign_in_page(browser: Browser) -> None:
    await browser.login("alice")
    browser.key = "a" * 32
    answer = await browser.get(PODS)
    assert answer["Location"] == "/login?next=%2Fclusters%2Fhost%2Fpods&ended=1"
    assert "Your session has ended." in (await browser.get(answer["Location"])).content.decode()


# Language.


@pytest.mark.parametrize(
    ("lang", "cookie"), [("zh", "zh-hans"), ("en", "en"), ("tlh", None), (None, None), ({}, None)]
)
async def test_sign_in_sets_the_language_of_the_user(
    browser: Browser, runtime: StaticRuntime, lang: object, cookie: str | None
) -> None:
    found = user("alice", password=HASH)
    found["spec"]["lang"] = lang
    runtime.console.put(USERS, found)
    answer = await browser.login("alice")
    morsel = answer.cookies.get("quarterdeck-lang")
    assert (morsel.value if morsel is not None else None) == cookie
    assert "quarterdeck-lang" not in (await Browser().login("alice", "wrong")).cookies


# KubeSphere's password encoding.


def encode(password: str) -> str:
    """Encode a password as KubeSphere's page does for the field `encrypt`: the lowest bit of each
    sum, and half of it.
    """
    text = base64.b64encode(password.encode()).decode()
    salt = KEY + text[: max(0, len(text) - len(KEY))]
    sums = [
        ord(salted) + (ord(char) if char else _FILLING)
        for salted, char in zip_longest(salt, text, fillvalue="")
    ]
    signs = "".join("0" if each % 2 == 0 else "1" for each in sums)
    return base64.b64encode(signs.encode()).decode() + "@" + "".join(chr(n // 2) for n in sums)


@pytest.mark.parametrize(
    ("password", "value"),
    [
        (PASSWORD, "MDAxMTAwMTAxMDAw@`]QLa\\enjiSA"),
        ("abc", "MDAwMTEwMDEwMQ==@bfVgYXTRYR"),
    ],
)
def test_published_encoded_values(password: str, value: str) -> None:
    assert encode(password) == value
    assert decode(value) == password


@pytest.mark.parametrize("password", ["x", "é漢字Aa1!", "a" * 64, "P@ss@word", "\0"])
def test_encoding_round_trip(password: str) -> None:
    assert decode(encode(password)) == password


@pytest.mark.parametrize(
    "value",
    ["@", "x@y", "MDAx@", "MDA=@\ud800\ud800", "MDAw@ab", "MjIy@abc", "=@=", "MA==@" + "x" * 9000],
)  # fmt: skip
def test_malformed_encoded_passwords_are_empty(value: str) -> None:
    assert decode(value) == ""


async def test_the_encrypt_field_of_kubesphere_is_accepted(browser: Browser) -> None:
    form = {"username": "alice", "encrypt": encode(PASSWORD)}
    assert (await browser.post("/login", form)).status_code == 302
    for wrong in (encode("wrong"), "x@y", "@", ""):
        answer = await Browser().post("/login", {"username": "alice", "encrypt": wrong})
        assert answer.status_code == 401
