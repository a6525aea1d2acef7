"""Middleware that loads the user's pinned kinds for every page."""

from asgiref.sync import sync_to_async
from django.http.response import HttpResponseBase

from console.saved import pins
from console.ui.core.requests import ConsoleRequest, is_fragment
from console.web.async_middleware import AsyncMiddleware


class PinsMiddleware(AsyncMiddleware):
    async def __call__(self, request: ConsoleRequest) -> HttpResponseBase:
        account = getattr(request, "account", None)
        if account and not is_fragment(request):
            found = pins.cached_pins(account)
            request.pins = (
                found if found is not None else await sync_to_async(pins.load_pins)(account)
            )
        return await self.get_response(request)
