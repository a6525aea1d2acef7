"""Sends sealed records to a webhook and to a syslog server.

The database is the queue: each target has a position in the hash chain, which one process at a time
moves forward. Records arrive at least once and in order. While a target fails, the console waits up
to `LONGEST_WAIT` seconds between two attempts; records that expire meanwhile are lost and reported
in the log.
"""

import hmac
import http.client
import json
import logging
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from console.audit.chain import HEAD, START, anchor
from console.audit.models import AuditExport, AuditLink, AuditRecord
from console.audit.trail import exported

log = logging.getLogger(__name__)

#: Records per delivery, and seconds for one.
BATCH, TIMEOUT = 100, 10.0
#: Seconds after which another process may take over a delivery.
LEASE = 60.0
#: Maximum seconds between two attempts.
LONGEST_WAIT = 300.0
#: Facility "log audit" and severities of RFC 5424, section 6.2.1.
_FACILITY, _WARNING, _INFO = 13, 4, 6
#: Default ports: RFC 5425, RFC 6587 and RFC 5426.
PORTS = {"tls": 6514, "tcp": 601, "udp": 514}

Delivery = Sequence[dict[str, Any]]


class DeliveryError(Exception):
    """A delivery failed. The message is for the log."""


@dataclass(frozen=True, slots=True)
class Target:
    """`send` delivers records or raises `DeliveryError` or OSError."""

    name: str
    send: Callable[[Delivery], None]


def configured_targets() -> Sequence[Target]:
    found = []
    if settings.AUDIT_WEBHOOK_URL:
        found.append(Target("webhook", send_webhook))
    if settings.AUDIT_SYSLOG:
        found.append(Target("syslog", send_syslog))
    return found


def deliver(target: Target) -> bool:
    """Send the next records to the target. Return True if more may be waiting."""
    position = _claim(target.name)
    if position is None:
        return False
    links = _waiting(target.name, position)
    rows = AuditRecord.objects.in_bulk({one.record for one in links})
    records = [
        {**exported(rows[one.record]), "seq": one.seq, "hash": one.hash}
        for one in links
        if one.record in rows
    ]
    try:
        if records:
            target.send(records)
    except (DeliveryError, OSError, http.client.HTTPException) as error:
        _failed(target.name, error)
        return False
    last = links[-1].seq if links else position
    AuditExport.objects.filter(pk=target.name).update(seq=last, failures=0, next_try=timezone.now())
    return bool(links)


def _claim(name: str) -> int | None:
    """Reserve the next delivery for this process, and return the position. None if another process
    delivers, or the next attempt isn't due.
    """
    now = timezone.now()
    # A new target starts with new records.
    AuditExport.objects.bulk_create(
        [AuditExport(name=name, seq=anchor(HEAD).seq, next_try=now)], ignore_conflicts=True
    )
    due = AuditExport.objects.filter(pk=name, next_try__lte=now)
    if not due.update(next_try=now + timedelta(seconds=LEASE)):
        return None
    return AuditExport.objects.values_list("seq", flat=True).get(pk=name)


def _waiting(name: str, position: int) -> Sequence[AuditLink]:
    start = anchor(START).seq
    if position < start:
        log.error("%s audit records expired before %s received them", start - position, name)
    after = Q(seq__gt=max(position, start))
    return list(AuditLink.objects.filter(after).order_by("seq")[:BATCH])


def _failed(name: str, error: Exception) -> None:
    failures = AuditExport.objects.values_list("failures", flat=True).get(pk=name) + 1
    wait = min(2.0**failures, LONGEST_WAIT)
    log.warning("Audit records can't be sent to %s, next attempt in %.0f s: %s", name, wait, error)
    AuditExport.objects.filter(pk=name).update(
        failures=failures, next_try=timezone.now() + timedelta(seconds=wait)
    )


# Connections.


def connect(host: str, port: int, kind: socket.SocketKind) -> socket.socket:
    """Connect to an address of the host. Link-local addresses, where clouds serve credentials, and
    addresses that are no host are refused. The checked address is the one that is used, so a name
    can't change its address in between. Raise `DeliveryError` or OSError.
    """
    problem: OSError | None = None
    for family, _kind, protocol, _name, address in socket.getaddrinfo(host, port, type=kind):
        found = ip_address(str(address[0]).partition("%")[0])
        found = getattr(found, "ipv4_mapped", None) or found
        if found.is_link_local or found.is_multicast or found.is_unspecified:
            raise DeliveryError(f"{host} has the address {found}, which is not allowed")
        opened = socket.socket(family, kind, protocol)
        opened.settimeout(TIMEOUT)
        try:
            opened.connect(address)
        except OSError as error:
            opened.close()
            problem = error
        else:
            return opened
    raise problem or OSError(f"{host} has no address")


def _secured(plain: socket.socket, host: str) -> ssl.SSLSocket:
    try:
        return ssl.create_default_context().wrap_socket(plain, server_hostname=host)
    except BaseException:
        plain.close()
        raise


def send_webhook(records: Delivery) -> None:
    """POST the records as JSON. The signature is HMAC-SHA256 of the time, a dot and the body.
    Redirects and proxies are not used.
    """
    url = urlsplit(settings.AUDIT_WEBHOOK_URL)
    host, secure = url.hostname or "", url.scheme == "https"
    port = url.port or (443 if secure else 80)
    body = json.dumps({"records": records}).encode()
    connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT)
    plain = connect(host, port, socket.SOCK_STREAM)
    connection.sock = _secured(plain, host) if secure else plain
    try:
        path = f"{url.path or '/'}{'?' if url.query else ''}{url.query}"
        connection.request("POST", path, body, webhook_headers(body))
        response = connection.getresponse()
        response.read(1024)
    finally:
        connection.close()
    if not 200 <= response.status < 300:
        raise DeliveryError(f"the response status is {response.status}")


def webhook_headers(body: bytes) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "User-Agent": "Quarterdeck"}
    if not settings.AUDIT_WEBHOOK_SECRET:
        return headers
    stamp = str(int(time.time()))
    key, content = settings.AUDIT_WEBHOOK_SECRET.encode(), stamp.encode() + b"." + body
    signature = hmac.new(key, content, "sha256").hexdigest()
    return headers | {
        "X-Quarterdeck-Timestamp": stamp,
        "X-Quarterdeck-Signature": f"sha256={signature}",
    }


def send_syslog(records: Delivery) -> None:
    """Send the records as RFC 5424 messages: over TCP and TLS with octet counting (RFC 6587), over
    UDP in one datagram each.
    """
    url = urlsplit(settings.AUDIT_SYSLOG)
    host, port = url.hostname or "", url.port or PORTS[url.scheme]
    messages = [syslog_message(one) for one in records]
    if url.scheme == "udp":
        with connect(host, port, socket.SOCK_DGRAM) as udp:
            for message in messages:
                udp.send(message)
        return
    plain = connect(host, port, socket.SOCK_STREAM)
    with _secured(plain, host) if url.scheme == "tls" else plain as opened:
        opened.sendall(b"".join(b"%d %b" % (len(one), one) for one in messages))
        # Report an error of the server, which is the only acknowledgement.
        opened.shutdown(socket.SHUT_WR)


def syslog_message(record: dict[str, Any]) -> bytes:
    """Return a message whose text is the record as JSON, in ASCII."""
    severity = _WARNING if (record["code"] or 0) >= 400 else _INFO
    host = socket.gethostname()[:255] or "-"
    kind = "".join(c for c in record["verb"] if "!" <= c <= "~")[:32] or "-"
    header = f"<{_FACILITY * 8 + severity}>1 {record['time']} {host} quarterdeck - {kind} -"
    return f"{header} {json.dumps(record, ensure_ascii=True)}".encode()
