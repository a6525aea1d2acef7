"""Bulk deletion: confirmation, typed confirmation and results per object."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest

from console.audit.models import AuditRecord
from console.kube.errors import Conflict, Forbidden, NotFound, Unavailable
from console.kube.informer import Informer
from console.views.bulk import MAX_OBJECTS
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.support.fakeclient import FakeClient
from tests.support.informers import bring
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess, bob, make_runtime, pod
from tests.views.conftest import ClientAs, SignedIn
from tests.views.viewers import VIEWERS

URL = "/bulk/host/pods/delete"
LIST = "/clusters/host/pods"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cluster() -> FakeClient:
    return FakeClient()


@pytest.fixture
def runtime(cluster: FakeClient) -> Iterator[StaticRuntime]:
    found = make_runtime(user_client=cluster.as_user)
    set_host_cluster(found)
    yield found
    unset_host_cluster()


async def ask(client_as: ClientAs, who: str = "admin", url: str = URL, **data: Any) -> Any:
    return await client_as(who).post(url, data)


def targets_in(html: str) -> str:
    found = re.search(r'name="targets" value="([^"]*)"', html)
    assert found is not None
    return found[1]


async def outcomes(response: Any) -> dict[str, str]:
    """Return result and reason by object key."""
    assert response.status_code == 200
    html = b"".join([part async for part in response.streaming_content]).decode()
    found = re.findall(
        r'<li data-outcome="(\w+)">.*?class="full">([^<]*)<.*?class="where">([^<]*)<', html, re.S
    )
    assert html.rstrip().endswith("</html>")
    assert 'class="summary"' in html
    return {name: unescape(f"{outcome} {text}".strip()) for outcome, name, text in found}


TWO = "shop/web-1\nshop/cart-1"


async def test_confirmation_page_deletes_nothing(client_as: ClientAs, cluster: FakeClient) -> None:
    response = await ask(client_as, keys=TWO, list=f"{LIST}?namespace=shop")
    html = await text_of(response)
    assert response.status_code == 200
    assert "Delete 2 pods" in html
    assert "<li>shop/web-1</li>" in html
    assert targets_in(html) == "uid-shop-web-1 shop/web-1\nuid-shop-cart-1 shop/cart-1"
    assert f'href="{LIST}?namespace=shop"' in html
    assert 'name="typed"' not in html
    assert cluster.calls == []


async def test_checkboxes_of_a_plain_form_are_supported(client_as: ClientAs) -> None:
    html = await text_of(await ask(client_as, key=["shop/web-1", "team-b/web-1"]))
    assert targets_in(html) == "uid-shop-web-1 shop/web-1\nuid-team-b-web-1 team-b/web-1"


async def test_all_matching_selects_the_objects_of_the_list(client_as: ClientAs) -> None:
    html = await text_of(await ask(client_as, all="1", list=f"{LIST}?namespace=shop&page=9"))
    assert sorted(line.split()[1] for line in targets_in(html).splitlines()) == [
        "shop/cart-1", "shop/web-1", "shop/web-2",
    ]  # fmt: skip


async def test_each_object_is_deleted_as_the_user_if_its_uid_matches(
    client_as: ClientAs, cluster: FakeClient
) -> None:
    cluster.failures = {
        "web-2": NotFound(404, "not found"),
        "api-1": Conflict(409, "the UID in the precondition does not match"),
        "api-2": Forbidden(403, "pods is forbidden"),
        "cart-1": Unavailable("no answer"),
    }
    names = ("shop/web-1", "shop/web-2", "team-a/api-1", "team-a/api-2", "shop/cart-1")
    lines = "\n".join(f"u{number} {name}" for number, name in enumerate(names))
    found = await outcomes(await ask(client_as, targets=lines))
    assert cluster.calls == [("admin", "shop/web-1", "u0")]
    assert found["shop/web-1"] == "done"
    assert found["shop/web-2"] == "gone"
    assert found["team-a/api-1"].startswith("refused The object was replaced by another")
    assert found["team-a/api-2"].startswith("refused Permission denied by the cluster.")
    assert found["shop/cart-1"].startswith("refused The cluster did not respond")
    codes = {row.name: row.code async for row in AuditRecord.objects.all()}
    assert len(codes) == 5
    assert codes["web-1"] == 200


async def test_more_than_ten_objects_require_typing_their_number(
    client_as: ClientAs, cluster: FakeClient, pods: Informer[Any]
) -> None:
    for number in range(30):
        bring(pods, pod(f"many-{number:02}"))
    html = await text_of(await ask(client_as, all="1", list=f"{LIST}?q=many"))
    assert "Type 30 to confirm" in html
    assert html.count("<li>shop/many-") == 20
    assert "and 10 more" in html
    lines = targets_in(html)
    for typed in ("", "29", "thirty"):
        response = await ask(client_as, targets=lines, typed=typed)
        assert response.status_code == 400
        assert targets_in(await text_of(response)) == lines
    assert cluster.calls == []
    found = await outcomes(await ask(client_as, targets=lines, typed=" 30 "))
    assert set(found.values()) == {"done"}
    assert len(cluster.calls) == 30


async def test_projects_require_typing_a_name(client_as: ClientAs, cluster: FakeClient) -> None:
    url = "/bulk/host/namespaces/delete"
    html = await text_of(await ask(client_as, url=url, keys="shop"))
    assert "Type shop to confirm" in html
    lines = targets_in(html)
    assert (await ask(client_as, url=url, targets=lines)).status_code == 400
    await outcomes(await ask(client_as, url=url, targets=lines, typed="shop"))
    assert cluster.calls == [("admin", "/shop", "uid-shop")]
    assert "Type 2 to confirm" in await text_of(await ask(client_as, url=url, keys="shop\nteam-a"))


async def test_objects_without_delete_permission_are_kept(
    client_as: ClientAs, cluster: FakeClient
) -> None:
    # Alice may list and delete in team-a only; objects she may not see are treated as missing.
    html = await text_of(await ask(client_as, "alice", keys=TWO + "\nteam-a/api-1\nteam-a/none"))
    assert targets_in(html) == "uid-team-a-api-1 team-a/api-1"
    assert "because you don't have permission" not in html
    found = await outcomes(await ask(client_as, "alice", targets="u shop/web-1\nu team-a/api-1"))
    assert found["shop/web-1"] == "refused You don't have permission to list pods in project shop."
    assert [key for _who, key, _uid in cluster.calls] == ["team-a/api-1"]


async def test_user_without_delete_permission_is_refused(
    client_as: ClientAs, cluster: FakeClient
) -> None:
    assert (await ask(client_as, "bob", keys=TWO)).status_code == 400
    assert (await ask(client_as, "charlie", keys=TWO)).status_code == 403
    assert (await ask(client_as, "charlie", targets="u shop/web-1")).status_code == 403
    assert (await ask(client_as, "", keys=TWO)).status_code == 302
    found = await outcomes(await ask(client_as, "bob", targets="u shop/web-1"))
    assert found == {
        "shop/web-1": "refused You don't have permission to delete pods in project shop."
    }
    assert cluster.calls == []


async def test_unconfirmed_permissions_are_not_reported_as_missing(
    client_as: ClientAs, cluster: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = bob()
    access.doubt = True
    monkeypatch.setitem(VIEWERS, "bob", lambda: access)
    asked = await ask(client_as, "bob", keys=TWO)
    assert asked.status_code == 503 and "The cluster is not responding" in await text_of(asked)
    found = await outcomes(await ask(client_as, "bob", targets="u shop/web-1"))
    assert found["shop/web-1"].startswith("refused The cluster is not responding")
    assert cluster.calls == []


async def test_permission_lost_during_the_operation_stops_it(
    client_as: ClientAs, cluster: FakeClient
) -> None:
    """The permission is checked for each object."""
    found = await outcomes(await ask(client_as, "alice", targets="u team-a/a\nu team-b/b"))
    assert found == {
        "team-a/a": "done",
        "team-b/b": "refused You don't have permission to list pods in project team-b.",
    }


async def test_objects_the_user_may_not_see_are_not_deleted(
    client_as: ClientAs, cluster: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on the page of the object."""
    monkeypatch.setitem(VIEWERS, "eve", lambda: FakeAccess("eve", list_in={"team-a"}))
    found = await outcomes(await ask(client_as, "eve", targets="u shop/web-1\nu team-a/api-1"))
    assert found["shop/web-1"] == "refused You don't have permission to list pods in project shop."
    assert [key for _who, key, _uid in cluster.calls] == ["team-a/api-1"]


async def test_action_that_no_longer_applies_is_refused(
    client_as: ClientAs, cluster: FakeClient, pods: Informer[Any]
) -> None:
    """A terminating pod is not evicted."""
    over = pod("over", "shop", uid="uid-over")
    over["metadata"]["deletionTimestamp"] = "2026-11-20T13:00:00Z"
    bring(pods, over)
    response = await ask(client_as, url="/bulk/host/pods/evict", targets="uid-over shop/over")
    assert await outcomes(response) == {
        "shop/over": "refused The current state of the object doesn't allow this action."
    }
    assert not await AuditRecord.objects.aexists()


@pytest.mark.parametrize("data", [{"keys": "shop/token"}, {"targets": "u shop/token"}])
async def test_bulk_actions_are_not_available_for_secrets(
    client_as: ClientAs, cluster: FakeClient, data: dict[str, str]
) -> None:
    assert (await ask(client_as, url="/bulk/host/secrets/delete", **data)).status_code == 404
    assert cluster.calls == []


@pytest.mark.parametrize(
    "data",
    [
        {}, {"keys": ""}, {"keys": "nonsense"}, {"key": "\x00"}, {"targets": ""}, {"targets": "nouid"},
        {"targets": "u \x00"}, {"targets": " shop/web-1"}, {"keys": TWO, "list": "/dashboard"},
        {"targets": "u shop/"}, {"targets": "u shop/web-1\nu %2F"}, {"targets": "u web-1"},
        {"all": "1", "list": f"{LIST}?label=(("}, {"all": "1", "list": "/clusters/host/nodes"},
        {"targets": "\n".join(f"u shop/p{number}" for number in range(MAX_OBJECTS + 1))},
    ],
)  # fmt: skip
async def test_malformed_form_is_refused(
    client_as: ClientAs, cluster: FakeClient, data: dict[str, str]
) -> None:
    assert (await ask(client_as, **data)).status_code == 400
    assert cluster.calls == []


async def test_name_with_line_breaks_is_one_name(
    client_as: ClientAs, cluster: FakeClient, pods: Informer[Any]
) -> None:
    """kube-apiserver accepts any role name without `/` and `%`."""
    name = "x\r\nuid-shop-web-1 web-1\u2028 "
    bring(pods, pod(name, "shop", uid="uid-odd"))
    html = await text_of(await ask(client_as, keys=quote(f"shop/{name}")))
    given = unescape(targets_in(html))
    assert len(given.splitlines()) == 1
    await outcomes(await ask(client_as, targets=given))
    assert cluster.calls == [("admin", f"shop/{name}", "uid-odd")]


async def test_number_of_objects_is_limited(client_as: ClientAs, pods: Informer[Any]) -> None:
    for number in range(MAX_OBJECTS + 1):
        bring(pods, pod(f"many-{number}"))
    response = await ask(client_as, all="1", list=f"{LIST}?q=many")
    assert response.status_code == 400
    assert "2,000" in await text_of(response)


@pytest.mark.parametrize(
    "url", ["/bulk/host/nothing/delete", "/bulk/other/pods/delete", "/bulk/host/events/delete"]
)
async def test_kinds_without_deletion_have_no_bulk_page(client_as: ClientAs, url: str) -> None:
    assert (await ask(client_as, url=url, keys=TWO)).status_code == 404


async def test_bulk_page_requires_a_post_with_csrf_token(client_as: ClientAs) -> None:
    assert (await client_as("admin").get(URL)).status_code == 405
    checked = SignedIn({"X-Cast": "admin"}, csrf=True)
    assert (await checked.post(URL, {"keys": TWO})).status_code == 403


async def test_list_offers_bulk_deletion_to_permitted_users(client_as: ClientAs) -> None:
    admin = await text_of(await client_as("admin").get(LIST))
    assert 'name="key" value="shop/web-1" form="bulk-form"' in admin
    assert 'id="bulk"' in admin
    assert " data-bulk" in admin
    bob = await text_of(await client_as("bob").get(LIST))
    assert 'name="key"' not in bob
    assert 'id="bulk"' not in bob
    assert " data-bulk" not in bob


LABELS = "/bulk/host/pods/change-labels"


async def test_labels_of_several_objects_are_set_and_removed(
    client_as: ClientAs, cluster: FakeClient
) -> None:
    html = await text_of(await ask(client_as, url=LABELS, keys=TWO))
    assert 'name="labels"' in html and 'name="annotations"' in html
    given = {"labels": "tier=web\nold-", "annotations": 'note="two words"'}
    found = await outcomes(await ask(client_as, url=LABELS, targets=targets_in(html), **given))
    assert found == {"shop/web-1": "done", "shop/cart-1": "done"}
    change = {"labels": {"tier": "web", "old": None}, "annotations": {"note": "two words"}}
    uids = {name: f"uid-{name.replace('/', '-')}" for name in found}
    assert cluster.patches == {
        name: {"metadata": {**change, "uid": uid}} for name, uid in uids.items()
    }


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        ("", "No changes"),
        ("tier", "Line 1: Use key=value or key-."),
        ("tier=a b", "not a valid label value"),
        ("a/b/c-", "not a valid key"),
        ("tier=web\ntier-", "Line 2: This key appears more than once."),
    ],
)
async def test_invalid_label_changes_keep_the_selection_and_write_nothing(
    client_as: ClientAs, cluster: FakeClient, labels: str, problem: str
) -> None:
    lines = targets_in(await text_of(await ask(client_as, url=LABELS, keys=TWO)))
    response = await ask(client_as, url=LABELS, targets=lines, labels=labels)
    html = unescape(await text_of(response))
    assert response.status_code == 400
    assert problem in html
    assert targets_in(html) == lines
    assert cluster.patches == {}
