"""A user's kubeconfig, for whoever may have it: asked for, waited for, written down."""

import asyncio
import base64
from datetime import datetime
from typing import Any

import yaml

from accounts.kubeconfigs.keeping import Keeper, Kept
from accounts.kubeconfigs.kubeconfig import ASKED_ANNOTATION, counts_for, identity_of
from console.kube.client import Endpoint
from console.kube.gvr import USERS
from console.kube.projections import User
from console.kube.runtime import CurrentRuntime
from console.kube.store import Entry

#: Seconds that whoever asks waits for the controllers, and between two looks.
PATIENCE, LOOK_EVERY = 8.0, 0.25


async def ask(runtime: CurrentRuntime, entry: Entry[User], now: datetime) -> Kept | None:
    """What the user has, as soon as it counts; None if nothing came within `PATIENCE` seconds.

    Raises `ApiError`.
    """
    client, name = runtime.console, entry.key.name
    if ASKED_ANNOTATION not in entry.projection.annotations:
        body = {"metadata": {"annotations": {ASKED_ANNOTATION: "true"}}}
        await client.patch(USERS, body, name=name)
    keeper = Keeper(client)
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                kept = await keeper.find(name)
                identity = identity_of(runtime, entry.projection)
                if identity is not None and counts_for(kept, identity, now) is not None:
                    return kept
                await asyncio.sleep(LOOK_EVERY)
    except TimeoutError:
        return None


def kubeconfig_text(endpoint: Endpoint, kept: Kept) -> str:
    """The file, as KubeSphere names its parts.

    https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
    """
    cluster: dict[str, Any] = {"server": endpoint.url}
    if endpoint.authority:
        cluster["certificate-authority-data"] = _encoded(endpoint.authority)
    if endpoint.server_name:
        cluster["tls-server-name"] = endpoint.server_name
    user = {
        "client-certificate-data": _encoded(kept.certificate),
        "client-key-data": _encoded(kept.key),
    }
    context = f"{kept.user}@local"
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "local", "cluster": cluster}],
        "users": [{"name": kept.user, "user": user}],
        "contexts": [{"name": context, "context": {"cluster": "local", "user": kept.user}}],
        "current-context": context,
    }
    return yaml.safe_dump(config, sort_keys=False)


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
