"""Logs of real containers on a node whose kubelet and kube-apiserver restart."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager

import pytest

from console.kube.gvr import NAMESPACES, PODS, Key
from console.kube.runtime import Runtime
from console.ui.core.clusters import clusters
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.controlplane.waiting import eventually
from tests.depth import number
from tests.kube.clusters import live
from tests.logs.conftest import binding
from tests.logs.test_following import Browser, following
from tests.logs.test_page import get, shown
from tests.node.node import RealNode, container
from tests.node.test_node import restarted

pytestmark = pytest.mark.django_db(transaction=True)

#: Writes about a thousand numbers per second, ten at a time, because each sleep starts a process.
TEN = "for j in 0 1 2 3 4 5 6 7 8 9; do echo line $i; i=$((i+1)); done"
COUNTS = f"i=0; while :; do {TEN}; usleep 8000; done"
#: Exits within milliseconds, the given number of times, with the given number of lines each time.
RUNS, EACH = 6, 5
CRASHES = (
    "n=$(cat /data/n 2>/dev/null || echo 0); echo $((n+1)) >/data/n; "
    f"i=0; while [ $i -lt {EACH} ]; do echo line $((n*{EACH}+i)); i=$((i+1)); done; "
    f"test $n -ge {RUNS - 1} && exec sleep infinity; exit 3"
)


@pytest.fixture(scope="module")
def console(real_node: RealNode) -> Iterator[Runtime]:
    cluster = real_node.cluster
    kind = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding"}
    admins = {**kind, **binding("logs-admins", "cluster-admin", "admin")}
    done = cluster.kubectl("create", "-f", "-", input=json.dumps(admins))
    assert done.returncode == 0, done.stderr
    runtime = Runtime(kubeconfig=str(cluster.kubeconfig))
    runtime.start()
    try:
        runtime.require([NAMESPACES, PODS])
        eventually(lambda: live(runtime.informer(PODS)), "pods are known")
        set_host_cluster(runtime)
        yield runtime
    finally:
        unset_host_cluster()
        runtime.stop()
        cluster.kubectl("delete", "clusterrolebinding", "logs-admins")


def path(name: str) -> str:
    """Return the path of a pod's log after the console received the pod."""
    pods = clusters.host.runtime.informer(PODS).store
    eventually(lambda: pods.get(Key("default", name)), f"{name} is known")
    return f"/clusters/host/projects/default/pods/{name}/log"


def numbers(browser: Browser) -> list[int]:
    return [int(text.removeprefix("line ")) for _, text in browser.lines]


@pytest.mark.usefixtures("console")
async def test_no_line_is_lost_or_repeated_across_cluster_restarts(
    real_node: RealNode,
) -> None:
    with real_node.pod("counts", container("a", COUNTS)):
        async with following(Browser(f"{path('counts')}?tail=10")) as browser:
            await browser.until(500)
            real_node.kubelet.kill()
            real_node.start_kubelet()
            await browser.until(len(browser.lines) + 2000)
            real_node.cluster.kill()
            real_node.cluster.restart()
            await browser.until(len(browser.lines) + 2000)
        found = numbers(browser)
        assert found == list(range(found[0], found[0] + len(found)))
        assert not any("missing" in note for note in browser.notes)


@pytest.mark.usefixtures("console")
async def test_each_run_of_a_fast_crash_loop_is_read_once(real_node: RealNode) -> None:
    """Several pods, so that logs are opened at different moments of the first runs, each from the
    run that the pod status reports. On a busy machine, the log file of a run may be deleted
    before it is requested, or the kubelet may be a run ahead of the pod status. Then missing
    lines are reported, at the latest ten seconds after the status reports the last run.
    """
    names = [f"crash-{at}" for at in range(number(3, 6))]
    async with AsyncExitStack() as stack:
        browsers = []
        for name in names:
            await asyncio.to_thread(stack.enter_context, crashing(real_node, name))
            address = await asyncio.to_thread(path, name)
            browser = await stack.enter_async_context(following(Browser(address)))
            while not (browser.lines or browser.notes):
                await browser.hear()
            browsers.append((browser, told(name) * EACH))
        whole = [*range(RUNS * EACH)]
        for browser, latest in browsers:
            while whole[-1] not in numbers(browser):
                await browser.hear()
            found = numbers(browser)
            assert found == sorted({*found})
            if found != whole[found[0] :] or found[0] > latest:
                try:
                    while not any("missing" in note for note in browser.notes):
                        await browser.hear()
                except TimeoutError:
                    pytest.fail(f"{found} came, told of at first: {latest}; {browser.notes}")


def told(name: str) -> int:
    """Return the restart count in the pod status."""
    entry = clusters.host.runtime.informer(PODS).store.get(Key("default", name))
    status = {} if entry is None else entry.original().get("status", {})
    return sum(one["restartCount"] for one in status.get("containerStatuses", ()))


@contextmanager
def crashing(node: RealNode, name: str) -> Iterator[None]:
    mount = {"name": "data", "mountPath": "/data"}
    volume = {"name": "data", "emptyDir": {}}
    made = container("a", CRASHES, volumeMounts=[mount])
    with node.pod(name, made, until=bool, volumes=[volume]):
        yield


@pytest.mark.usefixtures("console")
async def test_previous_run_is_read_separately(real_node: RealNode) -> None:
    script = "test -e /data/once && exec sleep infinity; touch /data/once; echo boom; exit 3"
    mount = {"name": "data", "mountPath": "/data"}
    volume = {"name": "data", "emptyDir": {}}
    made = container("a", f"echo begun; {script}", volumeMounts=[mount])
    with real_node.pod("crash", made, until=restarted, volumes=[volume]):
        assert shown(await get(f"{path('crash')}?previous=1")) == ["begun", "boom"]
        assert shown(await get(path("crash"))) == ["begun"]


@pytest.mark.usefixtures("console")
async def test_invalid_utf_8_is_replaced(real_node: RealNode) -> None:
    script = r"printf 'a\377b\000c\n\033[31mred\033]0;title\007\n'; sleep infinity"
    with real_node.pod("bytes", container("a", script)):
        assert shown(await get(path("bytes"))) == ["a\ufffdbc", "red"]
