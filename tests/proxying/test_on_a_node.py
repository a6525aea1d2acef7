"""Opening ports of real programs behind a real kube-apiserver, to check assumptions about its
proxying.
"""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import NAMESPACES, PODS, SERVICES, Key
from console.kube.runtime import Runtime
from console.proxying.store import PortOwner, open_port, redeem_ticket
from console.proxying.target import ProxyTarget
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.controlplane.waiting import eventually
from tests.kube.clusters import live
from tests.logs.conftest import binding
from tests.node.node import RealNode, container
from tests.proxying.browsing import Answer, Browser, Person
from tests.proxying.headers import CANARY, FORBIDDEN_REQUEST_HEADERS, HOSTILE
from tests.ui.support import FakeAccess

pytestmark = pytest.mark.django_db(transaction=True)

RBAC = "rbac.authorization.k8s.io/v1"
#: Headers that httpd sets itself.
_ITS_OWN = ("Connection", "Transfer-Encoding", "Keep-Alive", "Upgrade", "Trailer")
#: CGI programs of the server by name: their response headers and what they do.
_PROGRAMS: dict[str, tuple[list[str], str]] = {
    "echo": (["Content-Type: text/plain"], "env; cat"),
    "hostile": (
        [
            "Content-Type: text/plain",
            *(f"{one}: {CANARY}" for one in HOSTILE if one not in _ITS_OWN),
        ],
        "echo hello",
    ),
    "away": (["Status: 302 Found", "Location: https://evil.example/x"], ":"),
    "home": (["Status: 302 Found", "Location: /index.html"], ":"),
    "slow": (["Content-Type: text/plain"], "while :; do echo x; sleep 0.1; done"),
}
PAGE = '<a href="/x">x</a><img src="/y.png"/>'


#: Opens a websocket (RFC 6455, section 4.2.2) and sends hello. In octal, as the shell's printf
#: requires.
_TALKS = r"""#!/bin/sh
end=$(printf '\r')
while read -r line && [ "$line" != "$end" ]; do
  case "$line" in [Ss]ec-[Ww]eb[Ss]ocket-[Kk]ey:*) key=${line#*: };; esac
done
key="${key%"$end"}258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
hash=$(printf %s "$key" | sha1sum | cut -c1-40 | sed 's/../\\x&/g')
printf 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
printf 'Sec-WebSocket-Accept: %s\r\n\r\n' "$(printf "$hash" | base64)"
printf '\201\005hello'
exec cat"""


def server() -> str:
    """Return the script of a container with a web server, a page and CGI programs."""
    made = ["mkdir -p /www/cgi-bin", "cd /www", f"echo '{PAGE}' > index.html"]
    for name, (headers, does) in _PROGRAMS.items():
        lines = ["#!/bin/sh", *(f"echo '{line}'" for line in headers), "echo", does]
        made.append(f"cat > cgi-bin/{name} <<'END'\n" + "\n".join(lines) + "\nEND")
        made.append(f"chmod +x cgi-bin/{name}")
    made += [f"cat > /talks <<'END'\n{_TALKS}\nEND", "chmod +x /talks"]
    made.append("nc -ll -p 8081 -e /talks &")
    return "\n".join((*made, "exec httpd -f -p 8080 -h /www"))


@pytest.fixture(scope="module")
def node(real_node: RealNode) -> Iterator[RealNode]:
    """A node with a web server pod, a service for it, and users with different permissions."""
    cluster = real_node.cluster
    meta = {"name": "ports-tenant", "namespace": "default"}
    rules = [{"apiGroups": [""], "resources": ["pods/proxy"], "verbs": ["get"]}]
    tenant = {"kind": "User", "name": "tenant", "apiGroup": "rbac.authorization.k8s.io"}
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "ports-tenant"}
    ports = [{"port": 80, "targetPort": 8080}]
    made: list[dict[str, Any]] = [
        {"apiVersion": RBAC, "kind": "ClusterRoleBinding"}
        | binding("ports-admins", "cluster-admin", "admin"),
        {"apiVersion": RBAC, "kind": "Role", "metadata": meta, "rules": rules},
        {"apiVersion": RBAC, "kind": "RoleBinding", "metadata": meta}
        | {"roleRef": ref, "subjects": [tenant]},
        {"apiVersion": "v1", "kind": "Service", "metadata": {**meta, "name": "front"}}
        | {"spec": {"selector": {"app": "httpd"}, "ports": ports}},
    ]
    given = json.dumps({"apiVersion": "v1", "kind": "List", "items": made})
    done = cluster.kubectl("create", "-f", "-", input=given)
    assert done.returncode == 0, done.stderr
    try:
        with real_node.pod("httpd", container("a", server())):
            cluster.kubectl("label", "pod", "httpd", "app=httpd")
            yield real_node
    finally:
        cluster.kubectl("delete", "-f", "-", "--ignore-not-found", input=given)


@pytest.fixture(scope="module")
def console(node: RealNode) -> Iterator[Runtime]:
    runtime = Runtime(kubeconfig=str(node.cluster.kubeconfig))
    runtime.start()
    try:
        runtime.require([NAMESPACES, PODS])
        eventually(lambda: live(runtime.informer(PODS)), "pods are known")
        set_host_cluster(runtime)
        yield runtime
    finally:
        unset_host_cluster()
        runtime.stop()


@pytest.fixture
async def httpd(console: Runtime, browser: Browser) -> Browser:
    await entered(browser, ProxyTarget(PODS, Key("default", "httpd"), 8080))
    return await answering(browser)


async def entered(browser: Browser, target: ProxyTarget, who: str = "admin") -> None:
    """Open a port and follow the link to it."""
    owner = PortOwner(who, who, f"session-of-{who}", "host")
    label, ticket = await asyncio.to_thread(open_port, owner, target, "")
    browser.host = f"{label}.ports.example.com"
    cookie = await asyncio.to_thread(redeem_ticket, label, ticket)
    browser.cookies = {"__Host-quarterdeck-port": cookie, "sid": "theirs"}


async def answering(browser: Browser) -> Browser:
    """Wait until the server responds."""
    async with asyncio.timeout(30):
        while (await browser.get("/index.html")).status != 200:
            await asyncio.sleep(0.1)
    return browser


async def test_page_is_returned_unchanged(httpd: Browser) -> None:
    for path in ("/", "/index.html", "/?path=/cgi-bin/echo", "/index.html?watch=true&timeout=x"):
        answer = await httpd.get(path, accept="text/html")
        assert (answer.status, answer.text.strip()) == (200, PAGE), path
    prefix = ProxyTarget(PODS, Key("default", "httpd"), 8080).path
    assert (await httpd.get(f"{prefix}/index.html")).text.strip() == PAGE
    again = await httpd.get("/index.html", if_none_match=answer.get("etag") or '"none"')
    assert again.status in (200, 304)
    assert (await httpd.get("/nothing.html")).status == 404


async def test_program_does_not_receive_headers_meant_for_others(httpd: Browser) -> None:
    headers: dict[str, Any] = {name.lower(): CANARY for name in FORBIDDEN_REQUEST_HEADERS}
    for name in ("host", "origin", "sec-fetch-site"):
        del headers[name]
    own = {"sec-fetch-site": "same-origin", "content-type": "text/x"}
    answer = await httpd.send("POST", "/cgi-bin/echo?a=%2e%2e", b"the body", **headers, **own)
    assert answer.status == 200, answer.text
    assert CANARY not in answer.text and answer.text.endswith("the body")
    said = dict(line.partition("=")[::2] for line in answer.text.splitlines() if "=" in line)
    assert said["QUERY_STRING"] == "a=%2e%2e" and said["HTTP_COOKIE"] == "sid=theirs"
    assert said["HTTP_X_FORWARDED_HOST"] == httpd.host
    assert said["HTTP_X_FORWARDED_PROTO"] == "https"
    upper = answer.text.upper()
    assert "IMPERSONATE" not in upper and "AUTHORIZATION" not in upper
    assert "QUARTERDECK-PORT" not in upper


async def test_headers_of_a_hostile_program_are_dropped(httpd: Browser) -> None:
    answer = await httpd.get("/cgi-bin/hostile")
    assert answer.status == 200 and answer.text == "hello\n"
    assert CANARY not in str(answer.headers)


async def test_redirects_stay_within_the_program(httpd: Browser) -> None:
    answer = await httpd.get("/cgi-bin/home", accept="text/html")
    assert (answer.status, answer.get("location")) == (302, "/index.html")
    answer = await httpd.get("/cgi-bin/away", accept="text/html")
    assert answer.status == 200 and 'href="https://evil.example/x"' in answer.text
    assert answer.get("location") == ""


def everything(node: RealNode) -> str:
    """Return all tasks and processes waiting on either side."""
    tasks = "\n".join(map(repr, asyncio.all_tasks()))
    asked = "ps; netstat -tn"
    return tasks + "\n" + node.cluster.kubectl("exec", "httpd", "--", "sh", "-c", asked).stdout


@pytest.mark.parametrize("lost", ["right", "nobody"])
async def test_requests_end_with_the_session_the_permission_or_the_client(
    node: RealNode, httpd: Browser, person: Person, lost: str
) -> None:
    answer, gone = Answer(), asyncio.Event()
    task = httpd.begin(answer, "GET", "/cgi-bin/slow", gone=gone)
    try:
        async with asyncio.timeout(20):
            while answer.body.count(b"x") < 3:
                assert not task.done(), (answer.status, answer.text)
                await asyncio.sleep(0.05)
    except TimeoutError:
        pytest.fail(f"{answer}\n{everything(node)}")
    if lost == "right":
        person.access.get_in = ()
    else:
        gone.set()
    await asyncio.wait_for(task, 20)
    assert not answer.whole and answer.cut is (lost == "right")


@pytest.mark.usefixtures("console")
async def test_service_port_leads_to_its_pods(browser: Browser) -> None:
    await entered(browser, ProxyTarget(SERVICES, Key("default", "front"), 80))
    await answering(browser)
    assert (await browser.get("/", accept="text/html")).text.strip() == PAGE
    await entered(browser, ProxyTarget(SERVICES, Key("default", "front"), 81))
    answer = await browser.get("/", accept="text/html")
    assert answer.status == 503 and "81" in answer.text


@pytest.mark.usefixtures("console")
async def test_closed_port_and_missing_pod_are_reported(browser: Browser) -> None:
    await entered(browser, ProxyTarget(PODS, Key("default", "httpd"), 81))
    answer = await browser.get("/", accept="text/html")
    assert answer.status == 503 and "Port 81 of httpd is not responding." in answer.text
    assert "10.214" not in answer.text
    await entered(browser, ProxyTarget(PODS, Key("default", "nobody"), 80))
    answer = await browser.get("/", accept="text/html")
    assert answer.status == 404 and "nobody no longer exists." in answer.text


@pytest.mark.parametrize("lost", ["get_in", "delete_in"], ids=["get", "create"])
async def test_websocket_is_relayed(httpd: Browser, person: Person, lost: str) -> None:
    await entered(httpd, ProxyTarget(PODS, Key("default", "httpd"), 8081))
    socket = httpd.connect("/talk")
    await socket.send_input({"type": "websocket.connect"})
    opened = await socket.receive_output(10)
    assert opened == {"type": "websocket.accept", "subprotocol": None}
    assert await socket.receive_output(10) == {"type": "websocket.send", "text": "hello"}
    setattr(person.access, lost, ())
    assert await socket.receive_output(10) == {"type": "websocket.close", "code": 1008}
    person.access = FakeAccess("tenant", get_in=None)
    # A request that is not a websocket handshake must not open a raw connection.
    await entered(httpd, ProxyTarget(PODS, Key("default", "httpd"), 8080), "tenant")
    socket = httpd.connect("/index.html")
    await socket.send_input({"type": "websocket.connect"})
    assert await socket.receive_output(10) == {"type": "websocket.close", "code": 1008}


async def test_kube_apiserver_checks_permissions_as_well(httpd: Browser, person: Person) -> None:
    """Even if the console allows the request."""
    own = {"sec-fetch-site": "same-origin"}
    for who, reads, writes in (("tenant", 200, 403), ("stranger", 403, 403)):
        person.access = FakeAccess(who, get_in=None)
        await entered(httpd, ProxyTarget(PODS, Key("default", "httpd"), 8080), who)
        answer = await httpd.get("/index.html", accept="text/html")
        assert answer.status == reads, answer.text
        answer = await httpd.send("POST", "/cgi-bin/echo", b"x", **own)
        assert answer.status == writes and "Permission denied by the cluster." in answer.text
    person.access = FakeAccess("tenant", get_in=None)
    await entered(httpd, ProxyTarget(SERVICES, Key("default", "front"), 80), "tenant")
    assert (await httpd.get("/index.html")).status == 403
