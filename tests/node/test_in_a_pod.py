"""The image: the console runs in a pod of a real node, with the restrictions of pod security."""

import asyncio
import json
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from console.kube.clients import ConsoleClient
from console.kube.credentials import Credentials
from console.kube.transport import Transport
from console.management.commands.install import install_into
from tests.browser.console import PASSWORD, ROOT, answers, kubectl_program
from tests.controlplane.waiting import eventually
from tests.logs.reader import signed_in
from tests.node.box import ADDRESS
from tests.node.node import NAME, RealNode
from tests.support.ports import free_port

pytestmark = [pytest.mark.programs, pytest.mark.deep]

IMAGE, NAMESPACE = "localhost/quarterdeck:latest", "quarterdeck-system"
_ARCHIVE = ROOT / "build" / "image" / "quarterdeck-amd64.tar"


@pytest.fixture(scope="module")
def node() -> Iterator[RealNode]:
    """A node with the image, on a cluster with the console's types and identities."""
    if not _ARCHIVE.exists():
        pytest.skip("the image is not built, see `make image`")
    with RealNode() as node:
        node.import_image(_ARCHIVE)
        transport = Transport(Credentials("admin", str(node.cluster.kubeconfig)))

        async def install() -> None:
            await install_into(ConsoleClient(transport), admin_password=PASSWORD)
            await transport.close()

        asyncio.run(install())
        label = "pod-security.kubernetes.io/enforce=restricted"
        done = node.cluster.kubectl("label", "namespace", NAMESPACE, label)
        assert done.returncode == 0, done.stderr
        yield node


def console(node: RealNode, base_url: str) -> dict[str, Any]:
    """Return a pod with both processes, which share a database on a volume of the pod."""
    environment = {
        "BASE_URL": base_url,
        "SECRET_KEY_FILE": "/etc/quarterdeck/key",
        # There is no cluster network, so the address of the kubernetes Service is not reachable.
        "KUBERNETES_SERVICE_HOST": ADDRESS,
        "KUBERNETES_SERVICE_PORT": str(urlsplit(node.cluster.url).port),
    }

    def container(name: str, *arguments: str) -> dict[str, Any]:
        return {
            "name": name,
            "image": IMAGE,
            "imagePullPolicy": "Never",
            "args": [name, *arguments],
            "env": [{"name": key, "value": value} for key, value in environment.items()],
            "volumeMounts": [
                {"name": "state", "mountPath": "/var/lib/quarterdeck"},
                {"name": "temporary", "mountPath": "/tmp"},  # noqa: S108  in the container
                {"name": "key", "mountPath": "/etc/quarterdeck"},
            ],
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            },
        }

    web = container("serve")
    web["readinessProbe"] = {"httpGet": {"path": "/readyz", "port": 8000}, "timeoutSeconds": 5}
    security = {
        "runAsNonRoot": True,
        "fsGroup": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    spec = {
        "serviceAccountName": "quarterdeck-issuer",
        "automountServiceAccountToken": True,
        "securityContext": security,
        "containers": [web, container("controllers")],
        "volumes": [
            {"name": "state", "emptyDir": {}},
            {"name": "temporary", "emptyDir": {"medium": "Memory"}},
            {"name": "key", "secret": {"secretName": "key"}},
        ],
    }
    metadata = {"name": "quarterdeck", "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


@contextmanager
def forwarded(node: RealNode, port: int) -> Iterator[None]:
    """Forward the local port to the pod, as `kubectl port-forward` does."""
    command = [kubectl_program(), "-n", NAMESPACE, "port-forward", "quarterdeck", f"{port}:8000"]
    environment = {"KUBECONFIG": str(node.cluster.kubeconfig)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            eventually(lambda: answers(f"http://127.0.0.1:{port}/livez"), "it is forwarded")
            yield
        finally:
            process.terminate()


def test_the_administrator_signs_in_to_a_console_in_a_pod(node: RealNode) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    key = f"--from-literal=key={secrets.token_hex(32)}"
    done = node.cluster.kubectl("-n", NAMESPACE, "create", "secret", "generic", "key", key)
    assert done.returncode == 0, done.stderr
    pod = json.dumps(console(node, url))
    done = node.cluster.kubectl("apply", "-f", "-", input=pod)
    assert done.returncode == 0, done.stderr
    done = node.cluster.kubectl(
        "-n", NAMESPACE, "wait", "--for=condition=Ready", "pod/quarterdeck", "--timeout=120s"
    )
    logs = node.cluster.kubectl("-n", NAMESPACE, "logs", "quarterdeck", "--all-containers")
    assert done.returncode == 0, logs.stdout
    assert "Traceback" not in logs.stdout, logs.stdout

    async def nodes() -> str:
        async with signed_in(url) as session, session.get("/clusters/host/nodes") as answer:
            assert answer.status == 200
            return await answer.text()

    with forwarded(node, port):
        assert NAME in asyncio.run(nodes())
