"""Fuzz tests of forms: no server errors, and no changes outside the form's purpose."""

from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from console.kube.gvr import USERS
from tests.accounts.conftest import HASH, ORIGIN, Browser
from tests.support.depth import number
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLES = settings(
    max_examples=number(40, 1_000),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
OWN = ["/account/profile", "/account/password", "/account/sessions/end"]
OF_OTHERS = ["/access/accounts/new", *(
    f"/clusters/host/users.iam.kubesphere.io/{name}/actions/{part}"
    for name in ("bob", "nobody", "%00", "..", "%E2%80%AE", "a" * 300)
    for part in ("edit", "password", "disable", "enable", "unlock", "end-sessions", "%ff")
)]  # fmt: skip
FIELDS = [
    "current", "password", "again", "email", "displayName", "description", "language", "theme", "name",
    "change", "uid", "session", "next", "username", "groups", "state",
]  # fmt: skip
VALUES = [
    "", "on", "wrong",
    "P@88w0rd", "Quarterdeck-7", HASH, "a@example.com", "bob@example.com", "en", "dark",
    "uid-bob", "others", "x", "\0", "\ud800", "\u202e", "<script>", "' OR 1=1 --", "a" * 5000, "\r\nX: y",
    "00000000-0000-0000-0000-000000000000", "//e", "%", "é" * 40, "{{7*7}}", "system:masters",
]  # fmt: skip
value = st.one_of(st.sampled_from(VALUES), st.text(max_size=30))
bodies = st.one_of(
    st.lists(st.tuples(st.sampled_from(FIELDS), value), max_size=7).map(
        lambda pairs: "&".join(
            f"{name}={quote(text.encode('utf-8', 'surrogatepass'))}" for name, text in pairs
        ).encode()
    ),
    st.binary(max_size=100),
)
kinds = st.sampled_from(
    ["application/x-www-form-urlencoded"] * 5
    + [
        "application/x-www-form-urlencoded; charset=utf-7",
        "multipart/form-data; boundary=b",
        "application/json",
        "text/plain; charset=utf-7",
        "/",
    ]
)


async def send(browser: Browser, path: str, body: bytes, kind: str) -> Any:
    headers = {**browser.headers, "Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"}
    answer = await browser.client.generic("POST", path, body, kind, headers=headers)
    assert answer.status_code < 500, (answer.status_code, path, body)
    return answer


@given(body=bodies, kind=kinds)
@EXAMPLES
async def test_the_login(body: bytes, kind: str) -> None:
    await send(Browser(), "/login", body, kind)


@given(path=st.sampled_from(OWN), body=bodies, kind=kinds)
@EXAMPLES
async def test_the_own_account(runtime: StaticRuntime, path: str, body: bytes, kind: str) -> None:
    before = runtime.console.of(USERS)["bob"]
    alice = Browser()
    await alice.login("alice")
    await send(alice, path, body, kind)
    assert runtime.console.of(USERS)["bob"] == before
    after = runtime.console.of(USERS)["alice"]
    assert set(after["spec"]) <= {"email", "password", "displayName", "lang"}
    assert after["status"] == {"state": "Active"}
    assert after["metadata"].get("labels") is None


@given(body=bodies, kind=kinds)
@EXAMPLES
async def test_the_password_page(runtime: StaticRuntime, body: bytes, kind: str) -> None:
    mark = {"iam.kubesphere.io/uninitialized": "true"}
    alice = {**runtime.console.of(USERS)["alice"]}
    alice["metadata"] = {**alice["metadata"], "annotations": mark}
    alice["spec"] = {**alice["spec"], "password": HASH}
    runtime.console.put(USERS, alice)
    browser = Browser()
    await browser.login("alice")
    await send(browser, "/password/confirm", body, kind)


@given(path=st.sampled_from(OF_OTHERS), body=bodies, kind=kinds)
@EXAMPLES
async def test_account_administration(
    runtime: StaticRuntime, path: str, body: bytes, kind: str
) -> None:
    admin = Browser()
    await admin.login("admin")
    before = runtime.console.of(USERS)["admin"]
    await send(admin, path, body, kind)
    assert runtime.console.of(USERS)["admin"] == before
