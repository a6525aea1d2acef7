"""Brings what somebody has pinned to the rail to every page that they are shown."""

from asgiref.sync import sync_to_async
from django.http.response import HttpResponseBase

from console.inline import AsyncMiddleware
from console.saved import pins
from console.ui.fragments import is_fragment
from console.ui.http import ConsoleRequest


class PinsMiddleware(AsyncMiddleware):
    async def __call__(self, request: ConsoleRequest) -> HttpResponseBase:
        account = getattr(request, "account", None)
        if account and not is_fragment(request):
            found = pins.known(account)
            request.pins = (
                found if found is not None else await sync_to_async(pins.pins_of)(account)
            )
        return await self.get_response(request)
