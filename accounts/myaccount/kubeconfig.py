"""Download of the user's kubeconfig: `POST /account/kubeconfig` for kube-apiserver itself, with a
certificate, and `POST /account/kubeconfig/console` for the API of the console, with an API token.
"""

import asyncio
import base64
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import yaml
from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.apitokens import FULL, KubeconfigForm, NameTaken, TooMany, create_token
from accounts.kubeconfigs.certificates import expires
from accounts.kubeconfigs.kubeconfig import ASKED_ANNOTATION, remaining_validity
from accounts.kubeconfigs.storage import KubeconfigStore, StoredKubeconfig
from accounts.myaccount.own_user import own_name, own_user
from accounts.oauth.holders import holder_of
from accounts.time import now
from console.audit.trail import record_request, record_session
from console.kube.errors import ApiError
from console.kube.gvr import CERTIFICATE_SIGNING_REQUESTS, USERS
from console.kube.host_runtime import get_runtime
from console.kube.projections import User
from console.kube.runtime import Runtime
from console.kube.store import Entry
from console.kube.transport import Endpoint
from console.ui.core.clusters import HOST
from console.ui.core.requests import ConsoleRequest
from console.views.page import page
from rbac.memberships import usable_identity

#: Timeout in seconds for the controllers to issue the certificate, and the poll interval.
PATIENCE, LOOK_EVERY = 8.0, 0.25


@page("POST", bearer=False)
async def kubeconfig(request: ConsoleRequest) -> HttpResponse:
    """Return the file, or redirect to the account page with an error message."""
    runtime, name, entry = get_runtime(), own_name(request), own_user(request)
    try:
        async with record_request(
            request, "create", CERTIFICATE_SIGNING_REQUESTS, name=name
        ) as recording:
            kept = await request_kubeconfig(runtime, entry, now())
            if kept is None:
                recording.set_outcome(504, "Timeout")
    except ApiError:
        messages.warning(request, _("Could not create the kubeconfig. Try again later."))
        return _back()
    if kept is None:
        messages.warning(request, _("The certificate is not ready yet. Try again in a moment."))
        return _back()
    endpoint = runtime.endpoint()
    if settings.KUBECONFIG_SERVER:
        endpoint = msgspec.structs.replace(endpoint, url=settings.KUBECONFIG_SERVER)
    return _download(f"kubeconfig-{name}", kubeconfig_text(endpoint, kept))


@page("POST", bearer=False)
async def console_kubeconfig(request: ConsoleRequest) -> HttpResponse:
    """Create an API token and return a kubeconfig that contains it, or redirect to the account page
    with an error message.
    """
    form, entry = KubeconfigForm(request.POST), own_user(request)
    if not form.is_valid():
        messages.warning(request, _("Some fields are invalid."))
        return _back()
    moment = now()
    async with record_session(request, "create", "api-token") as recording:
        try:
            token = await sync_to_async(create_token)(
                holder_of(entry),
                f"kubeconfig {moment:%Y-%m-%d %H:%M:%S}",
                form.lasts,
                moment,
                read_only=form.cleaned_data["scope"] != FULL,
            )
        except (NameTaken, TooMany):
            recording.set_outcome(403, "TooManyTokens")
            token = ""
    if not token:
        text = _("You have reached the maximum number of tokens. Revoke a token first.")
        messages.warning(request, text)
        return _back()
    text = console_kubeconfig_text(entry.key.name, token, moment + form.lasts)
    return _download(f"kubeconfig-{entry.key.name}-console", text)


def _download(name: str, text: str) -> HttpResponse:
    response = HttpResponse(text, content_type="application/yaml")
    safe = re.sub(r"[^a-z0-9.-]", "-", name)
    response["Content-Disposition"] = f'attachment; filename="{safe}.yaml"'
    response["Cache-Control"] = "no-store"
    return response


def _back() -> HttpResponse:
    return HttpResponseRedirect(reverse("accounts:own:account") + "#kubeconfig")


# Requesting a kubeconfig, waiting for it, and formatting it.


async def request_kubeconfig(
    runtime: Runtime, entry: Entry[User], now: datetime
) -> StoredKubeconfig | None:
    """Request the user's kubeconfig and return it, or None if it isn't ready within `PATIENCE`
    seconds.

    Raise `ApiError`.
    """
    client, name = runtime.console, entry.key.name
    if ASKED_ANNOTATION not in entry.projection.annotations:
        body = {"metadata": {"annotations": {ASKED_ANNOTATION: "true"}}}
        await client.patch(USERS, body, name=name)
    keeper = KubeconfigStore(client)
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                kept = await keeper.find(name)
                identity = usable_identity(runtime, entry.projection)
                if identity is not None and remaining_validity(kept, identity, now) is not None:
                    return kept
                await asyncio.sleep(LOOK_EVERY)
    except TimeoutError:
        return None


def kubeconfig_text(endpoint: Endpoint, kept: StoredKubeconfig) -> str:
    """Return the kubeconfig file, with KubeSphere's names for cluster, user and context. A comment
    contains the certificate's expiry time, which the cluster's signer may set without regard to the
    request.

    https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
    """
    user = {
        "client-certificate-data": _encoded(kept.certificate),
        "client-key-data": _encoded(kept.key),
    }
    until = _moment(expires(kept.certificate))
    return f"# The certificate expires on {until}.\n{_file(endpoint, kept.user, user)}"


def console_kubeconfig_text(name: str, token: str, until: datetime) -> str:
    """Return a kubeconfig for the API of the console. Raise OSError if `GATEWAY_CA` can't be read."""
    authority = Path(settings.GATEWAY_CA).read_text() if settings.GATEWAY_CA else ""
    endpoint = Endpoint(f"{settings.GATEWAY_URL}/clusters/{HOST}", authority)
    return f"# The token expires on {_moment(until)}.\n{_file(endpoint, name, {'token': token})}"


def _file(endpoint: Endpoint, name: str, user: Mapping[str, str]) -> str:
    cluster: dict[str, Any] = {"server": endpoint.url}
    if endpoint.authority:
        cluster["certificate-authority-data"] = _encoded(endpoint.authority)
    if endpoint.server_name:
        cluster["tls-server-name"] = endpoint.server_name
    context = f"{name}@local"
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "local", "cluster": cluster}],
        "users": [{"name": name, "user": dict(user)}],
        "contexts": [{"name": context, "context": {"cluster": "local", "user": name}}],
        "current-context": context,
    }
    return yaml.safe_dump(config, sort_keys=False)


def _moment(time: datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC")


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
