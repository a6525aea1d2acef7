"""The audit trail in a browser, with a kube-apiserver that sends its audit events to the console."""

import json
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from console.kube.gvr import WORKSPACE_TEMPLATES
from tests.browser.console import ROOT, Console, running, sign_in
from tests.browser.wizard_forms import field
from tests.browser.yaml_editor import edit
from tests.controlplane.audit import AuditEvent
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
TEAM = {
    "apiVersion": WORKSPACE_TEMPLATES.group_version,
    "kind": "WorkspaceTemplate",
    "metadata": {"name": "compared-team"},
    "spec": {"template": {"spec": {}}},
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


def _with_pages(page: Page, url: str) -> None:
    """Write with a page, the wizard, the editor, an import and a bulk action."""
    place = f"{url}/clusters/host/projects/compared"
    page.goto(f"{place}/configmaps/page/actions/delete")
    page.get_by_role("button", name=re.compile("Delete")).click()
    page.wait_for_url(re.compile("/clusters/host/configmaps"))
    page.goto(f"{url}/clusters/host/new/deployments?namespace=compared")
    page.fill(field(page, "name"), "wizard")
    page.keyboard.press("Enter")
    page.wait_for_url("**/containers")
    page.fill(field(page, "containers.0.image"), "example/web:1")
    page.get_by_role("button", name="Skip to review").click()
    page.get_by_role("button", name=re.compile("^Create")).click()
    expect(page.get_by_role("link", name="wizard").first).to_be_visible()
    page.goto(f"{place}/configmaps/editor/edit")
    edit(page, "blue", "green")
    page.get_by_role("button", name="Review changes").click()
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url(re.compile("/configmaps/editor(?!/edit)"))
    page.goto(f"{url}/clusters/host/import?kind=configmaps&namespace=compared")
    page.get_by_role("button", name="Review").click()
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("link", name="compared/example")).to_be_visible()
    page.goto(f"{url}/clusters/host/configmaps?namespace=compared&q=bulk")
    for name in ("bulk-1", "bulk-2"):
        page.locator(f'tr[data-key="compared/{name}"]').get_by_role("checkbox").click()
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name=re.compile("^Delete 2")).click()
    expect(page.locator(".summary")).to_contain_text("2 succeeded")


def _through_the_gateway(page: Page, url: str) -> None:
    page.goto(f"{url}/account")
    token = page.locator("input[name=csrfmiddlewaretoken]").first.get_attribute("value") or ""
    headers = {"X-CSRFToken": token, "Origin": url}
    path = f"{url}/api/v1/namespaces/compared/configmaps"
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "gateway"}}
    for answer in (
        page.request.post(path, headers=headers, data=body),
        page.request.delete(f"{path}/gateway", headers=headers),
    ):
        assert answer.ok, answer.text()
    # A refused write and a dry run change nothing.
    assert page.request.delete(f"{path}/absent", headers=headers).status == 404
    assert page.request.post(f"{path}?dryRun=All", headers=headers, data=body).ok


def _writes(events: Iterable[AuditEvent]) -> dict[str, tuple[str, ...]]:
    """Return the changes in kube-apiserver's log by audit ID, without those of the control plane."""
    found = [
        (str(one.record["auditID"]), (one.user, one.verb, one.resource, one.namespace, one.name))
        for one in events
        if one.verb in ("create", "update", "patch", "delete")
        and one.resource not in ("leases", "events", "loginrecords")
        and not one.resource.endswith("reviews")
        and one.subresource != "status"
        and "dryRun" not in one.uri
        and not one.user.startswith(
            ("system:apiserver", "system:kube-", "system:serviceaccount:kube-")
        )
    ]
    assert len(found) == len(dict(found)), "an audit ID was used twice"
    return dict(found)


def test_the_trail_and_the_log_of_the_cluster_have_the_same_writes(
    audited: Console, page: Page
) -> None:
    """Compare both after writes of all origins: no write is missing, and none is invented."""
    cluster = audited.cluster
    assert isinstance(cluster, ControlPlane)
    sign_in(page, audited, "")
    mark, begun = cluster.audit_mark(), datetime.now(UTC).isoformat()
    audited.kubectl("create", "namespace", "compared")
    for name in ("page", "editor", "bulk-1", "bulk-2"):
        audited.kubectl("create", "configmap", name, "-n", "compared", "--from-literal=color=blue")
    audited.kubectl("label", "namespace", "compared", "tier=test")
    audited.kubectl("create", "-f", "-", input=json.dumps(TEAM))
    _with_pages(page, audited.url)
    _through_the_gateway(page, audited.url)
    eventually(
        lambda: exported(page, audited, "via:controller name:compared-team*"),
        "the controllers have created the workspace",
    )
    # Batches are in order, so the events of earlier requests have arrived with this one.
    audited.kubectl("create", "configmap", "final")
    eventually(
        lambda: exported(page, audited, "name:final"), "the audit events have arrived", timeout=30
    )
    events = cluster.audit_events(mark)
    last = next(number for number, one in enumerate(events) if one.name == "final")
    written = _writes(events[: last + 1])
    trail = exported(page, audited, "")
    recorded = {one["audit_id"] for one in trail}
    assert len(recorded) == len(trail)
    assert [what for audit_id, what in written.items() if audit_id not in recorded] == []
    # The log is read after the trail, because the controllers continue to write.
    logged = {one.record["auditID"]: one for one in cluster.audit_events(mark)}
    changes = [
        one
        for one in trail
        if str(one["time"]) >= begun
        and one["verb"] in ("create", "update", "patch", "delete")
        and one["resource"] != "sessions"
        and one["code"]
    ]
    assert [one for one in changes if one["audit_id"] not in logged] == []
    for one in changes:
        event = logged[one["audit_id"]]
        assert one["resource"] == event.resource
        # kube-apiserver's log has the name of a namespace also as its namespace.
        assert one["namespace"] == event.namespace or event.resource == "namespaces"
        # The console records the code of a success as 200.
        codes = {one["code"], event.status}
        assert len(codes) == 1 or codes == {200, 201}, one
    origins = {one["origin"] for one in changes}
    assert origins == {"page", "gateway", "controller", "direct"}
