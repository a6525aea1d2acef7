"""Editing an object's manifest: display, merging with concurrent changes, and saving."""

import asyncio
import itertools
import json
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from random import Random
from typing import Any

import pytest
import yaml

from console.audit import trail
from console.audit.models import AuditRecord
from console.kube.clients import UserClient
from console.kube.gvr import DEPLOYMENTS
from console.kube.runtime import Runtime
from console.ui.core.manifests import MASK
from console.ui.editing.manifest import MOST
from tests.contract.cleanup import Cleanup
from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.console import _runtime, runtime
from tests.contract.crds import definition, establish, widget
from tests.contract.edit_pages import Desk, Page, cluster_of_host, desk, web
from tests.contract.grants import Grants, rule, user
from tests.contract.objects import config_map, secret, unique
from tests.contract.odd_texts import ODD
from tests.controlplane.waiting import eventually
from tests.support.database import no_database
from tests.support.depth import SEED
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs, _site
from tests.views.viewers import VIEWERS

__all__ = ["_runtime", "_site", "desk", "runtime", "web"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.also_old
async def test_a_manifest_is_shown_changed_and_saved(web: Page) -> None:
    opened = await web.open()
    assert opened.status == 200
    assert "status" not in opened.manifest and "managedFields" not in opened.text
    assert "uid" not in opened.manifest["metadata"]
    reviewed = await web.send(opened.changing("example/web:1", "example/web:2"))
    assert reviewed.changed == ["-- image: example/web:1", "+- image: example/web:2"] or (
        reviewed.changed == ["-image: example/web:1", "+image: example/web:2"]
    )
    assert "quarterdeck-tests" in reviewed.html and "kubectl edit deployments.apps" in reviewed.html
    assert web.now()["spec"]["template"]["spec"]["containers"][0]["image"] == "example/web:1"
    assert await AuditRecord.objects.acount() == 0
    done = await web.send(reviewed, "save")
    assert done.status == 302
    now = web.now()
    assert now["spec"]["template"]["spec"]["containers"][0]["image"] == "example/web:2"
    entries = [e for e in now["metadata"]["managedFields"] if e["manager"] == "quarterdeck"]
    assert [entry["operation"] for entry in entries] == ["Apply"]
    containers = entries[0]["fieldsV1"]["f:spec"]["f:template"]["f:spec"]["f:containers"]
    assert set(containers['k:{"name":"c0"}']) == {".", "f:image", "f:name"}
    assert list(entries[0]["fieldsV1"]["f:spec"]) == ["f:template"]
    record = await AuditRecord.objects.aget()
    assert (record.verb, record.subresource, record.name) == ("patch", "edit", web.name)
    assert (record.actor, record.code) == (web.desk.who, 200)


async def test_saving_without_changes_writes_nothing(web: Page) -> None:
    before = web.now()["spec"]
    reviewed = await web.send(await web.open())
    assert reviewed.changed == [] and "No changes." in reviewed.html
    assert (await web.send(reviewed, "save")).status == 302
    now = web.now()
    assert now["spec"] == before
    assert "quarterdeck" not in {e["manager"] for e in now["metadata"]["managedFields"]}


@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=[pytest.mark.deep] * (n > 1)) for n in range(12)]
)
async def test_unusual_values_survive_an_edit(desk: Desk, number: int) -> None:
    """Saving an unmodified manifest changes nothing. Adding one value changes only that value."""
    rng = Random(f"{SEED} {number}")  # noqa: S311
    texts = rng.sample(ODD, len(ODD) // 3)
    if number % 2:
        texts += ["".join(rng.choices(ODD, k=3)) for _ in range(20)]
    data = {f"k{at}": text for at, text in enumerate(texts)}
    page = desk.make(config_map(unique("odd"), **data), "configmaps")
    held = page.now()["data"]
    opened = await page.open()
    assert (await page.send(opened)).changed == []
    more = opened.changing("\ndata:\n", "\ndata:\n  new: x\n")
    await page.saved(more.with_text(more.text.replace("\n", "\r\n")))
    assert page.now()["data"] == {**held, "new": "x"}


async def test_arbitrary_values_of_a_custom_resource_survive_an_edit(
    admin: Client, cleanup: Cleanup, desk: Desk, namespace: str, runtime: Runtime
) -> None:
    crd = definition()
    where = establish(admin, cleanup, crd, namespace)
    group = crd["spec"]["group"]
    grants = Grants(cleanup, namespace)
    grants.here(user(desk.who), rule("get list patch", "widgets", group))
    grants.wait(desk.who, verb="patch", resource="widgets", group=group, namespace=namespace)
    notes = {
        "deep": [[{"a": [1, 2.5, -0.25, 1e22, 2**53 + 1, True, None, "1", ""]}], []],
        "1": {"": {}, "a.b/c": "x", "yes": "no"},
    }
    made = widget(crd, unique("w"), size=3, notes=notes, parts=[{"name": "a"}, {"name": "b"}])
    admin.post(where, made).ok()
    name = made["metadata"]["name"]
    page = Page(desk, f"{where}/{name}", f"widgets.{group}", name)
    eventually(lambda: cluster_of_host().kinds.find(f"widgets.{group}"), "the kind is known")
    opened = await page.open()
    assert opened.status == 200, opened.html
    assert (await page.send(opened)).changed == []
    manifest = opened.manifest
    manifest["spec"]["size"] = 4
    manifest["spec"]["parts"][1]["count"] = 2
    await page.saved(opened.with_text(yaml.safe_dump(manifest)))
    spec = page.now()["spec"]
    assert (spec["size"], spec["notes"]) == (4, notes)
    assert spec["parts"] == [{"name": "a", "count": 1}, {"name": "b", "count": 2}]
    refused = await page.send((await page.open()).changing("color: blue", "color: green"))
    [(line, _text)] = refused.problems
    assert refused.status == 422 and "color: green" in refused.text.split("\n")[line - 1]
    # A different order of list items, which server-side apply cannot change.
    opened = await page.open()
    manifest = opened.manifest
    manifest["spec"]["parts"].reverse()
    await page.saved(opened.with_text(yaml.safe_dump(manifest)))
    assert [part["name"] for part in page.now()["spec"]["parts"]] == ["b", "a"]


async def test_earlier_edits_are_kept(web: Page) -> None:
    """Server-side apply removes fields that the same manager applied before and omits now."""
    await web.saved((await web.open()).changing("replicas: 0", "replicas: 3"))
    await web.saved((await web.open()).changing("example/web:1", "example/web:2"))
    await web.saved((await web.open()).changing("name: c0\n", "name: c0\n        tty: true\n"))
    spec = web.now()["spec"]
    container = spec["template"]["spec"]["containers"][0]
    assert (spec["replicas"], container["image"], container["tty"]) == (3, "example/web:2", True)


async def test_removed_lines_are_removed_from_the_object(desk: Desk) -> None:
    """Includes fields that are owned by another field manager."""
    page = desk.make(config_map(unique("settings"), a="1", b="2"), "configmaps")
    reviewed = await page.send((await page.open()).changing('  b: "2"\n', ""))
    assert reviewed.changed == ['-b: "2"']
    assert (await page.send(reviewed, "save")).status == 302
    assert page.now()["data"] == {"a": "1"}
    await page.saved((await page.open()).changing('  a: "1"\n', '  a: "1"\n  c: "3"\n'))
    await page.saved((await page.open()).changing('  c: "3"\n', ""))
    assert page.now()["data"] == {"a": "1"}


@pytest.mark.also_old
async def test_list_items_can_be_added_and_removed(web: Page) -> None:
    opened = await web.open()
    manifest = opened.manifest
    manifest["spec"]["template"]["spec"]["containers"].insert(
        0, {"name": "side", "image": "example/side:1"}
    )
    await web.saved(opened.with_text(yaml.safe_dump(manifest)))
    names = [c["name"] for c in web.now()["spec"]["template"]["spec"]["containers"]]
    assert names == ["side", "c0"]
    opened = await web.open()
    manifest = opened.manifest
    del manifest["spec"]["template"]["spec"]["containers"][1]
    await web.saved(opened.with_text(yaml.safe_dump(manifest)))
    names = [c["name"] for c in web.now()["spec"]["template"]["spec"]["containers"]]
    assert names == ["side"]


async def test_the_field_manager_of_a_changed_field_is_shown(web: Page) -> None:
    web.patch({"spec": {"replicas": 5}}, "autoscaler")
    reviewed = await web.send((await web.open()).changing("replicas: 5", "replicas: 2"))
    html = re.sub(r"\s+", " ", reviewed.html)
    assert "<dt><code>spec.replicas</code></dt><dd>autoscaler</dd>" in html


async def test_errors_are_reported_at_the_line(web: Page) -> None:
    opened = await web.open()
    for old, new, words in (
        ("replicas: 0", "replicsa: 0", "unknown field"),
        ("replicas: 0", "replicas: many", "replicas"),
        ("replicas: 0", "replicas: -1", "greater than or equal to 0"),
    ):
        refused = await web.send(opened.changing(old, new))
        assert refused.status == 422, refused.html
        # Line numbers refer to the displayed text: controllers may have changed the object since it
        # was opened.
        line = refused.text.split("\n").index(f"  {new}") + 1
        assert [at for at, _ in refused.problems] == [line], (new, refused.problems)
        assert words in refused.problems[0][1]
        assert new in refused.text
    deep = await web.send(opened.changing("name: c0\n", "name: c0\n        resorces: {}\n"))
    wanted = next(n for n, line in enumerate(deep.text.split("\n"), 1) if "resorces" in line)
    assert [at for at, _ in deep.problems] == [wanted]
    again = await web.send(opened.with_text(opened.text + "spec: {}\n"))
    assert again.status == 400 and "a key appears more than once" in again.problems[0][1]
    assert again.problems[0][0] == opened.text.count("\n") + 1


async def test_concurrent_changes_of_other_users_are_kept(web: Page) -> None:
    """Changes to other fields are merged; for the same field the user decides."""
    opened = await web.open()
    web.patch({"spec": {"replicas": 4}})
    reviewed = await web.send(opened.changing("example/web:1", "example/web:2"))
    assert "This object changed after you opened it." in reviewed.html
    assert [line for line in reviewed.changed if "replicas" in line] == []
    assert (await web.send(reviewed, "save")).status == 302
    spec = web.now()["spec"]
    assert spec["replicas"] == 4
    assert spec["template"]["spec"]["containers"][0]["image"] == "example/web:2"


@pytest.mark.also_old
@pytest.mark.parametrize("side", ["mine", "theirs"])
async def test_conflicting_changes_require_a_decision(web: Page, side: str) -> None:
    opened = await web.open()
    mine = opened.changing("replicas: 0", "replicas: 2").changing("web:1", "web:2")
    web.patch({"spec": {"replicas": 4}}, "autoscaler")
    asked = await web.send(mine)
    assert asked.status == 409 and len(asked.radios) == 1
    assert "<code>spec.replicas</code>" in asked.html and "managed by autoscaler" in asked.html
    # After another change of the field, the earlier decision no longer applies.
    web.patch({"spec": {"replicas": 6}}, "autoscaler")
    asked = await web.send(asked, "review", **{asked.radios[0]: side})
    assert asked.status == 409 and len(asked.radios) == 1
    reviewed = await web.send(asked, "review", **{asked.radios[0]: side})
    assert reviewed.status == 200
    assert (await web.send(reviewed, "save")).status == 302
    spec = web.now()["spec"]
    assert spec["replicas"] == (2 if side == "mine" else 6)
    assert spec["template"]["spec"]["containers"][0]["image"] == "example/web:2"


async def test_decisions_are_kept_when_another_conflict_appears(web: Page) -> None:
    opened = await web.open()
    mine = opened.changing("replicas: 0", "replicas: 2").changing("Limit: 10", "Limit: 5")
    web.patch({"spec": {"replicas": 4}})
    asked = await web.send(mine)
    decided = asked.radios[0]
    web.patch({"spec": {"revisionHistoryLimit": 7}})
    asked = await web.send(asked, "review", **{decided: "theirs"})
    assert asked.status == 409 and len(asked.radios) == 2
    chosen = re.findall(r'name="([^"]+)" value="(\w+)" required checked', asked.html)
    assert chosen == [(decided, "theirs")]


async def test_changes_that_were_not_reviewed_are_not_saved(web: Page) -> None:
    reviewed = await web.send((await web.open()).changing("web:1", "web:2"))
    again = await web.send(reviewed.changing("web:2", "web:3"), "save")
    assert again.status == 409 and "differ from the changes that you reviewed" in again.html
    assert web.image == "example/web:1"
    assert await AuditRecord.objects.acount() == 0


async def test_unrelated_concurrent_changes_do_not_block_saving(web: Page) -> None:
    reviewed = await web.send((await web.open()).changing("web:1", "web:2"))
    web.patch({"metadata": {"labels": {"seen": "no"}}})
    assert (await web.send(reviewed, "save")).status == 302
    now = web.now()
    assert (web.image, now["metadata"]["labels"]["seen"]) == ("example/web:2", "no")


def before_patches(monkeypatch: pytest.MonkeyPatch, write: Callable[[], None]) -> None:
    """Call `write` before each patch of the console, as a faster client would."""
    patch = UserClient.patch

    async def overtaken(*args: Any, **options: Any) -> Obj:
        await asyncio.to_thread(write)
        return await patch(*args, **options)

    monkeypatch.setattr(UserClient, "patch", overtaken)


async def test_status_writes_at_any_rate_do_not_block_saving(
    web: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = itertools.count(1)

    def write_status() -> None:
        status = {"status": {"observedGeneration": next(numbers)}}
        web.desk.admin.patch(f"{web.where}/status", status, MERGE_PATCH).ok()

    before_patches(monkeypatch, write_status)
    reviewed = await web.send((await web.open()).changing("web:1", "web:2"))
    assert (await web.send(reviewed, "save")).status == 302
    assert web.image == "example/web:2"
    record = await AuditRecord.objects.aget()
    assert record.code == 200


async def test_an_unrelated_change_before_the_dry_run_does_not_require_another_review(
    web: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    reviewed = await web.send((await web.open()).changing("web:1", "web:2"))
    patches = iter([True])

    def write_label() -> None:
        if next(patches, False):
            web.patch({"metadata": {"labels": {"seen": "no"}}})

    before_patches(monkeypatch, write_label)
    answer = await web.send(reviewed, "save")
    assert answer.status == 302, answer.html
    assert web.image == "example/web:2"


async def test_a_change_of_the_same_field_while_saving_is_not_overwritten(
    web: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    reviewed = await web.send((await web.open()).changing("web:1", "web:2"))
    container = {"name": "c0", "image": "example/web:3"}
    body = {"spec": {"template": {"spec": {"containers": [container]}}}}
    patches = iter([False, True])

    def write_image() -> None:
        # The first patch is the dry run, the second one saves the change.
        if next(patches, False):
            web.patch(body)

    before_patches(monkeypatch, write_image)
    answer = await web.send(reviewed, "save")
    assert answer.status == 409 and len(answer.radios) == 1
    assert web.image == "example/web:3"


async def test_a_recreated_object_of_the_same_name_is_not_changed(desk: Desk) -> None:
    body = config_map(unique("settings"), a="1")
    page = desk.make(body, "configmaps")
    opened = (await page.open()).changing('"1"', '"2"')
    desk.admin.delete(page.where)
    gone = await page.send(opened)
    assert gone.status == 404 and gone.text == opened.text and "no longer exists" in gone.html
    desk.make(body, "configmaps")
    other = await page.send(opened)
    assert other.status == 409 and "replaced by another object with the same name" in other.html
    assert page.now()["data"] == {"a": "1"}


async def test_secret_values_are_kept_unless_replaced(desk: Desk) -> None:
    page = desk.make(secret(unique("login"), user="editor", password="hunter2"), "secrets")
    opened = await page.open()
    assert opened.manifest["data"] == {"user": MASK, "password": MASK}
    labelled = opened.changing("metadata:\n", "metadata:\n  labels:\n    a: b\n")
    reviewed = await page.send(labelled)
    assert MASK not in " ".join(reviewed.changed)
    assert (await page.send(reviewed, "save")).status == 302
    before = page.now()["data"]
    assert before == {"user": "ZWRpdG9y", "password": "aHVudGVyMg=="}
    opened = await page.open()
    typed = await page.send(opened.changing(f"password: {MASK}", "password: bmV3"))
    assert typed.changed == [f"-password: {MASK}", f"+password: {MASK} (new value)"]
    assert "bmV3" not in typed.html.replace("password: bmV3", "")
    assert (await page.send(typed, "save")).status == 302
    assert page.now()["data"] == {"user": "ZWRpdG9y", "password": "bmV3"}
    opened = await page.open()
    renamed = await page.send(opened.changing(f"password: {MASK}", f"secret: {MASK}"))
    assert renamed.status == 400 and "placeholder" in renamed.problems[0][1]
    gone = opened.with_text(re.sub("  user: .*\n", "", opened.text, count=1))
    await page.saved(gone)
    assert page.now()["data"] == {"password": "bmV3"}


@pytest.mark.newer_kubernetes
async def test_warnings_are_shown(cluster: Cluster, web: Page) -> None:
    """All warnings are shown. Each arrives in a separate response header."""
    old = "container.apparmor.security.beta.kubernetes.io/c0: runtime/default"
    older = "scheduler.alpha.kubernetes.io/critical-pod: 'true'"
    opened = (await web.open()).changing(
        "  template:\n    metadata:\n",
        f"  template:\n    metadata:\n      annotations: {{{old}, {older}}}\n",
    )
    # Concurrent changes are merged and do not hide a warning.
    web.patch({"metadata": {"annotations": {"example.com/theirs": "x"}}})
    reviewed = await web.send(opened.with_text(opened.text + "status: {}\n"))
    assert "The cluster sets status. The value here is ignored." in reviewed.html
    if type(cluster).__name__ == "Real":
        told = unescape(reviewed.html)
        assert "deprecated since v1.30" in told and "non-functional in v1.16+" in told


HOSTILE = {
    "": "This is not a manifest",
    "x": "This is not a manifest",
    "[]": "This is not a manifest",
    "metadata: 1": "This is not a manifest",
    "metadata: {}": "apiVersion cannot be changed. The value must be apps/v1.",
    "a: &a [x]\nb: *b": "this alias does not refer to an anchor above it",
    "a: &a [*a]": "this alias does not refer to an anchor above it",
    "!!python/object/apply:os.system [id]": "tags are not supported",
    "a: 1\n---\nb: 2": "more than one document",
    "a: 1\na: 2": "a key appears more than once",
    "[" * 20_000: "nested too deeply",
    "a: \0": "Could not parse the YAML",
    "\x01\x02\x7f": "Could not parse the YAML",
    "\ufffd" * 100: "This is not a manifest",
    "a: .inf": "not a valid JSON number",
    "x" * (MOST + 1): "Use at most 2097152 characters.",
    'a: "\\ud800"': "Could not parse the YAML",
    "\u202e: \u2066": "This is not a manifest",
    "a: [\n": "Could not parse the YAML",
}


@pytest.mark.parametrize("text", HOSTILE, ids=map(str, range(len(HOSTILE))))
async def test_unreadable_manifests_are_reported(web: Page, text: str) -> None:
    refused = await web.send((await web.open()).with_text(text))
    assert refused.status == 400, refused.html
    assert HOSTILE[text] in unescape(refused.html)
    assert "\u202e" not in re.sub(r"<(textarea|input).*?>.*?<", "", refused.html, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("apiVersion: apps/v1", "apiVersion: apps/v1beta1"),
        ("kind: Deployment", "kind: Pod"),
        ("\n  name: web", "\n  name: other"),
        ("\n  namespace: ", "\n  namespace: other"),
        ("metadata:\n", "metadata:\n  uid: other\n"),
    ],
)
async def test_identifying_fields_cannot_be_changed(web: Page, old: str, new: str) -> None:
    opened = await web.open()
    refused = await web.send(opened.with_text(opened.text.replace(old, new, 1)))
    assert refused.status == 400 and "cannot be changed" in refused.problems[0][1]


@pytest.mark.parametrize(
    "fields",
    [
        {"step": "no"},
        {"step": ""},
        {"uid": ""},
        {"uid": "x" * 200},
        {"uid": "a\0b"},
        {"base": ""},
        {"base": "nonsense"},
    ],
)
async def test_invalid_form_fields_are_rejected(web: Page, fields: dict[str, str]) -> None:
    opened = await web.open()
    data = {**opened.fields, "step": "review", **fields}
    response = await ClientAs()(web.desk.who).post(web.url, data)
    assert response.status_code == 400


async def test_users_without_permission_see_the_missing_permission(web: Page) -> None:
    opened = await web.open()
    for who, verb in (("charlie", "list"), ("bob", "patch")):
        for response in (
            await ClientAs()(who).get(web.url),
            await ClientAs()(who).post(web.url, {**opened.fields, "step": "review"}),
        ):
            assert response.status_code == 403
            assert f"You don't have permission to {verb} deployments" in unescape(
                await text_of(response)
            )
    missing = replace(web, name="none")
    assert (await missing.open()).status == 404
    assert (await replace(web, plural="planets").open()).status == 404
    detail = web.url.removesuffix("/edit")
    eventually(
        lambda: cluster_of_host().runtime.informer(DEPLOYMENTS).store.get(web.key) is not None,
        "it is known",
    )
    assert f'href="{web.url}"' in await text_of(await ClientAs()(web.desk.who).get(detail))
    assert f'href="{web.url}"' not in await text_of(await ClientAs()("bob").get(detail))


async def test_the_cluster_rejects_an_edit_that_the_console_allowed(
    web: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The console believes that the user has a permission that the cluster does not grant."""
    opened = (await web.open()).changing("web:1", "web:2")
    where = {web.desk.namespace}
    eve = FakeAccess(unique("eve"), list_in=where, delete_in=where, get_in=where)
    monkeypatch.setitem(VIEWERS, eve.identity.name, lambda: eve)
    response = await ClientAs()(eve.identity.name).post(
        web.url, {**opened.fields, "step": "review"}
    )
    html = await text_of(response)
    assert response.status_code == 403
    assert "Permission denied by the cluster." in html and "web:2" in html


async def test_api_clients_receive_a_status(web: Page) -> None:
    opened = await web.open()
    client = ClientAs()(web.desk.who, Accept="application/json")
    data = {**opened.changing("replicas: 0", "replicas: -1").fields, "step": "save"}
    status = json.loads(await text_of(await client.post(web.url, data)))
    assert (status["code"], status["status"]) == (422, "Failure")
    assert "greater than or equal to 0" in status["details"]["causes"][0]["message"]


async def test_objects_up_to_the_size_limit_can_be_edited(desk: Desk) -> None:
    lines = "".join(f"- line {at} of 'many'\n" for at in range(40_000))
    page = desk.make(config_map(unique("large"), a=lines, b="1"), "configmaps")
    opened = (await page.open()).changing('b: "1"', 'b: "2"')
    assert len(opened.text) > 1_000_000
    reviewed = await page.send(opened)
    assert reviewed.changed == ['-b: "1"', '+b: "2"']
    assert (await page.send(reviewed, "save")).status == 302
    assert page.now()["data"] == {"a": lines, "b": "2"}
    # Each character is a ten-character escape sequence in YAML.
    page = desk.make(config_map(unique("larger"), a="\U000e0001" * (MOST // 10)), "configmaps")
    refused = await page.open()
    assert refused.status == 422 and "too large to edit here" in refused.html


async def test_nothing_is_saved_without_an_audit_record(
    web: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    reviewed = await web.send((await web.open()).changing("web:1", "web:2"))
    before = web.now()["spec"]
    monkeypatch.setattr(trail, "insert", no_database)
    refused = await web.send(reviewed, "save")
    assert refused.status == 503 and "the audit trail cannot be written" in refused.html
    assert "web:2" in refused.text and web.now()["spec"] == before
