"""Objects that nobody writes by hand: nested deeper than any parser goes.

A custom resource may be, if its schema allows anything somewhere. What else decoders take is tested
for each kind over its fixture.
"""

import msgspec
import pytest

from console.kube.gvr import GVR
from console.kube.projections import DECODERS
from console.kube.projections.common import Projection
from tests.kube.projecting import META

BARE = msgspec.json.encode({"metadata": META})
DEEP = b'{"metadata":{"name":"x"},"other":' + b"[" * 5000 + b"]" * 5000 + b"}"


def of_two_parts(gvr: GVR) -> bool:
    """True for the kinds that are put together by `console.kube.projections.common`."""
    try:
        return isinstance(DECODERS[gvr](BARE)[0], Projection)
    except msgspec.DecodeError:
        return False


OF_TWO_PARTS = [gvr for gvr in sorted(DECODERS) if of_two_parts(gvr)]


@pytest.mark.parametrize("gvr", OF_TWO_PARTS, ids=lambda gvr: gvr.qualified)
def it_refuses_what_is_nested_without_end(gvr: GVR) -> None:
    with pytest.raises(msgspec.DecodeError):
        DECODERS[gvr](DEEP)


def test_most_kinds_are_covered() -> None:
    assert len(OF_TWO_PARTS) > 30
