"""LoginRecords: who tried to sign in, when and from where, in KubeSphere's format.

A record is created for each successful sign-in and for each wrong password of an existing user.
Attempts with unknown names create no record, because the name can be a mistyped password.
Records are written in the background, so that response times don't reveal whether a user exists.
They are written with the console's credentials; other users may not create them.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import IPv6Address, ip_network

from django.conf import settings
from django.http import HttpRequest

from console.audit.client_address import client_address, parse_address
from console.kube.clients import ObjectClient
from console.kube.errors import ApiError
from console.kube.factory import NeverCached, UnknownKind
from console.kube.gvr import LOGIN_RECORDS
from console.kube.host_runtime import get_runtime
from console.kube.indexes import indexes_of
from console.kube.informer import Informer
from console.kube.projections.tenancy import USER_LABEL, LoginRecord
from console.kube.status import Severity

MAX_ADDRESS, MAX_AGENT = 64, 256
log = logging.getLogger(__name__)

#: Values of `spec.type`: HTTP Basic, password for a token or session, identity provider.
BASIC, TOKEN, OAUTH = "Password", "Token", "OAuth"
#: Kubernetes' maximum length of a label value.
MAX_LABEL = 63
SHOWN = 50
#: Seconds that a page waits for LoginRecords that are not cached.
PATIENCE = 1.5
_BEFORE = datetime.min.replace(tzinfo=UTC)


# Origin of an attempt.


@dataclass(frozen=True, slots=True)
class Origin:
    """Client address and user agent of a request.

    `address` is an IP address, or "" if unknown. `user_agent` is truncated, with nonprintable
    characters replaced.
    """

    address: str = ""
    user_agent: str = ""

    @property
    def network(self) -> str:
        """IPv4 address, or the /64 prefix of an IPv6 address, which is usually assigned to one
        customer.
        """
        found = parse_address(self.address)
        if isinstance(found, IPv6Address):
            return str(ip_network((found, 64), strict=False))
        return str(found) if found is not None else ""


NOWHERE = Origin()


def origin_of(request: HttpRequest) -> Origin:
    """Return the origin of a request. Forwarded addresses are used only from `TRUSTED_PROXIES`."""
    address = client_address(
        request.META.get("REMOTE_ADDR") or "",
        request.headers.get("X-Forwarded-For", ""),
        settings.TRUSTED_PROXIES,
    )
    agent = "".join(c if c.isprintable() else "?" for c in request.headers.get("User-Agent", ""))
    return Origin(address[:MAX_ADDRESS], agent[:MAX_AGENT])


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """Sign-in attempt. `user` is the name of an existing user. `reason` is the failure reason, or
    "".
    """

    user: str
    origin: Origin
    type: str = TOKEN
    provider: str = ""
    reason: str = ""


def write_record(attempt: LoginAttempt) -> None:
    """Write the LoginRecord in the background."""
    runtime = get_runtime()
    runtime.spawn(_write(runtime.console, attempt))


def manifest(attempt: LoginAttempt) -> dict[str, object]:
    return {
        "apiVersion": LOGIN_RECORDS.group_version,
        "kind": "LoginRecord",
        "metadata": {"generateName": f"{attempt.user}-", "labels": {USER_LABEL: attempt.user}},
        "spec": {
            "type": attempt.type,
            "provider": attempt.provider,
            "sourceIP": attempt.origin.address,
            "userAgent": attempt.origin.user_agent,
            "success": not attempt.reason,
            "reason": attempt.reason or "authenticated successfully",
        },
    }


async def _write(client: ObjectClient, attempt: LoginAttempt) -> None:
    if len(attempt.user) > MAX_LABEL:
        return
    try:
        await client.create(LOGIN_RECORDS, manifest(attempt))
    except ApiError as error:
        log.warning("LoginRecord of %s could not be created: %s", attempt.user, error)


# Recent sign-ins of a user.


@dataclass(frozen=True, slots=True)
class History:
    """LoginRecords of a user, newest first. `loaded` is False until they are cached."""

    records: Sequence[LoginRecord] = ()
    loaded: bool = True


async def history_of(name: str) -> History:
    found = await _records_of(name)
    if found is None:
        return History(loaded=False)
    found.sort(key=lambda one: (one.created or _BEFORE, one.name), reverse=True)
    return History(found[:SHOWN])


async def has_signed_in_from(name: str, network: str) -> bool:
    """Return True if any LoginRecord shows a successful sign-in as `name` from this network.

    Failed attempts can't displace these records (`accounts.protection.retention`).
    """
    return any(
        one.status.severity is Severity.OK and Origin(one.source_ip).network == network
        for one in await _records_of(name) or ()
    )


async def _records_of(name: str) -> list[LoginRecord] | None:
    """Return the user's LoginRecords in any order, or None if they are not cached."""
    try:
        await get_runtime().wait_synced(LOGIN_RECORDS, timeout=PATIENCE)
        informer: Informer[LoginRecord] = get_runtime().informer(LOGIN_RECORDS)
    except (NeverCached, UnknownKind):
        return None
    if not informer.freshness.synced:
        return None
    entries = indexes_of(informer.store).by_label.get(f"{USER_LABEL}={name}")
    return [one.projection for one in entries]
