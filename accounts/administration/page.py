"""What the pages of accounts share: who may see them, and what goes wrong on all of them."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

from django.db import DatabaseError
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _

from accounts.directory import UsersUnknown
from console.audit.trail import AuditUnavailable
from console.kube.gvr import USERS
from console.ui.decisions import Denied
from console.ui.http import ConsoleRequest
from console.ui.registry import kinds
from console.ui.states import denied_text
from console.views.errors import denied_page, error_page
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
            kind = kinds.of(USERS)
            if kind is None:
                raise Http404 from denied
            return denied_page(request, kind, denied_text(denied, kind.nouns))
        except UsersUnknown:
            return error_page(request, 503, _("The users have not arrived from the cluster."))
        except (AuditUnavailable, DatabaseError):
            return error_page(request, 503, _("The database cannot be used."))

    return guarded
