"""The ports that one has open in the browser, and closing one."""

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.own.person import own_name
from console.proxying.closing import BY_USER, close
from console.proxying.keeping import opened_by
from console.ui.http import ConsoleRequest
from console.views.page import page


@page("POST", bearer=False)
async def close_port(request: ConsoleRequest) -> HttpResponse:
    """`port`: the label of one."""
    given = request.POST.get("port", "")
    own = await sync_to_async(opened_by)(own_name(request))
    found = [one for one in own if one.label == given]
    for one in found:
        await close(one, BY_USER)
    if found:
        messages.success(request, _("The port is closed."))
    else:
        messages.warning(request, _("There is no such open port any more."))
    return HttpResponseRedirect(reverse("accounts:own:account") + "#ports")
