"""The path of a request, as it came and as it goes on.

It is passed on as it was written, once every program on the way takes it for the same: kube-apiserver
reads it decoded, and others that are in between may take a step in it or decode it a second time.
"""

import re
from urllib.parse import unquote_to_bytes

from console.proxying.target import Target

#: What is ours on a host that is else its target's.
RESERVED = "/.quarterdeck/"
ENTER = f"{RESERVED}enter"
_STEPS = frozenset({b".", b".."})
#: Of RFC 3986's `pchar`, and the slash; browsers send a few others as they are.
_WRITTEN = re.compile(rb"/(?:[-A-Za-z0-9._~!$&'()*+,;=:@/\[\]|^`{}\"<>]|%[0-9A-Fa-f]{2})*")
_UNSEEN = re.compile(rb"[\x00-\x1f\x7f\\]")
_QUERY = re.compile(rb"[\x21-\x7e]*")


class BadPath(ValueError):
    """It means different things to different programs."""


def read_path(raw: bytes) -> str:
    """Raises `BadPath` for a step, encoded once or twice, for what is unseen, and for a backslash."""
    if not _WRITTEN.fullmatch(raw):
        raise BadPath
    found = raw
    for _ in range(3):
        if _UNSEEN.search(found) or not _STEPS.isdisjoint(found.split(b"/")):
            raise BadPath
        # A step may have parameters, which some take away first.
        if not _STEPS.isdisjoint(part.partition(b";")[0] for part in found.split(b"/")):
            raise BadPath
        found = unquote_to_bytes(found)
    return raw.decode("ascii")


def read_query(raw: bytes) -> str:
    if not _QUERY.fullmatch(raw) or b"#" in raw:
        raise BadPath
    return raw.decode("ascii")


def without_prefix(path: str, target: Target) -> str:
    """kube-apiserver writes the proxy's own path before addresses in pages; to their program it is
    nothing."""
    prefix = f"{target.path}/"
    return path.removeprefix(target.path) if path.startswith(prefix) else path
