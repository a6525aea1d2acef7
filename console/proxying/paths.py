"""Paths of requests, and the path prefix that kube-apiserver adds to URLs in HTML pages.

A path is validated before it is forwarded unchanged, because all programs on the way must
interpret it identically. kube-apiserver decodes it, and proxies in between may resolve dot
segments or decode it a second time.

kube-apiserver prepends the proxy's path to each URL that starts with a slash, for pages that are
opened on its own host. Here each program has its own host, so the original URLs are correct.
https://github.com/kubernetes/apimachinery/blob/master/pkg/util/proxy/transport.go
"""

import re
from collections.abc import AsyncIterator
from urllib.parse import unquote_to_bytes

from console.proxying.target import ProxyTarget

#: Path prefix that the console reserves on the host of an open port.
RESERVED = "/.quarterdeck/"
ENTER = f"{RESERVED}enter"
_STEPS = frozenset({b".", b".."})
#: `pchar` of RFC 3986, the slash, and other characters that browsers don't encode.
_WRITTEN = re.compile(rb"/(?:[-A-Za-z0-9._~!$&'()*+,;=:@/\[\]|^`{}\"<>]|%[0-9A-Fa-f]{2})*")
_UNSEEN = re.compile(rb"[\x00-\x1f\x7f\\]")
_QUERY = re.compile(rb"[\x21-\x7e]*")


class BadPath(ValueError):
    """Raised for a path that programs can interpret differently."""


def read_path(raw: bytes) -> str:
    """Return the path. Raise `BadPath` for dot segments (also encoded once or twice), control
    characters and backslashes.
    """
    if not _WRITTEN.fullmatch(raw):
        raise BadPath
    found = raw
    for _ in range(3):
        if _UNSEEN.search(found) or not _STEPS.isdisjoint(found.split(b"/")):
            raise BadPath
        # A dot segment can have parameters, which some programs strip first.
        if not _STEPS.isdisjoint(part.partition(b";")[0] for part in found.split(b"/")):
            raise BadPath
        found = unquote_to_bytes(found)
    return raw.decode("ascii")


def read_query(raw: bytes) -> str:
    if not _QUERY.fullmatch(raw) or b"#" in raw:
        raise BadPath
    return raw.decode("ascii")


def without_prefix(path: str, target: ProxyTarget) -> str:
    """Remove the proxy's path, which kube-apiserver prepends to URLs in pages."""
    prefix = f"{target.path}/"
    return path.removeprefix(target.path) if path.startswith(prefix) else path


def is_rewritten(content_type: str, encoding: str) -> bool:
    """Return True if kube-apiserver rewrites this content. Compressed content isn't handled."""
    return content_type.partition(";")[0].strip() == "text/html" and not encoding


async def without_prefixes(
    content: AsyncIterator[bytes], target: ProxyTarget
) -> AsyncIterator[bytes]:
    """Yield the content without the prefix. A possible partial prefix at the end of a chunk is held
    back.
    """
    prefix = f"{target.path}/".encode()
    rest = b""
    async for piece in content:
        *whole, rest = (rest + piece).split(prefix)
        kept = _begun(rest, prefix)
        ready = b"/".join((*whole, rest[: len(rest) - kept]))
        rest = rest[len(rest) - kept :]
        if ready:
            yield ready
    if rest:
        yield rest


def _begun(text: bytes, prefix: bytes) -> int:
    """Return the number of bytes at the end of `text` that can be the start of the prefix."""
    for size in range(min(len(prefix) - 1, len(text)), 0, -1):
        if prefix.startswith(text[-size:]):
            return size
    return 0
