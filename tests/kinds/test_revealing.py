"""Revealing the values of a Secret: they occur only in the response to the recorded request."""

import base64
import json
import re
from collections.abc import Callable, Collection, Iterator
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest
from django.db import DatabaseError

from console.actions.reveal import RevealedValue, revealed_values
from console.audit.models import AuditRecord
from console.kube.errors import ApiError, Forbidden, NotFound, ServerError, Unavailable
from console.kube.gvr import GVR, NAMESPACES, SECRETS
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.ui.core.registry import kinds
from console.ui.details.panels.data import LARGEST
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.kinds.world import LiveLists, Obj, informer_of
from tests.support.informers import preloaded
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess, namespace
from tests.views import viewers
from tests.views.conftest import ClientAs, SignedIn

PAGE = "/clusters/host/projects/shop/secrets/db"
URL = f"{PAGE}/actions/reveal"
CANARY, APPLIED = "hunter2-canary", "applied-canary"
pytestmark = pytest.mark.django_db(transaction=True)


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def secret(**data: bytes) -> Obj:
    notes = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps({"x": APPLIED})}
    meta = {"name": "db", "namespace": "shop", "uid": "u-db", "resourceVersion": "7"}
    managed = [{"manager": "the-manager", "operation": "Apply"}]
    return {
        "metadata": {**meta, "annotations": notes, "managedFields": managed},
        "data": {key: encoded(content) for key, content in data.items()},
        "type": "Opaque",
    }


def reader(
    name: str, list_in: Collection[str], get_in: Collection[str]
) -> Callable[[], FakeAccess]:
    return lambda: FakeAccess(name, list_in=list_in, delete_in=(), get_in=get_in)


class Cluster:
    """A cluster that records requests. It raises `failure` if set."""

    def __init__(self) -> None:
        self.found = secret(password=CANARY.encode())
        self.failure: ApiError | None = None
        self.calls: list[tuple[str, GVR, dict[str, Any]]] = []
        self.identity = Identity("nobody")

    def as_user(self, identity: Identity) -> Any:
        self.identity = identity
        return self

    async def get(self, gvr: GVR, **asked: Any) -> Obj:
        self.calls.append((self.identity.name, gvr, asked))
        if self.failure is not None:
            raise self.failure
        return self.found


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
def projects() -> Informer[Any]:
    return preloaded(NAMESPACES, [namespace("shop")])


@pytest.fixture(autouse=True)
def runtime(
    cluster: Cluster, projects: Informer[Any], monkeypatch: pytest.MonkeyPatch
) -> Iterator[StaticRuntime]:
    kind = kinds.by_type(SECRETS)
    assert kind is not None
    people = {
        "reader": reader("reader", ["shop"], ["shop"]),
        "lister": reader("lister", ["shop"], []),
        "stranger": reader("stranger", [], []),
    }
    monkeypatch.setattr(viewers, "VIEWERS", people)
    lists = LiveLists(informer_of(kind, [cluster.found]))
    found = StaticRuntime({NAMESPACES: projects}, cluster.as_user, live_lists=lists)
    set_host_cluster(found)
    yield found
    unset_host_cluster()


async def test_values_are_shown_and_not_stored(client_as: ClientAs, cluster: Cluster) -> None:
    response = await client_as("reader").post(URL)
    html = await text_of(response)
    assert response.status_code == 200, html
    assert response["Cache-Control"] == "no-store"
    assert f">{CANARY}</code>" in html
    assert f"password: {encoded(CANARY.encode())}" in html
    assert APPLIED in html
    assert "the-manager" not in html
    assert f'href="{PAGE}" data-hide-after="60"' in html
    assert "js/hide.js" in html
    assert "ws-connect" not in html
    record = await AuditRecord.objects.aget()
    asked = {"namespace": "shop", "name": "db", "audit_id": record.audit_id}
    assert cluster.calls == [("reader", SECRETS, asked)]
    assert (record.actor, record.as_user, record.verb) == ("reader", "reader", "reveal")
    assert (record.resource, record.namespace, record.name) == ("secrets", "shop", "db")
    assert record.code == 200
    kept = [str(getattr(record, field.name)) for field in record._meta.concrete_fields]
    assert not any(word in text for text in kept for word in (CANARY, APPLIED))


@pytest.mark.parametrize(
    "path",
    ["", "/events", "/yaml", "?format=json", "?format=yaml", "/actions/reveal", "/actions/delete"],
)
async def test_other_pages_do_not_contain_values(
    client_as: ClientAs, cluster: Cluster, path: str
) -> None:
    text = await text_of(await client_as("reader").get(PAGE + path))
    for word in (CANARY, encoded(CANARY.encode()), APPLIED):
        assert word not in text
    assert cluster.calls == []


async def test_get_request_reveals_nothing(client_as: ClientAs, cluster: Cluster) -> None:
    for response in (await client_as("reader").get(URL), await client_as("reader").head(URL)):
        assert response.status_code == 405
    assert cluster.calls == []
    assert await AuditRecord.objects.acount() == 0


async def test_reveal_button_requires_permission(client_as: ClientAs) -> None:
    button = f'form="act" formaction="{URL}">Reveal values</button>'
    for page in (PAGE, f"{PAGE}/yaml"):
        html = await text_of(await client_as("reader").get(page))
        assert button in html
        form = html[html.index('<form id="act" method="post"') :]
        assert "csrfmiddlewaretoken" in form[: form.index("</form>")]
        assert "reveal" not in await text_of(await client_as("lister").get(page))


async def test_cross_site_form_reveals_nothing(cluster: Cluster) -> None:
    response = await SignedIn({"X-Cast": "reader"}, csrf=True).post(URL)
    assert response.status_code == 403
    assert cluster.calls == []


@pytest.mark.parametrize("who", ["lister", "stranger"])
async def test_denied_reveal_sends_no_request_and_is_not_recorded(
    client_as: ClientAs, cluster: Cluster, who: str
) -> None:
    there, nowhere = [
        await client_as(who).post(url) for url in (URL, URL.replace("/db/", "/nothing/"))
    ]
    assert (there.status_code, nowhere.status_code) == (403, 403)
    assert re.search(
        "You don't have permission to (list|get) secrets", unescape(await text_of(there))
    )
    assert cluster.calls == []
    assert await AuditRecord.objects.acount() == 0


async def test_anonymous_users_are_redirected_to_sign_in(
    client_as: ClientAs, cluster: Cluster
) -> None:
    response = await client_as("").post(URL)
    assert response.status_code == 302 and "/login" in response["Location"]
    assert cluster.calls == []


async def test_unconfirmed_permissions_reveal_nothing(
    client_as: ClientAs, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = viewers.VIEWERS["lister"]()
    access.doubt = True
    monkeypatch.setitem(viewers.VIEWERS, "lister", lambda: access)
    response = await client_as("lister").post(URL)
    assert response.status_code == 503
    assert "The cluster is not responding" in await text_of(response)
    assert cluster.calls == []


@pytest.mark.parametrize(
    ("failure", "code", "words"),
    [
        (
            Forbidden(403, 'secrets "db" is forbidden\u202e'),
            403,
            "Permission denied by the cluster",
        ),
        (NotFound(404, 'secrets "db" not found'), 404, "No secret shop/db found."),
        (Unavailable("No response from the Kubernetes API"), 503, "The cluster did not respond."),
        (ServerError(500, "etcd"), 502, "The cluster rejected the request."),
        (ApiError(429, "too many"), 429, "The cluster rejected the request."),
    ],
)
async def test_refusal_of_the_cluster_is_shown_and_recorded(
    client_as: ClientAs, cluster: Cluster, failure: ApiError, code: int, words: str
) -> None:
    cluster.failure = failure
    response = await client_as("reader").post(URL)
    html = await text_of(response)
    assert response.status_code == code
    assert words in html and "\u202e" not in html
    assert "data-hide-after" not in html
    record = await AuditRecord.objects.aget()
    assert record.code == failure.code


async def test_values_are_not_read_if_the_audit_trail_is_unavailable(
    client_as: ClientAs, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise DatabaseError("read-only")

    monkeypatch.setattr(AuditRecord, "save", fail)
    response = await client_as("reader").post(URL)
    html = await text_of(response)
    assert response.status_code == 503
    assert "the audit trail cannot be written" in html
    assert CANARY not in html
    assert cluster.calls == []
    assert not await AuditRecord.objects.filter(code__isnull=False).aexists()


async def test_only_secrets_can_be_revealed(client_as: ClientAs) -> None:
    for path in ("pods/db", "nothing/db"):
        url = f"/clusters/host/projects/shop/{path}/actions/reveal"
        assert (await client_as("reader").post(url)).status_code == 404
    assert (await client_as("reader").post(URL.replace("host", "other"))).status_code == 404


async def test_secret_without_values_is_reported_as_empty(
    client_as: ClientAs, cluster: Cluster
) -> None:
    nothing: tuple[dict[str, str] | None, ...] = ({}, None)
    for data in nothing:
        cluster.found["data"] = data
        assert "This object has no values." in await text_of(await client_as("reader").post(URL))
    del cluster.found["data"]
    assert "This object has no values." in await text_of(await client_as("reader").post(URL))


async def test_binary_value_is_shown_as_base64(client_as: ClientAs, cluster: Cluster) -> None:
    sly = "a\u202eb\r\n".encode()
    cluster.found = secret(key=b"\xff\xfe\x00", sly=sly)
    html = await text_of(await client_as("reader").post(URL))
    assert "3 bytes of binary data, encoded as base64:" in html and ">//4A</code>" in html
    assert "a⟨U+202E⟩b⟨U+000D⟩\n</code>" in html
    assert f">{encoded(sly)}</code>" in html
    assert "\u202e" not in html


async def test_value_is_escaped(client_as: ClientAs, cluster: Cluster) -> None:
    cluster.found = secret(key=b"</code><script>alert(1)</script>{{ 1 }}")
    html = await text_of(await client_as("reader").post(URL))
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;{{ 1 }}</code>" in html


async def test_large_value_is_shown_without_yaml(client_as: ClientAs, cluster: Cluster) -> None:
    cluster.found = secret(key=b"x" * LARGEST)
    html = await text_of(await client_as("reader").post(URL))
    assert "x" * LARGEST in html
    assert "too large to display" in html


@pytest.mark.parametrize("name", ["a b", "<b>", "%2e%2e", "a\nb"])
async def test_any_secret_name_is_supported(
    client_as: ClientAs, cluster: Cluster, name: str
) -> None:
    url = f"/clusters/host/projects/shop/secrets/{quote(name, safe='')}"
    response = await client_as("reader").post(f"{url}/actions/reveal")
    html = await text_of(response)
    assert response.status_code == 200
    assert cluster.calls[0][2]["name"] == name
    assert f'href="{url}" data-hide-after' in html
    assert "<b>" not in html


def test_malformed_data_is_handled() -> None:
    data = {"b": None, "a": encoded(b"1\n\t2"), "c": "no base64!", "d": "", "e": 7}
    assert revealed_values({"data": data}) == [
        RevealedValue("a", 4, "1\n\t2", ""),
        RevealedValue("b", 0, "", ""),
        RevealedValue("c", 10, None, "no base64!"),
        RevealedValue("d", 0, "", ""),
        RevealedValue("e", 0, "", ""),
    ]
    assert revealed_values({"data": [1]}) == []
