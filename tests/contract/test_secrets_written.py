"""Secret values appear only in the text that the user typed: not in other parts of a page, records,
drafts, or logs, whether entered in the editor or in an import. The placeholder for hidden values
is never stored as a value.
"""

import base64
import logging
import re
from collections.abc import Iterator
from html import unescape

import pytest

from console.audit.changes import unpack
from console.audit.models import AuditChange, AuditRecord
from console.drafts.models import Draft
from console.history.models import ObjectChange
from console.kube.gvr import NAMESPACES
from console.kube.runtime import Runtime
from console.ui.core.links import detail_url
from console.ui.core.manifests import MASK
from tests.contract import import_pages
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client
from tests.contract.cluster import Cluster
from tests.contract.edit_forms import form_of
from tests.contract.edit_pages import Desk
from tests.contract.grants import Grants, rule, user
from tests.contract.objects import secret, unique
from tests.contract.pages import console_on
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs, _site
from tests.views.viewers import VIEWERS

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)

#: The value in the stored object, and the value that the user types.
THEIRS, TYPED = "canary-of-theirs", "canary-that-is-typed"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


HIDDEN = (THEIRS, encoded(THEIRS), TYPED, encoded(TYPED))


@pytest.fixture(scope="module", autouse=True)
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [NAMESPACES]) as found:
        yield found


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch, admin: Client, namespace: str, cleanup: Cleanup) -> Desk:
    who, where = unique("editor"), {namespace}
    grants = Grants(cleanup, namespace)
    grants.here(user(who), rule("get list patch create delete", "secrets"))
    grants.wait(who, verb="patch", resource="secrets", group="", namespace=namespace)
    viewer = FakeAccess(who, list_in=where, delete_in=where, get_in=where)
    monkeypatch.setitem(VIEWERS, who, lambda: viewer)
    return Desk(admin, namespace, who)


def shown(html: str) -> str:
    """Return the page's text without the user's own input."""
    html = re.sub(r"<textarea.*?</textarea>", "", html, flags=re.DOTALL)
    return unescape(re.sub(r'<input type="hidden" name="(text|base)"[^>]*>', "", html))


async def kept(caplog: pytest.LogCaptureFixture) -> str:
    """Return all stored records and the log after the test."""
    rows = [
        [one async for one in model.objects.values()]
        for model in (AuditRecord, Draft, ObjectChange)
    ]
    changes = [[unpack(one.before), unpack(one.after)] async for one in AuditChange.objects.all()]
    return f"{rows} {changes} {caplog.text}"


async def test_the_editor_does_not_leak_secret_values(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    page = desk.make(secret(unique("login"), a=THEIRS, b=THEIRS, c="x"), "secrets")
    pages = []
    opened = await page.open()
    assert THEIRS not in opened.html and encoded(THEIRS) not in opened.html
    mine = opened.changing(f"a: {MASK}", f"a: {encoded(TYPED)}")
    pages.append(await page.send(mine))
    # Another user changes the same key and another one.
    page.patch({"data": {"a": encoded(THEIRS * 2), "b": encoded(THEIRS * 3)}})
    asked = await page.send(mine)
    assert asked.status == 409 and asked.radios
    pages.append(asked)
    # The cluster rejects the object, and its message may quote values.
    for wrong in ("not base64!", "[]", f"{encoded(TYPED)}: 1"):
        pages.append(await page.send(opened.changing(f"b: {MASK}", f"b: {wrong}")))
    immutable = opened.with_text(opened.text + "immutable: x\n")
    pages.append(await page.send(immutable))
    opened = await page.open()
    reviewed = await page.send(opened.changing(f"c: {MASK}", f"c: {encoded(TYPED)}"))
    pages += [reviewed, await page.send(reviewed.with_text("{"))]
    assert (await page.send(reviewed, "save")).status == 302
    detail = detail_url("host", "secrets", page.key, "changes")
    whole = await text_of(await ClientAs()(desk.who).get(detail))
    for html in (*(one.html for one in pages), whole):
        assert not [one for one in HIDDEN if one in shown(html)]
    found = await kept(caplog)
    assert not [one for one in HIDDEN if one in found]
    assert page.now()["data"]["c"] == encoded(TYPED)


async def test_an_import_does_not_leak_secret_values(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    there = desk.make(secret(unique("there"), a=THEIRS), "secrets").name
    maker = import_pages.Desk(desk.admin, desk.namespace, desk.who)
    names = [unique("made") for _ in range(2)]
    wrong = [secret(unique("wrong"), a=TYPED) for _ in range(2)]
    objects = [
        *(secret(name, a=TYPED) for name in names),
        secret(there, a=TYPED),
        {**wrong[0], "data": {"a": "not base64!"}, "type": [TYPED]},
        {**wrong[1], "data": {"a b": encoded(TYPED)}},
    ]
    text = "---\n".join(map(import_pages.text_for, objects))
    for step in ("review", "create"):
        _status, html = await maker.page(step, text)
        assert not [one for one in HIDDEN if one in shown(html)], step
    found = await kept(caplog)
    assert not [one for one in HIDDEN if one in found]
    made = desk.of(names[0], "secrets").now()
    assert made["data"] == {"a": encoded(TYPED)}


@pytest.mark.parametrize("part", ["data", "stringData"])
async def test_the_placeholder_is_rejected_in_a_new_secret(desk: Desk, part: str) -> None:
    """Otherwise the values would be lost when a user copies a manifest from the editor to create
    another object.
    """
    maker = import_pages.Desk(desk.admin, desk.namespace, desk.who)
    body = {**secret(unique("copy")), part: {"a": MASK}}
    for step in ("review", "create"):
        status, html = await maker.page(step, import_pages.text_for(body))
        assert status in (207, 422) and "This is a placeholder for a hidden value" in html
    answer = desk.admin.get(desk.of(body["metadata"]["name"], "secrets").where)
    assert answer.status == 404
    assert not await AuditRecord.objects.aexists()


@pytest.mark.parametrize("change", ["new value", "removed"])
@pytest.mark.parametrize("side", ["mine", "theirs"])
async def test_a_secret_key_that_another_user_changed_is_not_overwritten(
    desk: Desk, change: str, side: str
) -> None:
    page = desk.make(secret(unique("login"), a="old", b="old"), "secrets")
    opened = await page.open()
    new = f"  a: {encoded('mine')}\n" if change == "new value" else ""
    mine = opened.changing(f"  a: {MASK}\n", new)
    page.patch({"data": {"a": encoded("theirs"), "b": encoded("theirs")}})
    asked = await page.send(mine)
    assert asked.status == 409 and len(asked.radios) == 1
    assert "some of the changed fields were also edited by you" in asked.html
    assert f"<code>{MASK}</code>" in asked.html and encoded("theirs") not in asked.html
    saved = await page.send(mine, "save")
    assert saved.status == 409 and page.now()["data"]["a"] == encoded("theirs")
    (radio,) = asked.radios
    reviewed = await page.send(asked, "review", **{radio: side})
    assert reviewed.status == 200 and bool(reviewed.changed) is (side == "mine")
    if side == "mine":
        assert (await page.send(reviewed, "save")).status == 302
    data = page.now()["data"]
    own = {"new value": encoded("mine"), "removed": None}[change]
    assert data.get("a") == (own if side == "mine" else encoded("theirs"))
    assert data["b"] == encoded("theirs"), "unchanged by the user"


async def test_a_secret_key_that_changes_after_the_review_is_not_overwritten(desk: Desk) -> None:
    page = desk.make(secret(unique("login"), a="old", b="old"), "secrets")
    opened = await page.open()
    reviewed = await page.send(opened.changing(f"a: {MASK}", f"a: {encoded('mine')}"))
    assert reviewed.status == 200
    page.patch({"data": {"a": encoded("theirs")}})
    assert (await page.send(reviewed, "save")).status == 409
    assert page.now()["data"]["a"] == encoded("theirs")


async def test_a_draft_of_a_secret_detects_changes_since_it_was_opened(desk: Desk) -> None:
    page = desk.make(secret(unique("login"), a="old"), "secrets")
    opened = await page.open()
    await page.send(opened.changing(f"a: {MASK}", f"a: {encoded('mine')}"))
    page.patch({"data": {"a": encoded("theirs")}})
    response = await ClientAs()(desk.who).get(f"{page.url}?draft=continue")
    draft = form_of(response.status_code, await text_of(response))
    assert encoded("mine") in draft.text
    assert (await page.send(draft)).status == 409
    await page.send(opened)
    assert "You have a draft" in (await page.open()).html, "an unchanged text is no draft"


async def test_an_import_does_not_overwrite_a_secret_that_changed_after_the_review(
    desk: Desk,
) -> None:
    page = desk.make(secret(unique("there"), a="old", b="old"), "secrets")
    maker = import_pages.Desk(desk.admin, desk.namespace, desk.who)
    body = {**secret(page.name), "data": {"a": encoded("mine"), "b": MASK}}
    text = import_pages.text_for(body)
    status, html = await maker.page("review", text)
    seen = re.search('name="seen" value="([^"]+)"', html)
    assert status == 200 and seen is not None
    page.patch({"data": {"b": encoded("theirs")}})
    for step, value in (("review", "old"), ("create", "theirs")):
        page.patch({"data": {"a": encoded(value)}})
        status, html = await maker.page(step, text, seen=seen[1])
        assert page.now()["data"] == {"a": encoded(value), "b": encoded("theirs")}
    assert status == 409
    seen = re.search('name="seen" value="([^"]+)"', html)
    assert seen is not None
    await maker.page("create", text, seen=seen[1])
    assert page.now()["data"] == {"a": encoded("mine"), "b": encoded("theirs")}
