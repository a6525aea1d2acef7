"""The exec protocol, compared byte by byte with kube-apiserver and kubelet."""

import asyncio
import json

import pytest

from tests.controlplane.waiting import eventually
from tests.devcluster.conftest import Obj
from tests.devcluster.streams.conftest import PODS, V4, V5, PodClient, body, command_query, start


async def test_exec_sends_stdout_stderr_and_status(pods: PodClient, web: str) -> None:
    found = await pods.run(web, "sh", "-c", "echo out; echo err >&2")
    assert found.channels == {
        1: b"out\n",
        2: b"err\n",
        3: b'{"metadata":{},"status":"Success"}',
    }
    assert (found.first, found.close) == (b"\1", 1000)


@pytest.mark.parametrize(
    ("protocol", "said"),
    [
        (V5, "command terminated with exit code 7"),
        (V4, "error executing command [sh -c exit 7], exit code 7"),
    ],
)
async def test_exec_reports_the_exit_code_in_the_status(
    pods: PodClient, web: str, protocol: str, said: str
) -> None:
    found = await pods.run(web, "sh", "-c", "exit 7", protocol=protocol)
    assert found.status == {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: {said}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": "7"}]},
    }
    assert found.close == 1000


async def test_stdin_and_its_end_reach_the_command(pods: PodClient, web: str) -> None:
    found = await pods.run(web, "wc", "-c", stdin=b"x" * 300_000)
    assert (found.out.strip(), found.code) == ("300000", 0)


async def test_protocol_version_4_cannot_close_stdin(pods: PodClient, web: str) -> None:
    query = command_query("cat", stdin=True)
    async with pods.open(f"{web}/exec", query, (V4,)) as door:
        await door.send(0, "one\n")
        await door.send(255, b"\0")
        await door.send(0, b"")
        await door.send(9, "to nobody")
        await door.send(0, "two\n")
        await door.shows("one\ntwo\n")


async def test_the_first_supported_protocol_is_selected(pods: PodClient, web: str) -> None:
    offered = ("v9.channel.k8s.io", V4, V5)
    async with pods.open(f"{web}/exec", command_query("true"), offered) as door:
        assert door.websocket.protocol == V4
        assert (await door.end()).code == 0


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (("nope",), 'exec: "nope": executable file not found in $PATH'),
        ((), 'exec: "": executable file not found in $PATH'),
        (("/nope",), 'exec: "/nope": stat /nope: no such file or directory'),
        (("/etc/hosts",), 'exec: "/etc/hosts": fork/exec /etc/hosts: permission denied'),
    ],
)
async def test_a_command_that_cannot_start_returns_an_internal_error(
    pods: PodClient, web: str, command: tuple[str, ...], why: str
) -> None:
    found = await pods.run(web, *command)
    status = found.status
    assert (status["reason"], status["code"]) == ("InternalError", 500)
    assert status["message"].startswith("Internal error occurred: error executing command in ")
    assert why in status["message"]
    assert found.close == 1000


async def test_available_shells_depend_on_the_image(pods: PodClient, two: str) -> None:
    found = await pods.run(two, "sh", container="a")
    assert 'exec: "sh": executable file not found in $PATH' in found.status["message"]
    assert (await pods.run(two, "sh", "-c", "cat /etc/os-release", container="b")).code == 0
    assert "not found" in (await pods.run(two, "bash", container="b")).status["message"]


async def test_exec_with_tty_supports_resize_and_ctrl_c(pods: PodClient, web: str) -> None:
    query = command_query("bash", stdin=True, tty=True)
    async with pods.open(f"{web}/exec", query) as door:
        prompt = "root@web:/# "
        await door.shows(prompt)
        await door.send(4, '{"Width":111,"Height":33}')
        await door.send(4, '{"Width":"wide"}')
        await door.send(0, "stty size; echo $COLUMNS $TERM >&2\r")
        await door.shows("33 111\r\n")
        await door.shows("xterm\r\n")
        await door.shows(prompt)
        # Closing stdin does not end a shell in a terminal.
        await door.send(255, b"\0")
        await door.send(0, "sleep 100\r")
        await door.shows("\r\n")
        await door.send(0, b"\x03")
        await door.shows(prompt)
        await door.send(0, b"\x04")
        found = await door.end()
    assert (found.code, found.close, set(found.channels)) == (130, 1000, {1, 3})


async def test_endless_output_does_not_block_the_cluster(pods: PodClient, web: str) -> None:
    query = command_query("cat", "/dev/zero")
    async with pods.open(f"{web}/exec", query) as door:
        for _ in range(200):
            assert await door.next()
    assert len(door.heard.channels[1]) > 1_000_000
    # Only the command of the closed connection is stopped.
    assert (await pods.run(web, "true")).code == 0


async def test_written_files_persist_between_commands(pods: PodClient, web: str) -> None:
    assert (await pods.run(web, "sh", "-c", "echo kept > /root/note")).code == 0
    assert (await pods.run(web, "cat", "/root/note")).out == "kept\n"


async def test_environment_volumes_and_user_match_the_pod_spec(pods: PodClient) -> None:
    api = pods.api
    api.post(
        "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "c"}, "data": {"k": "v"}}
    )
    secret = {"metadata": {"name": "s"}, "stringData": {"p": "word"}}
    api.post("/api/v1/namespaces/default/secrets", secret)
    container: Obj = {
        "name": "main",
        "image": "example/web:1",
        "workingDir": "/srv",
        "args": ["--port", "1"],
        "env": [
            {"name": "ONE", "value": "1"},
            {"name": "BOTH", "value": "$(ONE)-$(TWO)-$$(ONE)"},
            {"name": "KEY", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}},
            {"name": "PASS", "valueFrom": {"secretKeyRef": {"name": "s", "key": "p"}}},
            {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        ],
        "envFrom": [{"prefix": "C_", "configMapRef": {"name": "c"}}],
        "volumeMounts": [
            {"name": "c", "mountPath": "/etc/c"},
            {"name": "p", "mountPath": "/etc/p"},
            {"name": "e", "mountPath": "/cache"},
        ],
        "securityContext": {"runAsUser": 1000},
    }
    projected = [{"secret": {"name": "s"}}, {"configMap": {"name": "c"}}]
    volumes = [
        {"name": "c", "configMap": {"name": "c", "items": [{"key": "k", "path": "in/k"}]}},
        {"name": "p", "projected": {"sources": projected}},
        {"name": "e", "emptyDir": {}},
    ]
    name = start(api, body("known", containers=[container], volumes=volumes))
    script = (
        "echo $ONE $BOTH $KEY $PASS $NODE $C_k; pwd; hostname; id -u; cat /etc/c/in/k /etc/p/p;"
        "ls /etc/p; echo x > /cache/x; cat /cache/x; ps | head -2 | tail -1;"
        "cat /var/run/secrets/kubernetes.io/serviceaccount/namespace; echo"
    )
    found = (await pods.run(name, "sh", "-c", script)).out.splitlines()
    assert found[:4] == ["1 1-$(TWO)-$(ONE) v word node-1 v", "/srv", "known", "1000"]
    assert found[4:] == ["vwordk", "p", "x", "    1 app       0:00 --port 1", "default"]
    patch = {"data": {"k": "new"}}
    assert api.call("PATCH", "/api/v1/namespaces/default/configmaps/c", patch)[0] == 200
    assert (await pods.run(name, "cat", "/etc/c/in/k")).out == "new"


async def test_exec_ends_with_code_137_when_the_pod_is_deleted(pods: PodClient) -> None:
    name = start(pods.api, body("ending"))
    query = command_query("sh", "-c", "echo up; sleep 100")
    async with pods.open(f"{name}/exec", query) as door:
        await door.shows("up\n")
        await asyncio.to_thread(pods.api.call, "DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")
        found = await door.end()
    assert (found.code, found.close) == (137, 1000)


@pytest.mark.parametrize("abruptly", [False, True])
async def test_exec_ends_when_the_cluster_stops_or_is_killed(
    pods: PodClient, web: str, abruptly: bool
) -> None:
    async with pods.open(f"{web}/exec", command_query("sleep", "100")) as door:
        assert await door.next()
        end = pods.cluster.kill if abruptly else pods.cluster.stop
        await asyncio.to_thread(end)
        try:
            found = await door.end()
        finally:
            await asyncio.to_thread(pods.cluster.start)
    assert found.channels == {1: b""}
    assert found.close == 1006 or not abruptly


async def test_background_processes_are_killed_when_the_command_exits(
    pods: PodClient, web: str
) -> None:
    assert (await pods.run(web, "sh", "-c", "(sleep 8765 &); yes & exit 2")).code == 2
    assert (await pods.run(web, "ps")).out.count("\n") == 3


async def test_the_command_is_killed_when_the_client_disconnects(pods: PodClient, web: str) -> None:
    async with pods.open(f"{web}/exec", command_query("sleep", "4321")) as door:
        assert await door.next()
        assert "sleep 4321" in (await pods.run(web, "ps")).out
    for _ in range(100):
        if "sleep 4321" not in (await pods.run(web, "ps")).out:
            return
    raise AssertionError("the command is still running")


# Errors -----------------------------------------------------------------------------------------


def message(found: tuple[int, str]) -> tuple[int, str, str]:
    status = json.loads(found[1])
    assert status["kind"] == "Status"
    return found[0], status["reason"], status["message"]


LS = (("command", "ls"), ("stdout", "true"))


async def test_invalid_requests_return_the_errors_of_kube_apiserver(
    pods: PodClient, web: str, two: str
) -> None:
    found = message(await pods.rejected("nope/exec", LS))
    assert found == (404, "NotFound", 'pods "nope" not found')
    found = message(await pods.rejected(f"{web}/exec", [*LS, ("container", "zz")]))
    assert found == (400, "BadRequest", "container zz is not valid for pod web")
    found = message(await pods.rejected(f"{two}/exec", LS))
    why = "a container name must be specified for pod two, choose one of: [a b]"
    assert found == (400, "BadRequest", why)
    found = message(await pods.rejected(f"{web}/exec", LS, Upgrade="", Connection="close"))
    assert found == (400, "BadRequest", "Upgrade request required")
    assert message(await pods.rejected(f"{web}/exec", LS, "PUT"))[0] == 405


async def test_invalid_requests_return_the_errors_of_a_kubelet(pods: PodClient, web: str) -> None:
    why = "you must specify at least 1 of stdin, stdout, stderr"
    assert await pods.rejected(f"{web}/exec", LS[:1]) == (400, why)
    assert await pods.rejected(f"{web}/exec", LS, "POST") == (405, "bad method")
    headers = {"Sec-WebSocket-Protocol": "v9.channel.k8s.io"}
    code, text = await pods.rejected(f"{web}/exec", LS, **headers)
    assert (code, "not supported" in text) == (403, True)
    waiting = body("pulling")
    waiting["metadata"]["annotations"] = {"devcluster/behaviour": "pull-fails"}
    pods.api.post(PODS, waiting)
    eventually(
        lambda: "ImagePullBackOff" in json.dumps(pods.api.get(f"{PODS}/pulling")),
        "the image pull fails",
    )
    assert await pods.rejected("pulling/exec", LS) == (500, 'container not found ("main")')


async def test_exec_requires_get_and_create_permissions(pods: PodClient, web: str) -> None:
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
    for verb in ("get", "create"):
        rule = {"verbs": [verb], "apiGroups": [""], "resources": ["pods/exec"]}
        pods.api.post(f"{rbac}/roles", {"metadata": {"name": verb}, "rules": [rule]})
        subjects = [{"kind": "User", "name": name} for name in (verb, "both")]
        ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": verb}
        binding = {"metadata": {"name": verb}, "subjects": subjects, "roleRef": ref}
        pods.api.post(f"{rbac}/rolebindings", binding)
    found = message(await pods.of("get").rejected(f"{web}/exec", LS))
    assert found == (403, "Forbidden", 'pods "web" is forbidden: ')
    found = message(await pods.of("create").rejected(f"{web}/exec", LS))
    why = 'User "create" cannot get resource "pods/exec" in API group "" in the namespace "default"'
    assert found == (403, "Forbidden", f'pods "web" is forbidden: {why}')
    mark = pods.cluster.audit.mark()
    assert (await pods.of("both").run(web, "true")).code == 0

    def noted() -> bool:
        records = pods.cluster.audit.requests_since(mark, user="both")
        return [(r.verb, r.subresource, r.code) for r in records] == [("get", "exec", 101)]

    eventually(noted, "the request is in the audit log")
