"""Pages that change objects handle any input: no server errors, no injected HTML or deceptive text,
and a response time in proportion to the input's length.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest_django import Settings

from console.audit.models import AuditRecord
from console.kube.gvr import CONFIG_MAPS, SECRETS, Key
from console.kube.runtime import Runtime
from console.ui.core.actions import Link
from console.ui.core.kind import ResourceKind
from console.ui.core.links import action_url, bulk_url, draft_url, edit_url
from console.ui.core.registry import kinds
from devcluster.server import DevCluster
from tests.accounts.hostile.forms import Reader
from tests.controlplane.waiting import eventually
from tests.hostile.admin import (
    Admin,
    _runtime,
    admin,
    cluster,
    put,
    runtime,
)
from tests.hostile.foreign_content import fields_in
from tests.hostile.texts import SHORT, TEXTS
from tests.hostile.world import config_map, fill, renamed
from tests.kube.clusters import live
from tests.support.depth import DEEP, choice, some
from tests.views.conftest import _site

__all__ = ["_runtime", "_site", "admin", "cluster", "runtime"]

pytestmark = [
    pytest.mark.django_db(transaction=True),
    # Each value in each field of each form is submitted in one test.
    pytest.mark.timeout(3_600 if DEEP else 300),
]

IMPORT = "/clusters/host/import"
#: Replacements for a manifest, several manifests, and JSON.
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


@dataclass(frozen=True)
class Target:
    """A form: its URL, its valid field values, and its steps."""

    url: str
    fields: dict[str, str]
    steps: tuple[str, ...] = ("",)


MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\n"


async def targets(admin: Admin) -> list[Target]:
    """Return all forms about one object, several objects, or a text, and the endpoints for drafts."""
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
    found.append(
        Target(IMPORT, fields, ("review", "create", "edit", "review-undo", "undo", "discard"))
    )
    found.append(Target(f"{IMPORT}/draft", fields))
    url = bulk_url("delete", "host", "configmaps")
    found.append(Target(url, {"key": "shop/none", "keys": "", "all": "0", "list": ""}))
    found.append(Target(url, {"targets": "x shop/none", "typed": "", "list": ""}))
    return found


#: Number of values per field in the CI run, in the first step of a form. For other steps only a few
#: fields are tested.
OF_EACH = 2


async def test_any_form_input_is_handled(admin: Admin, cluster: DevCluster) -> None:
    """Covers each field of each form in each of its steps."""
    put(cluster, CONFIG_MAPS, config_map("target", {"a": "1"}))
    put(cluster, SECRETS, config_map("target", {"a": "MQ=="}))
    mark, seen = cluster.audit.mark(), 0
    for target in await targets(admin):
        for step in target.steps:
            first = step == target.steps[0]
            number = OF_EACH if first else 1
            fields = (*target.fields, "step", "next", "csrfmiddlewaretoken")
            for field in fields if first else some(f"{target.url} {step}", fields, 2):
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


#: Actions that need more than the object: an earlier revision, a factor in SQL, or a console with
#: port forwarding.
NEEDS_MORE = {"rollback", "reset-second-factor", "open-port"}


def every_action() -> Iterator[tuple[ResourceKind, str]]:
    """Yield each action that has a form, for one of the kinds that have it."""
    of_kinds: dict[str, list[ResourceKind]] = {}
    for kind in sorted(kinds, key=lambda kind: kind.segment):
        for action in kind.actions:
            if action.has_confirmation and not (kind.private or isinstance(action, Link)):
                of_kinds.setdefault(action.name, []).append(kind)
    for name, having in of_kinds.items():
        for kind in some(name, having, 1):
            yield kind, name


async def asking(admin: Admin, kind: ResourceKind, name: str) -> Target | None:
    """Return the form of an action for the first object that it applies to."""
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


async def test_any_action_form_input_is_handled(
    admin: Admin, cluster: DevCluster, runtime: Runtime, settings: Settings
) -> None:
    """Covers each field of each action's form, for objects with trap names."""
    settings.NODE_SHELL_NAMESPACE = "shop"
    # Role changes can be undone for a while by the user who made them, which needs a session.
    settings.SESSION_ENGINE = "django.contrib.sessions.backends.cache"
    sessions = "django.contrib.sessions.middleware.SessionMiddleware"
    settings.MIDDLEWARE = [sessions, *settings.MIDDLEWARE]
    cluster.run(fill)
    known = [kind.gvr for kind in kinds if not kind.private]
    runtime.require(known)
    eventually(lambda: all(live(runtime.informer(gvr)) for gvr in known), "all is known")
    # All forms are loaded before anything is submitted, because an action may delete an object that
    # another action needs.
    asked = [(name, await asking(admin, kind, name)) for kind, name in every_action()]
    targets = [(name, target) for name, target in asked if target is not None]
    names = {name for name, _target in targets}
    assert len(names) > 25 and {name for name, _target in asked} - names == NEEDS_MORE
    for name, target in targets:
        for field in some(name, target.fields, 2):
            for value in some(f"{name} {field}", VALUES, 1):
                await admin.post(target.url, {**target.fields, field: value}, (field, value))


async def each_write_is_recorded(cluster: DevCluster, mark: int) -> None:
    """Check that each write has an audit record with the audit ID sent to kube-apiserver. Dry runs
    are not writes.
    """
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


@pytest.mark.parametrize("project", ["%2e%2e", ".", "%00", "A", "a%25b"])
async def test_invalid_project_names_return_404(admin: Admin, project: str) -> None:
    """The response is 404 and doesn't claim that the cluster is unavailable."""
    for page in ("actions/keys", "actions/labels", "edit", "edit/draft", "edit/proposal"):
        url = f"/clusters/host/projects/{project}/secrets/web/{page}"
        for answer in (await admin.get(url), await admin.post(url, {"uid": "x", "step": "edit"})):
            assert answer.status in (404, 405), url


FILES = {
    "no text": b"\xff\xfe\x00",
    "half of a character": b"a: \xed\xa0\x80",
    "UTF-16": "a: 1".encode("utf-16"),
    "lines": b"a: 1\r\nb: [\r",
    "much": b"x" * 900_000,
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
async def test_any_uploaded_file_is_handled(
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
