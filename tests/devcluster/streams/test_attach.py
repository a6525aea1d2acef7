"""Attach to the main process of a container, and ephemeral containers."""

from typing import Any

import pytest

from devcluster.logs.runs import RATE_ANNOTATION
from tests.controlplane.waiting import eventually
from tests.devcluster.conftest import Obj
from tests.devcluster.streams.conftest import PODS, V4, PodClient, Query, body, start

BOTH: Query = (("stdin", "true"), ("stdout", "true"), ("stderr", "true"))
TTY: Query = (("stdin", "true"), ("stdout", "true"), ("tty", "true"))
STRATEGIC = "application/strategic-merge-patch+json"


def status_of(pods: PodClient, pod: str, group: str = "containerStatuses") -> Obj:
    found: Obj = pods.api.get(f"{PODS}/{pod}")["status"].get(group, [{}])[0]
    return found


def typed(name: str, policy: str) -> Obj:
    """Return a pod whose container has stdin and a terminal."""
    container: Obj = {"name": "main", "image": "busybox", "stdin": True, "tty": True}
    return body(name, containers=[container], restartPolicy=policy)


async def test_attach_ends_with_stdin_and_does_not_stop_the_container(
    pods: PodClient, web: str
) -> None:
    before = status_of(pods, web)
    async with pods.open(f"{web}/attach", BOTH) as door:
        await door.send(0, "nobody reads it")
        await door.send(255, b"\0")
        found = await door.end()
    assert (found.status, found.close) == ({"metadata": {}, "status": "Success"}, 1000)
    assert status_of(pods, web) == before


async def test_attach_streams_new_log_lines(pods: PodClient) -> None:
    noisy = body("noisy")
    noisy["metadata"]["annotations"] = {RATE_ANNOTATION: "20"}
    name = start(pods.api, noisy)
    async with pods.open(f"{name}/attach", BOTH) as door:
        for _ in range(3):
            await door.shows("\n")
        await door.send(255, b"\0")
        found = await door.end()
    assert (found.status["status"], found.channels.get(2)) == ("Success", None)


async def test_attach_with_tty_to_a_container_without_tty_has_no_output(
    pods: PodClient, web: str
) -> None:
    async with pods.open(f"{web}/attach", TTY) as door:
        await door.send(0, "ls\r")
        await door.send(255, b"\0")
        assert await door.next()
        assert (await pods.run(web, "true")).code == 0
    assert door.heard.channels == {1: b""}


@pytest.mark.parametrize(
    ("policy", "code", "phase", "restarts"),
    [("Never", 0, "Succeeded", 0), ("Never", 3, "Failed", 0), ("Always", 3, "Running", 1)],
)
async def test_exiting_the_main_shell_follows_the_restart_policy(
    pods: PodClient, policy: str, code: int, phase: str, restarts: int
) -> None:
    name = start(pods.api, typed(f"typed-{policy}-{code}".lower(), policy))
    async with pods.open(f"{name}/attach", TTY, (V4,)) as door:
        await door.shows("/ # ")
        await door.send(0, "hostname\r")
        await door.shows(f"\r\n{name}\r\n")
        await door.send(0, f"exit {code}\r")
        found = await door.end()
    assert (found.status["status"], found.close) == ("Success", 1000)
    pod = pods.api.get(f"{PODS}/{name}")
    state = pod["status"]["containerStatuses"][0]
    assert (pod["status"]["phase"], state["restartCount"]) == (phase, restarts)
    ended = state["lastState" if restarts else "state"]["terminated"]
    assert ended["exitCode"] == code


async def test_attach_and_exec_reject_a_terminated_container(pods: PodClient) -> None:
    name = start(pods.api, typed("once", "Never"))
    async with pods.open(f"{name}/attach", TTY) as door:
        await door.shows("/ # ")
        await door.send(0, b"\x04")
        await door.end()
    why = "container main not found in pod once_default"
    assert await pods.rejected("once/attach", TTY) == (500, why)
    assert await pods.rejected("once/exec", TTY) == (500, 'container not found ("main")')


async def test_attach_with_an_unsupported_accept_header_returns_406(
    pods: PodClient, web: str
) -> None:
    wanted = "406: Not Acceptable\n\nAvailable representations: "
    assert await pods.rejected(f"{web}/attach", BOTH, Accept="application/json") == (406, wanted)


async def test_an_ephemeral_container_debugs_a_container_without_a_shell(pods: PodClient) -> None:
    image = "example/distroless:1"
    name = start(pods.api, body("bare", containers=[{"name": "main", "image": image}]))
    assert (await pods.run(name, "sh")).status["reason"] == "InternalError"
    added: dict[str, Any] = {"name": "debug", "image": "busybox", "stdin": True, "tty": True}
    patch = {"spec": {"ephemeralContainers": [{**added, "targetContainerName": "main"}]}}
    code, after = pods.api.call("PATCH", f"{PODS}/{name}/ephemeralcontainers", patch)
    assert (code, len(after["spec"]["ephemeralContainers"])) == (200, 1)
    group = "ephemeralContainerStatuses"
    eventually(
        lambda: "running" in status_of(pods, name, group).get("state", {}),
        "the debug container is running",
    )
    query = [*TTY, ("container", "debug")]
    async with pods.open(f"{name}/attach", query) as door:
        await door.shows("/ # ")
        await door.send(0, "ps | head -2; cat /proc/1/root/etc/os-release\r")
        await door.shows("/distroless")
        await door.shows('"Distroless"')
        await door.send(0, "exit 4\r")
        await door.end()
    state = status_of(pods, name, group)["state"]["terminated"]
    assert (state["exitCode"], state["reason"]) == (4, "Error")
    assert "running" in status_of(pods, name)["state"]
    assert (await pods.rejected(f"{name}/attach", query))[0] == 500
