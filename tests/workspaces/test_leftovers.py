"""Advice about leftover webhook configurations. Working webhooks must never be recommended for
deletion.
"""

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
from workspaces.kubesphere_check import kubesphere_findings

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
    return await kubesphere_findings(cast(Runtime, runtime))


async def test_an_unserved_webhook_configuration_may_be_deleted() -> None:
    (said,) = await told(world(hook("users", "gone"), hook("quotas", "gone", policy="Ignore")))
    assert "kubectl delete validatingwebhookconfigurations of-kubesphere" in said
    assert "rejects writes of users.example.com." in said and "quotas" not in said


LIVING: list[Any] = [
    hook("quotas", "lives"),
    hook("quotas", "lives", policy="Ignore"),
    # The state of webhooks outside the cluster is unknown.
    hook("quotas", url="https://elsewhere.example.com/"),
]


@pytest.mark.parametrize("living", LIVING)
async def test_a_partly_served_configuration_names_the_unserved_webhook(living: Manifest) -> None:
    (said,) = await told(world(living, hook("users", "gone")))
    assert "kubectl delete" not in said and "quotas" not in said
    assert said.startswith("users of validatingwebhookconfigurations/of-kubesphere calls ")
    assert "kubesphere-system/gone, which has no ready endpoints" in said


@pytest.mark.parametrize("living", LIVING)
async def test_an_unserved_webhook_with_policy_ignore_is_not_reported(living: Manifest) -> None:
    assert await told(world(living, hook("users", "gone", policy="Ignore"))) == []


@pytest.mark.parametrize("missing", [*WEBHOOKS, ENDPOINT_SLICES])
async def test_a_missing_list_is_reported_instead_of_advice(missing: GVR) -> None:
    runtime = world(hook("users", "lives"))
    runtime._informers[missing] = Informer(missing, DECODERS[missing])
    (said,) = await told(runtime)
    assert said.startswith(f"Cannot list {missing.qualified}")
