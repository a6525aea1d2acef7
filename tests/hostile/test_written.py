"""What is written on the pages that change things, and what the objects hold that these are about:
actions, the editor with what it shows before it saves, imports and their results, changes and undoing.

Whatever it is, it is answered: never by an error of the server's, never with markup or with a text that
deceives, and never for longer than its length is worth. A browser looks at such pages in `test_crawl`.
"""

import json
import logging
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pytest
from asgiref.sync import sync_to_async
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils.html import strip_tags

from console.audit.models import AuditRecord
from console.history.keeping import keep
from console.history.models import ObjectChange
from console.kube import gvr as types
from console.kube.gvr import CONFIG_MAPS, GVR, SECRETS, Key, ObjectReference
from console.kube.runtime import Runtime
from console.kube.store import Store
from console.ui.actions import Link
from console.ui.clusters import HOST, clusters
from console.ui.kind import ResourceKind
from console.ui.links import action_url, bulk_url, detail_url, draft_url, edit_url
from console.ui.registry import kinds
from console.ui.yamltext import plain_yaml
from console.views.history import MOST_LINES
from devcluster.cluster import CRDS
from devcluster.rbac import CLUSTER_ROLE_BINDINGS
from devcluster.server import DevCluster
from rbac.current import no_host, use_host
from tests.accounts.hostile.forms import Reader
from tests.contract.test_edit import Form, form_of
from tests.controlplane.waiting import eventually
from tests.depth import DEEP, choice, some
from tests.hostile.conftest import ADMINS
from tests.hostile.reading import fields_in, wrong_in
from tests.hostile.texts import EVERYTHING, NAME, SHORT, TEXTS
from tests.hostile.world import (
    config_map,
    custom_objects,
    define,
    fill,
    held,
    managed,
    renamed,
    write,
)
from tests.kinds.test_custom_kinds import definition
from tests.kinds.world import Obj
from tests.kube.clusters import live
from tests.views.conftest import Utf8Client, _site
from tests.views.test_lists import text_of

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)

WIDGETS, ANYTHING = GVR("zqx.org", "v1", "widgets"), GVR("zqx.org", "v1", "anythings")
IMPORT = "/clusters/host/import"
#: Seconds of CPU time that an answer takes at most, with the cluster that runs in the same process.
BOUND = 3.0
#: In the place of a manifest, of several, and of JSON.
MANIFESTS = (
    "[" * 100_000,
    "{a: " * 50_000,
    "- " * 50_000,
    "a: &a [x]\n" + "".join(f"b{n}: &a [*a, *a]\n" for n in range(200)),
    "a: &a {x: 1}\nb: {<<: [" + "*a, " * 20_000 + "]}",
    "a: &a {<<: *a}",
    "!!python/object/apply:os.system [id]",
    "? [a]\n: !!binary x",
    "a: .nan\nb: 1e999",
    "a: " + "9" * 100_000,
    "a: 2026-01-01\nb: 0777\nc: 1:30\nd: no\n__proto__: {a: b}\nconstructor: 1",
    "a: 1\r\na: 2\r",
    "x" * 1_000_000,
    "metadata: {name: [], namespace: {}, labels: 1}\nkind: 1\napiVersion: {}",
    '{"apiVersion": "v1", "kind": "List", "items": [' + '{"items": [' * 90 + "]}" * 90 + "]}",
    "---\n" * 50_000,
    "\x85\u2028\x0b\x0c\x1b[2J\x9b31m\x00",
)
VALUES = (*TEXTS, *MANIFESTS)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevCluster]:
    with DevCluster(tmp_path_factory.mktemp("written")) as found:
        found.run(lambda parts: parts.ensure(CLUSTER_ROLE_BINDINGS, ADMINS))
        found.run(lambda parts: parts.ensure("namespaces", {"metadata": {"name": "shop"}}))
        found.run(define)
        found.run(lambda parts: parts.store.put(CRDS, anything()))
        yield found


def anything() -> Obj:
    """The definition of a type whose objects may hold whatever they like."""
    crd = definition(ANYTHING.qualified, kind="Anything", uid="u3")
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    crd["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": schema}
    return crd


@pytest.fixture(scope="module")
def _runtime(cluster: DevCluster) -> Iterator[Runtime]:
    runtime = Runtime(kubeconfig=str(cluster.kubeconfig))
    runtime.start()
    needed = [types.NAMESPACES, CONFIG_MAPS, types.CLUSTER_ROLES, types.CUSTOM_RESOURCE_DEFINITIONS]
    runtime.require(needed)
    eventually(lambda: all(live(runtime.informer(gvr)) for gvr in needed), "all is known")
    yield runtime
    runtime.stop()


@pytest.fixture(autouse=True)
def runtime(_runtime: Runtime, caplog: pytest.LogCaptureFixture) -> Iterator[Runtime]:
    use_host(_runtime)
    yield _runtime
    no_host()
    faults = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert faults == [], [one.getMessage() for one in faults]


@dataclass(frozen=True)
class Answer:
    status: int
    html: str
    headers: Mapping[str, str]

    @property
    def form(self) -> Form:
        return form_of(self.status, self.html)

    @property
    def said(self) -> str:
        """For people who look at why a test failed."""
        main = self.html.partition("<main")[2].rpartition("</main>")[0]
        return " ".join(strip_tags(main or self.html).split())[:2000]


class Admin:
    """Whoever may do everything, and looks at each answer."""

    def __init__(self) -> None:
        self._client = Utf8Client(raise_request_exception=False)

    async def get(self, url: str) -> Answer:
        return await self._looked_at(url, self._client.get(url, headers={"X-Cast": "admin"}))

    async def post(self, url: str, data: dict[str, Any], what: object = "") -> Answer:
        sent = self._client.post(url, data, headers={"X-Cast": "admin"})
        return await self._looked_at(f"{url} {what!r:.200}", sent)

    async def _looked_at(self, what: str, sent: Any) -> Answer:
        began = time.process_time()
        response = await sent
        html = await text_of(response)
        took = time.process_time() - began
        answer = Answer(response.status_code, html, response.headers)
        assert response.status_code < 500, (what, answer.said)
        assert took < BOUND, (what, took)
        if "html" in response.headers.get("Content-Type", "html"):
            assert wrong_in(html) == [], what
        return answer


@pytest.fixture
def admin() -> Admin:
    return Admin()


def put(cluster: DevCluster, gvr: GVR, obj: Obj) -> Obj:
    cluster.run(lambda parts: write(parts, gvr, obj))
    return obj


async def edited(admin: Admin, url: str, cluster: DevCluster) -> None:
    """All the way: a change, one of somebody else's, both, what was changed, and back."""
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


async def test_what_an_object_holds_is_text_wherever_it_is_edited(
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


async def test_names_and_types_of_tenants_are_text_on_pages_of_actions(
    admin: Admin, cluster: DevCluster
) -> None:
    """kube-apiserver takes nearly any name of a role; a custom resource holds anything."""
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


async def test_a_file_is_called_like_the_object_in_one_line(
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


#: Of lists in lists. Python copies fewer than it reads, and reads fewer than a cluster keeps.
LEVELS = (90, 200, 330, 600, 900)


@pytest.mark.parametrize("levels", LEVELS)
async def test_what_is_nested_deeply_is_labelled_and_deleted_like_anything(
    admin: Admin, cluster: DevCluster, runtime: Runtime, levels: int
) -> None:
    """It may not be shown, which is said."""
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


def await_object(runtime: Runtime, gvr: GVR, key: Key) -> Store[Any]:
    """The store that has it, once it does."""
    store = runtime.informer(gvr).store
    eventually(lambda: store.get(key), "it is known")
    return store


def known_kind(gvr: GVR) -> str:
    """What addresses call it, once the console knows it."""
    found = clusters.get(HOST)
    assert found is not None
    eventually(lambda: found.kinds.find(gvr.qualified), "the kind is known")
    return gvr.qualified


async def test_more_conflicts_than_anybody_decides_about_are_told(
    admin: Admin, cluster: DevCluster
) -> None:
    def many(value: str) -> Obj:
        data = dict.fromkeys((f"k{number}" for number in range(3_000)), value)
        return config_map("many", data, managedFields=managed(SHORT, *data))

    put(cluster, CONFIG_MAPS, many("before"))
    url = edit_url("host", "configmaps", Key("shop", "many"))
    form = (await admin.get(url)).form.changing(": before", ": mine")
    put(cluster, CONFIG_MAPS, many("theirs"))
    asked = await admin.post(url, {**form.fields, "step": "review"})
    assert asked.status == 409 and "more than 100 of the fields" in asked.html
    assert asked.form.text == form.text


async def test_changes_of_large_objects_are_told_and_not_drawn(
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
        await sync_to_async(keep)(about, NAME, str(number), ("patch", "labels"), before, after)
    page = await admin.get(detail_url("host", "configmaps", key, "changes"))
    assert page.status == 200 and page.html.count("What differs is too much") == 3
    lines = page.html.count("<tr data-change")
    assert MOST_LINES / 2 < lines <= MOST_LINES and "more lines are not shown" in page.html


@dataclass(frozen=True)
class Target:
    """A form: its address, what it sends when nothing is wrong, and the steps that it has."""

    url: str
    fields: dict[str, str]
    steps: tuple[str, ...] = ("",)


MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\n"


async def targets(admin: Admin) -> list[Target]:
    """Every form that is about one object, several, or a text; and where drafts are kept."""
    found = []
    for segment in ("configmaps", "secrets"):
        key = Key("shop", "target")
        url = edit_url("host", segment, key)
        fields = fields_in((await admin.get(url)).html)
        fields |= {"seen": "", "conflict-x": "mine"}
        found.append(Target(url, fields, ("review", "save", "edit")))
        found.append(Target(draft_url("host", segment, key), fields))
        for name in ("keys", "labels", "delete"):
            url = action_url(name, "host", segment, key)
            fields = fields_in((await admin.get(url)).html)
            fields |= {"new-key-0": "new", "new-value-0": "x"} if name == "keys" else {}
            found.append(Target(url, fields))
    made = [{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop", "name": "x", "uid": "x"}]
    fields = {
        "text": MAP.format("x"),
        "namespace": "shop",
        "version": "0",
        "made": json.dumps(made),
    }
    found.append(Target(IMPORT, fields, ("review", "create", "edit", "undo", "discard")))
    found.append(Target(f"{IMPORT}/draft", fields))
    url = bulk_url("delete", "host", "configmaps")
    found.append(Target(url, {"key": "shop/none", "keys": "", "all": "0", "list": ""}))
    found.append(Target(url, {"targets": "x shop/none", "typed": "", "list": ""}))
    return found


#: Values of a field in the gate, in the first step of its form.
OF_EACH = 2


async def test_whatever_a_form_sends_is_answered(admin: Admin, cluster: DevCluster) -> None:
    """Each field of each form, in each step that the form has."""
    put(cluster, CONFIG_MAPS, config_map("target", {"a": "1"}))
    put(cluster, SECRETS, config_map("target", {"a": "MQ=="}))
    mark, seen = cluster.audit.mark(), 0
    for target in await targets(admin):
        for step in target.steps:
            for field in (*target.fields, "step", "next", "csrfmiddlewaretoken"):
                number = OF_EACH if step == target.steps[0] else 1
                for value in some(f"{target.url} {step} {field}", VALUES, number):
                    sent = {"step": step, **target.fields, field: value}
                    await admin.post(target.url, sent, (step, field, value))
                    seen += 1
        for value in some(target.url, TEXTS, OF_EACH):
            given = {"next": value, "undo": value, "draft": value}
            await admin.get(f"{target.url}?{urlencode(given)}")
        await admin.get(f"{target.url}?draft=continue")
    assert seen > 200
    await each_write_is_recorded(cluster, mark)


#: There is no page of these without more than the object: an earlier revision, a factor in SQL.
NEEDS_MORE = {"rollback", "reset-second-factor"}


def every_action() -> Iterator[tuple[ResourceKind, str]]:
    """Each that asks something, on one of the kinds that have it."""
    of_kinds: dict[str, list[ResourceKind]] = {}
    for kind in sorted(kinds, key=lambda kind: kind.segment):
        for action in kind.actions:
            if action.asks and not (kind.private or isinstance(action, Link)):
                of_kinds.setdefault(action.name, []).append(kind)
    for name, having in of_kinds.items():
        for kind in some(name, having, 1):
            yield kind, name


async def asking(admin: Admin, kind: ResourceKind, name: str) -> Target | None:
    """The page of an action with its form, for the first object that it can be done to."""
    for obj in renamed(kind):
        meta = obj["metadata"]
        key = Key(meta.get("namespace", ""), meta["name"])
        url = action_url(name, "host", kind.segment, key)
        page = await admin.get(url)
        forms = Reader(url)
        forms.feed(page.html)
        for form in forms.forms:
            if page.status == 200 and form.action.partition("?")[0] == url:
                return Target(url, {**dict(form.fields), **fields_in(page.html)})
    return None


async def test_whatever_the_form_of_an_action_sends_is_answered(
    admin: Admin, cluster: DevCluster
) -> None:
    """Each field of each action's form, for objects that are called anything."""
    cluster.run(fill)
    seen: dict[str, bool] = {}
    for kind, name in every_action():
        target = await asking(admin, kind, name)
        seen[name] = seen.get(name, False) or target is not None
        if target is None:
            continue
        for field in target.fields:
            for value in some(f"{name} {field}", VALUES, 1):
                await admin.post(target.url, {**target.fields, field: value}, (field, value))
    assert len(seen) > 25
    assert {name for name, asked in seen.items() if not asked} == NEEDS_MORE


async def each_write_is_recorded(cluster: DevCluster, mark: int) -> None:
    """By the number that kube-apiserver was told, and what only tried something is no write."""
    writes = [
        one
        for one in cluster.audit.requests_since(mark, user="admin")
        if one.verb in ("create", "update", "patch", "delete") and "dryRun" not in one.query
    ]
    numbers = [one.audit_id for one in writes]
    records = {row.audit_id: row async for row in AuditRecord.objects.all()}
    assert numbers and len(set(numbers)) == len(numbers)
    for one in writes:
        row = records[one.audit_id]
        assert (row.actor, row.verb) == ("admin", one.verb)
        assert one.verb == "create" or row.name == one.name


FILES = {
    "no text": b"\xff\xfe\x00",
    "half of a character": b"a: \xed\xa0\x80",
    "UTF-16": "a: 1".encode("utf-16"),
    "lines": b"a: 1\r\nb: [\r",
    "much": b"x" * 900_000,
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
async def test_whatever_a_file_is_it_is_answered(
    admin: Admin, cluster: DevCluster, content: bytes
) -> None:
    name = choice(content[:9].hex(), (SHORT, "\u202eyaml.exe", "../../etc/passwd", "x" * 5000))
    put(cluster, CONFIG_MAPS, config_map("target", {"a": "1"}))
    file = SimpleUploadedFile(name, content)
    sent: dict[str, Any] = {"text": MAP.format("x"), "namespace": "shop", "step": "review"}
    answer = await admin.post(IMPORT, {**sent, "files": [file]})
    assert answer.status in (200, 400, 422)
    page = action_url("keys", "host", "configmaps", Key("shop", "target"))
    fields = fields_in((await admin.get(page)).html)
    file = SimpleUploadedFile(name, content)
    answer = await admin.post(page, {**fields, "uid": "another", "new-file-0": file})
    assert answer.status in (400, 409)
