"""Answers for what goes wrong on this side while somebody logs in."""

import logging
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from accounts.directory import UsersUnknown
from console.audit.trail import AuditUnavailable
from console.kube.errors import ApiError
from console.views.errors import error_page

log = logging.getLogger(__name__)

View = Callable[..., Coroutine[Any, Any, HttpResponse]]


def guarded(view: View) -> View:
    """Answers what goes wrong here and not at the provider."""

    @wraps(view)
    async def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return await view(request, *args, **kwargs)
        except UsersUnknown:
            text = _("Nobody can log in yet: the users have not arrived from the cluster.")
            return error_page(request, 503, text)
        except (AuditUnavailable, DatabaseError) as error:
            log.error("A login failed, because the database cannot be used: %s", error)
            return error_page(request, 503, _("Nobody can log in: the database cannot be used."))
        except ApiError as error:
            log.error("A login failed, because no User could be made: %s", error)
            return error_page(request, 503, _("Your account could not be made. Try again later."))

    return answered
