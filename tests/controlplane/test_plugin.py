"""Test runs on a machine without the requirements of a control plane or node."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

SUITE = """
from tests.controlplane.plugin import report_skipped

def test_real(control_plane): ...

def test_fresh(fresh_control_plane): ...

def test_other():
    report_skipped("browser tests", "Chromium is not installed")
"""


NODE = "def test_node(real_node): ..."


def run_without_go(folder: Path, suite: str, **environment: str) -> tuple[int, list[str]]:
    """Run pytest on `suite` with an empty cache and without programs in PATH."""
    (folder / "test_suite.py").write_text(suite)
    command = [sys.executable, "-m", "pytest", "-p", "tests.controlplane.plugin", "-rA"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)],
        cwd=folder,
        env={
            "PATH": "/nowhere",
            # Other plugins would print additional lines.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "HOME": str(folder),
            "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
            "QUARTERDECK_CACHE": str(folder / "cache"),
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


def test_the_summary_of_skipped_parts_is_printed_last(tmp_path: Path) -> None:
    code, lines = run_without_go(tmp_path, SUITE)
    assert code == 0
    assert "skipped on this machine" in lines[-4]
    cluster, browser = lines[-3:-1]
    assert re.fullmatch(
        "tests on a real control plane: cannot build etcd, .*, kwok: Go is not installed",
        cluster,
    )
    assert browser == "browser tests: Chromium is not installed"
    assert "1 passed, 2 skipped" in lines[-1]


def test_a_complete_run_prints_no_summary_of_skipped_parts(tmp_path: Path) -> None:
    code, lines = run_without_go(tmp_path, "def test_other(): ...")
    assert code == 0
    assert "skipped on this machine" not in "\n".join(lines)


def test_a_missing_required_control_plane_fails_the_run(tmp_path: Path) -> None:
    code, lines = run_without_go(tmp_path, SUITE, REQUIRE_REAL_CLUSTER="1")
    assert code == 1
    assert "REQUIRE_REAL_CLUSTER is set, but cannot build etcd" in "\n".join(lines)
    assert "1 passed, 2 errors" in lines[-1]


def test_the_reason_for_a_missing_node_is_printed(tmp_path: Path) -> None:
    code, lines = run_without_go(tmp_path, NODE)
    assert code == 0
    why = lines[-2]
    assert why.startswith("tests on a real node: ")
    assert ("not installed: containerd, " if os.geteuid() == 0 else "need Linux and root") in why
    assert "1 skipped" in lines[-1]


def test_a_missing_required_node_fails_the_run(tmp_path: Path) -> None:
    code, lines = run_without_go(tmp_path, NODE, REQUIRE_REAL_CLUSTER="1")
    assert code == 1
    assert "1 error" in lines[-1]
