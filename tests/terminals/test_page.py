"""The page of a terminal without scripts."""

from urllib.parse import urlencode

import pytest

from console.kube.gvr import PODS as PODS_TYPE
from console.kube.gvr import Key
from tests.controlplane.waiting import eventually
from tests.logs.conftest import World
from tests.support.path_tricks import TRICKS
from tests.support.responses import text_of
from tests.views.conftest import ClientAs

pytestmark = pytest.mark.django_db(transaction=True)

NOWHERE = {"nodeSelector": {"no": "where"}, "containers": [{"name": "app", "image": "x"}]}
PODS = "/clusters/host/projects/default/pods"


async def get(path: str, status: int = 200, who: str = "admin") -> str:
    answer = await ClientAs()(who).get(path)
    text = await text_of(answer)
    assert answer.status_code == status, text
    return text


async def test_page_offers_containers_shells_and_the_kubectl_command(world: World) -> None:
    world.start(world.pod("pair", "app", "proxy"))
    html = await get(f"{PODS}/pair/terminal")
    assert "kubectl exec -it pair -c app -n default -- sh" in html
    assert 'data-terminal-url="/ws/clusters/host/projects/default/pods/pair/terminal?"' in html
    assert '<option value="proxy">' in html and '<option value="zsh">' in html
    html = await get(f"{PODS}/pair/terminal?container=proxy&shell=bash")
    assert "kubectl exec -it pair -c proxy -n default -- bash" in html
    assert "/terminal?container=proxy&amp;shell=bash" in html
    html = await get(f"{PODS}/pair/terminal?attach=1")
    assert "kubectl attach -it pair -c app -n default" in html and "terminal-shell" not in html


async def test_containers_that_are_not_running_are_reported(world: World) -> None:
    world.api.post("/api/v1/namespaces/default/pods", {**world.pod("idle"), "spec": NOWHERE})
    pods = world.runtime.informer(PODS_TYPE).store
    eventually(lambda: pods.get(Key("default", "idle")), "the pod is known")
    html = await get(f"{PODS}/idle/terminal")
    assert "No container in this pod is running." in html and "data-terminal-url" not in html
    html = await get(f"{PODS}/idle/terminal?container=app")
    assert "Container app is not running." in html


async def test_unknown_pod_container_or_shell_is_refused(world: World) -> None:
    world.start(world.pod("one"))
    await get(f"{PODS}/nobody/terminal", 404)
    await get(f"{PODS}/one/terminal?container=zz", 400)
    await get(f"{PODS}/one/terminal?shell=python", 400)
    await get("/clusters/host/projects/default/services/one/terminal", 404)


@pytest.mark.parametrize("name", TRICKS)
async def test_container_name_cannot_redirect_elsewhere(world: World, name: str) -> None:
    """Neither on the terminal's page nor on the container startup page."""
    world.start(world.pod(f"tricks-{TRICKS.index(name)}"))
    path = f"{PODS}/tricks-{TRICKS.index(name)}/terminal"
    query = urlencode({"container": name})
    assert "data-terminal-url" not in await get(f"{path}?{query}", 400)
    await get(f"{path}/starting?{query}", 404)


@pytest.mark.parametrize(
    "name", ["..", "%2e%2e", "a%2f..%2fsecret", "a%0ab", "a%3fattach=1", "%00"]
)
@pytest.mark.parametrize("page", ["terminal", "terminal/starting"])
async def test_pod_name_cannot_redirect_elsewhere(world: World, name: str, page: str) -> None:
    mark = world.cluster.audit.mark()
    answer = await ClientAs()("admin").get(f"{PODS}/{name}/{page}?container=app")
    assert answer.status_code in (400, 404)
    for subresource in ("exec", "attach"):
        assert world.cluster.audit.requests_since(mark, subresource=subresource) == []


async def test_missing_permission_is_named(world: World) -> None:
    world.start(world.pod("rights"))
    html = await get(f"{PODS}/rights/terminal", 403, "bob")
    assert "pods/exec" in html and "create" in html


async def test_pod_page_links_to_the_terminal(world: World) -> None:
    world.start(world.pod("leads"))
    wanted = f'href="{PODS}/leads/terminal"'
    assert wanted in await get(f"{PODS}/leads")
    assert wanted not in await get(f"{PODS}/leads", who="bob")
    assert wanted in await get("/clusters/host/pods")


async def test_each_container_links_to_its_terminal(world: World) -> None:
    world.start(world.pod("each", "app", "proxy"))
    html, others = await get(f"{PODS}/each"), await get(f"{PODS}/each", who="bob")
    for name in ("app", "proxy"):
        terminal = f"{PODS}/each/terminal?container={name}"
        log = f"{PODS}/each/log?container={name}&amp;timestamps=1#end"
        for url, kind in ((terminal, "terminal"), (log, "log")):
            assert f'href="{url}"' in html and f'href="{url}"' not in others
            below = f'data-below="{url}" data-below-name="each · {name}" data-below-kind="{kind}"'
            assert below in html


async def test_dock_page_contains_only_the_terminal(world: World) -> None:
    world.start(world.pod("docked"))
    html = await get(f"{PODS}/docked/terminal?frame=dock")
    assert 'data-dock-kind="terminal" data-dock-name="docked · app"' in html
    assert "data-terminal-url" in html and 'data-account="admin"' in html
    assert "topbar" not in html and "terminal-shell" not in html
    await get(f"{PODS}/docked/terminal?frame=x", 400)
