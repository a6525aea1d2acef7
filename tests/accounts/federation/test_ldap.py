"""LDAP sign-in against a real OpenLDAP server."""

import asyncio
import base64
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from threading import Barrier
from typing import Any

import pytest

from accounts.oauth.options import DEFAULTS
from accounts.providers import ldap_connection
from accounts.providers.base import Person, ProviderRefused, Unreachable
from accounts.providers.kinds.ldap import LDAP
from accounts.providers.options import Fields
from console.kube.gvr import USERS
from tests.accounts.conftest import PASSWORD as LOCAL_PASSWORD
from tests.accounts.conftest import Browser
from tests.accounts.federation.accounts import accounts_in, linked
from tests.accounts.federation.conftest import Providers, entry, reasons
from tests.accounts.federation.slapd import (
    BASE,
    MANAGER,
    MANAGER_PASSWORD,
    PASSWORD,
    OpenLDAP,
    missing,
)
from tests.controlplane.pki import Authority
from tests.controlplane.plugin import report_skipped
from tests.rbac.fakes import FakeConsole

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.programs]

REQUIRE = "REQUIRE_LDAP"
KIND = "LDAPIdentityProvider"
PEOPLE = f"ou=people,{BASE}"


@pytest.fixture(scope="module")
def server() -> Iterator[OpenLDAP]:
    why = missing()
    if why:
        if os.environ.get(REQUIRE, "0") not in ("", "0"):
            pytest.fail(f"{REQUIRE} is set, but {why}", pytrace=False)
        report_skipped("tests of LDAP", why)
        pytest.skip(why)
    with OpenLDAP() as found:
        yield found


def fields(server: OpenLDAP, **more: Any) -> dict[str, Any]:
    """Return provider fields with StartTLS and the right CA, unless overridden by `more`."""
    found = {
        "host": f"127.0.0.1:{server.port}",
        "startTLS": True,
        "rootCA": str(server.ca),
        "managerDN": MANAGER,
        "managerPassword": MANAGER_PASSWORD,
        "userSearchBase": PEOPLE,
        "loginAttribute": "uid",
        "mailAttribute": "mail",
        **more,
    }
    return {name: value for name, value in found.items() if value is not None}


def ldap(server: OpenLDAP, **more: Any) -> LDAP:
    return LDAP(Fields(fields(server, **more), ("unused",)))


async def test_sign_in_over_starttls(server: OpenLDAP) -> None:
    found = await ldap(server).check("jane", PASSWORD)
    assert found == Person("jane", "jane", "jane@example.com")
    assert "STARTTLS" in server.log() and "TLS established" in server.log()


async def test_ldaps_by_port_and_by_url(server: OpenLDAP) -> None:
    data = base64.b64encode(server.ca.read_bytes()).decode()
    more = {"rootCA": None, "rootCAData": data, "startTLS": None}
    host = f"ldaps://127.0.0.1:{server.tls_port}"
    assert (await ldap(server, host=host, **more).check("jane", PASSWORD)).subject == "jane"


async def test_the_search_is_anonymous_without_a_manager(server: OpenLDAP) -> None:
    provider = ldap(server, managerDN=None, managerPassword=None)
    assert (await provider.check("jane", PASSWORD)).subject == "jane"


async def test_the_subject_is_the_attribute_of_the_entry_instead_of_the_input(
    server: OpenLDAP,
) -> None:
    """LDAP servers ignore case and spaces, but an entry is always the same user."""
    for typed in ("mixed.case", "MIXED.CASE", "Mixed.Case"):
        assert (await ldap(server).check(typed, PASSWORD)).subject == "Mixed.Case"
    assert (await ldap(server).check("no-mail", PASSWORD)).email == ""


REFUSED = [
    ("jane", "wrong"),
    ("jane", ""),
    ("jane", "\0"),
    ("jane", PASSWORD + "\0"),
    ("jane", "x" * 5000),
    ("nobody", PASSWORD),
    ("", PASSWORD),
    ("", ""),
    (" jane", PASSWORD),
    ("jane ", PASSWORD),
    ("*", PASSWORD),
    ("j*", PASSWORD),
    ("jane)(uid=*", PASSWORD),
    ("*)(uid=*))(|(uid=*", PASSWORD),
    ("jane)(!(uid=x)", PASSWORD),
    ("jane\\2a", PASSWORD),
    ("jane\0", PASSWORD),
    ("jane,ou=people", PASSWORD),
    ("\\", PASSWORD),
    ("(", PASSWORD),
    ("a" * 300, PASSWORD),
    ("\ud800", PASSWORD),
    ("\U0001f600", PASSWORD),
]


@pytest.mark.parametrize(("name", "password"), REFUSED, ids=range(len(REFUSED)))
async def test_wrong_credentials_are_refused(server: OpenLDAP, name: str, password: str) -> None:
    with pytest.raises((ProviderRefused, Unreachable)) as error:
        await ldap(server).check(name, password)
    if name != "\ud800":
        assert isinstance(error.value, ProviderRefused)


async def test_an_empty_password_is_not_sent(server: OpenLDAP) -> None:
    """A server would treat it as an anonymous bind and accept it."""
    before = server.log().count("BIND")
    with pytest.raises(ProviderRefused):
        await ldap(server).check("jane", "")
    assert server.log().count("BIND") == before


async def test_ambiguous_entries_are_refused(server: OpenLDAP) -> None:
    assert (await ldap(server).check("twin", PASSWORD)).email == "a@example.com"
    with pytest.raises(ProviderRefused):
        await ldap(server, userSearchBase=BASE).check("twin", PASSWORD)


async def test_the_user_search_filter_is_applied(server: OpenLDAP) -> None:
    for given in ("(employeeType=staff)", "employeeType=staff"):
        provider = ldap(server, userSearchFilter=given)
        assert (await provider.check("Mixed.Case", PASSWORD)).subject == "Mixed.Case"
        with pytest.raises(ProviderRefused):
            await provider.check("jane", PASSWORD)


async def test_group_membership_is_required_if_configured(server: OpenLDAP) -> None:
    provider = ldap(
        server,
        groupSearchBase=f"ou=groups,{BASE}",
        groupSearchFilter="(cn=console)",
        groupMemberAttribute="member",
    )
    assert (await provider.check("jane", PASSWORD)).subject == "jane"
    with pytest.raises(ProviderRefused) as error:
        await provider.check("no-mail", PASSWORD)
    assert error.value.reason == "NotInGroup"
    with pytest.raises(ProviderRefused) as error:
        await provider.check("no-mail", "wrong")
    assert error.value.reason == "WrongPassword"


async def test_ldap_filter_characters_in_names_are_escaped(server: OpenLDAP) -> None:
    """Users edit some attributes themselves, and names can contain parentheses."""
    groups = {"groupSearchBase": f"ou=groups,{BASE}", "groupMemberAttribute": "member"}
    assert (await ldap(server, **groups).check("lee (it)", PASSWORD)).subject == "lee (it)"
    with pytest.raises(ProviderRefused) as error:
        await ldap(server, **groups, userMemberAttribute="displayName").check("lee (it)", PASSWORD)
    assert error.value.reason == "NotInGroup"


async def test_a_refused_manager_bind_is_reported_as_unreachable(server: OpenLDAP) -> None:
    with pytest.raises(Unreachable):
        await ldap(server, managerPassword="wrong").check("jane", PASSWORD)


# Transport security.


async def test_no_password_is_sent_to_a_server_with_an_invalid_certificate(
    server: OpenLDAP, tmp_path: Any
) -> None:
    other = Authority(tmp_path)
    before = server.log().count("BIND")
    for more in (
        {"rootCA": str(other.certificate)},
        {"rootCA": None},
        {"host": f"localhost:{server.port}"},
        {"host": f"ldaps://localhost:{server.tls_port}"},
    ):
        with pytest.raises(Unreachable):
            await ldap(server, **more).check("jane", PASSWORD)
    assert server.log().count("BIND") == before
    provider = ldap(server, rootCA=None, insecureSkipVerify=True)
    assert (await provider.check("jane", PASSWORD)).subject == "jane"


def test_passwords_are_not_sent_in_clear_text() -> None:
    base = {"userSearchBase": PEOPLE, "managerDN": ""}
    for host in ("ldap.example.com", "ldap.example.com:389", "ldap://10.0.0.1", "10.0.0.1:3389"):
        with pytest.raises(ValueError, match="unencrypted"):
            LDAP(Fields({**base, "host": host}, ("unused",)))
    for host in ("", "ldap://", "http://x", "x:y", "ldap://x/dc=x", "[::1"):
        with pytest.raises(ValueError, match="host"):
            LDAP(Fields({**base, "host": host, "startTLS": True}, ("unused",)))


async def all_hung_up() -> None:
    """Wait until all threads of the pool are free at the same time."""
    barrier = Barrier(ldap_connection.THREADS)
    free = (
        ldap_connection._pool.submit(barrier.wait, 20) for _each in range(ldap_connection.THREADS)
    )
    await asyncio.gather(*(asyncio.wrap_future(each) for each in free))


@asynccontextmanager
async def listener(answer: bytes, *, again: float = 0.0) -> AsyncIterator[int]:
    """Run a server that responds with `answer` to any input, repeated every `again` seconds."""
    tasks = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        tasks.add(task)
        try:
            await reader.read(1)
            while True:
                writer.write(answer)
                await writer.drain()
                await asyncio.sleep(again or 3600)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        await all_hung_up()
        server.close()
        for task in tasks:
            if task is not None:
                task.cancel()
        await asyncio.gather(*(t for t in tasks if t is not None), return_exceptions=True)


#: First bytes of a 100 MB bind response.
HUGE = b"\x30\x84\x06\x00\x00\x00"


@pytest.mark.parametrize(
    ("answer", "again"),
    [
        (b"", 0.0),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", 0.0),
        (b"\x30\x0c", 0.0),
        (b"\x30\x7f\x02\x01", 0.05),
        (HUGE + b"x" * 65536, 0.001),
    ],
    ids=["silent", "other", "half", "drop by drop", "huge"],
)
async def test_faulty_servers_time_out(server: OpenLDAP, answer: bytes, again: float) -> None:
    async with listener(answer, again=again) as port:
        host = f"127.0.0.1:{port}"
        for more in ({"startTLS": True}, {"startTLS": False}):
            provider = ldap(server, host=host, readTimeout=200, **more)
            with pytest.raises(Unreachable):
                async with asyncio.timeout(10):
                    await provider.check("jane", PASSWORD)
    assert (await ldap(server).check("jane", PASSWORD)).subject == "jane"


async def test_an_unreachable_server_is_reported(server: OpenLDAP) -> None:
    with pytest.raises(Unreachable):
        await ldap(server, host="127.0.0.1:1").check("jane", PASSWORD)


async def test_excess_concurrent_sign_ins_are_refused_as_too_busy(
    server: OpenLDAP, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with listener(b"") as port:
        provider = ldap(server, host=f"127.0.0.1:{port}", startTLS=False, readTimeout=300)
        many = ldap_connection.THREADS + ldap_connection.MAX_WAITING + 5
        found = await asyncio.gather(
            *(provider.check("jane", PASSWORD) for _each in range(many)), return_exceptions=True
        )
    assert {type(each) for each in found} == {Unreachable}
    assert [each.reason for each in found if isinstance(each, Unreachable)].count("TooBusy") >= 5
    assert (await ldap(server).check("jane", PASSWORD)).subject == "jane"


# Sign-in form.


@pytest.fixture
def company(server: OpenLDAP, providers: Providers, console: FakeConsole) -> OpenLDAP:
    providers.write(entry("company", KIND, fields(server)))
    return server


async def through(browser: Browser, name: str, password: str = PASSWORD, **more: str) -> Any:
    return await browser.post(
        "/login", {"provider": "company", "username": name, "password": password, **more}
    )


async def test_the_form_offers_the_provider_and_signs_in(
    browser: Browser, company: OpenLDAP, console: FakeConsole
) -> None:
    page = (await browser.get("/login")).content.decode()
    assert "<option>company</option>" in page
    answer = await through(browser, "jane", next="/clusters/host/pods")
    assert (answer.status_code, answer["Location"]) == (302, "/clusters/host/pods")
    labels = console.of(USERS)["jane"]["metadata"]["labels"]
    assert labels["iam.kubesphere.io/identify-provider"] == "company"
    assert labels["iam.kubesphere.io/origin-uid"] == "jane"
    assert (await through(Browser(), "JANE")).status_code == 302
    assert await accounts_in() == ["jane", "jane"]


async def test_the_ldap_url_of_kubesphere_signs_in(browser: Browser, company: OpenLDAP) -> None:
    form = {"username": "jane", "password": PASSWORD}
    answer = await browser.post("/oauth/login/company", form)
    assert (answer.status_code, answer["Location"]) == (302, "/")
    page = (await Browser().get("/oauth/login/company")).content.decode()
    assert "<option selected>company</option>" in page
    assert (await Browser().post("/oauth/login/nobody", form)).status_code == 401


async def test_a_wrong_password_gets_the_common_error(browser: Browser, company: OpenLDAP) -> None:
    pages = []
    for name in ("jane", "nobody"):
        answer = await through(browser, name, "wrong")
        assert answer.status_code == 401 and browser.key is None
        assert "Incorrect username or password." in answer.content.decode()
        assert "<option selected>company</option>" in answer.content.decode()
        pages.append(answer)
    assert await reasons() == [(401, "WrongPassword"), (401, "UnknownUser")]


async def test_a_locked_user_is_refused_without_an_ldap_bind(
    browser: Browser, company: OpenLDAP
) -> None:
    for _ in range(DEFAULTS.tries):
        assert (await through(browser, "jane", "wrong")).status_code == 401
    before = company.log().count("BIND")
    answer = await through(browser, "jane")
    assert (answer.status_code, browser.key) == (429, None)
    assert 0 < int(answer["Retry-After"]) <= DEFAULTS.duration.total_seconds()
    assert "Too many failed attempts" in answer.content.decode()
    assert company.log().count("BIND") == before
    # A local user with this name is a different user.
    assert (await Browser().login("alice")).status_code == 302


async def test_local_and_ldap_passwords_are_separate(
    browser: Browser, company: OpenLDAP, console: FakeConsole
) -> None:
    """`alice` is a local user, `jane` an LDAP user. Neither password is sent to the other side."""
    before = company.log().count("BIND")
    assert (await browser.login("jane", PASSWORD)).status_code == 401
    assert (await browser.login("alice", LOCAL_PASSWORD)).status_code == 302
    assert company.log().count("BIND") == before
    assert (await through(Browser(), "alice")).status_code == 401


async def test_an_ldap_user_named_admin_is_not_the_local_admin(
    browser: Browser, company: OpenLDAP
) -> None:
    answer = await through(browser, "admin")
    assert (answer.status_code, answer["Location"]) == (302, "/login/confirm")
    assert await accounts_in() == []


async def test_a_linked_user_with_another_name_is_signed_in(
    browser: Browser, company: OpenLDAP, console: FakeConsole
) -> None:
    console.put(USERS, linked("boss", "admin", provider="company"))
    assert (await through(browser, "admin")).status_code == 302
    assert await accounts_in() == ["boss"]


async def test_local_sign_in_works_while_ldap_is_unreachable(
    browser: Browser, company: OpenLDAP, providers: Providers, console: FakeConsole
) -> None:
    providers.write(entry("company", KIND, fields(company, host="127.0.0.1:1")))
    answer = await through(browser, "jane")
    assert answer.status_code == 503 and "company is not responding" in answer.content.decode()
    assert (await browser.login("alice", LOCAL_PASSWORD)).status_code == 302
