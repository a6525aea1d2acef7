"""`POST /account/secret-file`: download of secrets that a page has just shown, once.

The page sends the secrets in a form, because the console doesn't store them. The session keeps a
hash, so that the response contains only secrets that this session was shown.
"""

from collections.abc import Iterable
from secrets import compare_digest

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from accounts.oauth.grants import digest
from console.ui.core.requests import ConsoleRequest
from console.views.page import page

#: Key in the session.
_OFFERED = "secret-file"
#: Values of the field `file`: names of the downloaded files.
TOKEN_FILE, CODES_FILE = "api-token.txt", "recovery-codes.txt"


async def offer_download(request: HttpRequest, name: str, secrets: Iterable[str]) -> None:
    """Allow the session to download these secrets once. `name` is the name of the file."""
    await request.session.aset(_OFFERED, _hash(name, secrets))


@sensitive_post_parameters("secrets")
@page("POST", bearer=False)
async def secret_file(request: ConsoleRequest) -> HttpResponse:
    """Return the file `file` with the words of `secrets`, one on each line."""
    name, secrets = request.POST.get("file", ""), request.POST.get("secrets", "").split()
    offered = str(await request.session.aget(_OFFERED, ""))
    if name not in (TOKEN_FILE, CODES_FILE) or not compare_digest(offered, _hash(name, secrets)):
        text = _("The file can be downloaded only once, while its content is displayed.")
        messages.warning(request, text)
        return HttpResponseRedirect(reverse("accounts:own:account"))
    await request.session.apop(_OFFERED, "")
    response = HttpResponse("\n".join((*secrets, "")), content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "no-store"
    return response


def _hash(name: str, secrets: Iterable[str]) -> str:
    return digest(" ".join((name, *secrets)))
