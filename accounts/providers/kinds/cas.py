"""CAS protocol version 3, with fallback to version 2.

https://apereo.github.io/cas/6.6.x/protocol/CAS-Protocol-Specification.html

Single logout (section 2.3.3 and appendix C): the server posts a SAML LogoutRequest to the
service URL. The request is not signed; it is authenticated by the ticket, which only the server
and the console know. Sessions store a hash of the ticket.

The protocol has no state parameter. The console's state is part of the service URL, to which the
server redirects the browser and to which the ticket is bound.
"""

import hashlib
from collections.abc import Mapping
from urllib.parse import urlencode
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from accounts.providers.base import (
    EndedSessions,
    Person,
    ProviderAttempt,
    ProviderRefused,
    Unreachable,
)
from accounts.providers.options import Fields, provider_kind
from accounts.providers.web import ProviderHttpClient

MAX_TICKET, MAX_LOGOUT = 512, 16 * 1024
_SAML = "{urn:oasis:names:tc:SAML:2.0:protocol}"
_NAMESPACE = "{http://www.yale.edu/tp/cas}"
#: Validation paths of protocol versions 3 and 2.
_VALIDATE = ("/p3/serviceValidate", "/serviceValidate")


@provider_kind("CASIdentityProvider")
class CAS:
    def __init__(self, fields: Fields) -> None:
        self._server = fields.required_address("casServerURL")
        self._web = ProviderHttpClient(fields.tls())
        self.callback = fields.callback()

    async def begin(self, attempt: ProviderAttempt) -> str:
        return f"{self._server}/login?{urlencode({'service': _service(attempt)})}"

    async def finish(self, attempt: ProviderAttempt, answer: Mapping[str, str]) -> Person:
        ticket = answer.get("ticket", "")
        if not ticket or len(ticket) > MAX_TICKET:
            raise ProviderRefused("NoTicket", "the callback contains no ticket")
        asked = {"service": _service(attempt), "ticket": ticket}
        for path in _VALIDATE:
            found = await self._web.get(self._server + path, asked)
            if found.status != 404:
                break
        if found.status != 200:
            raise Unreachable("BadStatus", f"the response status is {found.status}")
        user = _user(found.body)
        return Person(user, user, sid=_session(ticket))

    async def logout_url(self, id_token: str, back: str) -> str:
        return f"{self._server}/logout?{urlencode({'service': back})}"

    def ended_by(self, form: Mapping[str, str]) -> EndedSessions:
        root = _xml(form.get("logoutRequest", "")[:MAX_LOGOUT].encode())
        number, ticket = root.get("ID", ""), root.findtext(f"{_SAML}SessionIndex", "").strip()
        if root.tag != f"{_SAML}LogoutRequest" or not number or not 0 < len(ticket) <= MAX_TICKET:
            raise ProviderRefused("NotLogout", "the form is not a LogoutRequest")
        return EndedSessions(subject="", sid=_session(ticket), token=number[:MAX_TICKET])


def _service(attempt: ProviderAttempt) -> str:
    return f"{attempt.callback}?{urlencode({'state': attempt.state})}"


def _session(ticket: str) -> str:
    """Return the session ID derived from the ticket, so that the ticket isn't stored."""
    return hashlib.sha256(ticket.encode()).hexdigest()


def _xml(text: bytes) -> Element:
    """Parse XML. Raise `Unreachable` if it is invalid."""
    try:
        root: Element = fromstring(text, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
        raise Unreachable("NotXML", "the message is not CAS XML") from error
    return root


def _user(body: bytes) -> str:
    """Return the username in a validation response. Raise `ProviderError`."""
    root = _xml(body)
    if root.tag != f"{_NAMESPACE}serviceResponse" or len(root) != 1:
        raise Unreachable("NotXML", "the response is not CAS XML")
    user = root[0].findtext(f"{_NAMESPACE}user", "").strip()
    if root[0].tag != f"{_NAMESPACE}authenticationSuccess" or not user:
        raise ProviderRefused("TicketRefused", "the server rejected the ticket")
    return user
