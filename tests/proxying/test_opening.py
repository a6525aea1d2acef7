"""Opening a port of a pod or service in the embedded cluster, from the object's page to the
program.
"""

import asyncio
import html
import re
from typing import Any

import pytest
from pytest_django import Settings

from console.audit.models import AuditRecord
from console.kube.gvr import GVR, PODS, SERVICES, Key
from console.proxying import application, store
from console.proxying.address import ProxyBase
from console.proxying.application import ProxyApplication, has_opened_port
from console.proxying.closing import _look
from console.proxying.models import Opening
from console.proxying.store import (
    MAX_OPEN_PORTS,
    PortOwner,
    find_open_port,
    open_port,
    open_ports,
    redeem_ticket,
)
from console.proxying.target import ProxyTarget
from tests.controlplane.waiting import eventually
from tests.logs.conftest import World
from tests.proxying.browsing import LINK, Browser, Person
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs
from tests.views.viewers import VIEWERS

pytestmark = pytest.mark.django_db(transaction=True)

_WHERE = re.compile(r'content="0;url=([^"]*)"')
COOKIE = "__Host-quarterdeck-port"


def started(world: World, name: str, *ports: int, **metadata: Any) -> dict[str, Any]:
    """Start a pod whose ports respond, and wait until the console received it."""
    pod = world.pod(name)
    pod["metadata"] |= metadata
    declared = [{"containerPort": port} for port in ports or (8080,)]
    pod["spec"]["containers"][0]["ports"] = declared
    world.start(pod)
    entry = world.runtime.informer(PODS).store.get(Key("default", name))
    assert entry is not None
    found: dict[str, Any] = {**entry.original(), "uid": entry.projection.uid}
    return found


def url_of(name: str, segment: str = "pods") -> str:
    return f"/clusters/host/projects/default/{segment}/{name}/actions/open-port"


async def opened(pod: dict[str, Any], query: str = "", who: str = "admin", **data: Any) -> str:
    """Open a port and return the URL that the browser is redirected to."""
    url = url_of(pod["metadata"]["name"])
    answer = await ClientAs()(who).post(f"{url}?{query}", {"uid": pod["uid"], **data})
    text = await text_of(answer)
    assert answer.status_code == 200, text
    assert "no-store" in answer["Cache-Control"]
    where = _WHERE.search(text)
    assert where is not None, text
    return html.unescape(where[1])


async def recorded() -> list[tuple[str, str, str, int | None]]:
    rows = AuditRecord.objects.order_by("pk")
    return [(one.verb, one.subresource, one.name, one.code) async for one in rows]


async def entered(browser: Browser, pod: dict[str, Any], query: str = "port=8080") -> None:
    answer = await browser.go(await opened(pod, query))
    assert (answer.status, answer.get("location")) == (303, "/"), answer.text


@pytest.mark.usefixtures("proxying")
async def test_opening_a_port_from_the_pod_page_enters_the_program(
    world: World, browser: Browser
) -> None:
    pod = started(world, "web")
    page = await text_of(await ClientAs()("admin").get("/clusters/host/projects/default/pods/web"))
    buttons = re.findall(r'formaction="([^"]*)" formtarget="_blank"', page)
    assert [html.unescape(one) for one in buttons] == [f"{url_of('web')}?port=8080&scheme=http"]
    where = await opened(pod, "port=8080&scheme=http")
    assert re.match(
        r"https://[0-9a-f]{32}\.ports\.example\.com/\.quarterdeck/enter\?ticket=", where
    )
    answer = await browser.go(where)
    assert (answer.status, answer.get("location"), answer.body) == (303, "/", b"")
    (cookie,) = answer.all("set-cookie")
    assert cookie.startswith(f"{COOKIE}=") and "; Path=/; HttpOnly; SameSite=Lax; Secure" in cookie
    answer = await browser.get("/some%20where?a=b", accept="text/html")
    assert answer.status == 200 and "<title>web</title>" in answer.text and answer.whole
    assert "GET /some%20where?a=b" in answer.text
    assert answer.get("referrer-policy") == "same-origin" and answer.get("server") == ""
    asked = world.cluster.audit.requests_since(0, subresource="proxy")[-1]
    assert (asked.user, asked.verb, asked.name) == ("admin", "get", "web:8080")
    assert asked.audit_id == (await AuditRecord.objects.aget(verb="open")).audit_id
    assert await recorded() == [("open", "proxy", "web:8080", 200)]


@pytest.mark.usefixtures("proxying")
async def test_any_port_number_of_a_pod_can_be_opened(world: World, browser: Browser) -> None:
    pod = started(world, "named", 9090)
    answer = await ClientAs()("admin").get(url_of("named"))
    text = await text_of(answer)
    assert 'name="port" value="9090"' in text and "port-forward pod/named 9090" in text
    await browser.go(await opened(pod, port="8081", scheme="https"))
    answer = await browser.get("/", accept="text/html")
    assert answer.status == 503 and "Port 8081 of named is not responding." in answer.text
    assert "connection refused" not in answer.text and "10." not in answer.text
    plain = await browser.get("/")
    assert plain.get("content-type").startswith("text/plain") and "<" not in plain.text
    assert world.cluster.audit.requests_since(0, subresource="proxy")[-1].name == "https:named:8081"


@pytest.mark.usefixtures("proxying")
@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"port": "0", "scheme": "http"}, 400),
        ({"port": "65536", "scheme": "http"}, 400),
        ({"port": "http", "scheme": "http"}, 400),
        ({"port": "80", "scheme": "ftp"}, 400),
        ({"port": "80", "scheme": ""}, 400),
        ({"port": "80"}, 400),
        ({"port": "80", "scheme": "http", "uid": "another"}, 409),
        ({"port": "80", "scheme": "http", "uid": ""}, 400),
    ],
)
async def test_invalid_port_is_refused(world: World, data: dict[str, str], code: int) -> None:
    name = "refused"
    known = world.runtime.informer(PODS).store.get(Key("default", name))
    pod = {"uid": known.projection.uid} if known is not None else started(world, name)
    answer = await ClientAs()("admin").post(url_of(name), {"uid": pod["uid"], **data})
    assert answer.status_code == code, await text_of(answer)
    assert not await Opening.objects.aexists()


async def test_without_a_proxy_base_url_only_kubectl_is_offered(world: World) -> None:
    pod = started(world, "plain")
    client = ClientAs()("admin")
    page = await text_of(await client.get("/clusters/host/projects/default/pods/plain"))
    assert "kubectl port-forward" in page and "open-port" not in page
    for answer in (
        await client.get(url_of("plain")),
        await client.post(url_of("plain"), {"uid": pod["uid"], "port": "80", "scheme": "http"}),
    ):
        assert answer.status_code == 409
        assert "not configured to open ports" in await text_of(answer)


@pytest.mark.usefixtures("proxying")
async def test_without_permission_opening_is_not_offered(world: World) -> None:
    pod = started(world, "guarded")
    client = ClientAs()("bob")
    page = await text_of(await client.get("/clusters/host/projects/default/pods/guarded"))
    assert "open-port" not in page
    answer = await client.post(url_of("guarded"), {"uid": pod["uid"], "port": "80"})
    assert answer.status_code == 403
    assert await recorded() == []


@pytest.mark.usefixtures("proxying")
async def test_permission_for_a_pod_name_does_not_cover_its_ports(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kubernetes authorizes the proxy by the name in the URL, which includes the port."""

    class Named(FakeAccess):
        def can(self, verb: str, gvr: GVR, *, name: str = "", **more: Any) -> bool:
            return ":" not in name and super().can(verb, gvr, name=name, **more)

    pod = started(world, "by-its-name")
    monkeypatch.setitem(VIEWERS, "nora", lambda: Named("nora", get_in=None))
    sent = {"uid": pod["uid"], "port": "8080", "scheme": "http"}
    assert (await ClientAs()("nora").post(url_of("by-its-name"), sent)).status_code == 403
    assert not await Opening.objects.aexists()


@pytest.mark.usefixtures("proxying")
async def test_ticket_is_valid_once_and_the_cookie_only_on_its_host(
    world: World, browser: Browser
) -> None:
    pod = started(world, "once")
    where = await opened(pod, "port=8080")
    other = await opened(pod, "port=8081")
    assert (await browser.go(where)).status == 303
    assert (await browser.go(where)).status == 403
    own = dict(browser.cookies)
    browser.host = other.split("/")[2]
    assert (await browser.get("/", accept="text/html")).status == 404
    browser.host, browser.cookies = where.split("/")[2], {COOKIE: "guessed"}
    assert (await browser.get("/")).status == 404
    browser.cookies = {}
    assert (await browser.get("/")).status == 404
    # A script on a neighboring port's page may have set another cookie of the same name before.
    both = f"{COOKIE}=planted; {COOKIE}={own[COOKIE]}"
    assert (await browser.get("/", cookie=both)).status == 200
    assert (await browser.get("/.quarterdeck/other", cookie=both)).status == 404
    for host in ("ports.example.com", f"{'0' * 32}.ports.example.com"):
        browser.host = host
        answer = await browser.get("/", accept="text/html", cookie=both)
        assert answer.status == 404 and 'href="https://console.example.com"' in answer.text


@pytest.mark.usefixtures("proxying")
async def test_ticket_expires(
    world: World, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    pod = started(world, "late")
    monkeypatch.setattr(store, "TICKET", -store.TICKET)
    answer = await browser.go(await opened(pod, "port=8080"))
    assert answer.status == 403 and "has already been used or has expired" in answer.text


@pytest.mark.usefixtures("proxying")
async def test_reopening_a_port_reuses_its_host(world: World, browser: Browser) -> None:
    pod = started(world, "again")
    first, second = await opened(pod, "port=8080"), await opened(pod, "port=8080")
    assert first.split("/")[2] == second.split("/")[2] and first != second
    assert (await browser.go(first)).status == 403
    assert (await browser.go(second)).status == 303
    assert (await opened(pod, "port=8080&scheme=https")).split("/")[2] != browser.host


def owner(session: str = "s", account: str = "admin") -> PortOwner:
    return PortOwner(account, account, session, "host")


def target(port: int) -> ProxyTarget:
    return ProxyTarget(PODS, Key("default", "web"), port)


def test_number_of_open_ports_per_user_is_limited() -> None:
    for port in range(1, MAX_OPEN_PORTS + 1):
        open_port(owner(), target(port), "")
    with pytest.raises(store.TooManyPorts):
        open_port(owner("another"), target(1), "")
    open_port(owner(), target(1), "")
    open_port(owner("s", "alice"), target(1), "")


def test_stored_values_do_not_grant_access() -> None:
    label, ticket = open_port(owner(), target(1), "")
    cookie = redeem_ticket(label, ticket)
    row = Opening.objects.get()
    assert find_open_port(label, [row.cookie, row.ticket, ""]) is None
    assert find_open_port(label, ["other", cookie]) is not None
    assert redeem_ticket(label, "") == "" and redeem_ticket(label, ticket) == ""
    row.resource = "nodes"
    row.save()
    assert find_open_port(label, [cookie]) is None and open_ports() == []


@pytest.mark.usefixtures("proxying")
async def test_port_closes_with_the_session(world: World, browser: Browser, person: Person) -> None:
    await entered(browser, started(world, "session"))
    person.alive = False
    answer = await browser.get("/", accept="text/html")
    assert answer.status == 401 and "Your session has ended" in answer.text
    await look(person)
    person.alive = True
    assert (await browser.get("/")).status == 404
    assert (await recorded())[-1] == ("close", "proxy", "session:8080", 401)


@pytest.mark.usefixtures("proxying")
async def test_port_closes_when_the_permission_is_lost(
    world: World, browser: Browser, person: Person
) -> None:
    await entered(browser, started(world, "right"))
    person.access.get_in = ()
    assert (await browser.get("/")).status == 403
    person.access.doubt = True
    assert (await browser.get("/")).status == 503
    await look(person)
    assert await Opening.objects.acount() == 1
    person.access.doubt = False
    await look(person)
    await look(person)
    assert (await recorded())[1:] == [("close", "proxy", "right:8080", 403)]


@pytest.mark.usefixtures("proxying")
async def test_idle_port_is_closed(
    world: World, browser: Browser, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    pod = started(world, "idle")
    await entered(browser, pod)
    await opened(pod, "port=81")
    await look(person)
    assert await Opening.objects.acount() == 2
    monkeypatch.setattr(store, "IDLE_TIMEOUT", -store.IDLE_TIMEOUT)
    await look(person)
    assert not await Opening.objects.aexists()
    assert [one[0] for one in await recorded()] == ["open", "open", "close", "close"]


async def look(person: Person) -> None:
    for found in await asyncio.to_thread(open_ports):
        await _look(found, person.presence_of(found.owner))


@pytest.mark.usefixtures("proxying")
async def test_required_permission_depends_on_the_request_method(
    world: World, browser: Browser, person: Person
) -> None:
    await entered(browser, started(world, "methods"))
    own: dict[str, Any] = {"sec_fetch_site": "same-origin"}
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        answer = await browser.send(method, "/x", b"body", **own)
        assert answer.status == 200 and f"{method} /x" in answer.text
    person.access.delete_in = ()
    for method in ("POST", "PUT", "PATCH"):
        assert (await browser.send(method, "/x", b"body", **own)).status == 403
    for method in ("OPTIONS", "TRACE", "CONNECT", "PROPFIND"):
        assert (await browser.send(method, "/x", **own)).status == 405
    assert (await browser.get("/x")).status == 200
    assert (await browser.send("HEAD", "/x")).status == 200


@pytest.mark.usefixtures("proxying")
async def test_api_token_cannot_open_a_port(
    world: World, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token has no browser to open a port in and no session that would close it."""
    pod = started(world, "by-token")
    without = person.presence_of(owner(session=""))
    monkeypatch.setattr("tests.views.viewers._presence", lambda _name: without)
    asked = {"uid": pod["uid"], "port": "8080", "scheme": "http"}
    answer = await ClientAs()("admin").post(url_of("by-token"), asked)
    assert answer.status_code == 409
    assert "You can open ports only in a browser that is signed in." in await text_of(answer)
    assert await asyncio.to_thread(Opening.objects.count) == 0


@pytest.mark.usefixtures("proxying")
async def test_incomplete_request_body_is_not_forwarded(world: World, browser: Browser) -> None:
    """The program would take it for complete."""
    await entered(browser, started(world, "broken-off"))
    mark = world.cluster.audit.mark()
    request = browser.request("POST", "/x", sec_fetch_site="same-origin")
    await request.send_input({"type": "http.request", "body": b"half", "more_body": True})
    await request.send_input({"type": "http.disconnect"})
    assert (await request.receive_output(timeout=10))["status"] == 400
    await request.wait(timeout=10)
    assert world.cluster.audit.requests_since(mark, subresource="proxy") == []


@pytest.mark.usefixtures("proxying")
async def test_only_requests_from_the_ports_own_pages_are_forwarded(
    world: World, browser: Browser
) -> None:
    await entered(browser, started(world, "gated"))
    mark = world.cluster.audit.mark()
    for site in ("cross-site", "same-site"):
        assert (await browser.get("/", sec_fetch_site=site)).status == 403
        assert (await browser.send("POST", "/", sec_fetch_site=site)).status == 403
        framed = {**LINK, "sec-fetch-site": site, "sec-fetch-dest": "iframe"}
        assert (await browser.get("/", **framed)).status == 403
    for path in ("/../x", "/%2e%2e/%2e%2e/pods", "/a%00", "/a\\..\\b"):
        assert (await browser.get(path)).status == 400
    assert world.cluster.audit.requests_since(mark, subresource="proxy") == []


@pytest.mark.usefixtures("proxying")
async def test_error_of_the_cluster_is_shown(world: World, browser: Browser) -> None:
    await entered(browser, started(world, "leaves"))
    world.stop("leaves")
    answer = await browser.get("/", accept="text/html", accept_language="zh-CN")
    assert answer.status == 404 and 'lang="zh-hans"' in answer.text and "leaves" in answer.text
    assert answer.get("content-security-policy").startswith("default-src 'none';")
    world.cluster.kill()
    try:
        assert (await browser.get("/")).status == 503
    finally:
        world.cluster.start()


async def test_requests_to_other_hosts_go_to_the_console(
    settings: Settings, proxying: ProxyBase
) -> None:
    seen: list[str] = []

    async def inner(scope: dict[str, Any], receive: object, send: object) -> None:
        seen.append(scope["type"])

    from_elsewhere = Browser(ProxyApplication(inner, Person().presence_of))
    for host in ("console.example.com", "ports.example.com:81", "", "127.0.0.1"):
        from_elsewhere.host = host
        await from_elsewhere.get("/")
    settings.PROXY_BASE = None
    from_elsewhere.host = f"{'0' * 32}.ports.example.com"
    await from_elsewhere.get("/")
    assert seen == ["http"] * 5


@pytest.mark.usefixtures("proxying")
async def test_larger_body_limit_is_decided_from_the_request_headers(
    world: World, browser: Browser
) -> None:
    """Header names have the case that the server passes on."""
    await entered(browser, started(world, "much"))
    cookie, host = f"{COOKIE}={browser.cookies[COOKIE]}".encode(), browser.host.encode()
    assert await has_opened_port({b"Host": [host], b"Cookie": [b"a=b", cookie]}) is True
    assert await has_opened_port({b"Host": [host], b"Cookie": [cookie + b"x"]}) is False
    assert await has_opened_port({b"Host": [host]}) is False
    assert await has_opened_port({b"Host": [b"console.example.com"], b"Cookie": [cookie]}) is None
    assert await has_opened_port({b"Host": [host, host], b"Cookie": [cookie]}) is None


@pytest.mark.usefixtures("proxying")
async def test_concurrent_requests_per_user_are_limited(
    world: World, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    await entered(browser, started(world, "busy"))
    with application.places.reserve("admin", application.USER):
        answer = await browser.get("/")
    assert answer.status == 429
    assert (await browser.get("/")).status == 200
    assert application.places.reserved("admin") == 0


@pytest.mark.usefixtures("proxying")
async def test_service_port_opens_a_ready_pod(world: World, browser: Browser) -> None:
    spec = {"selector": {"app": "front"}, "ports": [{"port": 80, "targetPort": 8080}]}
    path = "/api/v1/namespaces/default/services"
    world.api.post(path, {"metadata": {"name": "front"}, "spec": spec})
    services = world.runtime.informer(SERVICES).store
    entry = eventually(lambda: services.get(Key("default", "front")), "front is known")
    assert entry is not None
    url = url_of("front", "services")
    client = ClientAs()("admin")
    page = await text_of(await client.get("/clusters/host/projects/default/services/front"))
    assert f"{url}?port=80&amp;scheme=http" in page and "Open another port" not in page
    sent = {"uid": entry.projection.uid, "scheme": "http"}
    answer = await client.post(url, {**sent, "port": "81"})
    assert answer.status_code == 400 and "have this port" in await text_of(answer)
    text = await text_of(await client.post(url, {**sent, "port": "80"}))
    await browser.go(html.unescape(_WHERE.findall(text)[0]))
    answer = await browser.get("/", accept="text/html")
    assert answer.status == 503 and "Service front has no ready pods." in answer.text
    started(world, "front-1", 8080, labels={"app": "front"})
    async with asyncio.timeout(20):
        while (answer := await browser.get("/", accept="text/html")).status != 200:
            await asyncio.sleep(0.05)
    assert "<title>front-1</title>" in answer.text
    assert [name for _verb, _sub, name, _code in await recorded()] == ["front:80"]
