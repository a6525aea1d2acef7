"""Receiver of kube-apiserver's audit webhook.

kube-apiserver authenticates with a token of its cluster, which is derived from `SECRET_KEY`.
`quarterdeck audit webhook` prints the configuration of kube-apiserver with the token.
"""

import hmac
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from console.audit.changes import Manifest
from console.audit.kube_events import Masking, parse_events, record_events
from console.kube.gvr import GVR
from console.ui.core.clusters import Cluster, clusters
from console.ui.core.statuses import status_response, success_response
from console.ui.editing.manifest import editable


def event_token(cluster: str) -> str:
    """Return the token with which the cluster's kube-apiserver sends events."""
    content = f"quarterdeck: audit events of {cluster}"
    return hmac.new(str(settings.SECRET_KEY).encode(), content.encode(), "sha256").hexdigest()


def webhook_config(cluster: str, bundle: str = "") -> dict[str, Any]:
    """Return the file for kube-apiserver's option `--audit-webhook-config-file`. `bundle` contains the
    certificates of the authority of BASE_URL in base64, unless kube-apiserver trusts it anyway.
    """
    url = f"{settings.BASE_URL}{reverse('audit_events', args=(cluster,))}"
    trust = {"certificate-authority-data": bundle} if bundle else {}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "quarterdeck", "cluster": {"server": url, **trust}}],
        "users": [{"name": "kube-apiserver", "user": {"token": event_token(cluster)}}],
        "contexts": [
            {"name": "audit", "context": {"cluster": "quarterdeck", "user": "kube-apiserver"}}
        ],
        "current-context": "audit",
    }


def has_event_token(headers: Mapping[bytes, Sequence[bytes]]) -> bool:
    """Return True if a request has the token of any cluster. Its body may be large."""
    given = headers.get(b"authorization", ())
    text = given[0].decode("latin-1") if len(given) == 1 else ""
    return any(_is_token(text, one.name) for one in clusters)


def _is_token(authorization: str, cluster: str) -> bool:
    scheme, _space, token = authorization.partition(" ")
    same = hmac.compare_digest(token.strip().encode(), event_token(cluster).encode())
    return scheme.lower() == "bearer" and same


@csrf_exempt
@require_POST
async def receive_events(request: HttpRequest, cluster_name: str) -> HttpResponse:
    """POST /audit/events/{cluster}: record an `EventList` (audit.k8s.io/v1)."""
    cluster = clusters.get(cluster_name)
    if not _is_token(request.headers.get("Authorization", ""), cluster_name) or cluster is None:
        # The same response for a cluster that doesn't exist.
        return status_response(401, "The token of this cluster is required.")
    try:
        events = parse_events(request.body)
        added = await sync_to_async(record_events)(cluster.name, events, _masking(cluster))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return status_response(400, "The body is not an EventList.")
    except DatabaseError:
        # kube-apiserver sends the events again.
        return status_response(503, "The audit trail cannot be written.")
    return success_response(f"{added} records added")


def _masking(cluster: Cluster) -> Masking:
    def mask(gvr: GVR, manifest: Manifest) -> Manifest | None:
        kind = cluster.kinds.of(gvr) or cluster.kinds.find(gvr.qualified)
        try:
            return editable(kind, manifest) if kind is not None else None
        except RecursionError:
            return None

    return mask
