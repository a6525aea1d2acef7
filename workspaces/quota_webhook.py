"""Admission webhook that requests quota for a project before kube-apiserver checks the quota.

kube-apiserver compares a request only with the project's share. It refuses a request that exceeds the
share but not the workspace quota, and only the client learns of it. If an administrator installs this
webhook, kube-apiserver asks the console first: the console records the need, as after a refusal on
its own pages, and responds when the controllers have raised the share, or after `MAX_WAIT`.

Guarantees:

- The response always allows the request. kube-apiserver's quota check follows and decides, so the
  webhook can neither block a request nor exceed a quota.
- A need has the same effect as an event about a refused request: it moves unused quota between the
  projects of one workspace.
- Callers are authenticated by a token in the URL, because kube-apiserver sends no credentials.
"""

import asyncio
import hashlib
import hmac
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from typing import Any

import msgspec
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from console.kube.apply import Manifest
from console.kube.cachewait import wait_until
from console.kube.factory import UnknownKind
from console.kube.gvr import NAMESPACES, PERSISTENT_VOLUME_CLAIMS, PODS, RESOURCE_QUOTAS, Key
from console.kube.host_runtime import get_runtime
from console.kube.informer import Informer
from console.kube.projections import reserved
from console.kube.projections.namespace import WORKSPACE_LABEL
from console.kube.quantity import Amounts, parse_amounts
from console.kube.runtime import Runtime
from workspaces.controllers.quota_events import QuotaEventRecorder
from workspaces.names import SHARE
from workspaces.quota_allocation import ZERO
from workspaces.quotas import workspace_hard, workspace_usage
from workspaces.refused_requests import need_text

#: Seconds that a request waits for quota, until the need is recorded again, and that kube-apiserver
#: waits for the webhook.
MAX_WAIT, _AGAIN, _TIMEOUT = 8.0, 0.5, 10
#: Seconds after which kube-apiserver's cache has a limit that the console's cache has, and after
#: which the console's cache has the usage of an admitted object.
_SETTLE, _SEEN = 0.25, 0.5
#: Maximum number of requests that wait.
MAX_WAITING = 200


class _Owner(msgspec.Struct):
    controller: bool = False


class _Metadata(msgspec.Struct):
    ownerReferences: list[_Owner] | None = None


class _Spec(msgspec.Struct):
    """The fields of pods and claims that affect the quota. The resources of a claim have a
    request `storage`.
    """

    containers: list[reserved.ReservedContainer] | None = None
    initContainers: list[reserved.ReservedContainer] | None = None
    resources: msgspec.Raw = msgspec.Raw()
    overhead: reserved.Amounts | None = None


class _Object(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    spec: _Spec = msgspec.field(default_factory=_Spec)


class _Resource(msgspec.Struct):
    resource: str
    group: str = ""


class _Request(msgspec.Struct):
    uid: str
    resource: _Resource
    namespace: str = ""
    operation: str = ""
    subResource: str = ""
    dryRun: bool | None = None
    object: _Object | None = None


class _Review(msgspec.Struct):
    request: _Request


class _ClaimResources(msgspec.Struct):
    requests: dict[str, str | int | float] | None = None


_decoder = msgspec.json.Decoder(_Review)


@csrf_exempt
@require_POST
async def review_quota(request: HttpRequest, token: str) -> HttpResponse:
    """Answer an AdmissionReview of kube-apiserver."""
    if not hmac.compare_digest(token.encode(), webhook_token().encode()):
        raise Http404
    try:
        asked = _decoder.decode(request.body).request
        wanted = _requested(asked)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return HttpResponse("The body is not an AdmissionReview.\n", status=400)
    if wanted:
        await _reviews_of(get_runtime()).wait_for_quota(asked.namespace, wanted)
    return JsonResponse(
        {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": {"uid": asked.uid, "allowed": True},
        }
    )


def _requested(asked: _Request) -> Amounts:
    """Return the amounts that count towards a quota, or nothing if waiting is not necessary: for a
    dry run, and for pods of workloads, which Kubernetes' controllers create again.

    Raise `msgspec.DecodeError`.
    """
    found, resource = asked.object, asked.resource
    if found is None or asked.dryRun or asked.operation != "CREATE" or asked.subResource:
        return {}
    if resource.group or any(owner.controller for owner in found.metadata.ownerReferences or ()):
        return {}
    if resource.resource == PODS.resource:
        return _of_pod(found.spec)
    if resource.resource == PERSISTENT_VOLUME_CLAIMS.resource:
        return _of_claim(found.spec)
    return {}


def _of_pod(spec: _Spec) -> Amounts:
    whole = msgspec.json.decode(spec.resources, type=reserved.Resources) if spec.resources else None
    held = reserved.reserved_of(
        spec.containers or (), spec.initContainers or (), whole, spec.overhead
    )
    cpu, memory = Decimal(held.cpu) / 1000, Decimal(held.memory)
    return {
        **dict.fromkeys(("pods", "count/pods"), Decimal(1)),
        **dict.fromkeys(("cpu", "requests.cpu"), cpu),
        **dict.fromkeys(("memory", "requests.memory"), memory),
        "limits.cpu": Decimal(held.cpu_limit) / 1000,
        "limits.memory": Decimal(held.memory_limit),
    }


def _of_claim(spec: _Spec) -> Amounts:
    declared = (
        msgspec.json.decode(spec.resources, type=_ClaimResources).requests
        if spec.resources
        else None
    )
    storage = parse_amounts({"storage": (declared or {}).get("storage", 0)})
    counts = (PERSISTENT_VOLUME_CLAIMS.resource, f"count/{PERSISTENT_VOLUME_CLAIMS.resource}")
    return {
        **dict.fromkeys(counts, Decimal(1)),
        "requests.storage": storage.get("storage", ZERO),
    }


class QuotaReviews:
    """Requests of one cluster that wait for quota."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._recorder = QuotaEventRecorder(runtime)
        # Requests whose usage kube-apiserver may not have reported yet, by project.
        self._open: dict[str, list[Amounts]] = {}
        self._waiting = 0

    async def wait_for_quota(self, project: str, wanted: Amounts) -> None:
        """Return when the project's share admits these amounts, when the workspace quota doesn't
        admit them, or after `MAX_WAIT` seconds.
        """
        if self._waiting >= MAX_WAITING:
            return
        self._waiting += 1
        opened = self._open.setdefault(project, [])
        opened.append(wanted)
        try:
            await self._wait(project, wanted, opened)
        finally:
            self._waiting -= 1
            asyncio.get_running_loop().call_later(_SEEN, self._close, project, wanted)

    def _close(self, project: str, wanted: Amounts) -> None:
        opened = self._open[project]
        opened.remove(wanted)
        if not opened:
            del self._open[project]

    async def _wait(self, project: str, wanted: Amounts, opened: list[Amounts]) -> None:
        try:
            shares = self._runtime.informer(RESOURCE_QUOTAS)
        except UnknownKind:
            return
        if not await self._runtime.wait_synced(RESOURCE_QUOTAS, timeout=_AGAIN):
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(MAX_WAIT):
                if await self._request(shares, project, wanted, opened):
                    await asyncio.sleep(_SETTLE)

    async def _request(
        self, shares: Informer[Any], project: str, wanted: Amounts, opened: list[Amounts]
    ) -> bool:
        """Request quota until the share is sufficient or the workspace has none left for `wanted`.
        Return False if this was the case from the start.

        The open requests don't decide that: a pod that was just admitted is still one of them, and
        is part of the usage as well.
        """
        waited = False
        while True:
            needed, used, limits = self._lacks(shares, project, opened)
            if not needed or not self._may_fit(project, wanted):
                return waited
            waited = True
            self._recorder.record_need(project, need_text(needed, used, limits))
            await wait_until(shares, lambda: not self._lacks(shares, project, opened)[0], _AGAIN)

    @staticmethod
    def _lacks(
        shares: Informer[Any], project: str, opened: list[Amounts]
    ) -> tuple[Amounts, Amounts, Amounts]:
        """Return the requested amounts of the resources that exceed the share, the usage and the
        limits. All are empty if the open requests fit.
        """
        entry = shares.store.get(Key(project, SHARE))
        status = (entry.original().get("status") or {}) if entry is not None else {}
        limits, used = parse_amounts(status.get("hard")), parse_amounts(status.get("used"))
        wanted = {
            resource: sum((one.get(resource, ZERO) for one in opened), ZERO) for resource in limits
        }
        needed = {
            resource: amount
            for resource, amount in wanted.items()
            if amount and used.get(resource, ZERO) + amount > limits[resource]
        }
        return (needed, used, limits) if needed else ({}, {}, {})

    def _may_fit(self, project: str, wanted: Amounts) -> bool:
        """Return True if the free quota of the workspace is sufficient."""
        entry = self._runtime.informer(NAMESPACES).store.get(Key("", project))
        workspace = entry.projection.workspace if entry is not None else ""
        hard = workspace_hard(workspace) if workspace else {}
        used = {use.resource: use.used for use in workspace_usage(workspace)} if hard else {}
        return bool(hard) and all(
            resource not in hard or used.get(resource, ZERO) + amount <= hard[resource]
            for resource, amount in wanted.items()
        )


@lru_cache(maxsize=1)
def _reviews_of(runtime: Runtime) -> QuotaReviews:
    return QuotaReviews(runtime)


def webhook_token() -> str:
    """Return the token in the URL of the webhook, derived from `SECRET_KEY`."""
    return hmac.new(settings.SECRET_KEY.encode(), b"quota webhook", hashlib.sha256).hexdigest()


def webhook_manifest(ca_bundle: str = "") -> Manifest:
    """Return the ValidatingWebhookConfiguration. `ca_bundle` is the base64-encoded certificate
    authority of `BASE_URL`, "" if kube-apiserver trusts it anyway.

    If the console doesn't respond, kube-apiserver continues without it.
    """
    url = f"{settings.BASE_URL}{reverse('quota_webhook', args=(webhook_token(),))}"
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "quarterdeck-quota"},
        "webhooks": [
            {
                "name": "quota.quarterdeck.io",
                "admissionReviewVersions": ["v1"],
                "clientConfig": {"url": url, **({"caBundle": ca_bundle} if ca_bundle else {})},
                "failurePolicy": "Ignore",
                "matchPolicy": "Equivalent",
                "namespaceSelector": {
                    "matchExpressions": [{"key": WORKSPACE_LABEL, "operator": "Exists"}]
                },
                "rules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": [PODS.resource, PERSISTENT_VOLUME_CLAIMS.resource],
                        "scope": "Namespaced",
                    }
                ],
                "sideEffects": "NoneOnDryRun",
                "timeoutSeconds": _TIMEOUT,
            }
        ],
    }
