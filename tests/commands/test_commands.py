"""Management commands run from a shell: their output and exit codes."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from tests.controlplane.waiting import eventually
from tests.support.depth import fewer
from tests.support.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
READY = re.compile(r"^Quarterdeck is ready at (http://127\.0\.0\.1:\d+) \(admin / (\S+)\)$", re.M)

NO_SECRETS = ("short", "x" * 40, "django-insecure-0123456789abcdefghij")


@pytest.fixture
def port() -> int:
    return free_port()


def environment(folder: Path, **more: object) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, "STATE_DIR": str(folder), **{name: str(value) for name, value in more.items()}}


def run(*arguments: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        env=env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


class Demo:
    """A running `manage.py demo`, with its output in a file."""

    def __init__(self, folder: Path, port: int) -> None:
        self._output = folder.with_suffix(".log")
        with self._output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "demo"],
                env=environment(folder, PORT=port),
                cwd=ROOT,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            eventually(self.is_ready, "the ready line", timeout=90)
        except TimeoutError:
            self.end()
            raise AssertionError(self.output) from None

    @property
    def output(self) -> str:
        return self._output.read_text()

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.output
        return READY.search(self.output) is not None

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=30)


@pytest.fixture
def demo(tmp_path: Path, port: int) -> Iterator[Demo]:
    demo = Demo(tmp_path / "state", port)
    yield demo
    if demo.process.poll() is None:
        demo.end()


def sign_in(url: str, password: str) -> str:
    """Sign in without a browser and return the list of pods."""
    opener = build_opener(HTTPCookieProcessor(CookieJar()))
    form = opener.open(url + "/login", timeout=20).read().decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', form)
    assert token, form
    fields = {
        "username": "admin",
        "password": password,
        "csrfmiddlewaretoken": token[1],
        "next": "/clusters/host/pods",
    }
    request = Request(url + "/login", urlencode(fields).encode(), {"Origin": url})  # noqa: S310
    page: str = opener.open(request, timeout=20).read().decode()
    return page


def test_demo_keeps_its_data_and_leaves_no_process_running(demo: Demo, tmp_path: Path) -> None:
    ready = READY.search(demo.output)
    assert ready
    page = sign_in(ready[1], ready[2])
    assert 'data-resource="pods"' in page
    total = re.search(r'data-total="(\d+)"', page)
    assert total
    assert int(total[1]) > 50

    assert demo.end() == 0, demo.output
    assert "Traceback" not in demo.output
    with pytest.raises(ProcessLookupError):
        os.killpg(demo.process.pid, 0)

    again = Demo(tmp_path / "state", int(ready[1].rsplit(":", 1)[1]))
    try:
        assert 'data-resource="pods"' in sign_in(ready[1], ready[2])
    finally:
        assert again.end() == 0, again.output


def test_demo_refuses_a_port_in_use(port: int, settings: Settings) -> None:
    settings.PORT = port
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        with pytest.raises(CommandError, match=f"^Port {port} [^\n]*$"):
            call_command("demo")


@pytest.mark.deep
def test_demo_reports_a_port_in_use_in_one_line(tmp_path: Path, port: int) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        done = run("demo", env=environment(tmp_path / "state", PORT=port))
    assert done.returncode == 1
    assert done.stderr.strip().count("\n") == 0
    assert f"Port {port}" in done.stderr


@pytest.mark.parametrize("text", ["abc", "-1", "0", "70000", "٣"])
def test_demo_reports_an_invalid_port_in_one_line(tmp_path: Path, text: str) -> None:
    done = run("demo", env=environment(tmp_path / "state", PORT=text))
    assert done.returncode == 1
    assert done.stderr.strip().count("\n") == 0
    assert "PORT must be a number" in done.stderr


def test_demo_refuses_an_unwritable_folder(tmp_path: Path, port: int, settings: Settings) -> None:
    (tmp_path / "file").touch()
    settings.PORT, settings.STATE_DIR = port, tmp_path / "file" / "state"
    with pytest.raises(CommandError, match="^Cannot write to [^\n]*$"):
        call_command("demo")


@pytest.mark.parametrize("command", ["serve", "demo"])
def test_demo_requires_static_files(
    tmp_path: Path, port: int, settings: Settings, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """The check runs before the first file is written; the next step would fail in this test."""
    (tmp_path / "file").touch()
    settings.PORT, settings.STATE_DIR = port, tmp_path / "file" / "state"
    settings.STATIC_ROOT = tmp_path
    monkeypatch.setenv("SECRET_KEY", "0123456789abcdef" * 4)
    with pytest.raises(CommandError, match="collectstatic"):
        call_command(command)


@pytest.mark.deep
def test_demo_reports_an_unwritable_folder_in_one_line(tmp_path: Path, port: int) -> None:
    (tmp_path / "file").touch()
    done = run("demo", env=environment(tmp_path / "file" / "state", PORT=port))
    assert done.returncode == 1
    assert done.stderr.strip().count("\n") == 0
    assert "Cannot write to" in done.stderr


@pytest.mark.parametrize("command", fewer(["serve", "controllers", "doctor"], "serve"))
def test_missing_cluster_error_names_kubeconfig(tmp_path: Path, command: str) -> None:
    env = environment(tmp_path, SECRET_KEY="0123456789abcdef" * 4, HOME=tmp_path)
    done = run(command, env=env)
    assert done.returncode == 1
    assert done.stderr.strip().count("\n") == 0
    assert "set KUBECONFIG" in done.stderr


@pytest.mark.parametrize("command", ["controllers", "doctor"])
def test_missing_cluster_error_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Checked in-process, because starting an interpreter takes most of the time."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    with pytest.raises(CommandError, match="^[^\n]*set KUBECONFIG[^\n]*$"):
        call_command(command)


def readiness(url: str) -> tuple[int, list[str]] | None:
    """Return the status code and the informers waited for, or None if the server does not respond."""
    try:
        with build_opener().open(f"{url}/readyz", timeout=20) as answer:
            return answer.status, json.load(answer)["waiting_for"]
    except HTTPError as error:
        return error.code, json.load(error)["waiting_for"]
    except URLError:
        return None


def test_readiness_fails_until_the_required_informers_are_synced(tmp_path: Path, port: int) -> None:
    """A load balancer sends no requests to a replica on which users cannot sign in."""
    names = ("reader", "impersonator", "console")
    config = {
        "clusters": [{"name": "gone", "cluster": {"server": f"http://127.0.0.1:{free_port()}"}}],
        "users": [{"name": name, "user": {"token": name}} for name in names],
        "contexts": [{"name": one, "context": {"cluster": "gone", "user": one}} for one in names],
        "current-context": "reader",
    }
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(json.dumps(config))
    env = environment(tmp_path, SECRET_KEY="0123456789abcdef" * 4, KUBECONFIG=kubeconfig)
    command = [sys.executable, "manage.py", "serve", "--host", "127.0.0.1", "--port", str(port)]
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=env, cwd=ROOT, stdout=output, stderr=output)

    def answers() -> bool:
        assert process.poll() is None, log.read_text()
        return readiness(f"http://127.0.0.1:{port}") is not None

    try:
        eventually(answers, "it answers", timeout=60)
        found = readiness(f"http://127.0.0.1:{port}")
        assert found is not None and found[0] == 503
        needed = {"users.iam.kubesphere.io", "clusterrolebindings.rbac.authorization.k8s.io"}
        assert needed | {"globalroles.iam.kubesphere.io", "namespaces", "pods"} <= {*found[1]}
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.mark.parametrize("secret", NO_SECRETS)
def test_invalid_secret_key_is_refused(monkeypatch: pytest.MonkeyPatch, secret: str) -> None:
    monkeypatch.setenv("SECRET_KEY", secret)
    with pytest.raises(CommandError, match="SECRET_KEY"):
        call_command("serve")


@pytest.mark.deep
@pytest.mark.parametrize("secret", NO_SECRETS)
def test_serve_requires_a_secret_key(tmp_path: Path, secret: str) -> None:
    done = run("serve", env=environment(tmp_path, SECRET_KEY=secret))
    assert done.returncode == 1
    assert "SECRET_KEY" in done.stderr
