"""A running console in front of a cluster with objects of hostile tenants."""

import os
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from io import StringIO

import pytest
from django.core.management import call_command

from devcluster.rbac import CLUSTER_ROLE_BINDINGS
from devcluster.server import DevCluster
from tests.browser.chromium import need_chromium
from tests.browser.console import PASSWORD, ROOT, answers
from tests.controlplane.waiting import eventually
from tests.hostile import world
from tests.rbac.objects import admins
from tests.support.ports import free_port

[ADMINS] = admins("admin")
ADMINS["metadata"] = {"name": "hostile-admins"}


@dataclass(frozen=True)
class Site:
    """A console at `url`, where `admin` can see everything in `cluster`."""

    url: str
    cluster: DevCluster


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    need_chromium("the crawl of a hostile world")
    folder = tmp_path_factory.mktemp("hostile")
    port = free_port()
    environment = {
        **os.environ,
        "KUBECONFIG": str(folder / "kubeconfig"),
        "SECRET_KEY": "hostile-world-" + "x" * 40,
        "BASE_URL": f"http://127.0.0.1:{port}",
        "STATE_DIR": str(folder),
    }
    manage = [sys.executable, str(ROOT / "manage.py")]
    with DevCluster(folder / "cluster") as cluster:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("QUARTERDECK_ADMIN_PASSWORD", PASSWORD)
            call_command(
                "install", "--kubeconfig", str(cluster.kubeconfig), "--out", environment["KUBECONFIG"],
                stdout=StringIO(),
            )  # fmt: skip
        # The controllers don't run, because they would change these objects.
        cluster.run(lambda parts: parts.ensure(CLUSTER_ROLE_BINDINGS, deepcopy(ADMINS)))
        cluster.run(world.define)
        cluster.run(world.fill)
        log = folder / "log.txt"
        with log.open("wb") as out:
            command = [*manage, "serve", "--host", "127.0.0.1", "--port", str(port)]
            process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=out, stderr=out)
            try:
                url = environment["BASE_URL"]
                eventually(lambda: answers(url + "/readyz"), "the console is ready", timeout=60)
                yield Site(url, cluster)
            finally:
                process.terminate()
                assert process.wait(timeout=20) == 0, log.read_text()[-4000:]
        assert "Traceback" not in log.read_text(), log.read_text()[-4000:]
