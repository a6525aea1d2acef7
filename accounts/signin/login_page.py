"""Sign-in page with the password form and a button for each redirect-based identity provider."""

import math
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import ngettext

from accounts.providers.base import PasswordProvider, RedirectProvider
from accounts.providers.options import cached_providers
from accounts.signin.next_url import START


@dataclass(frozen=True, slots=True)
class LoginForm:
    """Values of the sign-in page, which never include the password.

    `provider` is the identity provider that checks the password, or "" for the console.
    """

    username: str = ""
    error: str | None = None
    next: str = START
    provider: str = ""


@dataclass(frozen=True, slots=True)
class ProviderButton:
    name: str
    url: str


def login_page(request: HttpRequest, form: LoginForm, status: int = 200) -> HttpResponse:
    entries = cached_providers().entries.values()
    query = "" if form.next == START else f"?{urlencode({'next': form.next})}"
    context = {
        "form": form,
        "cluster_name": settings.CLUSTER_NAME,
        "buttons": [
            ProviderButton(
                entry.name, reverse("accounts:federation:landing", args=(entry.name,)) + query
            )
            for entry in entries
            if isinstance(entry.provider, RedirectProvider)
        ],
        "password_providers": [
            entry.name for entry in entries if isinstance(entry.provider, PasswordProvider)
        ],
    }
    return render(request, "accounts/login.html", context, status=status)


def locked_page(request: HttpRequest, form: LoginForm, wait: float) -> HttpResponse:
    """Render the sign-in page for a locked user. `wait` is the number of seconds until the next
    attempt.
    """
    response = login_page(request, replace(form, error=too_many(wait)), status=429)
    response["Retry-After"] = str(math.ceil(wait))
    return response


def too_many(wait: float) -> str:
    minutes = math.ceil(wait / 60)
    text = ngettext(
        "Too many failed attempts. Try again in %(minutes)s minute.",
        "Too many failed attempts. Try again in %(minutes)s minutes.",
        minutes,
    )
    return text % {"minutes": minutes}
