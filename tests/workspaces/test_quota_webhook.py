"""The admission webhook requests quota, waits for it, and allows every request."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any, cast

import pytest
from django.test import AsyncClient
from pytest_django import Settings

from console.kube.gvr import EVENTS, NAMESPACES, RESOURCE_QUOTAS, WORKSPACE_QUOTAS, WORKSPACES
from console.kube.quantity import parse_amounts
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.rbac.objects import Manifest, project, workspace
from tests.support.informers import bring
from tests.workspaces.fakes import TenantRuntime, workspace_quota
from workspaces import quota_webhook
from workspaces.names import SHARE
from workspaces.quota_webhook import webhook_manifest, webhook_token
from workspaces.refused_requests import amounts_in, need_text

pytestmark = pytest.mark.usefixtures("site")

SPEC = {"containers": [{"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "3"}}}]}
CLAIM = {"resources": {"requests": {"storage": "5Gi"}}}


class Events:
    """Console stand-in that stores the messages of created events, by project."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    async def create(self, gvr: Any, body: Manifest, *, namespace: str) -> None:
        assert gvr == EVENTS
        self.told.append((namespace, body["message"]))


def share(name: str, hard: dict[str, str], used: dict[str, str], version: str = "10") -> Manifest:
    meta = {"name": SHARE, "namespace": name, "uid": f"share-{name}", "resourceVersion": version}
    return {"metadata": meta, "spec": {"hard": hard}, "status": {"hard": hard, "used": used}}


@pytest.fixture
def runtime() -> Iterator[TenantRuntime]:
    """A workspace with ten CPUs. `shop` and `mill` may use five each, and `shop` uses four."""
    found = TenantRuntime(
        {
            WORKSPACES: [workspace("acme")],
            WORKSPACE_QUOTAS: [workspace_quota("acme", **{"requests.cpu": "10"})],
            NAMESPACES: [project("shop", "acme"), project("mill", "acme")],
            RESOURCE_QUOTAS: [
                share("shop", {"requests.cpu": "5"}, {"requests.cpu": "4"}),
                share("mill", {"requests.cpu": "5"}, {"requests.cpu": "0"}),
            ],
        }
    )
    found.console = cast(Any, Events())
    set_host_cluster(found)
    yield found
    unset_host_cluster()


def told(runtime: TenantRuntime) -> list[tuple[str, str]]:
    return cast(Events, runtime.console).told


def review(spec: Manifest = SPEC, resource: str = "pods", **request: Any) -> Manifest:
    asked = {
        "uid": "u-1",
        "namespace": "shop",
        "operation": "CREATE",
        "resource": {"group": "", "version": "v1", "resource": resource},
        "object": {"metadata": {"name": "a"}, "spec": spec},
        **request,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}


async def send(body: Any, token: str = "") -> Any:
    return await AsyncClient().post(
        f"/admission/quota/{token or webhook_token()}", body, content_type="application/json"
    )


async def allowed(body: Manifest) -> bool:
    answer = await send(body)
    assert answer.status_code == 200
    found = answer.json()
    assert (found["apiVersion"], found["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    assert found["response"]["uid"] == body["request"]["uid"]
    return bool(found["response"]["allowed"])


async def test_a_request_waits_until_its_project_has_the_quota(runtime: TenantRuntime) -> None:
    asked = asyncio.create_task(allowed(review()))
    while not told(runtime):
        await asyncio.sleep(0)
    [(where, text)] = told(runtime)
    requested, used = amounts_in(text)
    assert where == "shop"
    assert requested == parse_amounts({"requests.cpu": "2"})
    assert used == parse_amounts({"requests.cpu": "4"})
    assert not asked.done()
    raised = share("shop", {"requests.cpu": "6"}, {"requests.cpu": "4"}, "11")
    bring(runtime.informer(RESOURCE_QUOTAS), raised)
    async with asyncio.timeout(2):
        assert await asked


async def test_concurrent_requests_of_a_project_are_added_up(runtime: TenantRuntime) -> None:
    many = [asyncio.create_task(allowed(review(uid=f"u-{number}"))) for number in range(3)]
    cpu = parse_amounts({"requests.cpu": "6"})
    async with asyncio.timeout(5):
        while not any(amounts_in(text)[0] == cpu for _project, text in told(runtime)):
            runtime.clock.move(seconds=1)
            await asyncio.sleep(0.01)
    assert not any(one.done() for one in many)
    raised = share("shop", {"requests.cpu": "10"}, {"requests.cpu": "4"}, "11")
    bring(runtime.informer(RESOURCE_QUOTAS), raised)
    assert await asyncio.gather(*many) == [True] * 3


async def test_a_pod_that_was_just_admitted_takes_no_quota_twice(runtime: TenantRuntime) -> None:
    """It is one of the open requests, and the usage contains it as well."""
    first = asyncio.create_task(allowed(review()))
    while not told(runtime):
        await asyncio.sleep(0)
    shares = runtime.informer(RESOURCE_QUOTAS)
    bring(shares, share("shop", {"requests.cpu": "6"}, {"requests.cpu": "4"}, "11"))
    assert await first
    bring(shares, share("shop", {"requests.cpu": "6"}, {"requests.cpu": "6"}, "12"))
    needs = len(told(runtime))
    spec = {"containers": [{"resources": {"requests": {"cpu": "3"}}}]}
    second = asyncio.create_task(allowed(review(spec, uid="u-2")))
    async with asyncio.timeout(5):
        while len(told(runtime)) == needs:
            runtime.clock.move(seconds=1)
            await asyncio.sleep(0.01)
    assert not second.done()
    bring(shares, share("shop", {"requests.cpu": "9"}, {"requests.cpu": "6"}, "13"))
    assert await second


@pytest.mark.parametrize(
    "body",
    [
        review({"containers": [{"resources": {"requests": {"cpu": "1"}}}]}),
        # More than the free quota of the workspace.
        review({"containers": [{"resources": {"requests": {"cpu": "7"}}}]}),
        review({"containers": [{}]}),
        review(dryRun=True),
        review(operation="UPDATE"),
        review(operation="DELETE", object=None),
        review(subResource="resize"),
        review(resource="services"),
        review(CLAIM, "persistentvolumeclaims"),
        review(namespace="elsewhere"),
        review(
            object={
                "metadata": {"ownerReferences": [{"controller": True, "name": "x"}]},
                "spec": SPEC,
            }
        ),
    ],
)
async def test_other_requests_are_allowed_immediately(
    runtime: TenantRuntime, body: Manifest
) -> None:
    async with asyncio.timeout(quota_webhook.MAX_WAIT / 4):
        assert await allowed(body)
    assert told(runtime) == []


async def test_a_request_is_allowed_if_the_quota_does_not_arrive(
    runtime: TenantRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quota_webhook, "MAX_WAIT", 0.05)
    assert await allowed(review())
    assert told(runtime)


async def test_requests_beyond_the_maximum_do_not_wait(
    runtime: TenantRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quota_webhook, "MAX_WAITING", 0)
    assert await allowed(review())
    assert told(runtime) == []


async def test_claims_count_towards_the_storage_quota(runtime: TenantRuntime) -> None:
    hard = {"requests.storage": "8Gi", "persistentvolumeclaims": "9"}
    quota = workspace_quota("acme", **{"requests.storage": "20Gi", "persistentvolumeclaims": "20"})
    quota["metadata"]["resourceVersion"] = "13"
    bring(runtime.informer(WORKSPACE_QUOTAS), quota)
    bring(runtime.informer(RESOURCE_QUOTAS), share("shop", hard, {"requests.storage": "4Gi"}, "11"))
    asked = asyncio.create_task(allowed(review(CLAIM, "persistentvolumeclaims")))
    while not told(runtime):
        await asyncio.sleep(0)
    assert amounts_in(told(runtime)[0][1])[0] == parse_amounts({"requests.storage": "5Gi"})
    more = {**hard, "requests.storage": "9Gi"}
    bring(runtime.informer(RESOURCE_QUOTAS), share("shop", more, {"requests.storage": "4Gi"}, "12"))
    assert await asked


@pytest.mark.parametrize("token", ["wrong", "%00", "é", "0" * 64])
async def test_callers_without_the_token_get_404(runtime: TenantRuntime, token: str) -> None:
    assert (await send(review(), token)).status_code == 404
    assert told(runtime) == []


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"{}", b"\xff", b"[" * 100_000, json.dumps({"request": {"uid": 1}}).encode(),
        json.dumps(review({"containers": [{"resources": 7}]})).encode(),
        json.dumps(review({"resources": [1]}, "persistentvolumeclaims")).encode(),
    ],
)  # fmt: skip
async def test_invalid_reviews_get_400(runtime: TenantRuntime, body: bytes) -> None:
    assert (await send(body)).status_code == 400
    assert told(runtime) == []


async def test_only_post_is_accepted(runtime: TenantRuntime) -> None:
    answer = await AsyncClient().get(f"/admission/quota/{webhook_token()}")
    assert answer.status_code == 405


def test_the_text_of_a_need_is_parsed_like_a_refusal() -> None:
    amounts = parse_amounts({"requests.cpu": "2500m", "requests.memory": "3Gi", "pods": "1"})
    used = parse_amounts({"requests.cpu": "1"})
    requested, spent = amounts_in(need_text(amounts, used, {}))
    assert requested == amounts
    assert spent == {**dict.fromkeys(amounts, 0), **used}


def test_the_token_depends_on_the_secret_key(settings: Settings) -> None:
    settings.SECRET_KEY = "a" * 40
    first = webhook_token()
    settings.SECRET_KEY = "b" * 40
    assert webhook_token() != first


def test_the_configuration_applies_to_projects_and_never_blocks(settings: Settings) -> None:
    settings.BASE_URL = "https://console.example.com"
    [webhook] = webhook_manifest("QUJD")["webhooks"]
    url = f"https://console.example.com/admission/quota/{webhook_token()}"
    assert webhook["clientConfig"] == {"url": url, "caBundle": "QUJD"}
    assert webhook["failurePolicy"] == "Ignore"
    assert webhook["timeoutSeconds"] > quota_webhook.MAX_WAIT
    [selected] = webhook["namespaceSelector"]["matchExpressions"]
    assert selected == {"key": "kubesphere.io/workspace", "operator": "Exists"}
    assert "caBundle" not in webhook_manifest()["webhooks"][0]["clientConfig"]
