"""The container startup page, which waits for a container and redirects to its terminal."""

from typing import Any

import pytest

from console.kube.gvr import Key
from console.ui.core.links import container_startup_url, terminal_url
from rbac.process_clusters import set_host_cluster
from tests.support.responses import text_of
from tests.ui.support import make_runtime, pod
from tests.views.conftest import ClientAs

pytestmark = pytest.mark.usefixtures("runtime")
KEY = Key("shop", "web")
URL = container_startup_url("host", KEY, "debug")


def show(state: object, *, phase: str = "Running", **status: Any) -> None:
    """Return a pod with a debug container in that state, or without a container status."""
    found = pod("web")
    found["spec"]["ephemeralContainers"] = [{"name": "debug", "image": "example/tools:1"}]
    told = [{"name": "debug", "state": state, "lastState": {}}] if state is not None else []
    found["status"] |= {"phase": phase, "ephemeralContainerStatuses": told, **status}
    set_host_cluster(make_runtime([found]))


async def page(client_as: ClientAs, url: str = URL, who: str = "admin") -> Any:
    return await client_as(who).get(url)


async def test_running_container_redirects_to_its_terminal(client_as: ClientAs) -> None:
    show({"running": {"startedAt": "2026-11-20T10:00:00Z"}})
    answer = await page(client_as)
    assert answer.status_code == 302
    assert answer["Location"] == terminal_url("host", "pods", KEY, "debug", attach=True)


@pytest.mark.parametrize(
    ("state", "severity", "text"),
    [
        (None, "progress", "The node has not started creating the container yet."),
        ({}, "progress", "The node has not started creating the container yet."),
        (
            {"waiting": {"reason": "ContainerCreating"}},
            "progress",
            ("The node is pulling the image example/tools:1 if the image is not already present."),
        ),
        (
            {"waiting": {"reason": "ImagePullBackOff", "message": "no <such> host"}},
            "error",
            "Could not pull the image of container debug: example/tools:1",
        ),
        (
            {"waiting": {"reason": "CreateContainerConfigError", "message": "must not be root"}},
            "error",
            "Could not create container debug: an object that the container refers to is",
        ),
        (
            {"terminated": {"exitCode": 127, "reason": "Error"}},
            "error",
            "Container debug failed: its command was not found.",
        ),
        (
            {"terminated": {"exitCode": 0, "reason": "Completed"}},
            "done",
            "The container terminated: it exited without an error.",
        ),
        ([["nothing"]], "progress", "The node has not started creating the container yet."),
    ],
)
async def test_progress_is_shown(
    client_as: ClientAs, state: object, severity: str, text: str
) -> None:
    show(state)
    answer = await page(client_as)
    html = await text_of(answer)
    assert answer.status_code == 200
    part = html.partition('id="starting" data-poll="1"')[2].partition("</section>")[0]
    assert f'data-severity="{severity}"' in part and text in part
    assert ("A terminal opens here" in part) is (severity == "progress")
    assert "no &lt;such&gt; host" in part or "no <such>" not in str(state)


async def test_pod_level_problem_is_shown(client_as: ClientAs) -> None:
    refused = {"reason": "OutOfcpu", "message": "Node did not have enough cpu", "conditions": []}
    show(None, phase="Failed", containerStatuses=[], **refused)
    html = await text_of(await page(client_as))
    assert "The pod terminated." in html and "OutOfcpu: Node did not have enough cpu" in html


@pytest.mark.parametrize(
    ("who", "url", "code"),
    [
        ("admin", container_startup_url("host", KEY, "other"), 404),
        ("admin", container_startup_url("host", KEY, ""), 404),
        ("admin", container_startup_url("host", Key("shop", "gone"), "debug"), 404),
        ("admin", URL.replace("/pods/", "/deployments/"), 404),
        ("charlie", URL, 403),
        ("charlie", container_startup_url("host", Key("shop", "gone"), "debug"), 403),
        ("", URL, 302),
    ],
)
async def test_unknown_or_forbidden_container_is_refused(
    client_as: ClientAs, who: str, url: str, code: int
) -> None:
    show(None)
    assert (await page(client_as, url, who)).status_code == code
