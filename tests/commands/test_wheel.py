"""The wheel: what it contains, and `quarterdeck demo` in an environment of its own."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import urllib3

from tests.browser.console import ROOT
from tests.support.demo import demonstrated

pytestmark = pytest.mark.programs

_UV = Path(sys.executable).parent / "uv"


def uv(*arguments: object) -> None:
    """Run uv without network: packages come from the cache that `scripts/setup.sh` filled. If that
    used pip, they are downloaded.
    """
    for options in (("--offline",), ()):
        command = [str(_UV), *options, "--quiet", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
    raise AssertionError(done.stderr)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    [found] = folder.iterdir()
    return found


def test_the_only_installed_package_is_quarterdeck(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"quarterdeck"}
    folders = {name.split("/")[2] for name in names if name.startswith("quarterdeck/app/")}
    assert not folders & {"tests", "bench", "docs"}
    assert not [name for name in names if name.endswith(".pyc") or "__pycache__" in name]


@pytest.mark.skipif(not _UV.exists(), reason="uv is not installed, see scripts/setup.sh")
def test_the_demo_runs_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    """In a new environment with the locked versions, without network, in an empty folder."""
    environment, folder = tmp_path / "environment", tmp_path / "empty"
    folder.mkdir()
    uv("venv", "--python", sys.executable, environment)
    install = ("pip", "install", "--python", environment)
    uv(*install, "--require-hashes", "-r", ROOT / "requirements" / "base.txt")
    uv(*install, "--no-deps", wheel)
    command = [str(environment / "bin" / "quarterdeck")]
    with demonstrated(folder, command, cwd=folder) as url:
        answer = urllib3.request("GET", f"{url}/login", headers={"Accept-Language": "zh-CN"})
        page = answer.data.decode()
        assert "登录" in page
        found = re.search(r'href="(/static/[^"]+\.css)"', page)
        assert found, page
        assert "immutable" in urllib3.request("GET", url + found[1]).headers["Cache-Control"]
