"""Values of objects are escaped on the pages that change them, and processing them takes
proportionate time: actions, the editor with its review, changes, and undo. `test_crawl` opens
such pages in a browser.
"""

import re
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from console.history.models import ObjectChange
from console.history.store import store_change
from console.kube import gvr as types
from console.kube.gvr import CONFIG_MAPS, GVR, Key, ObjectReference
from console.kube.runtime import Runtime
from console.ui.core.clusters import HOST
from console.ui.core.links import action_url, bulk_url, detail_url, edit_url
from console.ui.editing.yaml_text import plain_yaml
from console.views.history import MAX_LINES
from devcluster.server import DevCluster
from tests.contract.edit_forms import form_of
from tests.controlplane.waiting import eventually
from tests.hostile.admin import (
    ANYTHING,
    WIDGETS,
    Admin,
    _runtime,
    admin,
    await_object,
    cluster,
    known_kind,
    put,
    runtime,
)
from tests.hostile.foreign_content import fields_in
from tests.hostile.texts import EVERYTHING, NAME, SHORT
from tests.hostile.world import config_map, custom_objects, held, managed
from tests.kinds.world import Obj
from tests.support.depth import DEEP
from tests.views.conftest import _site

__all__ = ["_runtime", "_site", "admin", "cluster", "runtime"]

pytestmark = pytest.mark.django_db(transaction=True)


async def edited(admin: Admin, url: str, cluster: DevCluster) -> None:
    """Edit, with a concurrent change, its resolution, saving, and undo."""
    opened = await admin.get(url)
    assert opened.status == 200, opened.said
    form = opened.form
    mine = form.changing("mine: before", f"mine: {plain_yaml(EVERYTHING).strip()}")
    reviewed = await admin.post(url, {**mine.fields, "step": "review"})
    assert reviewed.status == 200 and reviewed.form.changed, reviewed.said
    put(cluster, CONFIG_MAPS, held(SHORT))
    asked = await admin.post(url, {**mine.fields, "step": "review"})
    assert asked.status == 409 and asked.form.radios, asked.said
    sides = dict.fromkeys(asked.form.radios, "mine")
    reviewed = await admin.post(url, {**asked.form.fields, "step": "review", **sides})
    assert reviewed.status == 200, reviewed.said
    saved = await admin.post(url, {**reviewed.form.fields, "step": "save"})
    assert saved.status == 302, saved.said
    assert await ObjectChange.objects.acount() == 1


async def test_values_of_an_object_are_escaped_while_editing(
    admin: Admin, cluster: DevCluster
) -> None:
    put(cluster, CONFIG_MAPS, held("before"))
    key = Key("shop", "held")
    url = edit_url("host", "configmaps", key)
    await edited(admin, url, cluster)
    changes = await admin.get(detail_url("host", "configmaps", key, "changes"))
    change = await ObjectChange.objects.aget()
    assert "<del>" in changes.html and f"undo={change.pk}" in changes.html
    back = await admin.get(f"{url}?undo={change.pk}")
    assert back.status == 200 and (await admin.post(url, {**back.form.fields, "step": "review"}))
    for name in ("labels", "keys", "delete"):
        page = action_url(name, "host", "configmaps", key)
        assert (await admin.get(page)).status == 200
        refused = await admin.post(page, {"uid": "another"})
        assert refused.status in (400, 409), refused.said


async def test_names_and_types_are_escaped_on_action_pages(
    admin: Admin, cluster: DevCluster
) -> None:
    """kube-apiserver accepts almost any role name, and a custom resource can hold any values."""
    names = ["labels", "delete"]
    rules = [{"apiGroups": [EVERYTHING], "resources": [EVERYTHING], "verbs": [EVERYTHING]}]
    role: Obj = {"metadata": {"name": NAME, "uid": "uid-role"}, "rules": rules}
    put(cluster, types.CLUSTER_ROLES, role)
    objects: list[tuple[GVR, str, Obj]] = [(types.CLUSTER_ROLES, "clusterroles", role)]
    for number, (gvr, obj) in enumerate(list(custom_objects(1))[:: 1 if DEEP else 9]):
        obj["metadata"]["managedFields"] = managed(EVERYTHING, EVERYTHING)
        put(cluster, gvr, obj)
        objects.append((gvr, gvr.qualified, obj))
        assert number < 100
    known_kind(WIDGETS)
    for _gvr, segment, obj in objects:
        meta = obj["metadata"]
        key = Key(meta.get("namespace", ""), meta["name"])
        url = edit_url("host", segment, key)
        opened = await admin.get(url)
        assert opened.status == 200, opened.said
        for text in (opened.form.text + "more: {<a>: 1}\n", "x", opened.form.text):
            sent = {**opened.form.fields, "text": text, "step": "review"}
            await admin.post(url, sent, text[-20:])
        for name in names:
            page = action_url(name, "host", segment, key)
            await admin.get(page)
            await admin.post(page, {"uid": "another"})
        await admin.get(detail_url("host", segment, key, "changes"))
        chosen = {"key": str(key), "list": f"/clusters/host/{segment}"}
        asked = await admin.post(bulk_url("delete", "host", segment), chosen)
        targets = (
            form_of(asked.status, asked.html).fields["targets"].replace(meta["uid"], "another")
        )
        done = await admin.post(bulk_url("delete", "host", segment), {"targets": targets})
        assert 'data-outcome="refused"' in done.html or 'name="typed"' in done.html, done.said


ODD_NAMES = (
    NAME,
    "a\r\nSet-Cookie: b=c",
    'a"; filename="b.exe',
    "\u202egnp.exe",
    "\x85\x1b[2J",
    "é" * 300,
)


async def test_download_file_names_are_safe(
    admin: Admin, cluster: DevCluster, runtime: Runtime
) -> None:
    for name in ODD_NAMES:
        put(cluster, types.CLUSTER_ROLES, {"metadata": {"name": name, "uid": name}, "rules": []})
        await_object(runtime, types.CLUSTER_ROLES, Key("", name))
        url = detail_url("host", "clusterroles", Key("", name))
        answer = await admin.get(f"{url}?format=yaml")
        called = answer.headers["Content-Disposition"]
        assert answer.status == 200 and called.isascii() and called.isprintable()
        assert re.fullmatch(r"""attachment; filename(="([^"\\]|\\.)*"|\*=utf-8''[^;"]*)""", called)
        assert (await admin.get(f"{url}?format=json")).status == 200


#: Nesting depths. Python can copy fewer levels than it can parse, and parse fewer than a cluster
#: stores.
LEVELS = (90, 200, 330, 600, 900)


@pytest.mark.parametrize("levels", LEVELS)
async def test_deeply_nested_objects_can_be_labeled_and_deleted(
    admin: Admin, cluster: DevCluster, runtime: Runtime, levels: int
) -> None:
    """If the object cannot be displayed, the page shows a message."""
    segment, key = known_kind(ANYTHING), Key("shop", f"deep-{levels}")
    runtime.require([ANYTHING])
    spec: Any = "bottom"
    for _level in range(levels):
        spec = [spec]
    put(cluster, ANYTHING, {"metadata": {**key._asdict(), "uid": key.name}, "spec": spec})
    store = await_object(runtime, ANYTHING, key)
    assert (await admin.get(edit_url("host", segment, key))).status in (200, 422)
    for tab in ("", "yaml", "events", "changes"):
        assert (await admin.get(detail_url("host", segment, key, tab))).status == 200
    page = action_url("labels", "host", segment, key)
    asked = await admin.get(page)
    assert asked.status in (200, 422)
    if asked.status == 200:
        done = await admin.post(page, {**fields_in(asked.html), "labels": "a=b"})
        assert done.status == 302, done.said
        changes = await admin.get(detail_url("host", segment, key, "changes"))
        assert changes.status == 200
    page = action_url("delete", "host", segment, key)
    assert (await admin.get(page)).status == 200
    done = await admin.post(page, {"uid": key.name})
    assert done.status == 302, done.said
    eventually(lambda: store.get(key) is None, "it is gone")


async def test_a_large_number_of_conflicts_is_reported(admin: Admin, cluster: DevCluster) -> None:
    def many(value: str) -> Obj:
        data = dict.fromkeys((f"k{number}" for number in range(3_000)), value)
        return config_map("many", data, managedFields=managed(SHORT, *data))

    put(cluster, CONFIG_MAPS, many("before"))
    url = edit_url("host", "configmaps", Key("shop", "many"))
    form = (await admin.get(url)).form.changing(": before", ": mine")
    put(cluster, CONFIG_MAPS, many("theirs"))
    asked = await admin.post(url, {**form.fields, "step": "review"})
    assert asked.status == 409 and "more than 100 of the changed fields" in asked.html
    assert asked.form.text == form.text


async def test_changes_of_large_objects_are_listed_without_a_diff(
    admin: Admin, cluster: DevCluster, runtime: Runtime
) -> None:
    made = put(cluster, CONFIG_MAPS, config_map("large", {"a": "1"}))
    key = Key("shop", "large")
    await_object(runtime, CONFIG_MAPS, key)
    about = ObjectReference(HOST, CONFIG_MAPS, key, made["metadata"]["uid"])
    for number in range(6):
        keys = [f"k{at}" for at in range(90_000 if number < 3 else 1_200)]
        before = {"number": number, "data": dict.fromkeys(keys, "1")}
        after = {"number": dict.fromkeys(keys, "2"), "a": "\u202e<zqx-node>"}
        await sync_to_async(store_change)(
            about, NAME, str(number), ("patch", "labels"), before, after
        )
    page = await admin.get(detail_url("host", "configmaps", key, "changes"))
    assert page.status == 200 and page.html.count("The difference is too large to display.") == 3
    lines = page.html.count("<tr data-change")
    assert MAX_LINES / 2 < lines <= MAX_LINES and "more lines are not shown" in page.html
