"""Streaming commands of the real kubectl: exec, debug, run and port-forward."""

import http.client
import os
import subprocess
from pathlib import Path

import pytest

from tests.contract.cluster import Kubectl, kubectl_program
from tests.devcluster.streams.conftest import PodClient, body, start
from tests.support.pseudo_terminal import environment, typing, until

_SECONDS = 60


@pytest.fixture(scope="module")
def kubectl(pods: PodClient, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    program = kubectl_program()
    if program is None:
        pytest.skip("kubectl is not installed")
    home = tmp_path_factory.mktemp("home")
    return Kubectl(program, pods.cluster.kubeconfig, home, "default")


def test_kubectl_exec_returns_output_and_exit_code(kubectl: Kubectl, web: str, two: str) -> None:
    assert kubectl("exec", web, "--", "echo", "hi") == "hi\n"
    assert kubectl("exec", "-i", web, "--", "wc", "-c", input="x" * 100_000).strip() == "100000"
    done = kubectl.run("exec", web, "--", "sh", "-c", "echo no >&2; exit 3")
    assert (done.returncode, done.stderr) == (3, "no\ncommand terminated with exit code 3\n")
    done = kubectl.run("exec", two, "-c", "a", "--", "sh")
    assert (done.returncode, "executable file not found in $PATH" in done.stderr) == (1, True)
    commands = "cd /etc\nls host*\nexit 5\n"
    done = kubectl.run("exec", "-i", web, "--", "sh", input=commands)
    assert (done.returncode, done.stdout) == (5, "hostname\nhosts\n")


def test_kubectl_exec_opens_an_interactive_terminal(kubectl: Kubectl, web: str) -> None:
    with typing(kubectl, "exec", "-it", web, "--", "bash") as (terminal, process):
        until(terminal, "root@web:/# ")
        os.write(terminal, b"tty; sleep 100\r")
        until(terminal, "/dev/pts/0")
        os.write(terminal, b"\x03")
        until(terminal, "root@web:/# ")
        os.write(terminal, b"exit 4\r")
        assert process.wait(_SECONDS) == 4


def test_kubectl_debug_attaches_to_an_ephemeral_container(
    kubectl: Kubectl, pods: PodClient
) -> None:
    container = {"name": "main", "image": "example/distroless:1"}
    name = start(pods.api, body("sealed", containers=[container]))
    arguments = ("debug", "-it", name, "--image=busybox", "--target=main")
    with typing(kubectl, *arguments) as (terminal, process):
        until(terminal, "/ # ")
        os.write(terminal, b"ps\r")
        until(terminal, "/distroless")
        os.write(terminal, b"exit\r")
        assert process.wait(_SECONDS) == 0


def test_kubectl_run_opens_an_interactive_pod(kubectl: Kubectl) -> None:
    arguments = ("run", "shell", "-it", "--rm", "--restart=Never", "--image=busybox")
    with typing(kubectl, *arguments) as (terminal, process):
        until(terminal, "/ # ")
        os.write(terminal, b"exit\r")
        until(terminal, 'pod "shell" deleted')
        assert process.wait(_SECONDS) == 0
    assert "NotFound" in kubectl.run("get", "pod", "shell").stderr


def test_kubectl_port_forward_serves_several_connections(
    kubectl: Kubectl, two: str, tmp_path: Path
) -> None:
    command = [kubectl.program, "port-forward", two, ":8080", "--address=127.0.0.1"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(kubectl)
    ) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline().decode()
            port = int(line.partition(" -> ")[0].rpartition(":")[2])
            for path in ("/", "/healthz", "/again"):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_SECONDS)
                connection.request("GET", path)
                answer = connection.getresponse()
                assert (answer.status, b"two" in answer.read()) == (200, path != "/healthz")
                connection.close()
        finally:
            process.terminate()
