"""Sign-in and single logout with CAS protocol versions 2 and 3."""

import re
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from accounts.models import OneTime, ProviderSession
from console.audit.models import AuditRecord
from console.kube.gvr import USERS
from tests.accounts.conftest import ORIGIN, Browser
from tests.accounts.federation.accounts import accounts_in
from tests.accounts.federation.conftest import Providers, entry
from tests.accounts.federation.servers import FAILURE, SUCCESS, CASServer, Serve, query
from tests.rbac.fakes import FakeConsole

pytestmark = pytest.mark.django_db(transaction=True)

OUT = "/oauth/redirect/cas"


@pytest.fixture(params=[3, 2])
async def cas(request: Any, serve: Serve, providers: Providers, console: FakeConsole) -> CASServer:
    found = CASServer(version=request.param)
    url = await serve(found.application())
    providers.write(entry("cas", "CASIdentityProvider", {"casServerURL": f"{url}/cas"}))
    return found


async def log_in(browser: Browser, cas: CASServer, ticket: str = "ST-1") -> Any:
    location = (await browser.get(OUT))["Location"]
    there = cas.login(location, ticket)
    assert there.startswith(f"{ORIGIN}/oauth/callback/cas?state=")
    return await browser.get(there.removeprefix(ORIGIN))


async def test_a_valid_ticket_signs_the_user_in(
    browser: Browser, cas: CASServer, console: FakeConsole
) -> None:
    answer = await log_in(browser, cas)
    assert (answer.status_code, answer["Location"]) == (302, "/")
    made = console.of(USERS)["jane"]
    assert made["metadata"]["labels"]["iam.kubesphere.io/origin-uid"] == "jane"
    # CAS returns no email address.
    assert made["spec"]["email"] == ""
    assert (await log_in(Browser(), cas, "ST-2"))["Location"] == "/"


async def test_a_ticket_of_another_sign_in_is_refused(browser: Browser, cas: CASServer) -> None:
    """A ticket is bound to a service URL, which contains the state."""
    await browser.get(OUT)
    state = query((await browser.get(OUT))["Location"])["service"].partition("state=")[2]
    other = Browser()
    stolen = cas.login((await other.get(OUT))["Location"], "ST-9")
    answer = await browser.get(f"/oauth/callback/cas?state={state}&ticket=ST-9")
    assert answer.status_code == 400 and "ST-9" in stolen
    assert await accounts_in() == []


BOMB = (
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    + SUCCESS.format(user="&b;")
)
FILE = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>' + SUCCESS.format(user="&f;")


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (FAILURE.format(ticket="x"), 400),
        (SUCCESS.format(user=""), 400),
        (SUCCESS.format(user="  "), 400),
        (BOMB, 503),
        (FILE, 503),
        ("<html></html>", 503),
        ("not xml", 503),
        ("<a>" * 20_000, 503),
        (SUCCESS.format(user="jane").replace("http://www.yale.edu/tp/cas", "urn:x"), 503),
        (SUCCESS.format(user="x") + SUCCESS.format(user="y"), 503),
        (SUCCESS.format(user="a" * 600_000), 503),
        (SUCCESS.format(user="a" * 300), 403),
    ],
    ids=range(12),
)
async def test_invalid_validation_responses_are_refused(
    browser: Browser, cas: CASServer, answer: str, status: int
) -> None:
    cas.instead = answer
    assert (await log_in(browser, cas)).status_code == status
    assert await accounts_in() == []


@pytest.mark.parametrize("ticket", ["", "x" * 600])
async def test_a_missing_or_oversized_ticket_is_refused(
    browser: Browser, cas: CASServer, ticket: str
) -> None:
    """The server, which would accept anything here, is not called."""
    cas.instead = SUCCESS.format(user="jane")
    location = (await browser.get(OUT))["Location"]
    there = cas.login(location, "ST-1").removeprefix(ORIGIN).partition("&ticket=")[0]
    assert (await browser.get(f"{there}&ticket={ticket}")).status_code == 400


# Single logout.

LOGOUT = (
    '<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" '
    'xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="{id}" Version="2.0" '
    'IssueInstant="2026-03-01T12:00:00Z"><saml:NameID>@NOT_USED@</saml:NameID>'
    "<samlp:SessionIndex>{ticket}</samlp:SessionIndex></samlp:LogoutRequest>"
)


@pytest.fixture
async def jane(browser: Browser, cas: CASServer, console: FakeConsole) -> Browser:
    """Sign in through CAS with ticket ST-1."""
    await log_in(browser, cas)
    await browser.post("/login/confirm", {"name": "jane", "email": "jane@example.com"})
    assert (await browser.get("/dashboard")).status_code == 200
    return browser


async def logged_out(ticket: str, id: str = "LR-1", path: str = "/oauth/callback/cas") -> Any:
    """Post a logout request as the CAS server does: without cookies, Origin and CSRF token."""
    server = Browser()
    server.client.handler.enforce_csrf_checks = True
    body = urlencode({"logoutRequest": LOGOUT.format(id=id, ticket=ticket)})
    return await server.client.post(
        f"{path}?state=x", body, "application/x-www-form-urlencoded", headers=server.headers
    )


@pytest.mark.parametrize("path", ["/oauth/callback/cas", OUT])
async def test_a_cas_logout_revokes_the_session(jane: Browser, cas: CASServer, path: str) -> None:
    other = Browser()
    await log_in(other, cas, "ST-2")
    assert (await logged_out("ST-1", path=path)).status_code == 200
    assert (await jane.get("/dashboard"))["Location"].startswith("/login")
    assert (await other.get("/dashboard")).status_code == 200
    row = await AuditRecord.objects.aget(verb="logout")
    assert (row.subresource, row.reason, row.message) == (
        "cas", "ProviderLogout", "jane"
    )  # fmt: skip
    assert "ST-1" not in str([one async for one in ProviderSession.objects.values()])


@pytest.mark.parametrize("ticket", ["ST-9", "st-1", "ST-1 ST-1", "*", "%", "ST-"])
async def test_a_logout_with_an_unknown_ticket_revokes_nothing(jane: Browser, ticket: str) -> None:
    before = await AuditRecord.objects.acount()
    assert (await logged_out(ticket)).status_code == 200
    assert (await jane.get("/dashboard")).status_code == 200
    assert await AuditRecord.objects.acount() == before
    assert not await OneTime.objects.filter(digest__contains="LR").aexists()


@pytest.mark.parametrize(
    "body",
    [
        "",
        "logoutRequest=",
        "logoutRequest=x",
        "logoutRequest=" + quote(BOMB),
        "logoutRequest=" + quote(FILE),
        "logoutRequest=" + quote(LOGOUT.format(id="", ticket="ST-1")),
        "logoutRequest=" + quote(LOGOUT.format(id="LR-1", ticket="")),
        "logoutRequest=" + quote(LOGOUT.format(id="LR-1", ticket="ST-1").replace("2.0:protocol", "x")),
        "logoutRequest=%ff",
        "logoutRequest=" + "a" * 40_000,
    ],
    ids=range(10),
)  # fmt: skip
async def test_invalid_logout_requests_are_refused(jane: Browser, body: str) -> None:
    server = Browser()
    answer = await server.client.post(
        "/oauth/callback/cas", body, "application/x-www-form-urlencoded", headers=server.headers
    )
    assert answer.status_code in (400, 413)
    assert (await jane.get("/dashboard")).status_code == 200


async def test_other_providers_refuse_cas_logout_requests(
    jane: Browser, cas: CASServer, providers: Providers
) -> None:
    assert (await logged_out("ST-1", path="/oauth/callback/nobody")).status_code == 400


async def test_signing_out_links_to_the_cas_logout(jane: Browser, cas: CASServer) -> None:
    page = (await jane.post("/logout")).content.decode()
    found = re.search(r'href="(http[^"]+/cas/logout\?[^"]+)"', page)
    assert found is not None, page
    assert query(found[1])["service"] == f"{ORIGIN}/login"
