"""What the pages about rights share: who may see them, and what goes wrong on all of them."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

from django.db import DatabaseError
from django.http import HttpResponse
from django.utils.translation import gettext as _

from access.roles.places import NotArrived
from accounts.directory import UsersUnknown
from console.audit.trail import AuditUnavailable
from console.ui.decisions import Denied
from console.ui.http import ConsoleRequest
from console.views.asking import refused_page
from console.views.denial import denied_page
from console.views.errors import error_page
from console.views.guard import refuse_anonymous

View = Callable[..., Coroutine[Any, Any, HttpResponse]]


def page(view: View) -> View:
    """For whoever is signed in. What the viewer may not is one answer, whatever there is."""

    @wraps(view)
    async def guarded(request: ConsoleRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        refused = refuse_anonymous(request)
        if refused is not None:
            return refused
        try:
            return await view(request, *args, **kwargs)
        except Denied as denied:
            if "workspace" in kwargs:
                return refused_page(request, denied, str(kwargs["workspace"]))
            return denied_page(request, denied)
        except (NotArrived, UsersUnknown):
            return error_page(request, 503, _("The roles have not arrived from the cluster."))
        except (AuditUnavailable, DatabaseError):
            return error_page(request, 503, _("The database cannot be used."))

    return guarded
