"""LDAP: Active Directory, OpenLDAP and others.

The console binds as the manager, searches for exactly one entry, and binds with its DN and the
password. An empty password is rejected first, because servers treat it as an anonymous bind and
report success (RFC 4513, section 6.3.1).

With `groupSearchBase` and `groupMemberAttribute`, only members of a group found by
`groupSearchFilter` can sign in. Members are identified by the entry's `userMemberAttribute`,
which defaults to the DN.
"""

from typing import Any
from urllib.parse import urlsplit

from ldap3.utils.conv import escape_filter_chars

from accounts.oauth.clients import LOOPBACK
from accounts.providers.base import Person, ProviderRefused, Unreachable
from accounts.providers.ldap_connection import LdapConnection, LdapServer, run_with_connection
from accounts.providers.options import Fields, provider_kind

LDAP_PORT, LDAPS_PORT = 389, 636
MAX_NAME, MAX_PASSWORD = 253, 1024
MAX_MILLISECONDS = 15_000
#: Requests no attributes (RFC 4511, section 4.5.1.8).
_NO_ATTRIBUTES = "1.1"


@provider_kind("LDAPIdentityProvider")
class LDAP:
    def __init__(self, fields: Fields) -> None:
        self._place = _place(fields)
        self._manager = fields.text("managerDN")
        self._password = fields.text("managerPassword")
        if self._manager and not self._password:
            raise ValueError("managerPassword is missing")
        self._base = fields.required("userSearchBase")
        self._filter = _filter(fields, "userSearchFilter")
        self._login = _attribute(fields, "loginAttribute", "uid")
        self._mail = _attribute(fields, "mailAttribute", "mail")
        self._group_base = fields.text("groupSearchBase")
        self._group_filter = _filter(fields, "groupSearchFilter")
        self._group_member = _attribute(fields, "groupMemberAttribute", "")
        self._member = _attribute(fields, "userMemberAttribute", "")

    async def check(self, username: str, password: str) -> Person:
        if not 0 < len(username) <= MAX_NAME or not 0 < len(password) <= MAX_PASSWORD:
            raise ProviderRefused("WrongPassword")
        if "\0" in username or "\0" in password or username != username.strip():
            raise ProviderRefused("WrongPassword")
        return await run_with_connection(
            self._place, lambda talk: self._check(talk, username, password)
        )

    def _check(self, talk: LdapConnection, username: str, password: str) -> Person:
        if not talk.bind(self._manager, self._password):
            raise Unreachable("ManagerRefused", "the server rejected the manager's credentials")
        found = self._find(talk, username)
        belongs = found is not None and self._belongs(talk, found)
        # Bind as an unknown user too, so that the response takes the same number of steps.
        dn = found["dn"] if found is not None else f"{self._login}=nobody,{self._base}"
        right = talk.bind(dn, password)
        if found is None or not right:
            raise ProviderRefused("WrongPassword" if found is not None else "UnknownUser")
        if not belongs:
            raise ProviderRefused("NotInGroup", "the user is not a member of a permitted group")
        login = _first(found, self._login)
        if not login:
            raise ProviderRefused("NoSubject", "the entry has no login attribute")
        return Person(login, login, _first(found, self._mail))

    def _find(self, talk: LdapConnection, username: str) -> dict[str, Any] | None:
        """Return the matching entry, or None if there is no match or more than one."""
        query = f"(&({self._login}={escape_filter_chars(username)}){self._filter})"
        wanted = [name for name in (self._login, self._mail, self._member) if name]
        entries = talk.search(self._base, query, wanted, 1)
        return entries[0] if len(entries) == 1 and entries[0]["dn"] else None

    def _belongs(self, talk: LdapConnection, entry: dict[str, Any]) -> bool:
        if not (self._group_base and self._group_member):
            return True
        member = _first(entry, self._member) if self._member else str(entry["dn"])
        if not member:
            return False
        query = f"(&({self._group_member}={escape_filter_chars(member)}){self._group_filter})"
        return bool(talk.search(self._group_base, query, [_NO_ATTRIBUTES], 1))


def _first(entry: dict[str, Any], attribute: str) -> str:
    """Return the first value of an attribute, or ""."""
    for name, values in entry["raw_attributes"].items():
        if name.lower() == attribute.lower() and values:
            return bytes(values[0]).decode("utf-8", "replace")
    return ""


def _attribute(fields: Fields, name: str, default: str) -> str:
    found = fields.text(name, default)
    if found and not (found.isascii() and found.replace("-", "").isalnum()):
        raise ValueError(f"{name} must be an attribute name")
    return found


def _filter(fields: Fields, name: str) -> str:
    found = fields.text(name).strip()
    if found and not (found.startswith("(") and found.endswith(")")):
        found = f"({found})"
    return found


def _place(fields: Fields) -> LdapServer:
    """Return the server in `host`, which is `name`, `name:port` or an ldap(s) URL.

    Unencrypted connections are allowed only to the local host. Raise ValueError.
    """
    text = fields.required("host")
    try:
        parts = urlsplit(text if "://" in text else f"ldap://{text}")
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise ValueError("host is invalid") from error
    if not host or parts.scheme not in ("ldap", "ldaps") or parts.path.strip("/"):
        raise ValueError("host is invalid")
    ldaps = parts.scheme == "ldaps" or port == LDAPS_PORT
    starts_tls = fields.flag("startTLS") and not ldaps
    if not ldaps and not starts_tls and host not in LOOPBACK:
        raise ValueError("startTLS is false; passwords would be sent unencrypted")
    return LdapServer(
        host=host,
        port=port or (LDAPS_PORT if ldaps else LDAP_PORT),
        tls=fields.tls() if ldaps or starts_tls else None,
        starts_tls=starts_tls,
        seconds=min(fields.number("readTimeout", 5000), MAX_MILLISECONDS) / 1000,
    )
