"""Small servers on the loopback interface that implement the protocols of GitHub, GitLab, CAS and
OpenID providers, and can violate them.
"""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from aiohttp import web

from accounts.jose import challenge_of

Serve = Callable[..., Awaitable[str]]


@asynccontextmanager
async def local_server(
    application: web.Application, *, tls: ssl.SSLContext | None = None, port: int = 0
) -> AsyncIterator[str]:
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, ssl_context=tls)
    await site.start()
    host, bound = runner.addresses[0][:2]
    try:
        yield f"{'https' if tls else 'http'}://{host}:{bound}"
    finally:
        await runner.cleanup()


@dataclass
class Grant:
    """The authorization request of a code."""

    redirect_uri: str
    challenge: str
    used: bool = False


@dataclass
class CodeServer:
    """The authorization code flow as documented by GitHub and GitLab. `person` is the signed-in
    user.
    """

    client: str = "console"
    secret: str = "the-secret-of-the-client"
    person: dict[str, Any] = field(default_factory=dict)
    grants: dict[str, Grant] = field(default_factory=dict)
    #: Responses that replace the real ones, by path.
    instead: dict[str, web.Response] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def application(self) -> web.Application:
        found = web.Application()
        found.router.add_post("/token", self._token)
        found.router.add_get("/user", self._user)
        return found

    def authorize(self, location: str, code: str) -> str:
        """Return the query parameters of the redirect back after consent."""
        asked = query(location)
        assert asked["response_type"] == "code" and asked["client_id"] == self.client
        assert asked["code_challenge_method"] == "S256"
        self.grants[code] = Grant(asked["redirect_uri"], asked["code_challenge"])
        return asked["state"]

    async def _token(self, request: web.Request) -> web.Response:
        self.asked.append("/token")
        if "/token" in self.instead:
            return self.instead["/token"]
        form = await request.post()
        grant = self.grants.get(str(form.get("code")))
        right = (
            grant is not None
            and not grant.used
            and (form.get("client_id"), form.get("client_secret")) == (self.client, self.secret)
            and form.get("redirect_uri") == grant.redirect_uri
            and challenge_of(str(form.get("code_verifier"))) == grant.challenge
        )
        if grant is None or not right:
            # GitHub returns errors with status 200.
            return web.json_response({"error": "bad_verification_code"})
        grant.used = True
        return web.json_response({"access_token": "a-token", "token_type": "bearer"})

    async def _user(self, request: web.Request) -> web.Response:
        self.asked.append("/user")
        if "/user" in self.instead:
            return self.instead["/user"]
        if request.headers.get("Authorization") != "Bearer a-token":
            return web.json_response({"message": "Bad credentials"}, status=401)
        return web.json_response(self.person)

    def fields(self, url: str, **more: Any) -> dict[str, Any]:
        endpoint = {
            "authURL": f"{url}/authorize",
            "tokenURL": f"{url}/token",
            "userInfoURL": f"{url}/user",
        }
        return {
            "clientID": self.client,
            "clientSecret": self.secret,
            "endpoint": endpoint,
            **more,
        }


SUCCESS = """<cas:serviceResponse xmlns:cas="http://www.yale.edu/tp/cas">
  <cas:authenticationSuccess>
    <cas:user>{user}</cas:user>
    <cas:attributes><cas:email>x@example.com</cas:email></cas:attributes>
  </cas:authenticationSuccess>
</cas:serviceResponse>"""
FAILURE = """<cas:serviceResponse xmlns:cas="http://www.yale.edu/tp/cas">
  <cas:authenticationFailure code="INVALID_TICKET">
    Ticket {ticket} not recognized
  </cas:authenticationFailure>
</cas:serviceResponse>"""


@dataclass
class CASServer:
    """CAS server. A ticket is valid once, for its service. `version` 2 has no /p3 path."""

    user: str = "jane"
    version: int = 3
    tickets: dict[str, str] = field(default_factory=dict)
    instead: str = ""

    def application(self) -> web.Application:
        found = web.Application()
        path = "/cas/p3/serviceValidate" if self.version == 3 else "/cas/serviceValidate"
        found.router.add_get(path, self._validate)
        return found

    def login(self, location: str, ticket: str) -> str:
        """Return the URL that the server redirects the browser to."""
        assert urlsplit(location).path == "/cas/login"
        service = query(location)["service"]
        self.tickets[ticket] = service
        return f"{service}&ticket={ticket}"

    async def _validate(self, request: web.Request) -> web.Response:
        ticket = request.query.get("ticket", "")
        known = self.tickets.pop(ticket, None)
        text = SUCCESS.format(user=self.user)
        if known is None or known != request.query.get("service"):
            text = FAILURE.format(ticket=ticket)
        return web.Response(text=self.instead or text, content_type="application/xml")


def query(location: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(location).query, strict_parsing=True))
