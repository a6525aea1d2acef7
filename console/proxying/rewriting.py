"""Pages as their program wrote them: without the prefix that kube-apiserver puts before addresses.

It writes its own path before each address in HTML that begins with a slash, for whoever opens the page at
kube-apiserver. Here each program has a host of its own, and its addresses are right as they are.
https://github.com/kubernetes/apimachinery/blob/master/pkg/util/proxy/transport.go
"""

from collections.abc import AsyncIterator

from console.proxying.target import Target

HTML = "text/html"


def is_rewritten(content_type: str, encoding: str) -> bool:
    """As kube-apiserver decides it, of what is not compressed."""
    return content_type.partition(";")[0].strip() == HTML and not encoding


async def unprefixed(content: AsyncIterator[bytes], target: Target) -> AsyncIterator[bytes]:
    """As it comes; what may be the beginning of the prefix waits for the rest of it."""
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
    """How many bytes at its end are the beginning of the prefix."""
    for size in range(min(len(prefix) - 1, len(text)), 0, -1):
        if prefix.startswith(text[-size:]):
            return size
    return 0
