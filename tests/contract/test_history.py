"""The history of changes that the console made to an object, shown to users who can see the object."""

from zlib import decompress

import pytest

from console.history.models import ObjectChange
from console.kube import gvr as types
from console.kube.clients import MERGE_PATCH
from tests.contract.cleanup import Cleanup
from tests.contract.edit_forms import form_of
from tests.contract.grants import Grants, rule
from tests.contract.objects import deployment, unique
from tests.contract.pages import join
from tests.contract.workload_project import Project, _runtime, project, runtime
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs, _site
from tests.views.viewers import VIEWERS

__all__ = ["_runtime", "_site", "project", "runtime"]

pytestmark = pytest.mark.django_db(transaction=True)


async def test_a_change_is_shown_with_its_diff(project: Project) -> None:
    made = project.make(types.DEPLOYMENTS, deployment(unique("web"), "registry.example/web:1"))
    url = project.url(types.DEPLOYMENTS, made) + "/changes"
    assert "No changes were made to this object from this console." in await text_of(
        await project.client().get(url)
    )
    await project.do(types.DEPLOYMENTS, made, "scale", replicas="2")
    page = await text_of(await project.client().get(url))
    assert "<del>  replicas: 0</del>" in page and "<ins>  replicas: 2</ins>" in page
    assert project.viewer in page and "Scale" in page
    # Fields that only the server sets are not part of the diff.
    assert "resourceVersion" not in page and "observedGeneration" not in page
    refused = await ClientAs()("charlie").get(url)
    assert refused.status_code == 403 and "replicas" not in await text_of(refused)


async def test_a_rejected_change_is_not_recorded(project: Project) -> None:
    made = project.make(types.DEPLOYMENTS, deployment(unique("web"), "registry.example/web:1"))
    sent = {"uid": "another", "replicas": "2"}
    url = project.url(types.DEPLOYMENTS, made, "scale")
    assert (await project.client().post(url, sent)).status_code in (409, 422)
    assert not await ObjectChange.objects.aexists()


async def test_undoing_a_change_keeps_later_changes(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = project.make(types.DEPLOYMENTS, deployment(unique("web"), "registry.example/web:1"))
    url = project.url(types.DEPLOYMENTS, made)
    await project.do(types.DEPLOYMENTS, made, "scale", replicas="2")
    labelled = {"metadata": {"labels": {"team": "red"}}}
    project.admin.patch(
        project.path(types.DEPLOYMENTS, made["metadata"]["name"]), labelled, MERGE_PATCH
    ).ok()
    change = await ObjectChange.objects.aget()
    offer = f'href="{url}/edit?undo={change.pk}"'
    assert offer in await text_of(await project.client().get(f"{url}/changes"))
    reader = FakeAccess(unique("rhea"), list_in={project.namespace})
    monkeypatch.setitem(VIEWERS, reader.identity.name, lambda: reader)
    read = await text_of(await ClientAs()(reader.identity.name).get(f"{url}/changes"))
    assert "team: red" not in read and "replicas" in read and offer not in read
    opened = await project.client().get(f"{url}/edit?undo={change.pk}")
    review = form_of(opened.status_code, await text_of(opened))
    assert f"Undo change to deployment {made['metadata']['name']}</h1>" in review.html
    assert {"-replicas: 2", "+replicas: 0"} <= {*review.changed} and "team: red" in review.text
    saved = await project.client().post(f"{url}/edit", {**review.fields, "step": "save"})
    assert saved.status_code == 302
    now = project.read(types.DEPLOYMENTS, made)
    assert now["spec"]["replicas"] == 0 and now["metadata"]["labels"]["team"] == "red"
    for number in ("0", str(change.pk + 9), "x", "9" * 30, ""):
        missing = await project.client().get(f"{url}/edit?undo={number}")
        assert missing.status_code == 404
    sent = {**review.fields, "step": "review", "undo": "x"}
    assert (await project.client().post(f"{url}/edit", sent)).status_code == 400


async def test_undoing_a_change_of_a_field_that_changed_again_requires_a_decision(
    project: Project,
) -> None:
    made = project.make(types.DEPLOYMENTS, deployment(unique("web"), "registry.example/web:1"))
    url = project.url(types.DEPLOYMENTS, made)
    for replicas in ("2", "3"):
        await project.do(types.DEPLOYMENTS, made, "scale", replicas=replicas)
    first = await ObjectChange.objects.order_by("pk").afirst()
    assert first is not None
    opened = await project.client().get(f"{url}/edit?undo={first.pk}")
    page = form_of(opened.status_code, await text_of(opened))
    assert page.status == 409 and "changed again later" in page.html
    assert "Undo change to deployment" in page.html
    [radio] = page.radios
    sent = {**page.fields, radio: "mine", "step": "review"}
    answered = await project.client().post(f"{url}/edit", sent)
    review = form_of(answered.status_code, await text_of(answered))
    assert {"-replicas: 3", "+replicas: 0"} <= {*review.changed}
    assert "Undo change to deployment" in review.html


async def test_recording_a_change_needs_no_read_permission(
    project: Project, cleanup: Cleanup
) -> None:
    """The console stores the response of the write and does not read the object again."""
    rights = rule("list patch", "deployments", "apps")
    join(VIEWERS[project.viewer](), Grants(cleanup, project.namespace).team(rights, here=True))
    made = project.make(types.DEPLOYMENTS, deployment(unique("web"), "registry.example/web:1"))
    await project.do(types.DEPLOYMENTS, made, "restart")
    change = await ObjectChange.objects.aget()
    assert b"restartedAt" in decompress(change.after)
    assert b"restartedAt" not in decompress(change.before)
