"""Removing the proxy prefix from URLs in pages that arrive in arbitrary chunks."""

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.kube.gvr import PODS, Key
from console.proxying.paths import is_rewritten, without_prefixes
from console.proxying.target import ProxyTarget

WEB = ProxyTarget(PODS, Key("a", "b"), 80)
PREFIX = WEB.path.encode()


async def pieces(*texts: bytes) -> AsyncIterator[bytes]:
    for text in texts:
        yield text


async def rewritten(*texts: bytes) -> bytes:
    return b"".join([piece async for piece in without_prefixes(pieces(*texts), WEB)])


async def test_proxy_prefix_is_removed() -> None:
    page = b'<a href="%s/x?y">z</a> <img src="%s/">' % (PREFIX, PREFIX)
    assert await rewritten(page) == b'<a href="/x?y">z</a> <img src="/">'


@given(
    st.lists(st.sampled_from([PREFIX + b"/", PREFIX, PREFIX[:5], b"/", b"x", b"/api"])),
    st.lists(st.integers(1, 20)),
)
async def test_rewriting_does_not_depend_on_chunk_boundaries(
    parts: list[bytes], sizes: list[int]
) -> None:
    whole, cut, at = b"".join(parts), [], 0
    for size in sizes:
        cut.append(whole[at : at + size])
        at += size
    assert await rewritten(*cut, whole[at:]) == await rewritten(whole)
    assert await rewritten(whole) == whole.replace(PREFIX + b"/", b"/")


@pytest.mark.parametrize(
    ("kind", "encoding", "found"),
    [
        ("text/html", "", True),
        ("text/html; charset=utf-8", "", True),
        ("text/html", "gzip", False),
        ("text/plain", "", False),
        ("application/javascript", "", False),
        ("", "", False),
    ],
)
def test_only_uncompressed_html_is_rewritten(kind: str, encoding: str, found: bool) -> None:
    assert is_rewritten(kind, encoding) is found
