"""The page of a terminal, as it is without scripts."""

from urllib.parse import urlencode

import pytest

from console.kube.gvr import PODS as PODS_TYPE
from console.kube.gvr import Key
from tests.controlplane.waiting import eventually
from tests.logs.conftest import World
from tests.logs.test_security import TRICKS
from tests.views.conftest import ClientAs
from tests.views.test_lists import text_of

pytestmark = pytest.mark.django_db(transaction=True)

NOWHERE = {"nodeSelector": {"no": "where"}, "containers": [{"name": "app", "image": "x"}]}
PODS = "/clusters/host/projects/default/pods"


async def get(path: str, status: int = 200, who: str = "admin") -> str:
    answer = await ClientAs()(who).get(path)
    text = await text_of(answer)
    assert answer.status_code == status, text
    return text


async def test_it_offers_containers_shells_and_the_line_of_kubectl(world: World) -> None:
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


async def test_what_does_not_run_is_said(world: World) -> None:
    world.api.post("/api/v1/namespaces/default/pods", {**world.pod("idle"), "spec": NOWHERE})
    pods = world.runtime.informer(PODS_TYPE).store
    eventually(lambda: pods.get(Key("default", "idle")), "the pod is known")
    html = await get(f"{PODS}/idle/terminal")
    assert "No container of the pod runs now." in html and "data-terminal-url" not in html
    html = await get(f"{PODS}/idle/terminal?container=app")
    assert "The container app does not run now." in html


async def test_what_there_is_not_is_refused(world: World) -> None:
    world.start(world.pod("one"))
    await get(f"{PODS}/nobody/terminal", 404)
    await get(f"{PODS}/one/terminal?container=zz", 400)
    await get(f"{PODS}/one/terminal?shell=python", 400)
    await get("/clusters/host/projects/default/services/one/terminal", 404)


@pytest.mark.parametrize("name", TRICKS)
async def test_no_name_of_a_container_leads_elsewhere(world: World, name: str) -> None:
    """Neither in the terminal's page nor where it is waited for."""
    world.start(world.pod(f"tricks-{TRICKS.index(name)}"))
    path = f"{PODS}/tricks-{TRICKS.index(name)}/terminal"
    query = urlencode({"container": name})
    assert "data-terminal-url" not in await get(f"{path}?{query}", 400)
    await get(f"{path}/starting?{query}", 404)


@pytest.mark.parametrize(
    "name", ["..", "%2e%2e", "a%2f..%2fsecret", "a%0ab", "a%3fattach=1", "%00"]
)
@pytest.mark.parametrize("page", ["terminal", "terminal/starting"])
async def test_no_name_of_a_pod_leads_elsewhere(world: World, name: str, page: str) -> None:
    mark = world.cluster.audit.mark()
    answer = await ClientAs()("admin").get(f"{PODS}/{name}/{page}?container=app")
    assert answer.status_code in (400, 404)
    for subresource in ("exec", "attach"):
        assert world.cluster.audit.requests_since(mark, subresource=subresource) == []


async def test_who_may_not_is_told_which_right_is_missing(world: World) -> None:
    world.start(world.pod("rights"))
    html = await get(f"{PODS}/rights/terminal", 403, "bob")
    assert "pods/exec" in html and "create" in html


async def test_the_pod_leads_there(world: World) -> None:
    world.start(world.pod("leads"))
    wanted = f'href="{PODS}/leads/terminal"'
    assert wanted in await get(f"{PODS}/leads")
    assert wanted not in await get(f"{PODS}/leads", who="bob")
    assert wanted in await get("/clusters/host/pods")


async def test_each_container_leads_into_itself(world: World) -> None:
    world.start(world.pod("each", "app", "proxy"))
    html, others = await get(f"{PODS}/each"), await get(f"{PODS}/each", who="bob")
    for name in ("app", "proxy"):
        terminal = f"{PODS}/each/terminal?container={name}"
        log = f"{PODS}/each/log?container={name}&amp;timestamps=1#end"
        for url, kind in ((terminal, "terminal"), (log, "log")):
            assert f'href="{url}"' in html and f'href="{url}"' not in others
            below = f'data-below="{url}" data-below-name="each · {name}" data-below-kind="{kind}"'
            assert below in html


async def test_in_the_dock_it_is_the_terminal_alone(world: World) -> None:
    world.start(world.pod("docked"))
    html = await get(f"{PODS}/docked/terminal?frame=dock")
    assert 'data-dock-kind="terminal" data-dock-name="docked · app"' in html
    assert "data-terminal-url" in html and 'data-account="admin"' in html
    assert "topbar" not in html and "terminal-shell" not in html
    await get(f"{PODS}/docked/terminal?frame=x", 400)
