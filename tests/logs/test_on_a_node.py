"""Logs that containers really write, on a node whose kubelet and whose kube-apiserver come and go."""

import json
from collections.abc import Iterator

import pytest

from console.kube.gvr import NAMESPACES, PODS, Key
from console.kube.runtime import Runtime
from console.ui.clusters import clusters
from rbac.current import no_host, use_host
from tests.controlplane.waiting import eventually
from tests.kube.clusters import live
from tests.logs.conftest import binding
from tests.logs.test_following import Browser, following
from tests.logs.test_page import get, shown
from tests.node.node import RealNode, container

pytestmark = pytest.mark.django_db(transaction=True)

#: Writes numbers, about a thousand a second.
COUNTS = "i=0; while :; do echo line $i; i=$((i+1)); usleep 500; done"
#: Lives long enough at first for somebody to follow it.
CRASHES = (
    "echo begun; test -e /data/once && exec sleep infinity; "
    "touch /data/once; sleep 3; echo boom; exit 3"
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
        use_host(runtime)
        yield runtime
    finally:
        no_host()
        runtime.stop()
        cluster.kubectl("delete", "clusterrolebinding", "logs-admins")


def path(name: str) -> str:
    """Of the log of a pod, once the console knows the pod."""
    pods = clusters.host.runtime.informer(PODS).store
    eventually(lambda: pods.get(Key("default", name)), f"{name} is known")
    return f"/clusters/host/projects/default/pods/{name}/log"


def numbers(browser: Browser) -> list[int]:
    return [int(text.removeprefix("line ")) for _, text in browser.lines]


@pytest.mark.usefixtures("console")
async def test_no_line_is_lost_or_twice_when_the_cluster_goes_and_comes(
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
async def test_a_crash_is_followed_into_the_next_run(real_node: RealNode) -> None:
    mount = {"name": "data", "mountPath": "/data"}
    volume = {"name": "data", "emptyDir": {}}
    crashing = container("a", CRASHES, volumeMounts=[mount])

    def begun(pod: dict[str, object]) -> bool:
        return "containerStatuses" in str(pod)

    with real_node.pod("crash", crashing, until=begun, volumes=[volume]):
        async with following(Browser(path("crash"))) as browser:
            await browser.until(3)
            assert [text for _, text in browser.lines] == ["begun", "boom", "begun"]
        assert shown(await get(f"{path('crash')}?previous=1")) == ["begun", "boom"]
        assert shown(await get(path("crash"))) == ["begun"]


@pytest.mark.usefixtures("console")
async def test_bytes_that_are_no_text_do_no_harm(real_node: RealNode) -> None:
    script = r"printf 'a\377b\000c\n\033[31mred\033]0;title\007\n'; sleep infinity"
    with real_node.pod("bytes", container("a", script)):
        assert shown(await get(path("bytes"))) == ["a\ufffdbc", "red"]
