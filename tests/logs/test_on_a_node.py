"""Logs of real containers on a node whose kubelet and kube-apiserver restart."""

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from html import unescape

import pytest

from console.kube.gvr import NAMESPACES, PODS, Key
from console.kube.runtime import Runtime
from console.ui.core.clusters import clusters
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.controlplane.waiting import eventually
from tests.kube.clusters import live
from tests.logs.conftest import binding
from tests.logs.followers import Browser, following
from tests.logs.pages import admin, get, shown
from tests.node.containers import restarted
from tests.node.node import Obj, RealNode, container
from tests.support.depth import number

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


#: Containers, and the options of a download with the equal options of kubectl.
ODD = {
    "long": "head -c 300000 /dev/zero | tr '\\0' x; echo; head -c 70000 /dev/zero | tr '\\0' y; echo",
    "bytes": r"printf 'a\377b\000c\n\303(\n\033[31mred\n\342\200\256x\n'",
    "returns": r"printf '10%%\r50%%\r100%%\r\n\r\n\n\r'; echo; printf 'a\rb'",
    "unfinished": "echo whole; printf unfinished",
    "silent": "true",
}
OPTIONS = {
    "tail=all": ("--tail=-1",),
    "tail=1": ("--tail=1",),
    "": ("--tail=500",),
    "tail=all&timestamps=1": ("--timestamps",),
    "tail=all&since=1h": ("--since=1h",),
}


async def downloaded(path: str) -> bytes:
    answer = await admin.get(path)
    assert answer.status_code == 200
    assert "attachment" in answer["Content-Disposition"]
    return b"".join([piece async for piece in answer])


def has_succeeded(pod: Obj) -> bool:
    return bool(pod["status"].get("phase") == "Succeeded")


@pytest.fixture(scope="module")
def odd_logs(real_node: RealNode, console: Runtime) -> Iterator[str]:
    """Return the path of the log of a pod whose containers have written unusual bytes."""
    made = [container(name, script) for name, script in ODD.items()]
    # An unfinished line is written when the container ends.
    with real_node.pod("odd", *made, until=has_succeeded, restartPolicy="Never"):
        yield path("odd")


@pytest.mark.parametrize("query", OPTIONS)
@pytest.mark.parametrize("name", ODD)
async def test_download_equals_the_output_of_kubectl(
    real_node: RealNode, odd_logs: str, name: str, query: str
) -> None:
    found = await downloaded(f"{odd_logs}?format=text&container={name}&{query}")
    options = ("odd", "-c", name, *OPTIONS[query])
    expected = await asyncio.to_thread(kubectl_logs, real_node, *options)
    assert found == expected
    assert name == "silent" or len(found) > 2


async def test_download_of_all_containers_equals_the_output_of_kubectl(
    real_node: RealNode, odd_logs: str
) -> None:
    """kubectl prints the containers in no defined order."""
    found = await downloaded(f"{odd_logs}?format=text&container=*&tail=all")
    each = [
        await asyncio.to_thread(kubectl_logs, real_node, "odd", "-c", name, "--prefix")
        for name in ODD
    ]
    assert found == b"".join(each)
    options = ("odd", "--all-containers", "--prefix")
    expected = await asyncio.to_thread(kubectl_logs, real_node, *options)
    assert sorted(found) == sorted(expected)


def kubectl_logs(node: RealNode, *options: str) -> bytes:
    return node.cluster.kubectl_output("logs", *options)


async def test_long_line_is_downloaded_whole(odd_logs: str) -> None:
    html = await get(f"{odd_logs}?container=long")
    assert "Line is cut: 283,616 more bytes" in html
    links = re.findall(r'href="(\?[^"]*line=[^"]*)" download>Download line', html)
    assert [await downloaded(odd_logs + unescape(link)) for link in links] == [
        b"x" * 300_000 + b"\n",
        b"y" * 70_000 + b"\n",
    ]


async def test_filtered_download_contains_the_lines_of_the_page(odd_logs: str) -> None:
    every = f"{odd_logs}?container=long"
    assert await downloaded(f"{every}&format=text&q=x") == b"x" * 300_000 + b"\n"
    returns = f"{odd_logs}?container=returns&q=100"
    assert shown(await get(returns)) == ["100%"]
    assert await downloaded(f"{returns}&format=text") == b"10%\r50%\r100%\n"
    assert shown(await get(f"{odd_logs}?container=returns&q=50")) == []


async def test_progress_bar_shows_its_last_state(odd_logs: str) -> None:
    assert shown(await get(f"{odd_logs}?container=returns")) == ["100%", "", "", "", "b"]
