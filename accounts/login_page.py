"""The login page: a form, and a button for each identity provider that has its own."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from accounts.next_url import START
from accounts.providers.base import PasswordProvider, RedirectProvider
from accounts.providers.options import known


@dataclass(frozen=True, slots=True)
class LoginForm:
    """What the page shows; the password is never in it. `provider`: who checks the password, "" for
    this console."""

    username: str = ""
    error: str | None = None
    next: str = START
    provider: str = ""


@dataclass(frozen=True, slots=True)
class Button:
    name: str
    url: str


def login_page(request: HttpRequest, form: LoginForm, status: int = 200) -> HttpResponse:
    entries = known().entries.values()
    query = "" if form.next == START else f"?{urlencode({'next': form.next})}"
    context = {
        "form": form,
        "cluster_name": settings.CLUSTER_NAME,
        "buttons": [
            Button(entry.name, reverse("accounts:federation:landing", args=(entry.name,)) + query)
            for entry in entries
            if isinstance(entry.provider, RedirectProvider)
        ],
        "password_providers": [
            entry.name for entry in entries if isinstance(entry.provider, PasswordProvider)
        ],
    }
    return render(request, "accounts/login.html", context, status=status)
