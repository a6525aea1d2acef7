"""Read the responses of the console."""

import re

from django.http import HttpResponseBase, StreamingHttpResponse

HTMX = {"HX-Request": "true"}


async def text_of(response: HttpResponseBase) -> str:
    if isinstance(response, StreamingHttpResponse):
        pieces = [piece async for piece in response]
        return b"".join(pieces).decode()
    return response.content.decode()  # type: ignore[attr-defined, no-any-return]


def stable_html(html: str) -> str:
    """Remove the parts that differ in each response: the CSRF token and the clock."""
    html = re.sub(r"(csrfmiddlewaretoken\" value=|x-csrftoken\": )\"\w+\"", "TOKEN", html)
    return re.sub(r'data-now="\d+"', "NOW", html)
