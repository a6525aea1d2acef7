"""Responses of the console itself on the host of an open port: HTML for page requests, otherwise
plain text.
"""

from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from console.kube.errors import ApiError, Forbidden, NotFound
from console.proxying.headers import HSTS, Headers
from console.proxying.request import ProxyRequest
from console.proxying.target import ProxyTarget
from console.ui.core.text import escape_invisible
from console.ui.core.words import translate_message
from console.views.errors import TITLES

_HEADERS = (
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"),
    ("Cache-Control", "private, no-store"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
)


class LocalResponse(Exception):
    """Raised to send a response of the console instead of forwarding the request.

    `link` defaults to the console.
    """

    def __init__(
        self,
        code: int,
        text: str | Promise,
        *,
        title: str = "",
        link: str = "",
        link_text: str = "",
    ) -> None:
        super().__init__(code)
        self.code, self.text, self.title = code, text, title
        self.link, self.link_text = link, link_text


async def send_answer(asked: ProxyRequest, send: Any, answered: LocalResponse) -> None:
    with translation.override(asked.lang):
        if asked.is_page:
            body, kind = _page(asked, answered), "text/html; charset=utf-8"
        else:
            body, kind = f"{answered.text}\n", "text/plain; charset=utf-8"
    await send_response(send, answered.code, [("Content-Type", kind), *_HEADERS], body.encode())


async def send_redirect(send: Any, where: str, *headers: tuple[str, str]) -> None:
    """Redirect with 303 See Other, so that the next request is a GET."""
    await send_response(send, HTTPStatus.SEE_OTHER, [("Location", where), *headers, *_HEADERS], b"")


async def send_response(send: Any, code: int, headers: Headers, body: bytes) -> None:
    base = settings.PROXY_BASE
    more = [HSTS] if base is not None and base.secure else []
    length = ("Content-Length", str(len(body)))
    await send_start(send, code, [*headers, *more, length])
    await send({"type": "http.response.body", "body": body})


async def send_start(send: Any, code: int, headers: Headers) -> None:
    # The HTTP client decodes non-ASCII bytes with surrogateescape.
    raw = [
        (name.encode("latin-1"), value.encode("utf-8", "surrogateescape"))
        for name, value in headers
    ]
    await send({"type": "http.response.start", "status": int(code), "headers": raw})


def _page(asked: ProxyRequest, answered: LocalResponse) -> str:
    title = TITLES.get(answered.code) or TITLES[400 if answered.code < 500 else 503]
    context = {
        "lang": asked.lang,
        "title": answered.title or title,
        "text": answered.text,
        "link": answered.link or settings.BASE_URL,
        "link_text": answered.link_text or _("Go to the console"),
    }
    return render_to_string("console/proxying/page.html", context)


def port_not_open() -> LocalResponse:
    """Return the response for a closed port. It is identical for a port that another browser
    opened.
    """
    text = _(
        "Your browser has no open port at this address. Open the port in the console, on the "
        "page of the pod or service."
    )
    return LocalResponse(404, text)


def upstream_error(error: ApiError, target: ProxyTarget) -> LocalResponse:
    """Convert an error of kube-apiserver to a response, without the internal addresses in its
    message.
    """
    words = {"port": target.port, "name": escape_invisible(target.key.name)}
    said = escape_invisible(translate_message(error.message))
    if isinstance(error, Forbidden):
        return LocalResponse(403, f"{_('Permission denied by the cluster.')} {said}")
    if isinstance(error, NotFound):
        text = _("%(name)s no longer exists.")
    elif "no endpoints available" in error.message:
        text = _("Service %(name)s has no ready pods.")
    elif "error trying to reach service" in error.message:
        text = _(
            "Port %(port)s of %(name)s is not responding. The application must listen on the "
            "pod's IP address. Unlike kubectl port-forward, the console cannot reach localhost "
            "in the pod."
        )
    else:
        # A 401 means that kube-apiserver rejected the console's credentials, not the user's.
        code = 503 if error.code == 401 else error.page_code
        return LocalResponse(code, f"{_('The cluster rejected the request.')} {said}")
    return LocalResponse(error.page_code, text % words)
