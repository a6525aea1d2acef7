"""Copies of existing objects."""

from random import Random

import pytest

from console.ui.core.kind import ResourceKind
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.console import _runtime, runtime
from tests.contract.edit_forms import form_of
from tests.contract.grants import rule
from tests.contract.import_pages import URL, Desk, desk
from tests.contract.kind_objects import BUILT_IN, bases, create
from tests.contract.objects import unique
from tests.contract.pages import person
from tests.contract.wizard_pages import WizardVisitor
from tests.support.responses import text_of
from tests.views.conftest import ClientAs, _site

__all__ = ["_runtime", "_site", "desk", "runtime"]

pytestmark = pytest.mark.django_db(transaction=True)
COPIED = [kind for kind in BUILT_IN if kind.can_be_copied and bases(kind)]
NOT_COPIED = {"nodes", "namespaces", "customresourcedefinitions", "events"}


def test_every_kind_whose_objects_users_create_can_be_copied() -> None:
    assert {kind.segment for kind in BUILT_IN} - {kind.segment for kind in COPIED} == NOT_COPIED


@pytest.mark.parametrize("kind", COPIED, ids=lambda kind: kind.segment)
async def test_a_copy_of_each_kind_is_created(
    kind: ResourceKind,
    admin: Client,
    cleanup: Cleanup,
    namespace: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = namespace if kind.view.namespaced else ""
    collection = kind.gvr.path(place)
    made = create(admin, cleanup, collection, bases(kind), Random(7), place)  # noqa: S311
    name = made["metadata"]["name"]
    who = person(monkeypatch, cleanup, namespace, rule("*", "*", "*")).name
    key = f"{place}/{name}" if place else name
    url = f"/clusters/host/new/{kind.segment}?namespace={place}&copy={key}"
    if kind.wizard is not None:
        visitor = WizardVisitor(who)
        await visitor.open(url)
        await visitor.press("go.review")
        assert "Can be created" in visitor.html, visitor.html
        await visitor.press("create")
        page = visitor.html
    else:
        response = await ClientAs()(who).get(url)
        response = await ClientAs()(who).get(response["Location"])
        sent = {"text": form_of(200, await text_of(response)).text, "namespace": place}
        page = await text_of(await ClientAs()(who).post(URL, {**sent, "step": "create"}))
    cleanup.forget(f"{collection}/{name}-copy")
    copy = admin.get(f"{collection}/{name}-copy")
    assert copy.status == 200, page
    assert content(copy.ok()) == content(made)


def content(made: Obj) -> set[str]:
    """Return the fields outside of the metadata, without those that only a controller sets."""
    return made.keys() - {"metadata", "status", "secrets"}


def copy_url(desk: Desk, segment: str, name: str) -> str:
    namespace = desk.namespace
    return f"/clusters/host/new/{segment}?namespace={namespace}&copy={namespace}/{name}"


def deployment(name: str) -> Obj:
    labels = {"app": name}
    pod = {"containers": [{"name": "web", "image": "example/web:1"}]}
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


async def test_a_copied_deployment_gets_a_free_name_and_its_own_selector(desk: Desk) -> None:
    name = unique("web")
    desk.admin.post(desk.path("deployments", group="apps/v1"), deployment(name)).ok()
    for copy in (f"{name}-copy", f"{name}-copy-2"):
        visitor = WizardVisitor(desk.who)
        await visitor.open(copy_url(desk, "deployments", name))
        assert visitor.fields["name"] == copy
        await visitor.press("go.review")
        await visitor.press("create")
        made = desk.admin.get(desk.path("deployments", copy, "apps/v1")).ok()
        assert made["spec"]["selector"]["matchLabels"] == {"app": copy}
        assert made["spec"]["template"]["metadata"]["labels"] == {"app": copy}


async def test_a_secret_is_copied_without_showing_its_values(desk: Desk) -> None:
    name = unique("secret")
    body = {"metadata": {"name": name}, "stringData": {"user": "ann", "password": "hunter2"}}
    desk.admin.post(desk.path("secrets"), body).ok()
    visitor = WizardVisitor(desk.who)
    await visitor.open(copy_url(desk, "secrets", name))
    await visitor.press("next")
    assert "/review" in visitor.url and "hunter2" not in visitor.html, visitor.html
    await visitor.press("go.form")
    assert "hunter2" not in visitor.html and "aHVudGVyMg" not in visitor.html
    named = next(name for name, value in visitor.fields.items() if value == "user")
    await visitor.press("go.review", **{named.replace(".key", ".value").replace(".", "__"): "bob"})
    await visitor.press("create")
    made = desk.admin.get(desk.path("secrets", f"{name}-copy")).ok()
    assert made["data"] == {"user": "Ym9i", "password": "aHVudGVyMg=="}


async def test_a_placeholder_never_stands_for_a_secret_that_the_user_cannot_read(
    desk: Desk, cleanup: Cleanup, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = unique("secret")
    other = person(monkeypatch, cleanup, desk.namespace, rule("create", "secrets")).name
    body = {"metadata": {"name": name}, "stringData": {"password": "hunter2"}}
    desk.admin.post(desk.path("secrets"), body).ok()
    copy = copy_url(desk, "secrets", name)
    visitor = WizardVisitor(desk.who)
    await visitor.open(copy)
    stranger = WizardVisitor(other)
    await stranger.open(copy)
    assert stranger.status == 403
    await stranger.open(f"/clusters/host/new/secrets?namespace={desk.namespace}")
    await stranger.press(
        "go.review", text=visitor.fields["text"], source=f"{desk.namespace}/{name}"
    )
    assert "placeholder" in stranger.html and 'value="create"' not in stranger.html


@pytest.mark.parametrize("copy", ["", "web", "/web", "shop/none", "../x", "a/b/c"])
async def test_an_object_that_does_not_exist_is_not_copied(desk: Desk, copy: str) -> None:
    url = f"/clusters/host/new/configmaps?namespace={desk.namespace}&copy={copy}"
    assert (await ClientAs()(desk.who).get(url)).status_code in (403, 404)
