"""Objects nested deeper than parsers support, which a custom resource with a permissive schema may
contain. Other inputs of decoders are tested per kind with its fixture.
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
    """Return True for types decoded with `console.kube.projections.common`."""
    try:
        return isinstance(DECODERS[gvr](BARE)[0], Projection)
    except msgspec.DecodeError:
        return False


OF_TWO_PARTS = [gvr for gvr in sorted(DECODERS) if of_two_parts(gvr)]


@pytest.mark.parametrize("gvr", OF_TWO_PARTS, ids=lambda gvr: gvr.qualified)
def test_excessive_nesting_is_refused(gvr: GVR) -> None:
    with pytest.raises(msgspec.DecodeError):
        DECODERS[gvr](DEEP)


def test_most_kinds_are_covered() -> None:
    assert len(OF_TWO_PARTS) > 30
