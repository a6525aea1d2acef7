"""The page of the own account, which has all of it."""

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render

from accounts.factors.checking import has_factor
from accounts.named import register as named
from accounts.named.forms import TokenForm
from accounts.own.history import history_of
from accounts.own.password import OwnPasswordForm
from accounts.own.profile import profile_form
from accounts.protection import signins
from accounts.time import now
from console.kube.projections import User
from console.kube.store import Entry
from console.proxying.keeping import opened_by
from console.ui.forms import ConsoleForm
from console.ui.http import ConsoleRequest

OTHERS = "others"


async def account_page(
    request: ConsoleRequest, entry: Entry[User], *, fresh: str = "", **forms: ConsoleForm
) -> HttpResponse:
    """`forms`: `profile`, `password` or `token`, where one was refused. `fresh`: a token that was just
    made, which is shown this once."""
    user = entry.projection
    current = request.session.session_key
    context = {
        "name": user.name,
        "profile": profile_form(request, entry),
        "password": OwnPasswordForm(user),
        "token": TokenForm(),
        **forms,
        "fresh": fresh,
        "tokens": await sync_to_async(named.listed)(user.name, user.uid),
        "factor_is_on": await has_factor(user),
        "history": await history_of(user.name),
        "sessions": await sync_to_async(signins.signed_in)(user.name, now(), current=current),
        "others": OTHERS,
        "ports": await sync_to_async(opened_by)(user.name),
        # Only what makes whole days is said in days.
        "kubeconfig_days": 0 if settings.KUBECONFIG_HOURS % 24 else settings.KUBECONFIG_HOURS // 24,
        "kubeconfig_hours": settings.KUBECONFIG_HOURS,
    }
    return render(request, "accounts/own/account.html", context, status=400 if forms else 200)
