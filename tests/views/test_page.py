"""Error handling of the page decorator."""

from html import unescape

import pytest
from django.db import DatabaseError
from django.http import Http404, HttpResponse
from django.test import AsyncRequestFactory

from access.roles.lookup import RolesNotCached
from accounts.users.directory import UsersNotCached
from console.audit.trail import AuditUnavailable
from console.kube.errors import ApiError, Conflict, ServerError, Unavailable
from console.kube.factory import UnknownKind
from console.kube.gvr import PODS
from console.ui.core.permissions import Denied
from console.ui.core.requests import ConsoleRequest
from console.views.page import page


def a_request(method: str = "GET", account: str | None = "alice", **attributes: object) -> object:
    request = AsyncRequestFactory().generic(method, "/x")
    for name, value in {"account": account, "htmx": None, **attributes}.items():
        setattr(request, name, value)
    return request


async def answer_to(error: Exception) -> HttpResponse:
    @page("GET")
    async def view(request: ConsoleRequest) -> HttpResponse:
        raise error

    response = await view(a_request())
    assert isinstance(response, HttpResponse)
    return response


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (Denied("get", PODS), 403, "You don't have permission to"),
        (UsersNotCached(), 503, "The users are not loaded yet. Try again later."),
        (RolesNotCached(), 503, "The roles are not loaded yet. Try again later."),
        (AuditUnavailable(), 503, "The database is not available."),
        (DatabaseError("gone"), 503, "The database is not available."),
        (Unavailable("refused"), 503, "The change may or may not have been applied. refused"),
        (Conflict(409, "stale"), 409, "Action not possible right now"),
        (ServerError(500, "etcd"), 502, "Cluster error"),
        (ServerError(504, "slow"), 504, "Request timed out"),
        (ApiError(418, "teapot"), 418, "Bad request"),
    ],
)
async def test_errors_become_responses_with_an_explanation(
    error: Exception, code: int, text: str
) -> None:
    response = await answer_to(error)
    assert response.status_code == code
    assert text in unescape(response.content.decode())


async def test_page_of_a_deleted_type_returns_404() -> None:
    with pytest.raises(Http404):
        await answer_to(UnknownKind("widgets"))


async def test_internal_errors_are_not_caught() -> None:
    with pytest.raises(ZeroDivisionError):
        await answer_to(ZeroDivisionError())


@page("GET", bearer=False)
async def of_a_browser(request: ConsoleRequest) -> HttpResponse:
    return HttpResponse("fine")


async def test_page_requires_sign_in() -> None:
    assert (await of_a_browser(a_request())).status_code == 200
    assert (await of_a_browser(a_request("HEAD"))).status_code == 200
    assert (await of_a_browser(a_request(account=None))).status_code == 302
    assert (await of_a_browser(a_request("POST"))).status_code == 405


async def test_browser_only_page_refuses_tokens() -> None:
    assert (await of_a_browser(a_request(bearer=None))).status_code == 200
    assert (await of_a_browser(a_request(bearer=object()))).status_code == 403
