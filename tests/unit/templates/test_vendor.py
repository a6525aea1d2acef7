"""Third-party files: unmodified, licensed and used."""

import importlib.util
import json
import re
import shutil
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from console.templatetags.symbols import ICONS
from console.ui.core.menu import menu
from tests.controlplane.plugin import report_skipped
from tests.support import npm
from tests.unit.templates.files import ALL, ROOT, STATIC, source

VENDOR = STATIC / "vendor"


@pytest.fixture(scope="module")
def vendor() -> ModuleType:
    spec = importlib.util.spec_from_file_location("vendor", ROOT / "scripts" / "vendor.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_files_match_the_manifest(vendor: ModuleType) -> None:
    assert vendor.problems_in(VENDOR) == []


def test_check_detects_each_kind_of_difference(vendor: ModuleType, tmp_path: Path) -> None:
    copy = tmp_path / "vendor"
    shutil.copytree(VENDOR, copy)
    (copy / "htmx" / "htmx.min.js").write_text("")
    (copy / "lucide" / "icons.svg").unlink()
    (copy / "stranger.js").write_text("")
    assert vendor.problems_in(copy) == [
        "lucide/icons.svg is missing",
        "stranger.js is not in the manifest",
        "htmx/htmx.min.js was changed",
    ]
    shutil.rmtree(copy)
    assert "is missing" in vendor.problems_in(copy)[0]


def test_each_package_has_a_license_file() -> None:
    entries = json.loads((VENDOR / "manifest.json").read_text())["files"]
    folders = {entry["file"].partition("/")[0] for entry in entries}
    for folder in folders:
        assert (VENDOR / folder / "LICENSE").stat().st_size > 200
    assert {entry["licence"] for entry in entries} <= {"0BSD", "ISC", "MIT", "OFL-1.1"}


def test_manifest_matches_the_pinned_versions() -> None:
    plan = tomllib.loads((ROOT / "scripts" / "vendor.toml").read_text())
    pinned = {package["name"]: package["version"] for package in plan["package"]}
    for entry in json.loads((VENDOR / "manifest.json").read_text())["files"]:
        assert entry["version"] == pinned.get(entry["package"], entry["version"])


@pytest.mark.programs
def test_bundles_are_reproducible(vendor: ModuleType, tmp_path: Path) -> None:
    plan = tomllib.loads((ROOT / "scripts" / "vendor.toml").read_text())
    try:
        folder = npm.installed(ROOT / plan["bundles"], "frontend")
    except npm.Missing as error:
        report_skipped("the bundles of the editor and the terminal, made anew", str(error))
        pytest.skip(str(error))
    for spec in plan["bundle"]:
        for made in vendor.bundle(spec, folder, tmp_path):
            file = made["file"]
            assert (tmp_path / file).read_bytes() == (VENDOR / file).read_bytes()


def test_every_package_of_the_bundles_is_pinned() -> None:
    lock = json.loads((ROOT / "frontend" / "package-lock.json").read_text())
    packages = [one for path, one in lock["packages"].items() if path]
    assert len(packages) > 20
    for package in packages:
        assert package["resolved"].startswith("https://registry.npmjs.org/")
        assert package["integrity"].startswith("sha512-")


def test_icons_are_exactly_those_used_in_templates() -> None:
    named = {
        icon
        for template in ALL
        for icon in re.findall(r'ui/_icon\.html"(?: with)? name="([\w-]+)"', source(template))
    }
    named |= {entry.icon for rail in menu().levels.values() for entry in rail}
    assert named == {*ICONS}
