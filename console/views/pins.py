"""Brings what somebody has pinned to the rail to every page that they are shown."""

from collections.abc import Awaitable, Callable

from asgiref.sync import markcoroutinefunction, sync_to_async
from django.http.response import HttpResponseBase

from console.saved import pins
from console.ui.fragments import is_fragment
from console.ui.http import ConsoleRequest

GetResponse = Callable[[ConsoleRequest], Awaitable[HttpResponseBase]]


class PinsMiddleware:
    async_capable, sync_capable = True, False

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: ConsoleRequest) -> HttpResponseBase:
        account = getattr(request, "account", None)
        if account and not is_fragment(request):
            found = pins.known(account)
            request.pins = (
                found if found is not None else await sync_to_async(pins.pins_of)(account)
            )
        return await self._get_response(request)
