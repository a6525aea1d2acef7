"""CAS, versions 2 and 3 of its protocol."""

from typing import Any

import pytest

from console.kube.gvr import USERS
from tests.accounts.conftest import ORIGIN, Browser
from tests.accounts.federation.conftest import Providers, entry
from tests.accounts.federation.servers import FAILURE, SUCCESS, CASServer, Serve, query
from tests.accounts.federation.test_code_flow import accounts_in
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


async def test_a_ticket_says_who_it_is(
    browser: Browser, cas: CASServer, console: FakeConsole
) -> None:
    # CAS gives no address, so this one is asked for one.
    answer = await log_in(browser, cas)
    assert (answer.status_code, answer["Location"]) == (302, "/login/confirm")
    form = {"name": "jane", "email": "jane@example.com"}
    assert (await browser.post("/login/confirm", form))["Location"] == "/"
    labels = console.of(USERS)["jane"]["metadata"]["labels"]
    assert labels["iam.kubesphere.io/origin-uid"] == "jane"
    assert (await log_in(Browser(), cas, "ST-2"))["Location"] == "/"


async def test_a_ticket_of_somewhere_else_is_refused(browser: Browser, cas: CASServer) -> None:
    """Tickets are for a service, and our state is part of its address."""
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
async def test_an_answer_that_is_no_yes(
    browser: Browser, cas: CASServer, answer: str, status: int
) -> None:
    cas.instead = answer
    assert (await log_in(browser, cas)).status_code == status
    assert await accounts_in() == []


@pytest.mark.parametrize("ticket", ["", "x" * 600])
async def test_no_ticket(browser: Browser, cas: CASServer, ticket: str) -> None:
    location = (await browser.get(OUT))["Location"]
    there = cas.login(location, "ST-1").removeprefix(ORIGIN).partition("&ticket=")[0]
    assert (await browser.get(f"{there}&ticket={ticket}")).status_code == 400
