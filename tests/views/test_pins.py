"""Kinds pinned to the cluster menu: owners and limits."""

import pytest
from pytest_django import Settings

from console.saved import pins
from console.saved.models import Pin
from console.ui.navigation.nav import MOST
from tests.support.responses import text_of
from tests.views.conftest import ClientAs

PAGE = "/clusters/host/resources"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _pins(settings: Settings) -> None:
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "console.web.middleware.PinsMiddleware"]
    pins.clear_cache()


async def rail(client_as: ClientAs, who: str, url: str = PAGE) -> list[str]:
    response = await client_as(who).get(url)
    return [entry.url.rpartition("/")[2] for entry in response.context["nav"].rail]


async def test_pinned_kind_is_in_the_menu_of_its_owner_only(client_as: ClientAs) -> None:
    before = await rail(client_as, "bob")
    response = await client_as("alice").post(PAGE, {"pin": "jobs"})
    assert (response.status_code, response["Location"]) == (302, PAGE)
    found = await rail(client_as, "alice")
    assert found[-1] == "jobs" and await rail(client_as, "bob") == before
    opened = (await client_as("alice").get("/clusters/host/jobs")).context["nav"]
    assert [entry.url for entry in opened.rail if entry.current] == ["/clusters/host/jobs"]
    # The menu of a project is unchanged.
    assert "jobs" not in await rail(client_as, "alice", f"{PAGE}?namespace=team-a")
    assert 'name="unpin" value="jobs"' in await text_of(await client_as("alice").get(PAGE))
    await client_as("alice").post(PAGE, {"unpin": "jobs"})
    assert "jobs" not in await rail(client_as, "alice")
    assert 'name="pin" value="jobs"' in await text_of(await client_as("alice").get(PAGE))


async def test_length_of_the_menu_is_limited(client_as: ClientAs) -> None:
    room = MOST - len(await rail(client_as, "admin"))
    for kind in ("jobs", "replicasets", "secrets", "serviceaccounts")[:room]:
        assert (await client_as("admin").post(PAGE, {"pin": kind})).status_code == 302
    refused = await client_as("admin").post(PAGE, {"pin": "cronjobs"})
    assert refused.status_code == 400
    assert f"The menu already has {MOST} entries" in await text_of(refused)
    assert len(await rail(client_as, "admin")) == MOST
    # More pins than fit, for example after a permission was granted: the oldest ones are shown.
    await Pin.objects.acreate(account="admin", cluster="host", kind="cronjobs")
    pins.clear_cache()
    assert len(await rail(client_as, "admin")) == MOST


@pytest.mark.parametrize("kind", ["nothing", "", "../x", "nodes", "pods"])
async def test_kind_that_is_forbidden_or_already_in_the_menu_cannot_be_pinned(
    client_as: ClientAs, kind: str
) -> None:
    assert (await client_as("alice").post(PAGE, {"pin": kind})).status_code in (400, 403)
    assert not await Pin.objects.aexists()


async def test_pinned_kind_is_hidden_after_the_permission_is_lost(client_as: ClientAs) -> None:
    for kind in ("nodes", "gone.example.com"):
        await Pin.objects.acreate(account="alice", cluster="host", kind=kind)
    assert "nodes" not in await rail(client_as, "alice")
