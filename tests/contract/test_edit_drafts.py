"""Drafts of unsaved manifest edits."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from console.drafts.models import Draft
from console.kube.runtime import Runtime
from console.ui.editing.manifest import MOST
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.contract.console import _runtime, runtime
from tests.contract.edit_forms import Form, form_of
from tests.contract.edit_pages import Page, desk, web
from tests.support.ports import free_port
from tests.support.responses import text_of
from tests.views.conftest import ClientAs, _site

__all__ = ["_runtime", "_site", "desk", "runtime", "web"]

pytestmark = pytest.mark.django_db(transaction=True)


async def kept(page: Page, form: Form, **more: str) -> tuple[int, str]:
    """Save a draft, as the page's script does while the user types. Return the status and the
    draft's version.
    """
    client = ClientAs()(page.desk.who, Accept="application/json")
    response = await client.post(f"{page.url}/draft", {**form.fields, **more})
    return response.status_code, response.headers.get("X-Draft-Version", "")


async def continued(page: Page, who: str = "") -> Form:
    response = await ClientAs()(who or page.desk.who).get(f"{page.url}?draft=continue")
    return form_of(response.status_code, await text_of(response))


async def test_a_draft_is_offered_again(web: Page) -> None:
    opened = await web.open()
    typed = opened.changing("web:1", "web:2")
    assert await kept(web, typed) == (204, "1")
    assert "web:2" not in (await Draft.objects.aget()).content
    again = await web.open()
    # Controllers may have changed annotations in the meantime.
    assert "You have a draft from" in again.html
    assert again.manifest["spec"] == opened.manifest["spec"]
    draft = await continued(web)
    assert "This is your draft from" in draft.html
    assert (draft.text, draft.fields["version"]) == (typed.text, "1")
    await web.saved(draft)
    assert web.image == "example/web:2"
    assert await Draft.objects.acount() == 0


async def test_viewing_saves_no_draft_and_drafts_are_private(web: Page) -> None:
    opened = await web.open()
    assert await kept(web, opened) == (204, "0")
    await web.send(opened)
    assert await Draft.objects.acount() == 0
    assert (await kept(web, opened.with_text("half of: [")))[0] == 204
    assert "half of" not in (await continued(web, "admin")).html


async def test_each_attempt_updates_the_draft_until_it_is_discarded(web: Page) -> None:
    wrong = (await web.open()).changing("replicas: 0", "replicas: -1")
    refused = await web.send(wrong)
    assert (refused.status, refused.fields["version"]) == (422, "1")
    reviewed = await web.send(refused.changing("replicas: -1", "replicas: 1"))
    assert (reviewed.status, reviewed.fields["version"]) == (200, "2")
    assert "replicas: 1" in (await continued(web)).text
    assert (await web.send(reviewed, "discard")).status == 302
    assert await Draft.objects.acount() == 0
    assert "You have a draft" not in (await web.open()).html


async def test_an_older_window_does_not_overwrite_a_newer_draft(web: Page) -> None:
    first, second = await web.open(), await web.open()
    newer = second.changing("web:1", "web:3")
    assert await kept(web, newer) == (204, "1")
    assert await kept(web, first.changing("web:1", "web:2")) == (409, "")
    older = await web.send(first.changing("replicas: 0", "replicas: -1"))
    assert older.status == 422 and "You have a draft from" in older.html
    assert "replicas: -1" in older.text
    assert (await continued(web)).text == newer.text


async def test_a_draft_survives_the_deletion_of_its_object(web: Page) -> None:
    typed = (await web.open()).changing("web:1", "web:2")
    await kept(web, typed)
    web.desk.admin.delete(web.where)
    for draft in (await continued(web), await web.open()):
        assert (draft.status, draft.text) == (404, typed.text)
        assert "no longer exists. Your text is kept below." in draft.html


async def test_a_draft_is_available_while_the_cluster_is_unreachable(
    web: Page, tmp_path: Path
) -> None:
    typed = (await web.open()).changing("web:1", "web:2")
    away = tmp_path / "kubeconfig"
    server = {"server": f"https://127.0.0.1:{free_port()}"}
    context = {"cluster": "away", "user": "nobody"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "away", "cluster": server}],
        "users": [{"name": "nobody", "user": {"token": "x"}}],
        "contexts": [{"name": "away", "context": context}],
        "current-context": "away",
    }
    away.write_text(yaml.safe_dump(config))
    unset_host_cluster()
    runtime = Runtime(kubeconfig=str(away))
    set_host_cluster(runtime)
    sent = await web.send(typed)
    draft = await continued(web)
    await runtime.close_connections()
    assert (sent.status, sent.text) == (503, typed.text)
    assert "The cluster did not respond." in sent.html
    assert (draft.status, draft.text) == (503, typed.text)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"version": "x"}, 400),
        ({"version": "-1"}, 400),
        ({"version": "9" * 20}, 400),
        ({"uid": ""}, 400),
        ({"base": ""}, 400),
        ({"text": "x" * (MOST + 1)}, 400),
        ({"text": "\0\u202e"}, 204),
    ],
)
async def test_invalid_drafts_are_rejected(web: Page, fields: dict[str, str], status: int) -> None:
    assert (await kept(web, await web.open(), **fields))[0] == status


async def test_users_without_edit_permission_cannot_save_drafts(web: Page) -> None:
    opened = await web.open()
    for who in ("bob", "charlie"):
        other = replace(web, desk=replace(web.desk, who=who))
        assert (await kept(other, opened.with_text("x")))[0] == 403
    assert await Draft.objects.acount() == 0
