"""The page that creates objects from YAML: validation before any request to the cluster."""

import json
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient
from django.utils.translation import gettext as _
from django.utils.translation import override

from console.kube.clients import UserClient
from console.kube.errors import Unavailable
from console.kube.gvr import GVR, USERS, Key
from console.kube.identity import Identity
from console.ui.editing.imports import MOST, MOST_OBJECTS, in_order, read_items
from console.ui.editing.yaml_text import MAX_DEPTH
from console.views.importing import refusal
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.support.responses import text_of
from tests.ui.support import FakeAccess, alice, make_runtime
from tests.views.conftest import ClientAs, SignedIn
from tests.views.viewers import VIEWERS

pytestmark = pytest.mark.django_db(transaction=True)

URL = "/clusters/host/import"
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\n"
ONE = MAP.format("one")


async def review(client_as: ClientAs, text: str, **more: str) -> tuple[int, str]:
    data = {"text": text, "step": "review", **more}
    response = await client_as("admin").post(URL, data)
    return response.status_code, await text_of(response)


async def test_page_offers_text_files_and_a_project(client_as: ClientAs) -> None:
    response = await client_as("admin").get(f"{URL}?namespace=shop")
    html = await text_of(response)
    assert response.status_code == 200 and response["Cache-Control"] == "no-store"
    assert 'name="text"' in html and 'name="files"' in html and 'value="shop"' in html
    assert (await client_as("").get(URL)).status_code == 302
    assert (await client_as("admin").get("/clusters/none/import")).status_code == 404


async def test_page_starts_with_a_manifest_of_the_kind(client_as: ClientAs) -> None:
    admin = client_as("admin")
    html = await text_of(await admin.get(f"{URL}?kind=configmaps&namespace=shop"))
    begins = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: example\n  namespace: shop\ndata:"
    assert begins in html
    html = await text_of(await admin.get(f"{URL}?kind=nodes&namespace=shop"))
    assert "kind: Node\nmetadata:\n  name: example\nspec: {}" in html
    assert (await admin.get(f"{URL}?kind=planets")).status_code == 404
    response = await admin.get(f"{URL}?kind=pods&namespace=No%20Project")
    assert response.status_code == 400 and "kind: Pod" not in await text_of(response)


async def test_list_offers_creation_to_permitted_users(client_as: ClientAs) -> None:
    link = f'href="{URL}?kind=pods&amp;namespace=team-a">Create</a>'
    url = "/clusters/host/pods?namespace=team-a"
    assert link in await text_of(await client_as("alice").get(url))
    assert ">Create</a>" not in await text_of(await client_as("bob").get(url))


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("", "No objects to create were found.", 0),
        ("---\n---\n# nothing\n", "No objects to create were found.", 0),
        ("a: ]", "Could not parse the YAML", 1),
        ("just words", "This is not a manifest", 1),
        ("- a\n- b", "This is not a manifest", 1),
        (f"{ONE}---\nkind: Pod\nmetadata:\n  name: x\n", "apiVersion is missing.", 6),
        ("apiVersion: v1\nmetadata:\n  name: x\n", "kind is missing.", 1),
        ("apiVersion: v1\nkind: Pod\nmetadata: {}\n", "metadata.name is missing.", 3),
        ("apiVersion: v1\nkind: Pod\nmetadata: words\n", "This is not a manifest", 1),
        ("apiVersion: v1\nkind: 5\nmetadata: {name: x}\n", "kind is missing.", 2),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: 5}\n", "metadata.name is missing.", 3),
        (
            "apiVersion: ../v1\nkind: Pod\nmetadata: {name: x}\n",
            "This is not a valid API version.",
            1,
        ),
        (
            "apiVersion: a/b/c\nkind: Pod\nmetadata: {name: x}\n",
            "This is not a valid API version.",
            1,
        ),
        (f"{ONE}  namespace: 5\n", "metadata.namespace must be a string.", 5),
        (f"{ONE}---\n{ONE}", "This object appears more than once.", 9),
        (f"{ONE}kind: Pod\n", "a key appears more than once", 5),
        (f"{ONE}data: &a {{b: c}}\nmore: *b\n", "this alias does not refer", 6),
        (f"{ONE}data: !!python/object:os.system {{}}\n", "tags are not supported", 5),
        (f"{ONE}data: {'[' * 200}{']' * 200}\n", "the document is nested too deeply", 5),
        (f"{ONE}---\nkind: List\nitems: [{{kind: Pod}}]\n", "This is not a manifest", 7),
    ],
)
async def test_invalid_manifest_is_reported_at_its_line(text: str, words: str, line: int) -> None:
    """The submitted text is kept. The other documents are checked."""
    set_host_cluster(make_runtime(user_client=NoAnswer))
    try:
        status, html = await review(ClientAs(), text, namespace="shop")
    finally:
        unset_host_cluster()
    assert status == 400 and words in html
    assert f'data-line="{line}"' in html and 'value="create"' not in html
    assert MAX_DEPTH < 200


async def test_errors_are_translated(client_as: ClientAs) -> None:
    data = {"text": "apiVersion: v1\nkind: Pod\nmetadata: {}\n", "step": "review"}
    reader = client_as("admin", **{"Accept-Language": "zh-hans"})
    html = await text_of(await reader.post(URL, data))
    with override("zh-hans"):
        assert _("%(field)s is missing.") % {"field": "metadata.name"} in html
    assert "is missing" not in html


async def test_size_of_the_input_is_limited(
    client_as: ClientAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.views.progress_page.QUICK_SECONDS", 60.0)
    many = "---\n".join(MAP.format(f"m{at}") for at in range(MOST_OBJECTS + 1))
    status, html = await review(client_as, many)
    assert status == 400 and "You can create at most 2,000 objects at a time." in html
    items = ",".join(f"{{metadata: {{name: m{at}}}}}" for at in range(MOST_OBJECTS + 1))
    status, html = await review(client_as, f"apiVersion: v1\nkind: ConfigMapList\nitems: [{items}]")
    assert status == 400 and "You can create at most 2,000 objects at a time." in html
    status, html = await review(client_as, "é" * (MOST // 2 + 1))
    assert status == 400 and "Use at most 8 MiB of text." in html


async def test_malformed_form_is_refused(client_as: ClientAs) -> None:
    admin = client_as("admin")
    for data in ({"step": "review"}, {"text": ONE}, {"text": ONE, "step": "delete"}):
        assert (await admin.post(URL, data)).status_code == 400
    status, html = await review(client_as, ONE, namespace="no project")
    assert status == 400 and "This is not a valid project name." in html and "name: one" in html
    response = await admin.get(f"{URL}?namespace=No%20Project")
    assert response.status_code == 400
    checked = SignedIn({"X-Cast": "admin"}, csrf=True)
    assert (await checked.post(URL, {"text": ONE, "step": "create"})).status_code == 403


MADE = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop", "name": "one", "uid": "u-1"}


@pytest.mark.parametrize(
    "made",
    [
        "",
        "[]",
        "{}",
        "[1]",
        "nonsense",
        json.dumps([{**MADE, "uid": ""}]),
        json.dumps([{**MADE, "name": ""}]),
        json.dumps([{**MADE, "apiVersion": "../v1"}]),
        json.dumps([{**MADE, "apiVersion": "v1\n"}]),
        json.dumps([{**MADE, "kind": "K" * 300}]),
        json.dumps([{key: held for key, held in MADE.items() if key != "uid"}]),
        json.dumps([MADE] * (MOST_OBJECTS + 1)),
    ],
)
async def test_undo_accepts_only_a_list_of_created_objects(client_as: ClientAs, made: str) -> None:
    response = await client_as("admin").post(URL, {"step": "undo", "made": made})
    assert response.status_code == 400


async def test_undo_reports_an_unreachable_cluster() -> None:
    set_host_cluster(make_runtime(user_client=NoAnswer))
    try:
        data = {"step": "undo", "made": json.dumps([MADE, {**MADE, "name": "two"}]), "text": ONE}
        response = await ClientAs()("admin").post(URL, data)
        html = await text_of(response)
    finally:
        unset_host_cluster()
    assert response.status_code == 503 and "Not deleted: 1 · Not attempted: 1" in html
    assert "Not attempted: the cluster is not responding." in html and "name: one" in html


@pytest.mark.parametrize("fields", [{"step": "create", "text": ONE}, {"step": "undo"}])
async def test_no_object_is_started_after_the_time_limit(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, str]
) -> None:
    monkeypatch.setattr("console.views.importing.MAX_SECONDS", -1.0)
    set_host_cluster(make_runtime(user_client=NoAnswer))
    try:
        data = {"made": json.dumps([MADE]), "namespace": "shop", **fields}
        response = await ClientAs()("admin", Accept="application/json").post(URL, data)
    finally:
        unset_host_cluster()
    [status] = json.loads(response.content)["items"]
    assert response.status_code == 503 and status["details"]["outcome"] == "untried"
    assert status["message"] == "Not attempted: the time limit was reached."


@pytest.mark.parametrize(
    "fields", [{}, {"version": "x"}, {"version": "1" * 10}, {"text": "a" * (MOST + 1)}]
)
async def test_malformed_draft_is_refused(client_as: ClientAs, fields: dict[str, str]) -> None:
    data = fields and {"text": ONE, **fields}
    assert (await client_as("admin").post(f"{URL}/draft", data)).status_code == 400


async def test_binary_file_is_refused(client_as: ClientAs) -> None:
    client = AsyncClient(raise_request_exception=False)
    files = [SimpleUploadedFile("a.yaml", b"\xff\xfe\x00")]
    data: dict[str, Any] = {"text": ONE, "step": "review", "files": files}
    response = await client.post(URL, data, headers={"X-Cast": "admin"})
    html = await text_of(response)
    assert response.status_code == 400 and "One of the files is not a UTF-8 text file." in html
    assert "name: one" in html


async def test_files_are_appended_to_the_text(client_as: ClientAs) -> None:
    client = AsyncClient(raise_request_exception=False)
    files = [SimpleUploadedFile(name, b"\xef\xbb\xbfkind: Pod\r\n") for name in ("a", "b")]
    data: dict[str, Any] = {"text": ONE, "step": "edit", "files": files}
    response = await client.post(URL, data, headers={"X-Cast": "admin"})
    html = await text_of(response)
    assert "name: one\n\n---\nkind: Pod\n\n---\nkind: Pod\n</textarea>" in html


async def test_json_clients_get_a_status_object(client_as: ClientAs) -> None:
    admin = client_as("admin", Accept="application/json")
    response = await admin.post(URL, {"text": "a: ]", "step": "create"})
    answer = json.loads(response.content)
    assert (response.status_code, answer["kind"], answer["status"]) == (400, "Status", "Failure")
    assert answer["details"]["causes"][0]["field"] == "1"


class NoAnswer(UserClient):
    """A client of an unreachable cluster. It counts its requests."""

    asked = 0

    def __init__(self, identity: Identity) -> None:
        self.identity = identity

    async def get_resources(self, group: str, version: str) -> bytes:
        NoAnswer.asked += 1
        raise Unavailable("the request timed out")


async def test_unreachable_cluster_keeps_the_submitted_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_host_cluster(make_runtime(user_client=NoAnswer))
    monkeypatch.setattr(NoAnswer, "asked", 0)
    try:
        text = f"{ONE}---\n{MAP.format('two')}"
        status, html = await review(ClientAs(), text, namespace="shop")
    finally:
        unset_host_cluster()
    assert status == 503 and "The cluster did not respond." in html
    assert "name: two" in html and 'value="create"' not in html
    # The type of both objects is requested once.
    assert NoAnswer.asked == 1


class Discovering(NoAnswer):
    async def get_resources(self, group: str, version: str) -> bytes:
        maps = {"name": "configmaps", "kind": "ConfigMap", "namespaced": True, "verbs": ["create"]}
        return json.dumps({"resources": [maps]}).encode()


@pytest.mark.parametrize("doubt", [False, True])
async def test_missing_permission_is_named(monkeypatch: pytest.MonkeyPatch, doubt: bool) -> None:
    """No request is sent to kube-apiserver."""
    shown = FakeAccess("eve", list_in=(), delete_in=(), doubt=doubt)
    monkeypatch.setitem(VIEWERS, "eve", lambda: shown)
    set_host_cluster(make_runtime(user_client=Discovering))
    try:
        data = {"text": ONE, "step": "create", "namespace": "shop"}
        html = unescape(await text_of(await ClientAs()("eve").post(URL, data)))
    finally:
        unset_host_cluster()
    wanted = "The cluster is not responding" if doubt else "You don't have permission to create"
    assert wanted in html and "Not created: 1" in html


class DiscoveringUsers(NoAnswer):
    async def get_resources(self, group: str, version: str) -> bytes:
        users = {
            "name": "users",
            "kind": "User",
            "namespaced": False,
            "verbs": ["create", "delete"],
        }
        return json.dumps({"resources": [users]}).encode()


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (
            FakeAccess("eve"),
            "This object does not allow this action, regardless of your permissions.",
        ),
        (FakeAccess("adam", list_in=()), "You don't have permission to list users."),
        (FakeAccess("adam", delete_in=()), "You don't have permission to delete users."),
    ],
)
async def test_undo_respects_the_rules_of_the_delete_page(
    monkeypatch: pytest.MonkeyPatch, shown: FakeAccess, words: str
) -> None:
    """Neither one's own account nor objects the user may not see. No request is sent to
    kube-apiserver.
    """
    monkeypatch.setitem(VIEWERS, "one", lambda: shown)
    user = {"apiVersion": USERS.group_version, "kind": "User", "name": "eve", "uid": "u-1"}
    set_host_cluster(make_runtime(user_client=DiscoveringUsers))
    try:
        data = {"step": "undo", "made": json.dumps([user]), "text": ONE}
        html = unescape(await text_of(await ClientAs()("one").post(URL, data)))
    finally:
        unset_host_cluster()
    assert words in html and "Not deleted: 1" in html


def test_dependencies_are_created_first() -> None:
    kinds = ("Ingress", "Deployment", "Widget", "Role", "ConfigMap", "Namespace", "StorageClass")
    texts = (
        f"apiVersion: {'example.com/v1' if kind == 'Widget' else 'v1'}\n"
        f"kind: {kind}\nmetadata: {{name: x}}\n"
        for kind in kinds
    )
    found = [item.kind for item in in_order(read_items("---\n".join(texts), "")[0])]
    assert found == [
        "Namespace",
        "ConfigMap",
        "StorageClass",
        "Role",
        "Deployment",
        "Ingress",
        "Widget",
    ]
    # A custom kind with the name of a built-in kind is not sorted like it.
    texts = (f"apiVersion: {v}\nkind: {k}\nmetadata: {{name: x}}\n" for v, k in (
        ("serving.knative.dev/v1", "Service"), ("apps/v1", "Deployment")))  # fmt: skip
    items = in_order(read_items("---\n".join(texts), "")[0])
    assert [item.kind for item in items] == ["Deployment", "Service"]


@pytest.mark.parametrize(("who", "offered"), [("alice", True), ("bob", False)])
async def test_every_page_links_to_the_import_for_permitted_users(
    client_as: ClientAs, who: str, offered: bool
) -> None:
    html = await text_of(await client_as(who).get("/clusters/host/pods"))
    assert ('href="/clusters/host/new"' in html) is offered


def test_object_without_a_page_can_be_undone_with_delete_permission() -> None:
    odd = GVR("example.com", "v1", "widgets")
    for project, refused in (("team-a", False), ("shop", True)):
        assert bool(refusal(alice(), "delete", odd, Key(project, "x"))) is refused
