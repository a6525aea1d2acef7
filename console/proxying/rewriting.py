"""Remove the path prefix that kube-apiserver adds to URLs in HTML pages.

kube-apiserver prepends the proxy's path to each URL that starts with a slash, for pages that are
opened on its own host. Here each program has its own host, so the original URLs are correct.
https://github.com/kubernetes/apimachinery/blob/master/pkg/util/proxy/transport.go
"""

from collections.abc import AsyncIterator

from console.proxying.target import ProxyTarget

HTML = "text/html"


def is_rewritten(content_type: str, encoding: str) -> bool:
    """Return True if kube-apiserver rewrites this content. Compressed content isn't handled."""
    return content_type.partition(";")[0].strip() == HTML and not encoding


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
