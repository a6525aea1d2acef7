"""The builder, tested with a fake `go` command."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.controlplane.build import OLD, TOOLS, find, tools_folder, version_of
from tests.controlplane.waiting import eventually

ROOT = Path(__file__).parents[2]

# Records the call, waits for permission to continue, and creates the programs.
PRETENDER = """#!/bin/sh
echo call >> "$SCENE/calls"
while [ ! -e "$SCENE/go-on" ]; do read -r _ < "$SCENE/gate"; done
[ -e "$SCENE/broken" ] && { echo "main.go:1: syntax error"; echo; exit 1; }
while [ "$1" != "-o" ]; do shift; done
into=$2; mkdir "$into"; shift 2
for one; do
  # The binary is named after the last path element that is not a version.
  one=${one%/v[0-9]}; made=$into${one##*/}; echo program > "$made"; chmod +x "$made"
done
"""


class Scene:
    """A folder with a fake go command and a cache, and builders that use only these."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.assets = folder / "assets"
        go = folder / "bin" / "go"
        go.parent.mkdir()
        go.write_text(PRETENDER)
        go.chmod(0o755)
        os.mkfifo(folder / "gate")
        (folder / "go-on").touch()

    def builder(self, *names: str, path: str | None = None) -> subprocess.Popen[str]:
        environment = {
            "HOME": str(self.folder),
            "SCENE": str(self.folder),
            "QUARTERDECK_CACHE": str(self.cache),
            "KUBEBUILDER_ASSETS": str(self.assets),
            "PATH": path or f"{self.folder / 'bin'}:/usr/bin:/bin",
        }
        return subprocess.Popen(
            [sys.executable, "-m", "tests.controlplane.build", *names],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def build(self, *names: str, path: str | None = None) -> tuple[int, str, str]:
        process = self.builder(*names, path=path)
        output, errors = process.communicate(timeout=30)
        return process.returncode, output, errors

    @property
    def calls(self) -> int:
        log = self.folder / "calls"
        return len(log.read_text().splitlines()) if log.exists() else 0

    def built(self) -> list[Path]:
        return [path for path in self.cache.glob("*/*/*") if os.access(path, os.X_OK)]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_a_program_is_built_only_once(scene: Scene) -> None:
    code, output, _ = scene.build("etcd")
    assert (code, scene.calls) == (0, 1)
    assert re.search(r"building etcd \.\.\. \d+ s\n", output)
    code, output, _ = scene.build("etcd")
    assert (code, scene.calls) == (0, 1)
    assert "building" not in output


def test_missing_programs_are_built_in_one_command(scene: Scene) -> None:
    assert scene.build("kubectl")[0] == 0
    code, output, _ = scene.build("kubectl", "etcd", "kubelet", "kube-scheduler")
    assert (code, scene.calls) == (0, 2)
    assert re.search(r"building etcd, kubelet, kube-scheduler \.\.\. \d+ s\n", output)
    names = {"kubectl", "etcd", "kubelet", "kube-scheduler"}
    assert {path.name for path in scene.built()} == names


def test_concurrent_builders_build_a_program_once(scene: Scene) -> None:
    (scene.folder / "go-on").unlink()
    first = scene.builder("kubectl")
    eventually(lambda: scene.calls == 1, "the first builder calls go")
    second = scene.builder("kubectl")
    assert second.stdout is not None
    assert "waiting for another build" in second.stdout.readline()
    assert scene.built() == []
    (scene.folder / "go-on").touch()
    (scene.folder / "gate").write_text("go on\n")
    assert [first.communicate(timeout=30)[1], second.communicate(timeout=30)[1]] == ["", ""]
    assert scene.calls == 1
    assert [path.name for path in scene.built()] == ["kubectl"]


def test_a_failed_build_prints_one_line_and_creates_no_program(scene: Scene) -> None:
    (scene.folder / "broken").touch()
    code, _, errors = scene.build("kwok")
    assert code == 1
    assert errors.strip().startswith("cannot build kwok: main.go:1: syntax error")
    assert len(errors.strip().splitlines()) == 1
    assert scene.built() == []


def test_a_missing_go_command_is_reported(scene: Scene) -> None:
    code, _, errors = scene.build("etcd", path="/nowhere")
    assert code == 1
    assert errors.strip() == "cannot build etcd: Go is not installed"


def test_an_unwritable_cache_is_reported(scene: Scene) -> None:
    scene.cache.write_text("not a folder")
    code, _, errors = scene.build("etcd")
    assert code == 1
    assert "cannot create the cache folder" in errors


def test_an_unknown_program_name_is_reported(scene: Scene) -> None:
    code, _, errors = scene.build("etcdd")
    assert code == 2
    assert errors.startswith("unknown program: etcdd; available: etcd ")


def test_kubebuilder_assets_take_precedence_over_the_cache(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.assets.mkdir()
    program = scene.assets / "etcd"
    program.touch(mode=0o755)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(scene.assets))
    monkeypatch.setenv("QUARTERDECK_CACHE", str(scene.cache))
    assert find("etcd") == program
    assert find("kubectl") is None


@pytest.mark.parametrize("module", ["", OLD])
def test_staging_modules_match_the_pinned_kubernetes_version(module: str) -> None:
    minor_and_patch = version_of(TOOLS[f"kube-apiserver{module}"]).removeprefix("v1.")
    text = (tools_folder(module) / "go.mod").read_text()
    replaced = set(re.findall(r"=> k8s\.io/\S+ (v\S+)", text))
    assert replaced == {f"v0.{minor_and_patch}"}
