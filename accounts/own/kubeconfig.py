"""`POST /account/kubeconfig`: the own kubeconfig, as a file."""

import re

import msgspec
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.kubeconfigs.asking import ask, kubeconfig_text
from accounts.own.person import own_name, own_user
from accounts.time import now
from console.audit.trail import record, request_action
from console.kube.current import get_runtime
from console.kube.errors import ApiError
from console.kube.gvr import CERTIFICATE_SIGNING_REQUESTS
from console.ui.http import ConsoleRequest
from console.views.page import page


@page("POST", bearer=False)
async def kubeconfig(request: ConsoleRequest) -> HttpResponse:
    """The file, or back to the page with a sentence that says why not."""
    runtime, name, entry = get_runtime(), own_name(request), own_user(request)
    action = request_action(request, "create", CERTIFICATE_SIGNING_REQUESTS, name=name)
    try:
        async with record(action) as recording:
            kept = await ask(runtime, entry, now())
            if kept is None:
                recording.answered(504, "Timeout")
    except ApiError:
        messages.warning(request, _("The kubeconfig cannot be made at this moment."))
        return _back()
    if kept is None:
        messages.warning(request, _("The certificate is not there yet. Try again in a moment."))
        return _back()
    endpoint = runtime.endpoint()
    if settings.KUBECONFIG_SERVER:
        endpoint = msgspec.structs.replace(endpoint, url=settings.KUBECONFIG_SERVER)
    response = HttpResponse(kubeconfig_text(endpoint, kept), content_type="application/yaml")
    safe = re.sub(r"[^a-z0-9.-]", "-", name)
    response["Content-Disposition"] = f'attachment; filename="kubeconfig-{safe}.yaml"'
    response["Cache-Control"] = "no-store"
    return response


def _back() -> HttpResponse:
    return HttpResponseRedirect(reverse("accounts:own:account") + "#kubeconfig")
