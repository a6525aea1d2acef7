"""`/access/providers`: list of identity providers and configuration errors.

Requires permission to list everything in the cluster. The provider-specific configuration is
never displayed.
"""

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.providers.base import RedirectProvider
from accounts.providers.options import AUTO, LOOKUP, MIXED, Entry, read_current_providers
from console.kube.status import Severity
from console.ui.core.access import may_list_everything
from console.ui.core.menu import MenuEntry
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.fragments.empty_states import EmptyState
from console.views.denial import withheld_page
from console.views.guard import access_of
from console.views.page import page

_MAPPINGS: dict[tuple[str, bool], str | Promise] = {
    (AUTO, False): gettext_lazy("Creates a user"),
    (AUTO, True): gettext_lazy("Creates a user after asking for a username"),
    (MIXED, True): gettext_lazy("Creates a user after asking for a username"),
    (LOOKUP, False): gettext_lazy("Cannot sign in"),
    (LOOKUP, True): gettext_lazy("Cannot sign in"),
}


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """Identity provider in the list.

    `callback` is the callback URL to register at the provider, or "" for providers without
    redirects.
    """

    name: str
    kind: str
    severity: Severity
    word: str
    reason: str
    people: str | Promise
    callback: str


@page(
    "GET",
    menu=MenuEntry(
        ("platform",), 50, gettext_lazy("Identity providers"), "key-round", may_list_everything
    ),
)
async def providers(request: ConsoleRequest) -> HttpResponse:
    if not may_list_everything(access_of(request)):
        text = _(
            "Only users who can list all resources in the cluster can view identity providers."
        )
        return withheld_page(request, text, _("Identity providers"))
    found = await read_current_providers()
    rows = [
        ProviderRow(
            problem.name or "—", problem.kind, Severity.ERROR, _("Ignored"),
            escape_invisible(problem.text), "—", "",
        )
        for problem in found.problems
        if problem.name or problem.kind
    ]  # fmt: skip
    rows += [_row(entry) for entry in found.entries.values()]
    context = {
        "rows": rows,
        "source": found.source,
        "problems": [escape_invisible(each.text) for each in found.problems if not each.name],
        "state": None
        if rows
        else EmptyState(
            "first-use",
            _("No identity providers"),
            _(
                "Users sign in with a password of this console until you add identity providers to "
                "authentication.yaml."
            ),
        ),
    }
    return render(request, "accounts/providers.html", context)


def _row(entry: Entry) -> ProviderRow:
    provider = entry.provider
    insecure = entry.insecure
    return ProviderRow(
        name=entry.name,
        kind=entry.kind,
        severity=Severity.WARN if insecure else Severity.OK,
        word=_("Not verified") if insecure else _("In use"),
        reason=_(
            "insecureSkipVerify is set: the certificate of the identity provider is not verified"
        )
        if insecure
        else "",
        people=_MAPPINGS[entry.mapping, entry.confirms],
        callback=provider.callback if isinstance(provider, RedirectProvider) else "",
    )
