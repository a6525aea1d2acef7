"""LoginRecords: who tried to log in, when and from where, as KubeSphere keeps it.

There is one for each success, and one for each wrong password of a user who exists; none for names that
nobody has, which may be passwords. They are written without anybody waiting, so that no answer takes
longer for a user who exists, and as the console: nobody else may write one.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import IPv6Address, ip_network

from django.conf import settings
from django.http import HttpRequest

from console.audit.source import parse_address, source_address
from console.kube.client import ObjectClient
from console.kube.current import get_runtime
from console.kube.errors import ApiError
from console.kube.factory import NeverCached, UnknownKind
from console.kube.gvr import LOGIN_RECORDS
from console.kube.indexes import indexes_of
from console.kube.informer import Informer
from console.kube.projections.tenancy import USER_LABEL, LoginRecord

MAX_ADDRESS, MAX_AGENT = 64, 256
log = logging.getLogger(__name__)

#: `spec.type`: with a password by HTTP Basic, for a token or a session, through an identity provider.
BASIC, TOKEN, OAUTH = "Password", "Token", "OAuth"
#: Kubernetes' limit for a label's value.
MAX_LABEL = 63
SHOWN = 50
#: Seconds that a page waits for records that nobody has looked at for a while.
PATIENCE = 1.5
_BEFORE = datetime.min.replace(tzinfo=UTC)


# Where an attempt comes from, as far as that can be known.


@dataclass(frozen=True, slots=True)
class Origin:
    """`address`: an IP address, or "" for nobody knows. `user_agent`: as sent, cut, without what
    cannot be seen."""

    address: str = ""
    user_agent: str = ""

    @property
    def network(self) -> str:
        """What is counted as one source: an IPv4 address, or the /64 that one IPv6 customer has."""
        found = parse_address(self.address)
        if isinstance(found, IPv6Address):
            return str(ip_network((found, 64), strict=False))
        return str(found) if found is not None else ""


NOWHERE = Origin()


def origin_of(request: HttpRequest) -> Origin:
    """Forwarded addresses count from `TRUSTED_PROXIES` alone."""
    address = source_address(
        request.META.get("REMOTE_ADDR") or "",
        request.headers.get("X-Forwarded-For", ""),
        settings.TRUSTED_PROXIES,
    )
    agent = "".join(c if c.isprintable() else "?" for c in request.headers.get("User-Agent", ""))
    return Origin(address[:MAX_ADDRESS], agent[:MAX_AGENT])


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """`user`: the name of one who exists. `reason`: why it failed, for the reader of the record."""

    user: str
    origin: Origin
    type: str = TOKEN
    provider: str = ""
    reason: str = ""


def note(attempt: LoginAttempt) -> None:
    """Has the record written."""
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
        log.warning("No login record of %s: %s", attempt.user, error)


# The last logins of a user, from LoginRecords.


@dataclass(frozen=True, slots=True)
class History:
    """`records`: the newest first. `known` is False while they have not arrived from the cluster."""

    records: Sequence[LoginRecord] = ()
    known: bool = True


async def history_of(name: str) -> History:
    try:
        await get_runtime().wait_synced(LOGIN_RECORDS, timeout=PATIENCE)
        informer: Informer[LoginRecord] = get_runtime().informer(LOGIN_RECORDS)
    except (NeverCached, UnknownKind):
        return History(known=False)
    if not informer.freshness.synced:
        return History(known=False)
    found = [
        one.projection for one in indexes_of(informer.store).by_label.get(f"{USER_LABEL}={name}")
    ]
    found.sort(key=lambda one: (one.created or _BEFORE, one.name), reverse=True)
    return History(found[:SHOWN])
