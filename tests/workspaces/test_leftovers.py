"""What an administrator is told of webhooks: to delete none that works."""

from typing import Any, cast

import pytest

from console.kube.gvr import (
    ENDPOINT_SLICES,
    GVR,
    MUTATING_WEBHOOK_CONFIGURATIONS,
    VALIDATING_WEBHOOK_CONFIGURATIONS,
)
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from console.kube.runtime import Runtime
from tests.rbac.fakes import FakeRuntime, Manifest
from workspaces.leftovers import leftovers

WEBHOOKS = (VALIDATING_WEBHOOK_CONFIGURATIONS, MUTATING_WEBHOOK_CONFIGURATIONS)


class _Runtime(FakeRuntime):
    async def wait_synced(self, gvr: GVR, *, timeout: float) -> bool:
        return self.informer(gvr).freshness.synced


def hook(name: str, service: str = "", *, url: str = "", policy: str = "Fail") -> Manifest:
    place = {"namespace": "kubesphere-system", "name": service}
    config = {"url": url} if url else {"service": place}
    rules = [{"apiGroups": ["example.com"], "resources": [name]}]
    return {"name": name, "clientConfig": config, "rules": rules, "failurePolicy": policy}


def world(*hooks: Manifest) -> _Runtime:
    metadata = {"name": "of-kubesphere", "uid": "1", "resourceVersion": "1"}
    labels = {"kubernetes.io/service-name": "lives"}
    slices = {
        "metadata": {"name": "lives-1", "namespace": "kubesphere-system", "labels": labels},
        "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": True}}],
    }
    return _Runtime(
        {
            VALIDATING_WEBHOOK_CONFIGURATIONS: [{"metadata": metadata, "webhooks": [*hooks]}],
            MUTATING_WEBHOOK_CONFIGURATIONS: [],
            ENDPOINT_SLICES: [slices],
        }
    )


async def told(runtime: _Runtime) -> list[str]:
    return await leftovers(cast(Runtime, runtime))


async def test_one_that_nobody_serves_may_be_deleted() -> None:
    (said,) = await told(world(hook("users", "gone"), hook("quotas", "gone", policy="Ignore")))
    assert "kubectl delete validatingwebhookconfigurations of-kubesphere" in said
    assert "refuses writes of users.example.com." in said and "quotas" not in said


LIVING: list[Any] = [
    hook("quotas", "lives"),
    hook("quotas", "lives", policy="Ignore"),
    # Nobody knows of what is elsewhere.
    hook("quotas", url="https://elsewhere.example.com/"),
]


@pytest.mark.parametrize("living", LIVING)
async def test_of_one_that_is_served_in_part_the_webhook_is_named(living: Manifest) -> None:
    (said,) = await told(world(living, hook("users", "gone")))
    assert "kubectl delete" not in said and "quotas" not in said
    assert said.startswith("users of validatingwebhookconfigurations/of-kubesphere asks ")
    assert "kubesphere-system/gone, where nobody answers" in said


@pytest.mark.parametrize("living", LIVING)
async def test_one_that_lets_through_what_nobody_answers_stops_nothing(living: Manifest) -> None:
    assert await told(world(living, hook("users", "gone", policy="Ignore"))) == []


@pytest.mark.parametrize("missing", [*WEBHOOKS, ENDPOINT_SLICES])
async def test_without_a_list_nothing_is_advised(missing: GVR) -> None:
    runtime = world(hook("users", "lives"))
    runtime._informers[missing] = Informer(missing, DECODERS[missing])
    (said,) = await told(runtime)
    assert said.startswith(f"No list of {missing.qualified}")
