"""A new kind consists of a declaration, a projection, a fixture, its translations and a permission
in the reader's manifest.

The test adds an unknown type to a copy of the console and runs the contract tests there in a
separate process.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.programs

ROOT = Path(__file__).parents[2]
#: Files that the copy must not share with the tested console.
COPIED = ("console", "tests")
#: Minimum number of contract tests per kind.
ENOUGH = 20

PROJECTION = '''
"""Sails."""

import msgspec

from console.kube.gvr import GVR
from console.kube.projections.common import Object, Projection, basics, decoder
from console.kube.status import Severity, Status

SAILS = GVR("rigging.example.com", "v1", "sails")


class Sail(Projection, frozen=True, gc=False):
    status: Status
    area: int


class _Spec(msgspec.Struct, gc=False):
    area: int | None = None


class _Sail(Object, gc=False):
    spec: _Spec | None = None


def _project(value: _Sail) -> Sail:
    return Sail(
        **basics(value.metadata),
        status=Status(Severity.OK, "Active"),
        area=(value.spec or _Spec()).area or 0,
    )


DECODERS = {SAILS: decoder(_Sail, _project)}
'''

DECLARATION = '''
"""Sails."""

from console.kube.projections.sail import SAILS, Sail
from console.ui import lists
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register


@register
class SailKind(ResourceKind):
    gvr, scope, nav = SAILS, Scope.NAMESPACED, Nav("custom", 10)
    projection = Sail
    title, singular, nouns = "Sails", "sail", "sails"
    columns = (
        lists.NameColumn(),
        lists.NamespaceColumn(),
        lists.StatusColumn(),
        lists.NumberColumn(id="area", label="Area"),
        lists.AgeColumn(),
    )
    actions = (Delete(),)
'''

#: The contract renders its pages in Chinese, and the catalog has no translations for it.
SPOKEN = DECLARATION.replace('"Sails", "sail", "sails"', '"帆", "帆", "帆"').replace(
    '"Area"', '"面积"'
)

#: Parts of the declaration that need no projection.
ALONE = (
    DECLARATION.replace(
        "console.kube.projections.sail import SAILS, Sail", "console.kube.gvr import GVR"
    )
    .replace("SAILS,", 'GVR("rigging.example.com", "v1", "sails"),')
    .replace("projection = Sail", "projection = object")
)

FIXTURE = """
metadata: {name: jib, namespace: shop, uid: s-1, labels: {mast: fore}}
spec: {area: 12}
---
metadata: {name: spanker, namespace: shop, uid: s-2, labels: null}
spec: {area: null}
---
metadata: {name: topsail, namespace: team-a, uid: s-3}
"""


def _copy(to: Path) -> None:
    for path in ROOT.iterdir():
        if path.name in COPIED:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(path, to / path.name, ignore=ignored)
        elif not path.name.startswith(".git"):
            (to / path.name).symlink_to(path)


def _contract(root: Path, only: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "pytest", "tests/kinds", "-q", "-p", "no:cacheprovider"]
    command += ["-k", only]
    environment = {**os.environ, "PYTHONPATH": str(root), "DATABASE_URL": "sqlite://:memory:"}
    return subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=300
    )


def test_declaration_projection_and_fixture_define_a_kind(tmp_path: Path) -> None:
    _copy(tmp_path)
    (tmp_path / "console/kube/projections/sail.py").write_text(PROJECTION)
    (tmp_path / "console/kinds/sails.py").write_text(SPOKEN)
    (tmp_path / "tests/kinds/fixtures/sails.yaml").write_text(FIXTURE)
    done = _contract(
        tmp_path, "(sails or every_kind_has_a_fixture) and not kind_has_everything_it_needs"
    )
    passed = re.search(r"^([0-9]+) passed, [0-9]+ deselected", done.stdout, re.MULTILINE)
    assert passed is not None, done.stdout
    assert int(passed[1]) >= ENOUGH


def test_missing_parts_of_a_kind_are_reported_with_their_files(tmp_path: Path) -> None:
    _copy(tmp_path)
    (tmp_path / "console/kinds/sails.py").write_text(ALONE)
    said = _contract(tmp_path, "kind_has_everything_it_needs").stdout
    assert "1 failed" in said
    for file in (
        "console/kube/projections",
        "manifests/reader.yaml",
        "devcluster/sample/addons.py",
        "tests/kinds/fixtures: there is no sails.yaml",
        "locale/zh_Hans/LC_MESSAGES/django.po: Sails, sail, sails",
    ):
        assert file in said
