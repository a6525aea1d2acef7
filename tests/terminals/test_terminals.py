"""Shells over websockets: input and output, reconnecting, ending, and permissions."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from django.db import DatabaseError
from pytest import MonkeyPatch

from console.audit.models import AuditRecord
from console.kube.gvr import PODS, Key
from console.live.limits import MAX_MESSAGE
from console.live.sessionmonitor import get_session_monitor
from console.terminals import terminal as terminals
from console.terminals.consumer import TerminalConsumer
from console.terminals.terminal import (
    MAX_QUEUED_INPUT,
    MAX_UNACKNOWLEDGED,
    TerminalRegistry,
    get_terminals,
)
from console.ui.core.clusters import clusters
from tests.controlplane.waiting import eventually
from tests.logs.conftest import POD_PATH, RBAC, World, binding
from tests.terminals.conftest import Browser, typing, typist

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
async def _held() -> AsyncIterator[TerminalRegistry]:
    """Check that no terminal is left for the next test."""
    found = get_terminals()
    yield found
    await found.close()
    assert len(found) == 0


@pytest.fixture(scope="module")
def asked(made: World) -> str:
    """Return the name of a running pod whose state the tests don't change."""
    name = "asked"
    made.api.post(POD_PATH, made.pod(name))
    pods = made.runtime.informer(PODS).store

    def runs() -> bool:
        entry = pods.get(Key("default", name))
        return entry is not None and "startedAt" in str(entry.original())

    eventually(runs, "it runs")
    return name


def terminal_of(world: World, name: str, *containers: str, query: str = "") -> str:
    path = world.start(world.pod(name, *containers)).removesuffix("/log") + "/terminal"
    return f"{path}?{query}"


async def outcomes() -> list[tuple[str, int | None, str, str]]:
    rows = AuditRecord.objects.order_by("pk")
    return [(one.subresource, one.code, one.reason, one.message) async for one in rows]


async def test_commands_run_and_their_output_arrives(world: World) -> None:
    async with typing(Browser(terminal_of(world, "types"))) as browser:
        assert await browser.run("echo $((6 * 7))") == "42"
        assert await browser.run("hostname") == "types"
        assert browser.begun["container"] == "app" and browser.begun["new"]


async def test_exit_code_is_shown_and_recorded_in_the_audit_trail(world: World) -> None:
    async with typing(Browser(terminal_of(world, "ends"))) as browser:
        await browser.prompt()
        await browser.type("exit 7\n")
        last = await browser.last()
    assert last["ended"]["code"] == 7 and last["close"] == 1000
    assert last["ended"]["message"] == "The shell exited with code 7."
    ((what, code, reason, message),) = await outcomes()
    assert (what, code, reason) == ("exec", 200, "Exit 7")
    assert message.startswith("container app; exit code 7; 7 bytes of input, ")


async def test_terminal_size_is_passed_on(world: World) -> None:
    async with typing(Browser(terminal_of(world, "sized"), size=(111, 33))) as browser:
        assert await browser.run("echo $COLUMNS $LINES") == "111 33"
        await browser.say(size=(70, 20))
        assert await browser.run("true") == ""
        assert await browser.run("echo $COLUMNS $LINES") == "70 20"


async def test_reconnecting_resumes_the_same_shell(world: World) -> None:
    browser = Browser(terminal_of(world, "again"))
    await browser.begin()
    await browser.run("here=1234")
    await browser.leave()
    [terminal] = get_terminals()._held.values()
    end = terminal._timer
    assert end is not None and not end.cancelled()
    await browser.come_back()
    assert not (await browser.hear())["terminal"]["new"]
    # The timeout that would end the shell is cancelled.
    assert end.cancelled()
    assert await browser.run("echo $here") == "1234"
    await browser.leave()
    await get_terminals().close()
    assert [code for _, code, _, _ in await outcomes()] == [200]


async def test_output_is_neither_lost_nor_repeated_across_a_reconnect(world: World) -> None:
    """The shell writes more than the buffer holds while no client is connected."""
    browser = Browser(terminal_of(world, "counts"))
    await browser.begin()
    await browser.prompt()
    await browser.type(
        "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo line $i; done; echo o'v'er\n"
    )
    for _ in range(4):
        for _ in range(20):
            await browser.hear()
        seen = bytes(browser.screen)
        # Part of the output is not acknowledged before the disconnect, so the console sends it
        # again.
        browser.answers = False
        await browser.hear()
        browser.answers = True
        await browser.leave()
        browser.screen, browser.came = bytearray(seen), len(seen)
        await browser.come_back()
        assert (await browser.hear())["terminal"]["at"] == len(seen)
    await browser.until("over\r\n")
    lines = bytes(browser.screen).decode().splitlines()
    found = [int(one.removeprefix("line ")) for one in lines if one.startswith("line ")]
    assert found == list(range(1, 3001))
    await browser.leave()


async def test_input_before_a_disconnect_is_acknowledged_after_the_reconnect(world: World) -> None:
    browser = Browser(terminal_of(world, "typed"))
    await browser.begin()
    await browser.prompt()
    await browser.type("echo a")
    await browser.leave()
    await browser.come_back()
    assert (await browser.hear())["terminal"]["typed"] == 6
    await browser.type("bc\n")
    await browser.until("\r\nabc\r\n")
    await browser.leave()


async def test_shell_without_a_client_ends_after_a_timeout(
    world: World, monkeypatch: MonkeyPatch
) -> None:
    monkeypatch.setattr(terminals, "RECONNECT_SECONDS", 0.2)
    browser = Browser(terminal_of(world, "away"))
    await browser.begin()
    await browser.prompt()
    await browser.type("sleep 1000\n")
    await browser.until("sleep 1000\r\n")
    await browser.leave()
    async with asyncio.timeout(10):
        while not await AuditRecord.objects.filter(code__isnull=False).aexists():
            await asyncio.sleep(0.05)
    ((_, _, reason, message),) = await outcomes()
    # Ctrl-C ends the running program, Ctrl-D ends the shell with the exit code of that program.
    assert reason == "Exit 130" and "exit code 130" in message
    await browser.come_back()
    assert (await browser.hear())["terminal"]["new"]
    await browser.leave()


async def test_closing_a_terminal_ends_the_shell_immediately(world: World) -> None:
    async with typing(Browser(terminal_of(world, "closed"))) as browser:
        await browser.prompt()
        await browser.say(end=True)
        assert (await browser.last())["close"] == 1000
        assert len(get_terminals()) == 0


@pytest.mark.parametrize("other", ["session", "account", "address"])
async def test_terminal_id_gives_other_users_no_access(world: World, other: str) -> None:
    path = terminal_of(world, f"stolen-{other}")
    async with typing(Browser(path)) as mine:
        await mine.run("secret=1234")
        thief = Browser(path)
        if other == "session":
            thief.session = "another"
        elif other == "account":
            world.api.post(f"{RBAC}/clusterrolebindings", binding("eve", "cluster-admin", "eve"))
            thief.access = typist("eve")
        else:
            thief.path = terminal_of(world, "stolen-elsewhere")
        async with typing(thief, id=mine.begun["id"], at=0):
            found = await thief.hear()
            assert found["terminal"]["new"] and found["terminal"]["id"] != mine.begun["id"]
            assert await thief.run("echo =$secret=") == "=="
        assert await mine.run("echo $secret") == "1234"


async def test_last_window_takes_over_the_terminal(world: World) -> None:
    path = terminal_of(world, "two")
    async with typing(Browser(path)) as first:
        await first.run("x=1")
        second = Browser(path)
        async with typing(second, id=first.begun["id"], at=first.came):
            last = await first.last()
            assert last["error"]["code"] == 409
            assert not (await second.hear())["terminal"]["new"]
            second.screen += b"# "
            assert await second.run("echo $x") == "1"


async def test_losing_the_permission_ends_the_terminal_within_two_seconds(world: World) -> None:
    async with typing(Browser(terminal_of(world, "right"), typist())) as browser:
        await browser.prompt()
        browser.access.delete_in = ()
        async with asyncio.timeout(2):
            last = await browser.last()
        assert last["error"]["code"] == 403 and last["close"] == 4403
    async with asyncio.timeout(5):
        while not (found := await outcomes_of(1)):
            await asyncio.sleep(0.05)
    assert found[0][1] == 403


async def outcomes_of(count: int) -> list[tuple[str, int | None, str, str]]:
    if await AuditRecord.objects.filter(code__isnull=False).acount() < count:
        return []
    return await outcomes()


async def test_ended_session_ends_a_disconnected_terminal(world: World) -> None:
    browser = Browser(terminal_of(world, "session"))
    await browser.begin()
    await browser.prompt()
    await browser.leave()
    browser.alive = False
    get_session_monitor()._on_rights(clusters.host)
    async with asyncio.timeout(5):
        while not (found := await outcomes_of(1)):
            await asyncio.sleep(0.05)
    assert found[0][1] == 401
    assert len(get_terminals()) == 0


async def test_slow_reader_causes_back_pressure(world: World) -> None:
    async with typing(Browser(terminal_of(world, "pours"), answers=False)) as browser:
        await browser.prompt()
        await browser.type("cat /dev/zero\n")
        while len(browser.screen) < MAX_UNACKNOWLEDGED:
            await browser.hear()
        while not await browser.socket.receive_nothing(timeout=0.3):
            await browser.hear()
        (found,) = get_terminals()._held.values()
        assert (
            MAX_UNACKNOWLEDGED
            <= len(found.output)
            == len(browser.screen)
            < MAX_UNACKNOWLEDGED + 2**17
        )
        await browser.say(ack=browser.came)
        while len(browser.screen) < 3 * MAX_UNACKNOWLEDGED:
            browser.answers = True
            await browser.hear()


async def test_client_that_never_acknowledges_output_is_disconnected(world: World) -> None:
    async with typing(Browser(terminal_of(world, "flood"))) as browser:
        await browser.prompt()
        (found,) = get_terminals()._held.values()
        found._tasks[0].cancel()
        for _ in range(MAX_QUEUED_INPUT // 32768):
            await browser.type(b"x" * 32768)
        await browser.type(b"x")
        assert (await browser.last())["close"] == 1008


async def test_missing_command_is_explained(world: World) -> None:
    path = terminal_of(world, "bare", "distroless")
    async with typing(Browser(path)) as browser:
        last = await browser.last()
        assert last["ended"]["missing"]
        assert last["ended"]["message"] == "No shell found in this container."
    async with typing(Browser(f"{path}shell=bash")) as browser:
        assert (await browser.last())["ended"]["message"] == "No bash found in this container."
    assert [code for _, code, _, _ in await outcomes()] == [500, 500]


async def test_requested_shell_runs(world: World) -> None:
    async with typing(Browser(terminal_of(world, "named", query="shell=sh"))) as browser:
        assert await browser.run("echo $0") == "sh"


async def test_deleted_pod_ends_the_terminal(world: World) -> None:
    async with typing(Browser(terminal_of(world, "going"))) as browser:
        await browser.prompt()
        world.stop("going")
        assert (await browser.last())["ended"]["code"] == 137


async def test_lost_cluster_connection_is_not_reported_as_an_exit_code(world: World) -> None:
    async with typing(Browser(terminal_of(world, "broken"))) as browser:
        await browser.prompt()
        world.cluster.kill()
        try:
            last = await browser.last()
        finally:
            world.cluster.start()
        assert last["ended"]["code"] is None and "was lost" in last["ended"]["message"]
    assert [code for _, code, _, _ in await outcomes()] == [503]


async def test_unavailable_audit_trail_prevents_the_shell(
    world: World, monkeypatch: MonkeyPatch
) -> None:
    def fail(*_args: object, **_kwargs: object) -> None:
        raise DatabaseError("attempt to write a readonly database")

    path = terminal_of(world, "unaudited")
    monkeypatch.setattr(AuditRecord, "save", fail)
    mark = world.cluster.audit.mark()
    async with typing(Browser(path)) as browser:
        last = await browser.last()
    assert last["error"]["code"] == 503
    assert world.cluster.audit.requests_since(mark, subresource="exec") == []
    assert len(get_terminals()) == 0


@pytest.mark.parametrize(
    "query",
    [
        "container=zz", "container=..%2F..%2Fx", "container=app%00", "container=a&container=b",
        "shell=python", "shell=sh%20-c%20id", "shell=%2Fbin%2Fsh", "attach=maybe",
    ],
)  # fmt: skip
async def test_invalid_parameters_are_refused(world: World, asked: str, query: str) -> None:
    path = f"/clusters/host/projects/default/pods/{asked}/terminal?{query}"
    mark = world.cluster.audit.mark()
    async with typing(Browser(path)) as browser:
        assert (await browser.last())["error"]["code"] == 400
    assert world.cluster.audit.requests_since(mark, subresource="exec") == []


@pytest.fixture(scope="module")
def waiting(made: World) -> str:
    """Return the name of an unschedulable pod."""
    pod = made.pod("waiting")
    pod["spec"]["nodeSelector"] = {"no": "node"}
    made.api.post(POD_PATH, pod)
    key = Key("default", "waiting")
    eventually(lambda: made.runtime.informer(PODS).store.get(key), "the pod is known")
    return key.name


@pytest.mark.parametrize(
    "query, said",
    [
        ("", "No container in this pod is running."),
        ("container=app", "Container app is not running."),
        ("container=app&attach=true", "Container app is not running."),
    ],
)
async def test_container_that_is_not_running_is_refused(
    world: World, waiting: str, query: str, said: str
) -> None:
    path = f"/clusters/host/projects/default/pods/{waiting}/terminal?{query}"
    mark = world.cluster.audit.mark()
    async with typing(Browser(path)) as browser:
        assert (await browser.last())["error"] == {"code": 409, "message": said}
    for asked_for in ("exec", "attach"):
        assert world.cluster.audit.requests_since(mark, subresource=asked_for) == []


@pytest.mark.parametrize("pod", ["nobody", "%2e%2e", "..%2fsecrets", "a%2fb"])
async def test_invalid_names_send_no_request_to_the_cluster(world: World, pod: str) -> None:
    mark = world.cluster.audit.mark()
    browser = Browser(f"/clusters/host/projects/default/pods/{pod}/terminal")
    socket = browser.connect_as()
    connected, _ = await socket.connect(timeout=20)
    if connected:
        browser.socket = socket
        await browser.say(begin="en", size=(80, 24))
        assert (await browser.last())["error"]["code"] == 404
    assert world.cluster.audit.requests_since(mark, subresource="exec") == []


async def test_denied_user_is_refused_without_a_request_to_the_cluster(world: World) -> None:
    path = terminal_of(world, "other")
    mark = world.cluster.audit.mark()
    cast = [
        (typist("eve"), {"delete_in": ()}),
        (typist("eve"), {"get_in": ()}),
    ]
    for access, less in cast:
        for name, value in less.items():
            setattr(access, name, value)
        async with typing(Browser(path, access)) as browser:
            last = await browser.last()
            assert (last["error"]["code"], last["close"]) == (403, 4403)
    async with typing(Browser(path, writes=False)) as browser:
        assert (await browser.last())["error"]["code"] == 403
    assert world.cluster.audit.requests_since(mark, subresource="exec") == []
    assert await outcomes() == []


async def test_a_page_of_another_user_opens_no_terminal(world: World) -> None:
    path = terminal_of(world, "page")
    mark = world.cluster.audit.mark()
    async with typing(Browser(path), page="another") as browser:
        last = await browser.last()
    assert last["error"]["code"] == 403 and "Reload the page." in last["error"]["message"]
    assert world.cluster.audit.requests_since(mark, subresource="exec") == []


async def test_cluster_refusal_is_passed_on(world: World) -> None:
    """The console still has permissions cached that kube-apiserver no longer grants."""
    async with typing(Browser(terminal_of(world, "refused"), typist("mallory"))) as browser:
        last = await browser.last()
    assert last["error"]["code"] == 403
    assert [code for _, code, _, _ in await outcomes()] == [403]


@pytest.mark.parametrize(
    "text",
    [
        "{}", '{"begin": 1, "size": [80, 24]}', '{"begin": "en", "size": [0, 24]}',
        '{"begin": "en", "size": [80, 2400]}', '{"begin": "en", "size": [80]}',
        '{"begin": "en", "size": [80, 24], "x": 1}', "[" * 5000, '{"ack": 1}',
    ],
)  # fmt: skip
async def test_invalid_message_closes_the_websocket(world: World, text: str) -> None:
    browser = Browser("/clusters/host/projects/default/pods/any/terminal")
    browser.socket = browser.connect_as()
    await browser.socket.connect(timeout=20)
    await browser.socket.send_to(text_data=text)
    assert await browser.last() == {"close": 1008}


async def test_acknowledging_output_that_was_never_sent_closes_the_websocket(world: World) -> None:
    path = terminal_of(world, "liar")
    async with typing(Browser(path)) as browser:
        await browser.prompt()
        await browser.say(ack=10**9)
        assert (await browser.last())["close"] == 1008
    async with typing(Browser(path), id=browser.begun["id"], at=10**9) as other:
        assert (await other.last())["close"] == 1008


async def test_invalid_terminal_size_closes_the_websocket(world: World) -> None:
    async with typing(Browser(terminal_of(world, "flat"))) as browser:
        await browser.prompt()
        await browser.say(size=(80, 0))
        assert (await browser.last())["close"] == 1008


async def test_message_flood_closes_the_websocket(world: World) -> None:
    async with typing(Browser(terminal_of(world, "many-messages"), answers=False)) as browser:
        await browser.connected()
        for _ in range(int(TerminalConsumer.per_second) + 20):
            await browser.say(ack=0)
        assert (await browser.last())["close"] == 1008


@pytest.mark.parametrize("kind", ["text_data", "bytes_data"])
async def test_huge_message_closes_the_websocket(world: World, asked: str, kind: str) -> None:
    browser = Browser(f"/clusters/host/projects/default/pods/{asked}/terminal")
    browser.socket = browser.connect_as()
    await browser.socket.connect(timeout=20)
    whole = "x" * (MAX_MESSAGE + 1)
    await browser.socket.send_to(**{kind: whole if kind == "text_data" else whole.encode()})
    assert await browser.last() == {"close": 1009}


async def test_terminals_are_limited_per_account(world: World, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(terminals, "MAX_PER_ACCOUNT", 2)
    path = terminal_of(world, "many")
    async with typing(Browser(path)) as one, typing(Browser(path)) as two:
        await one.prompt()
        await two.prompt()
        async with typing(Browser(path)) as third:
            assert (await third.last())["error"]["code"] == 429


async def test_attach_uses_the_tty_and_stdin_settings_of_the_container(world: World) -> None:
    path = terminal_of(world, "attached", query="attach=1")
    async with typing(Browser(path)) as browser:
        await browser.connected()
        assert not browser.begun["tty"] and not browser.begun["reads"]
