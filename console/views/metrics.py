"""Prometheus metrics. Doesn't use sign-in: see `console.metrics.access`."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from console.metrics.access import may_read
from console.metrics.families import ConsoleCollector

#: Does not reveal whether the address or the token was wrong.
REFUSAL = (
    "Metrics are only available from this machine or with a bearer token: set METRICS_TOKEN.\n"
)


@require_safe
async def metrics(request: HttpRequest) -> HttpResponse:
    if not may_read(request):
        return HttpResponse(REFUSAL, status=403, content_type="text/plain; charset=utf-8")
    text = generate_latest(ConsoleCollector())
    return HttpResponse(text, content_type=CONTENT_TYPE_PLAIN_0_0_4)
