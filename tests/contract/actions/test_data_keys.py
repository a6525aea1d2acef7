"""Editing the data keys of Secrets and ConfigMaps: only changed keys are written, and no value of a
Secret is shown or stored.
"""

import base64
import html
import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from console.audit.changes import unpack
from console.audit.models import AuditChange, AuditRecord
from console.history.models import ObjectChange
from console.kube import gvr as types
from console.kube.gvr import CONFIG_MAPS, Key
from console.kube.runtime import Runtime
from tests.contract.cleanup import Cleanup
from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.cluster import Cluster, Kubectl
from tests.contract.grants import rule
from tests.contract.objects import deployment, path, unique
from tests.contract.pages import (
    Page,
    Person,
    console_on,
    known,
    person,
    recorded,
    refused_to_strangers,
)
from tests.controlplane.waiting import eventually
from tests.support.forms import fields_of
from tests.support.responses import text_of
from tests.views.conftest import ClientAs, _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)
#: A marker value that must not appear in any page, audit record, or log.
CANARY = "s3cr3t-canary"
BYTES = b"\x00\xff\xfe unseen"
FOLLOWED = (
    CONFIG_MAPS,
    types.DEPLOYMENTS,
    types.STATEFUL_SETS,
    types.DAEMON_SETS,
    types.CRON_JOBS,
    types.JOBS,
    types.PODS,
)


def encoded(content: bytes | str) -> str:
    return base64.b64encode(content.encode() if isinstance(content, str) else content).decode()


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, FOLLOWED) as found:
        yield found


@pytest.fixture
def editor(
    monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup, namespace: str, runtime: Runtime
) -> Person:
    return person(
        monkeypatch,
        cleanup,
        namespace,
        rule("get list patch", "deployments", "apps"),
        rule("get list watch patch", "configmaps secrets"),
    )


@dataclass(frozen=True)
class Shelf:
    """Objects of one kind and their edit pages."""

    segment: str
    admin: Client
    namespace: str
    runtime: Runtime
    editor: Person

    @property
    def secret(self) -> bool:
        return self.segment == "secrets"

    def make(self, data: dict[str, Any], **more: Any) -> Obj:
        """Create an object. Values of `data` are text or bytes."""
        body: Obj = {"metadata": {"name": unique("kept")}, **more}
        for key, value in data.items():
            binary = isinstance(value, bytes)
            part = "data" if self.secret or not binary else "binaryData"
            kept = encoded(value) if self.secret or binary else value
            body.setdefault(part, {})[key] = kept
        made: Obj = self.admin.post(path(self.namespace, self.segment), body).ok()
        self.known(made)
        return made

    def known(self, made: Obj) -> None:
        if not self.secret:
            known(self.runtime, CONFIG_MAPS, made)

    def at(self, made: Obj) -> str:
        return path(self.namespace, self.segment, made["metadata"]["name"])

    def change(self, made: Obj, data: dict[str, str | None]) -> None:
        """Change keys as another user."""
        kept = {
            key: encoded(value) if self.secret and value is not None else value
            for key, value in data.items()
        }
        self.known(self.admin.patch(self.at(made), {"data": kept}, MERGE_PATCH).ok())

    def read(self, made: Obj) -> dict[str, bytes]:
        now = self.admin.get(self.at(made)).ok()
        found = {}
        for key, value in now.get("data", {}).items():
            found[key] = base64.b64decode(value or "") if self.secret else value.encode()
        for key, value in now.get("binaryData", {}).items():
            found[key] = base64.b64decode(value)
        return found

    def page(self, made: Obj) -> Page:
        return self.editor.on("keys", self.segment, made)

    async def form(self, made: Obj) -> tuple[Page, dict[str, str]]:
        page = self.page(made)
        return page, fields_of(await page.asks())


def upload(content: bytes, name: str = "file.bin") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


@pytest.fixture(params=["configmaps", "secrets"])
def shelf(
    request: pytest.FixtureRequest, admin: Client, namespace: str, runtime: Runtime, editor: Person
) -> Shelf:
    return Shelf(request.param, admin, namespace, runtime, editor)


@pytest.fixture
def config_maps(admin: Client, namespace: str, runtime: Runtime, editor: Person) -> Shelf:
    return Shelf("configmaps", admin, namespace, runtime, editor)


@pytest.fixture
def secrets(admin: Client, namespace: str, runtime: Runtime, editor: Person) -> Shelf:
    return Shelf("secrets", admin, namespace, runtime, editor)


async def test_keys_are_added_changed_and_removed(shelf: Shelf) -> None:
    made = shelf.make({"a": "1", "b": "2\nlines", "c": "3"})
    page, sent = await shelf.form(made)
    assert await page.is_offered(shelf.segment, Key(shelf.namespace, made["metadata"]["name"]))
    if not shelf.secret:
        assert [sent[f"value-{n}"] for n in range(3)] == ["1", "2\nlines", "3"]
    changed = {"value-1": "two\r\nlines\r\n", "remove-2": "on"}
    added = {"new-key-0": "d.txt", "new-value-0": " x \u6c49"}
    await page.does(**{**sent, **changed, **added})
    assert shelf.read(made) == {
        "a": b"1",
        "b": b"two\nlines\n",
        "d.txt": " x \u6c49".encode(),
    }
    name = made["metadata"]["name"]
    assert await recorded() == [(page.who, "patch", "keys", name, 200)]


async def test_uploaded_files_become_values(shelf: Shelf) -> None:
    made = shelf.make({"text": "old", "bytes": BYTES})
    page, sent = await shelf.form(made)
    files = {
        "file-0": upload(b"\xff new"),
        "file-1": upload(b"is text now"),
        "new-file-0": upload(BYTES, "logo.png"),
        "new-key-1": "empty",
        "new-file-1": upload(b""),
    }
    await page.does(**{**sent, "new-key-0": ""}, **files)
    assert shelf.read(made) == {
        "bytes": b"\xff new",
        "text": b"is text now",
        "logo.png": BYTES,
        "empty": b"",
    }


async def test_binary_values_show_only_their_size(shelf: Shelf) -> None:
    made = shelf.make({"logo": BYTES, "odd": "a\u202eb", "long": "x" * 70_000})
    page = shelf.page(made)
    text = html.unescape(await page.asks())
    assert "logo</code>" in text and f"{len(BYTES)}B" in text
    assert "The value is binary data. Upload a file to replace the value." in text
    assert "unseen" not in text.split('name="was"')[1].split("<template")[0]
    if not shelf.secret:
        assert "The value contains invisible characters." in text
        assert "The value is too long to edit here." in text
    assert "xxxxxxxx" not in text
    sent = fields_of(text)
    await page.does(**{**sent, "remove-0": "on"})
    assert shelf.read(made).keys() == {"odd", "long"}


async def test_concurrent_changes_of_other_keys_are_kept(shelf: Shelf) -> None:
    made = shelf.make({"mine": "1", "theirs": "1", "gone": "1"})
    page, sent = await shelf.form(made)
    shelf.change(made, {"theirs": "2", "gone": None, "new": "3"})
    await page.does(**{**sent, "value-1": "mine"})
    assert shelf.read(made) == {"mine": b"mine", "theirs": b"2", "new": b"3"}


@pytest.mark.parametrize("theirs", ["2", None])
async def test_concurrent_changes_of_the_same_key_conflict(
    shelf: Shelf, theirs: str | None
) -> None:
    made = shelf.make({"a": "1", "b": "1"})
    page, sent = await shelf.form(made)
    shelf.change(made, {"b": theirs})
    refused = await page.refuses(409, **{**sent, "value-0": "x", "value-1": "typed by me"})
    assert (
        "This object was changed in the meantime. Reload the page and try again. The "
        "value of b has changed in the meantime."
    ) in refused
    assert "typed by me" in refused
    there = shelf.read(made)
    assert there["a"] == b"1" and there.get("b") == (theirs.encode() if theirs else None)
    added = {**sent, "new-key-0": "b2"}
    shelf.change(made, {"b2": "theirs"})
    assert "The value of b2 has changed in the meantime." in await page.refuses(409, **added)


async def test_immutable_objects_cannot_be_edited(shelf: Shelf) -> None:
    made = shelf.make({"a": "1"}, immutable=True)
    page = shelf.page(made)
    answer = await page.client().get(page.url)
    assert answer.status_code == 409
    assert "This object is immutable" in await text_of(answer)
    assert "immutable" in await page.refuses(409, **{"new-key-0": "b"})


async def test_an_object_made_immutable_in_the_meantime_is_not_changed(shelf: Shelf) -> None:
    made = shelf.make({"a": "1"})
    page, sent = await shelf.form(made)
    shelf.known(shelf.admin.patch(shelf.at(made), {"immutable": True}, MERGE_PATCH).ok())
    await page.refuses(409, **{**sent, "value-0": "2"})
    assert shelf.read(made) == {"a": b"1"}


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({}, "No changes were made."),
        ({"new-key-0": "a b"}, "“a b” is not a valid key"),
        ({"new-key-0": ".."}, "“..” is not a valid key"),
        ({"new-key-0": "..a"}, "is not a valid key"),
        ({"new-key-0": "."}, "is not a valid key"),
        ({"new-key-0": "x" * 254}, "is not a valid key"),
        ({"new-key-0": "a\u202eb"}, "is not a valid key"),
        ({"new-key-0": "<script>alert(1)</script>"}, "is not a valid key"),
        ({"new-key-0": "a"}, "A key with this name already exists."),
        ({"new-key-0": "n", "new-key-1": "n"}, "A key with this name already exists."),
        ({"new-value-0": "typed by me"}, "Enter a key."),
        (
            {"value-0": "typed by me", "remove-0": "on"},
            "Remove the key or enter a new value, not both.",
        ),
        (
            {"value-0": "typed by me", "file-0": b"file"},
            "Enter a value or choose a file, not both.",
        ),
        ({"file-0": b"x" * 1024 * 1025}, "A value can be at most 1 MiB."),
        ({"file-0": b"x" * 1024 * 600, "file-1": b"y" * 1024 * 600}, "The new total is 1.2MiB."),
        ({"value-0": "typed by me\0"}, "Null characters are not allowed."),
        ({"was": "x", "value-0": "2"}, "The form is incomplete. Reload the page."),
    ],
)
async def test_invalid_keys_and_values_are_reported(
    shelf: Shelf, typed: dict[str, Any], said: str
) -> None:
    made = shelf.make({"a": "1", "b": "2"})
    page, sent = await shelf.form(made)

    def given() -> dict[str, Any]:
        return {
            name: upload(value) if isinstance(value, bytes) else value
            for name, value in typed.items()
        }

    refused = await page.refuses(400, **{**sent, **given()})
    assert said in html.unescape(refused)
    assert "<script>alert" not in refused
    assert ("typed by me" in str(typed)) <= ("typed by me" in refused)
    assert ("file-0" in typed) <= (
        "The browser did not keep the selected file. Select the file again." in refused
    )
    status = await page.status(**{**sent, **given()})
    assert status["code"] == 400
    assert shelf.read(made) == {"a": b"1", "b": b"2"}


async def test_a_form_with_a_different_baseline_changes_nothing(shelf: Shelf) -> None:
    made, other = shelf.make({"a": "1"}), shelf.make({"a": "2"})
    _page, sent = await shelf.form(other)
    page = shelf.page(made)
    refused = await page.refuses(409, **{**sent, "uid": page.uid, "value-0": "3"})
    assert "The value of a has changed in the meantime." in refused
    assert shelf.read(made) == {"a": b"1"}


async def test_fields_that_are_not_submitted_keep_their_value(shelf: Shelf) -> None:
    made = shelf.make({"a": "1", "b": "2"})
    page, sent = await shelf.form(made)
    await page.does(**{"was": sent["was"], "value-1": "3"})
    assert shelf.read(made) == {"a": b"1", "b": b"3"}


async def test_a_recreated_object_of_the_same_name_is_not_edited(shelf: Shelf) -> None:
    made = shelf.make({"a": "1"})
    page, sent = await shelf.form(made)
    refused = await page.refuses(409, **{**sent, "uid": "another", "value-0": "2"})
    assert "replaced by another object with the same name" in refused
    assert shelf.read(made) == {"a": b"1"}


async def test_users_without_permission_cannot_edit_keys(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup
) -> None:
    made = shelf.make({"a": CANARY})
    page, sent = await shelf.form(made)
    await refused_to_strangers(page, "secret" if shelf.secret else "ConfigMap")
    believed = person(monkeypatch, cleanup, shelf.namespace).on("keys", shelf.segment, made)
    answer = await believed.client().get(page.url)
    assert answer.status_code in (403, 404) or not shelf.secret
    assert CANARY not in await text_of(answer) or not shelf.secret
    answer = await believed.client().post(page.url, {**sent, "uid": page.uid, "value-0": "2"})
    assert answer.status_code in (403, 404)
    assert shelf.read(made) == {"a": CANARY.encode()}


async def test_no_secret_value_is_shown_or_stored(
    secrets: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    made = secrets.make({"a": CANARY, "b": "2"})
    with caplog.at_level(logging.DEBUG):
        page, sent = await secrets.form(made)
        assert sent["value-0"] == ""
        for wrong in ({"new-key-0": "a b"}, {"uid": "another"}):
            refused = await page.refuses(
                409 if "uid" in wrong else 400, **{**sent, "value-1": f"new {CANARY}", **wrong}
            )
            # The user's input is returned in its field and appears nowhere else.
            assert refused.count(CANARY) == 1
        await page.does(**{**sent, "value-1": f"new {CANARY}"})
    assert CANARY not in caplog.text
    assert encoded(CANARY)[:12] not in caplog.text
    records = [one async for one in AuditRecord.objects.values()]
    changes = [unpack(one.after) async for one in AuditChange.objects.all()]
    assert {one["code"] for one in records} == {200, 409}
    assert CANARY not in f"{records} {changes}" and encoded(CANARY)[:12] not in f"{changes}"
    assert not await ObjectChange.objects.aexists()
    assert secrets.read(made) == {"a": CANARY.encode(), "b": f"new {CANARY}".encode()}


@pytest.mark.parametrize(
    ("kind", "data", "wrong", "said"),
    [
        ("kubernetes.io/tls", {"tls.crt": "c", "tls.key": "k"}, {"remove-0": "on"}, "tls.crt: "),
        (
            "kubernetes.io/dockerconfigjson",
            {".dockerconfigjson": "{}"},
            {"value-0": "{"},
            ".dockerconfigjson: ",
        ),
        ("kubernetes.io/basic-auth", {"username": "u"}, {"remove-0": "on"}, "username: "),
        (
            "kubernetes.io/ssh-auth",
            {"ssh-privatekey": "k"},
            {"remove-0": "on"},
            "ssh-privatekey: ",
        ),
    ],
)
async def test_required_keys_of_typed_secrets_are_kept(
    secrets: Shelf, kind: str, data: dict[str, str], wrong: dict[str, str], said: str
) -> None:
    made = secrets.make(data, type=kind)
    page, sent = await secrets.form(made)
    refused = await page.refuses(422, **{**sent, **wrong})
    assert f'href="#form-file-0">{said}' in refused
    assert secrets.read(made).keys() == data.keys()


async def test_an_object_too_large_for_the_cluster_is_reported(shelf: Shelf) -> None:
    """Another user added a key that the form does not contain."""
    made = shelf.make({"a": "1"})
    page, sent = await shelf.form(made)
    shelf.change(made, {"b": "x" * 1024 * 700})
    refused = await page.refuses(422, **{**sent, "file-0": upload(b"x" * 1024 * 700)})
    assert "Too long" in refused
    assert shelf.read(made)["a"] == b"1"


@pytest.fixture
def used(shelf: Shelf, editor: Person) -> Callable[..., Obj]:
    """Create a Deployment whose container uses the object as its environment."""

    def make(name: str, **spec: Any) -> Obj:
        body = deployment(unique("shop"), "example/web:1")
        source = "secretRef" if shelf.secret else "configMapRef"
        body["spec"]["template"]["spec"]["containers"][0]["envFrom"] = [{source: {"name": name}}]
        body["spec"] |= spec
        at = path(shelf.namespace, "deployments", group="apps/v1")
        made: Obj = shelf.admin.post(at, body).ok()
        known(shelf.runtime, types.DEPLOYMENTS, made)
        return made

    return make


async def test_workloads_that_use_the_object_are_listed_and_can_be_restarted(
    shelf: Shelf, used: Callable[..., Obj]
) -> None:
    made = shelf.make({"a": "1"})
    name = made["metadata"]["name"]
    page = shelf.page(made)
    assert "No references found." in await page.asks()
    one, paused = used(name), used(name, paused=True)
    asked = await page.asks()
    assert all(item["metadata"]["name"] in asked for item in (one, paused))
    assert "environment of c0" in asked
    assert "only after the container restarts" in asked
    answer = await page.client().post(
        page.url, {**fields_of(asked), "uid": page.uid, "value-0": "2"}
    )
    saved = await text_of(answer)
    assert answer.status_code == 200, saved
    assert f"Saved the keys of {'secret' if shelf.secret else 'ConfigMap'} {name}." in saved
    assert answer.headers["Cache-Control"] == "no-store"
    url = re.search(r'action="([^"]*/bulk/[^"]*|/bulk/[^"]*)"', saved)
    keys = re.findall(r'name="key" value="([^"]*)"', saved)
    back = re.search(r'name="list" value="([^"]*)"', saved)
    assert url is not None and back is not None
    assert keys == [f"{shelf.namespace}/{one['metadata']['name']}"]
    client = ClientAs()(page.who)
    ask = await client.post(url[1], {"key": keys[0], "list": html.unescape(back[1])})
    asks = await text_of(ask)
    assert ask.status_code == 200, asks
    targets = re.search(r'name="targets" value="([^"]*)"', asks)
    assert targets is not None
    done = await client.post(url[1], {"targets": html.unescape(targets[1])})
    assert "Restarted" in await text_of(done)
    at = path(shelf.namespace, "deployments", one["metadata"]["name"], group="apps/v1")

    def restarted() -> bool:
        meta = shelf.admin.get(at).ok()["spec"]["template"]["metadata"]
        return "kubectl.kubernetes.io/restartedAt" in meta.get("annotations", {})

    eventually(restarted, "it is restarted")
    status = await page.status(**{**fields_of(await page.asks()), "value-0": "3"})
    assert status["status"] == "Success"


async def test_the_kubectl_command_has_the_same_effect(
    config_maps: Shelf, secrets: Shelf, kubectl: Kubectl
) -> None:
    given = {"a": "1", "b": "2", "logo": BYTES}
    made, other = config_maps.make(given), config_maps.make(given)
    page, sent = await config_maps.form(made)
    typed = {**sent, "value-0": "it's\n1", "remove-1": "on", "remove-2": "on"}
    refused = html.unescape(await page.refuses(409, **{**typed, "uid": "another"}))
    told = re.search(r"<code>(kubectl patch .*?)</code>", refused)
    assert told is not None
    names = [one["metadata"]["name"] for one in (made, other)]
    assert f"configmaps {names[0]} --type=merge -p " in told[1]
    kubectl.line(told[1].replace(*names))
    await page.does(**typed)
    assert config_maps.read(made) == config_maps.read(other) == {"a": b"it's\n1"}
    secret = secrets.make({"a": CANARY, "b": "2"})
    page, sent = await secrets.form(secret)
    typed = {**sent, "value-0": "typed", "remove-1": "on", "uid": "another"}
    refused = html.unescape(await page.refuses(409, **typed))
    assert '{"stringData":{"a":"VALUE"},"data":{"b":null}}' in refused
