"""A browser that uses two replicas of the console."""

import re
from http.cookiejar import CookieJar
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, HTTPRedirectHandler, Request, build_opener

from tests.accounts.conftest import PASSWORD
from tests.accounts.oauth.world import World

#: Seconds within which a revocation is effective everywhere, even on a busy machine.
TIMEOUT = 30.0
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Visitor:
    """A browser. Cookies ignore ports, so both replicas receive the same cookies."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._jar = CookieJar()
        self._opener = build_opener(HTTPCookieProcessor(self._jar), _Stay)

    @property
    def cookies(self) -> str:
        """The Cookie header."""
        return "; ".join(f"{one.name}={one.value}" for one in self._jar)

    def get(self, replica: int, path: str) -> tuple[int, str, str]:
        return self._send(replica, path, None)

    def post(self, replica: int, path: str, form_at: str, **fields: str) -> tuple[int, str, str]:
        """Submit a form with the CSRF token of the page `form_at`."""
        found = _TOKEN.search(self.get(replica, form_at)[1])
        assert found is not None
        data = urlencode({"csrfmiddlewaretoken": found[1], **fields}).encode()
        return self._send(replica, path, data)

    def login(self, replica: int, name: str, password: str = PASSWORD) -> int:
        fields = {"username": name, "password": password, "next": ""}
        return self.post(replica, "/login", "/login", **fields)[0]

    def is_in(self, replica: int) -> bool:
        return self.get(replica, "/account")[0] == 200

    def _send(self, replica: int, path: str, data: bytes | None) -> tuple[int, str, str]:
        # Replicas share one public URL.
        headers = {"Origin": self.world.urls[0]} if data is not None else {}
        request = Request(self.world.urls[replica] + path, data, headers)  # noqa: S310
        try:
            with self._opener.open(request, timeout=20) as response:
                return response.status, response.read().decode(), ""
        except HTTPError as error:
            return error.code, error.read().decode(), error.headers.get("Location", "")
