"""The audit trail in a browser, with a kube-apiserver that sends its audit events to the console."""

import json
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import ROOT, Console, running, sign_in
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.programs import ApiserverOptions
from tests.controlplane.waiting import eventually
from tests.support.ports import free_port

DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "invoice-worker", "namespace": "default"},
    "spec": {
        "replicas": 0,
        "selector": {"matchLabels": {"app": "invoice-worker"}},
        "template": {
            "metadata": {"labels": {"app": "invoice-worker"}},
            "spec": {"containers": [{"name": "worker", "image": "example/invoice:1.9.2"}]},
        },
    },
}
#: Sends the objects of all changes by users.
POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "users": ["system:apiserver"]},
        {"level": "None", "userGroups": ["system:nodes", "system:serviceaccounts:kube-system"]},
        {
            "level": "RequestResponse",
            "verbs": ["create", "update", "patch", "delete", "deletecollection"],
        },
    ],
}


class TlsFront:
    """Accepts TLS connections on `port`, and forwards them to the console at `url`."""

    def __init__(self, certificate: Path, key: Path) -> None:
        self.url = ""
        self.port = free_port()
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(certificate, key)
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                plain, _address = self._listener.accept()
            except OSError:
                return
            with ExitStack() as opened:
                opened.enter_context(plain)
                try:
                    client = opened.enter_context(self._tls.wrap_socket(plain, server_side=True))
                    target = urlsplit(self.url)
                    server = socket.create_connection((target.hostname or "", target.port or 0))
                except OSError:
                    # The console isn't ready yet. kube-apiserver tries again.
                    continue
                opened.pop_all()
            for ends in ((client, server), (server, client)):
                threading.Thread(target=self._copy, args=ends, daemon=True).start()

    def _copy(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError), source, target:
            while data := source.recv(65536):
                target.sendall(data)


@pytest.fixture(scope="module")
def audited(
    control_plane_programs: object, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Console]:
    """A console, and a cluster whose kube-apiserver sends its audit events to it."""
    folder = tmp_path_factory.mktemp("audited")
    policy, webhook = folder / "policy.json", folder / "webhook.yaml"
    policy.write_text(json.dumps(POLICY))
    flags = (
        f"--audit-policy-file={policy}",
        f"--audit-webhook-config-file={webhook}",
        "--audit-webhook-batch-max-wait=1s",
        "--audit-webhook-initial-backoff=1s",
    )
    cluster = ControlPlane(options=ApiserverOptions(extra=flags))
    front = TlsFront(*cluster.serving)
    environment = {
        **os.environ,
        "SECRET_KEY": "browser-tests-" + "x" * 40,
        "BASE_URL": f"https://127.0.0.1:{front.port}",
    }
    command = [sys.executable, "manage.py", "audit", "webhook", "--ca-file", str(cluster.ca_file)]
    printed = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    )
    webhook.write_text(printed.stdout)
    with cluster, running(cluster, folder) as console:
        front.url = console.url
        yield console
    front.close()


def exported(page: Page, console: Console, search: str) -> list[dict[str, object]]:
    answer = page.request.get(
        f"{console.url}/audit", params={"q": search, "range": "1h", "format": "jsonl"}
    )
    assert answer.ok, answer.text()
    return [json.loads(line) for line in answer.text().splitlines()]


def test_a_deleted_deployment_is_found_and_restored(audited: Console, page: Page) -> None:
    audited.kubectl("apply", "--server-side", "-f", "-", input=json.dumps(DEPLOYMENT))
    sign_in(
        page, audited, "/clusters/host/projects/default/deployments/invoice-worker/actions/delete"
    )
    page.get_by_role("button", name="Delete deployment").click()
    page.wait_for_url(re.compile("/clusters/host/deployments"))
    page.get_by_role("link", name="Quarterdeck").click()
    page.goto(f"{audited.url}/audit")
    page.locator("#q").fill("invoice-worker verb:delete")
    page.locator("#q").press("Enter")
    row = page.locator(".trail-row", has_text="deleted Deployment invoice-worker")
    expect(row.locator(".who")).to_have_text("admin")
    row.locator("summary").click()
    expect(row.locator(".diff")).to_contain_text("image: example/invoice:1.9.2")
    row.get_by_role("link", name="Restore").click()
    page.wait_for_url(re.compile("/import"))
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_text("Can be created: 1")).to_be_visible()
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("link", name="default/invoice-worker").click()
    found = json.loads(audited.kubectl("get", "deployment", "invoice-worker", "-o", "json"))
    container = found["spec"]["template"]["spec"]["containers"][0]
    assert (found["spec"]["replicas"], container["image"]) == (0, "example/invoice:1.9.2")
    audited.kubectl("delete", "deployment", "invoice-worker")


def test_changes_with_kubectl_and_with_the_console_appear_once(
    audited: Console, page: Page
) -> None:
    sign_in(page, audited, "")
    audited.kubectl("create", "configmap", "directly", "--from-literal=a=1")
    audited.kubectl("annotate", "configmap", "directly", "note=x")
    audited.kubectl("delete", "configmap", "directly")
    page.goto(f"{audited.url}/clusters/host/import?kind=configmaps&namespace=default")
    page.get_by_role("button", name="Review").click()
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("link", name="default/example").click()
    page.goto(f"{audited.url}/clusters/host/projects/default/configmaps/example/actions/delete")
    page.get_by_role("button", name=re.compile("Delete")).click()
    page.wait_for_url(re.compile("/clusters/host/configmaps"))
    # Batches are in order, so the events of earlier requests have arrived with this one.
    audited.kubectl("create", "configmap", "last")
    eventually(
        lambda: exported(page, audited, "name:last"), "the audit events have arrived", timeout=30
    )
    found = [
        (one["actor"], one["verb"], one["name"], one["origin"])
        for one in reversed(exported(page, audited, "kind:configmap project:default"))
    ]
    assert found == [
        *(("admin", verb, "directly", "direct") for verb in ("create", "patch", "delete")),
        *(("admin", verb, "example", "page") for verb in ("create", "delete")),
        ("admin", "create", "last", "direct"),
    ]
    page.goto(f"{audited.url}/audit?q=name:directly verb:delete")
    page.locator(".trail-row summary").click()
    expect(page.locator(".trail-body .diff")).to_contain_text("note: x")


def test_each_write_of_the_cluster_has_one_record(audited: Console, page: Page) -> None:
    """Compare the trail with kube-apiserver's own audit log."""
    assert isinstance(audited.cluster, ControlPlane)
    sign_in(page, audited, "")
    mark = audited.cluster.audit_mark()
    audited.kubectl("create", "namespace", "compared")
    audited.kubectl("create", "configmap", "a", "--namespace=compared")
    audited.kubectl("label", "namespace", "compared", "tier=test")
    page.goto(f"{audited.url}/clusters/host/projects/compared/configmaps/a/actions/delete")
    page.get_by_role("button", name=re.compile("Delete")).click()
    page.wait_for_url(re.compile("/clusters/host/configmaps"))
    audited.kubectl("create", "configmap", "final")
    eventually(
        lambda: exported(page, audited, "name:final"), "the audit events have arrived", timeout=30
    )
    recorded = [str(one["audit_id"]) for one in exported(page, audited, "")]
    assert len(recorded) == len(set(recorded))
    written = {
        str(one.record["auditID"]): (one.user, one.verb, one.resource, one.name)
        for one in audited.cluster.audit_events(mark)
        if one.verb in ("create", "update", "patch", "delete")
        and one.resource not in ("leases", "events", "loginrecords")
        and not one.resource.endswith("reviews")
        and one.subresource != "status"
        and "dryRun" not in one.uri
        and not one.user.startswith(
            ("system:apiserver", "system:kube-", "system:serviceaccount:kube-")
        )
    }
    assert {name for _user, _verb, _resource, name in written.values()} >= {
        "compared",
        "a",
        "final",
    }
    assert [what for audit_id, what in written.items() if audit_id not in recorded] == []
