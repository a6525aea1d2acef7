"""Where one lands."""

from django.http import HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_safe

from console.ui.http import ConsoleRequest
from console.ui.links import HOST_CLUSTER, list_url
from console.views.guard import refuse_anonymous

#: The list that people see first.
LANDING = "pods"


@require_safe
async def dashboard(request: ConsoleRequest) -> HttpResponse:
    return refuse_anonymous(request) or HttpResponseRedirect(list_url(HOST_CLUSTER, LANDING))
