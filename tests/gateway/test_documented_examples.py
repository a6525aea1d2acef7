"""The examples in docs/api.md work."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.console import kubectl_program
from tests.gateway.demo import Demo

pytestmark = pytest.mark.programs

DOCUMENT = Path(__file__).parents[2] / "docs" / "api.md"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
HOST = "https://console.example.com"


def blocks(language: str) -> list[str]:
    return [code for name, code in _BLOCK.findall(DOCUMENT.read_text()) if name == language]


def commands(program: str) -> list[str]:
    lines = (line for code in blocks("console") for line in code.splitlines())
    return [line[2:] for line in lines if line.startswith(f"$ {program} ")]


def run(demo: Demo, command: list[str], **environment: str) -> str:
    home = {"HOME": str(demo.folder), "TOKEN": demo.token("alice")}
    done = subprocess.run(
        command,
        env={**os.environ, **home, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("command", commands("curl"))
def test_curl_examples(demo: Demo, command: str) -> None:
    # A watch ends after a second.
    here = command.replace(HOST, demo.url).replace("watch=true", "watch=true&timeoutSeconds=1")
    assert "fraud-scorer" in run(demo, ["sh", "-c", f"{here} --fail"])


@pytest.mark.parametrize("command", commands("kubectl"))
def test_kubectl_examples(demo: Demo, command: str) -> None:
    path = str(Path(kubectl_program()).parent)
    here = command.replace(" --watch", "").replace("exec -it", "exec")
    run(
        demo,
        ["sh", "-c", f"{here} </dev/null"],
        PATH=f"{path}:{os.environ['PATH']}",
        KUBECONFIG=str(demo.kubeconfig("alice")),
    )


@pytest.mark.parametrize(
    ("code", "printed"),
    [*zip(blocks("python"), ["payments-db-0 Running", "exceeded its memory limit"], strict=True)],
)
def test_python_examples(demo: Demo, code: str, printed: str) -> None:
    assert printed in run(demo, [sys.executable, "-c", code.replace(HOST, demo.url)])


def test_the_terraform_example_is_formatted(demo: Demo) -> None:
    """Applying it needs the provider, which terraform downloads from its own registry."""
    program = shutil.which("terraform")
    if program is None:
        pytest.skip("terraform is not installed")
    (code,) = blocks("hcl")
    path = demo.folder / "main.tf"
    path.write_text(code)
    run(demo, [program, "fmt", "-check", str(path)], TF_CLI_CONFIG_FILE=os.devnull)
