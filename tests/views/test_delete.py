"""Deleting a pod: the confirmation page, the deletion with the user's permissions, and refusals."""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest
from django.utils.html import escape

from console.audit.models import AuditRecord
from console.kube.errors import ApiError, Conflict, Forbidden, NotFound, Unavailable
from console.kube.gvr import GVR, NAMESPACES, PODS, Key
from console.kube.identity import Identity
from console.kube.informer import Informer
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.support.informers import bring, set_stale
from tests.support.responses import stable_html, text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess, bob, make_runtime, pod
from tests.views.conftest import ClientAs, SignedIn
from tests.views.viewers import VIEWERS

LIST = "/clusters/host/pods"
WEB = "/clusters/host/projects/shop/pods/web-1/actions/delete"
pytestmark = pytest.mark.django_db(transaction=True)


class FakeClient:
    """Record deletions, or raise `failure` if set."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, GVR, dict[str, Any]]] = []
        self.failure: ApiError | None = None
        self.identity: Identity | None = None

    def as_user(self, identity: Identity) -> Any:
        self.identity = identity
        return self

    async def delete(self, gvr: GVR, **asked: Any) -> dict[str, Any]:
        if self.failure is not None:
            raise self.failure
        self.calls.append((self.identity.name if self.identity else "", gvr, asked))
        return {}


@pytest.fixture
def cluster() -> FakeClient:
    return FakeClient()


@pytest.fixture
def runtime(cluster: FakeClient) -> Iterator[StaticRuntime]:
    found = make_runtime(user_client=cluster.as_user)
    set_host_cluster(found)
    yield found
    unset_host_cluster()


async def test_confirmation_page_lists_the_consequences(
    client_as: ClientAs, pods: Informer[Any]
) -> None:
    bring(pods, pod("web-9", owner=("ReplicaSet", "web"), node="node-7"))
    response = await client_as("admin").get(WEB.replace("web-1", "web-9"))
    html = await text_of(response)
    assert response.status_code == 200
    for text in (
        "Delete pod web-9",
        "shop",
        "node-7",
        "ReplicaSet web, which will create a replacement",
    ):
        assert text in html
    assert 'name="uid" value="uid-shop-web-9"' in html
    assert "csrfmiddlewaretoken" in html


async def test_pod_without_owner_is_not_recreated_warning_is_shown(client_as: ClientAs) -> None:
    assert "will not be recreated" in await text_of(await client_as("admin").get(WEB))


async def test_get_request_deletes_nothing(client_as: ClientAs, cluster: FakeClient) -> None:
    await client_as("admin").get(WEB)
    await client_as("admin").head(WEB)
    assert cluster.calls == []


async def test_pod_is_deleted_as_the_user_if_its_uid_matches(
    client_as: ClientAs, cluster: FakeClient
) -> None:
    response = await client_as("admin").post(WEB, {"uid": "uid-shop-web-1"})
    assert (response.status_code, response["Location"]) == (302, f"{LIST}?namespace=shop")
    [(who, gvr, asked)] = cluster.calls
    assert (who, gvr) == ("admin", PODS)
    record = await AuditRecord.objects.aget()
    assert asked == {
        "namespace": "shop",
        "name": "web-1",
        "uid": "uid-shop-web-1",
        "grace": None,
        "policy": "",
        "audit_id": record.audit_id,
    }
    assert (record.actor, record.as_user, record.verb) == ("admin", "admin", "delete")
    assert (record.resource, record.namespace, record.name) == ("pods", "shop", "web-1")
    assert record.code == 200


async def test_result_is_shown_on_the_next_page(client_as: ClientAs) -> None:
    client = client_as("admin")
    await client.post(WEB, {"uid": "u"})
    assert "Deleted pod web-1." in await text_of(await client.get(LIST))
    assert "Deleted pod web-1." not in await text_of(await client.get(LIST))


BACK = f"{LIST}?namespace=shop&status=error&page=2"


async def test_user_returns_to_the_previous_list(client_as: ClientAs) -> None:
    html = await text_of(await client_as("admin").get(f"{WEB}?next={quote(BACK)}"))
    assert BACK.replace("&", "&amp;") in html
    response = await client_as("admin").post(f"{WEB}?next={quote(BACK)}", {"uid": "u"})
    assert response["Location"] == BACK


async def test_previous_list_is_taken_from_the_referer(client_as: ClientAs) -> None:
    client = client_as("admin", Referer=f"http://testserver{BACK}")
    assert quote(BACK, safe="") in await text_of(await client.get(WEB))


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/clusters/host/pods",
        "//evil.example/clusters/host/pods",
        "/\\evil.example/clusters/host/pods",
        "http:clusters/host/pods",
        "javascript:alert(1)",
        "/logout",
        "/clusters/other/pods",
        "/clusters/host/pods?limit=abc",
        "/clusters/host/pods\nX: y",
        "/clusters/host/pods?q=" + "a" * 20000,
    ],
)
async def test_return_url_cannot_lead_to_another_site(client_as: ClientAs, url: str) -> None:
    response = await client_as("admin").post(f"{WEB}?next={quote(url)}", {"uid": "u"})
    assert (response.status_code, response["Location"]) == (302, f"{LIST}?namespace=shop")


@pytest.mark.parametrize(
    ("failure", "code", "words"),
    [
        (Forbidden(403, 'pods "web-1" is forbidden: no'), 403, "Permission denied by the cluster"),
        (NotFound(404, 'pods "web-1" not found'), 404, "The object no longer exists"),
        (
            Conflict(409, "Precondition failed: UID"),
            409,
            "replaced by another object with the same name",
        ),
        (
            Unavailable("No response from the Kubernetes API"),
            503,
            "may or may not have been applied",
        ),
        (ApiError(429, "too many <b>requests</b>\u202e"), 429, "The cluster rejected the request."),
    ],
)
async def test_refusal_is_explained_with_the_servers_message(
    client_as: ClientAs, cluster: FakeClient, failure: ApiError, code: int, words: str
) -> None:
    cluster.failure = failure
    response = await client_as("admin").post(WEB, {"uid": "uid-of-old"})
    html = await text_of(response)
    assert response.status_code == code
    assert words in html
    assert escape(failure.message.rstrip("\u202e")) in html
    assert "\u202e" not in html
    # A retry still applies to the displayed object.
    assert 'value="uid-of-old"' in html
    record = await AuditRecord.objects.aget()
    assert record.code == code


@pytest.mark.parametrize("uid", ["", "x" * 200, "a\x00b", "a\nb"])
async def test_missing_uid_is_refused(client_as: ClientAs, cluster: FakeClient, uid: str) -> None:
    response = await client_as("admin").post(WEB, {"uid": uid})
    assert response.status_code == 400
    assert cluster.calls == []


async def test_denied_user_is_refused_without_a_request_to_the_cluster(
    client_as: ClientAs, cluster: FakeClient
) -> None:
    for response in (
        await client_as("bob").get(WEB),
        await client_as("bob").post(WEB, {"uid": "u"}),
    ):
        assert response.status_code == 403
        html = unescape(await text_of(response))
        assert "You don't have permission to delete pods in project shop." in html
    assert cluster.calls == []
    assert await AuditRecord.objects.acount() == 0


async def test_unconfirmed_permissions_are_not_reported_as_missing(
    client_as: ClientAs, cluster: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = bob()
    access.doubt = True
    monkeypatch.setitem(VIEWERS, "bob", lambda: access)
    response = await client_as("bob").post(WEB, {"uid": "u"})
    assert response.status_code == 503
    assert "The cluster is not responding" in await text_of(response)
    assert cluster.calls == []


class ConfirmedSoon(FakeAccess):
    """Permissions that are confirmed after a few looks."""

    looks = 3

    def permissions_stale(self) -> bool:
        self.looks -= 1
        self.delete_in = None if self.looks < 0 else ()
        return self.looks >= 0


async def test_request_waits_until_permissions_are_confirmed(
    client_as: ClientAs, cluster: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(VIEWERS, "bob", lambda: ConfirmedSoon("bob"))
    assert (await client_as("bob").get(WEB)).status_code == 200
    assert (await client_as("bob").post(WEB, {"uid": "u"})).status_code == 302


async def test_edit_is_refused_while_permissions_are_unconfirmed(
    client_as: ClientAs, cluster: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The submitted text is shown again."""
    access = bob()
    access.doubt = True
    monkeypatch.setitem(VIEWERS, "bob", lambda: access)
    url = "/clusters/host/projects/shop/pods/web-1/edit"
    sent = {"text": "typed: here", "base": "typed: before", "uid": "u", "step": "save"}
    for response in (await client_as("bob").get(url), await client_as("bob").post(url, sent)):
        assert response.status_code == 503
        html = await text_of(response)
        assert "The cluster is not responding" in html
    assert "typed: here" in html
    assert cluster.calls == []


class Recovering(FakeAccess):
    """Permissions that are unconfirmed until the first check; then the result is `confirmed`."""

    confirmed: Collection[str] | None = ()

    def can(
        self, verb: str, gvr: GVR, *, namespace: str = "", name: str = "", subresource: str = ""
    ) -> bool:
        granted = super().can(verb, gvr, namespace=namespace, name=name, subresource=subresource)
        if verb == "delete":
            self.doubt, self.delete_in = False, self.confirmed
        return granted


@pytest.mark.parametrize("confirmed", [None, ()], ids=["had", "not had"])
async def test_permission_confirmed_during_the_check_is_not_reported_as_missing(
    client_as: ClientAs,
    cluster: FakeClient,
    monkeypatch: pytest.MonkeyPatch,
    confirmed: Collection[str] | None,
) -> None:
    access = Recovering("bob", delete_in=(), doubt=True)
    access.confirmed = confirmed
    monkeypatch.setitem(VIEWERS, "bob", lambda: access)
    response = await client_as("bob").post(WEB, {"uid": "u"})
    assert response.status_code == 503
    assert "The cluster is not responding" in await text_of(response)
    assert cluster.calls == []


async def test_unavailable_resource_type_is_treated_as_denied(
    client_as: ClientAs, cluster: FakeClient, pods: Informer[Any]
) -> None:
    set_stale(pods, datetime.now(UTC), "forbidden")
    response = await client_as("bob").post(WEB, {"uid": "u"})
    assert response.status_code == 403
    assert cluster.calls == []


async def test_forbidden_and_missing_pods_look_identical(client_as: ClientAs) -> None:
    answers = []
    for name in ("web-1", "web-none"):
        response = await client_as("alice").get(WEB.replace("web-1", name))
        assert response.status_code == 403
        answers.append(stable_html(await text_of(response)).replace(name, "X"))
    assert answers[0] == answers[1]


async def test_missing_pod_returns_404_for_permitted_users(client_as: ClientAs) -> None:
    response = await client_as("admin").get(WEB.replace("web-1", "nope"))
    assert response.status_code == 404
    assert "No pod shop/nope found." in await text_of(response)


async def test_anonymous_request_deletes_nothing(client_as: ClientAs, cluster: FakeClient) -> None:
    response = await client_as("").post(WEB, {"uid": "u"})
    assert (response.status_code, response["Location"]) == (302, "/login?next=%2Fdashboard")
    assert (await client_as("").get(WEB)).status_code == 302
    assert cluster.calls == []


async def test_form_without_csrf_token_deletes_nothing(
    runtime: StaticRuntime, cluster: FakeClient
) -> None:
    response = await SignedIn({"X-Cast": "admin"}, csrf=True).post(WEB, {"uid": "u"})
    assert response.status_code == 403
    assert cluster.calls == []


@pytest.mark.parametrize("resource", ["planets", "pods.apps"])
async def test_unknown_kind_returns_404(client_as: ClientAs, resource: str) -> None:
    url = f"/clusters/host/projects/shop/{resource}/web-1/actions/delete"
    assert (await client_as("admin").get(url)).status_code == 404


async def test_cancel_link_from_a_detail_page_leads_to_its_list(client_as: ClientAs) -> None:
    detail = WEB.removesuffix("/actions/delete")
    client = client_as("admin", Referer=f"http://testserver{detail}/yaml")
    html = await text_of(await client.get(WEB))
    assert 'href="/clusters/host/pods?namespace=shop"' in html


PROJECT = "/clusters/host/namespaces/shop/actions/delete"


async def test_deleting_a_project_requires_its_name_and_lists_its_contents(
    client_as: ClientAs, cluster: FakeClient
) -> None:
    admin = client_as("admin")
    html = await text_of(await admin.get(PROJECT))
    assert "Type shop to confirm" in html
    assert "Also deleted" in html
    assert f'href="{LIST.replace("/pods", "/projects/shop/pods/web-1")}"' in html
    assert "api-1" not in html
    given = {"uid": "uid-shop"}
    for typed in ("", "Shop", "team-a"):
        response = await admin.post(PROJECT, {**given, "typed": typed})
        assert response.status_code == 400
        assert "does not match" in await text_of(response)
        status = await admin.post(f"{PROJECT}?format=json", {**given, "typed": typed})
        assert status.status_code == 400
    assert cluster.calls == []
    response = await admin.post(PROJECT, {**given, "typed": "shop"})
    assert response.status_code == 302
    assert [(who, gvr) for who, gvr, _asked in cluster.calls] == [("admin", NAMESPACES)]


async def test_contents_of_a_project_follow_the_viewers_permissions(
    client_as: ClientAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = (Key("", "shop"),)
    monkeypatch.setitem(
        VIEWERS, "erin", lambda: FakeAccess("erin", list_in=("team-a",), names=there)
    )
    response = await client_as("erin").get(PROJECT)
    html = await text_of(response)
    assert response.status_code == 200
    assert "Secrets, and objects that you don" in html
    assert "web-1" not in html
