"""The sample cluster of `manage.py demo`, without churn."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.browser.console import ROOT, answers
from tests.controlplane.waiting import eventually
from tests.support.ports import free_port

#: The password of every demo user.
PASSWORD = "P@88w0rd"


#: The command of the checkout.
CHECKOUT = (sys.executable, str(ROOT / "manage.py"))


@contextmanager
def demonstrated(
    folder: Path, program: Sequence[str] = CHECKOUT, cwd: Path = ROOT
) -> Iterator[str]:
    """Run the demo with its state in `folder` and yield its URL. Check that SIGTERM ends it."""
    port = free_port()
    environment = {**os.environ, "PORT": str(port), "STATE_DIR": str(folder)}
    url, log = f"http://127.0.0.1:{port}", folder / "log.txt"
    with log.open("wb") as file:
        command = [*program, "demo", "--churn=0"]
        process = subprocess.Popen(command, env=environment, cwd=cwd, stdout=file, stderr=file)
        try:
            eventually(lambda: "is ready at" in log.read_text(), "the demo is ready", timeout=120)
            eventually(lambda: answers(url + "/readyz"), "it answers", timeout=60)
            yield url
        finally:
            process.terminate()
            process.wait(timeout=30)
    assert process.returncode == 0, process.returncode
    assert "Traceback" not in log.read_text(), log.read_text()[-4000:]
