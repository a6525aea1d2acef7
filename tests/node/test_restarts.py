"""Restarted containers, and the information about them for users with different permissions."""

import html
import re
from collections.abc import Iterator

import pytest

from console.kube.gvr import EVENTS, PODS, Key
from console.kube.runtime import Runtime
from tests.contract.grants import rule
from tests.controlplane.waiting import eventually
from tests.logs.pages import shown
from tests.node.containers import run, status
from tests.node.node import RealNode, container, is_ready
from tests.node.users import Rights, console_of, decide, rights_of
from tests.support.responses import text_of
from tests.views.conftest import ClientAs, _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)

LOOKING = [rule("get list watch", "pods events")]
RIGHTS: Rights = {
    "ada": [rule("*", "*", "*")],
    "pam": [*LOOKING, rule("get", "pods/log")],
    "vic": LOOKING,
    "lee": [rule("get", "pods/log")],
}
PATH = "/clusters/host/projects/default/pods/probed"
#: Print the number of the run. The container is live and ready while these files exist.
SCRIPT = (
    "n=$(cat /data/n 2>/dev/null || echo 1); echo $((n+1)) >/data/n; "
    "touch /alive /ready; echo run $n; exec sleep infinity"
)
OFTEN = {"periodSeconds": 1, "failureThreshold": 2}
PROBED = container(
    "a",
    SCRIPT,
    volumeMounts=[{"name": "data", "mountPath": "/data"}],
    livenessProbe={"exec": {"command": ["test", "-e", "/alive"]}, **OFTEN},
    readinessProbe={"exec": {"command": ["test", "-e", "/ready"]}, **OFTEN},
)


@pytest.fixture(scope="module")
def console(real_node: RealNode) -> Iterator[Runtime]:
    with console_of(real_node, RIGHTS, [PODS, EVENTS]) as found:
        eventually(lambda: rights_of("lee").can("get", PODS, subresource="log"), "all may")
        yield found


@pytest.fixture(autouse=True)
def _people(monkeypatch: pytest.MonkeyPatch, console: Runtime) -> None:
    decide(monkeypatch, RIGHTS)


async def page(who: str, path: str = PATH, code: int = 200) -> str:
    """Return the text of the page without tags."""
    answer = await ClientAs()(who).get(path)
    text = await text_of(answer)
    assert answer.status_code == code, text
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text)))


def knows(console: Runtime, *, restarts: int, ready: bool) -> None:
    """Wait until the console has loaded this state."""

    def is_so() -> bool:
        entry = console.informer(PODS).store.get(Key("default", "probed"))
        assert entry is not None
        pod = entry.original()
        [told] = pod["status"]["containerStatuses"]
        return told["restartCount"] == restarts and is_ready(pod) is ready

    eventually(is_so, f"{restarts} restarts, ready: {ready}")


async def test_failed_probes_and_their_effects_are_shown(
    real_node: RealNode, console: Runtime
) -> None:
    volumes = [{"name": "data", "emptyDir": {}}]
    with real_node.pod("probed", PROBED, volumes=volumes):
        knows(console, restarts=0, ready=True)
        text = await page("pam")
        assert (
            "Liveness probe" in text
            and "Readiness probe" in text
            and "Last termination" not in text
        )
        run(real_node, "probed", "rm /ready")
        knows(console, restarts=0, ready=False)
        assert "Not ready" in await page("pam")
        run(real_node, "probed", "rm /alive")
        knows(console, restarts=1, ready=True)
        assert status(real_node, "probed", "a")["lastState"]["terminated"]["exitCode"] == 137
        for who in ("ada", "pam", "vic"):
            text = await page(who)
            assert "Last termination It was killed exit 137, Error" in text
            assert "Restarts 1" in text
        eventually(lambda: "Liveness probe failed" in events(console), "the kubelet's event")
        assert "Liveness probe failed" in await page("vic", f"{PATH}/events")
        for who in ("ada", "pam", "lee"):
            assert await lines(who, "/log") == ["run 2"]
            assert await lines(who, "/log?previous=1") == ["run 1"]
        assert "pods/log" in await page("vic", f"{PATH}/log", 403)
        assert "pods" in await page("lee", PATH, 403)


async def lines(who: str, path: str) -> list[str]:
    answer = await ClientAs()(who).get(f"{PATH}{path}")
    return shown(await text_of(answer))


def events(console: Runtime) -> str:
    told = console.informer(EVENTS).store.snapshot().entries.values()
    return str([entry.original() for entry in told])
