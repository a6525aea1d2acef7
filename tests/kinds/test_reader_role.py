"""The reader may list what kinds are made of, and its manifest says so."""

from accounts.bootstrap import MANIFESTS
from console.kube.private import PRIVATE
from console.kube.projections import DECODERS
from console.kube.readerrole import reader_role
from console.ui.registry import kinds


def test_the_manifest_is_what_the_kinds_make_of_it() -> None:
    written = (MANIFESTS / "reader.yaml").read_text(encoding="utf-8")
    assert written == reader_role(), "Run `manage.py readerrole`"


def test_the_cache_knows_every_kind_that_is_not_read_as_the_viewer() -> None:
    assert [kind.segment for kind in kinds if kind.gvr not in {**DECODERS, **PRIVATE}] == []
