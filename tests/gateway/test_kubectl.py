"""kubectl through the console and directly: same output, same exit codes."""

import http.client
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing
from difflib import ndiff

import pytest

from devcluster.server import DevCluster
from tests.contract.cluster import Kubectl
from tests.gateway.commands import COMMANDS, Command, normalized
from tests.gateway.site import (
    ADMIN,
    DIRECT,
    NAMESPACES,
    TENANT,
    THROUGH,
    Site,
    embedded_site,
    site_of,
)
from tests.support.depth import fewer
from tests.support.pseudo_terminal import environment, typing, until

pytestmark = pytest.mark.programs
_SECONDS = 60


@pytest.fixture(scope="module", params=["embedded", "real"])
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    (folder / "sent").write_text("copied\n" * 10_000)
    if request.param == "embedded":
        with embedded_site(folder) as found:
            yield found
    else:
        node = request.getfixturevalue("real_node")
        with site_of(node.cluster, "worker", folder) as found:
            yield found


def _run(kubectl: Kubectl, site: Site, command: Command) -> tuple[int, list[str], list[str]]:
    names = {"node": site.node, "home": str(site.home), "namespace": kubectl.namespace}
    done = kubectl.run(*command.arguments(**names), input=command.input)
    if command.after:
        kubectl.run(*command.restoring(**names))
    found = (normalized(one, kubectl.namespace) for one in (done.stdout, done.stderr))
    return (done.returncode, *found)  # type: ignore[return-value]


@pytest.mark.parametrize("user", fewer((TENANT, ADMIN), TENANT))
@pytest.mark.parametrize("command", COMMANDS[:-1], ids=lambda one: one.line.split(" -p ")[0])
def test_output_and_exit_code_are_the_same(site: Site, command: Command, user: str) -> None:
    directly, through = (_run(site.kubectl(user, one), site, command) for one in NAMESPACES)
    assert through == directly, "\n".join(ndiff(directly[1] + directly[2], through[1] + through[2]))


def test_copied_files_are_complete(site: Site) -> None:
    """The embedded cluster has no tar that unpacks."""
    received = [site.home / f"received-{one}" for one in NAMESPACES]
    if isinstance(site.cluster, DevCluster):
        assert not any(path.exists() for path in received)
    else:
        assert [path.read_text() for path in received] == ["copied\n" * 10_000] * 2


@pytest.mark.parametrize("user", fewer((TENANT, ADMIN), TENANT))
def test_a_terminal_is_interactive(site: Site, user: str) -> None:
    kubectl = site.kubectl(user, THROUGH)
    with typing(kubectl, "exec", "-it", "-n", THROUGH, "shell", "--", "sh") as (screen, process):
        until(screen, "# ")
        os.write(screen, b"echo $((6 * 7))\r")
        until(screen, "\n42")
        os.write(screen, b"exit 4\r")
        assert process.wait(_SECONDS) == 4


def test_a_followed_log_begins_with_the_same_lines(site: Site) -> None:
    def first_line(namespace: str) -> str:
        kubectl = site.kubectl(TENANT, namespace)
        command = [kubectl.program, "-n", namespace, "logs", "-f", "shell"]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, env=environment(kubectl), text=True
        ) as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            process.terminate()
        return line

    lines = [first_line(one) for one in NAMESPACES]
    assert all(lines)
    assert normalized(lines[0], DIRECT) == normalized(lines[1], THROUGH)


def test_forwarded_ports_answer_the_same(site: Site) -> None:
    def answers(namespace: str) -> list[tuple[int, list[str]]]:
        kubectl = site.kubectl(TENANT, namespace)
        command = [kubectl.program, "-n", namespace, "port-forward", "shell", ":8080"]
        with subprocess.Popen(
            [*command, "--address=127.0.0.1"], stdout=subprocess.PIPE, env=environment(kubectl)
        ) as process:
            assert process.stdout is not None
            try:
                line = process.stdout.readline().decode()
                port = int(line.partition(" -> ")[0].rpartition(":")[2])
                return [_get(port, path, namespace) for path in ("/absent", "/x/absent", "/absent")]
            finally:
                process.terminate()

    assert answers(THROUGH) == answers(DIRECT)


def _get(port: int, path: str, namespace: str) -> tuple[int, list[str]]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=_SECONDS)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        # The page shows the number of the request and the time.
        text = re.sub(r"\d+", "0", answer.read().decode().replace(namespace, "NAMESPACE"))
        return answer.status, text.splitlines()


@pytest.mark.parametrize("websockets", ["true", "false"])
def test_older_versions_of_kubectl_use_spdy(site: Site, websockets: str) -> None:
    """The result is the same as without the gateway, for clusters with and without SPDY."""

    def run(namespace: str) -> tuple[int, str]:
        kubectl = site.kubectl(TENANT, namespace)
        done = subprocess.run(
            [
                kubectl.program,
                "-n",
                namespace,
                "exec",
                "-i",
                "shell",
                "--",
                "sh",
                "-c",
                "cat; exit 7",
            ],
            input="abc",
            env={**environment(kubectl), "KUBECTL_REMOTE_COMMAND_WEBSOCKETS": websockets},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        return done.returncode, done.stdout

    assert run(THROUGH) == run(DIRECT)


def test_the_last_command_deletes_the_pod(site: Site) -> None:
    directly, through = (_run(site.kubectl(TENANT, one), site, COMMANDS[-1]) for one in NAMESPACES)
    assert through == directly
    assert through[0] == 0
