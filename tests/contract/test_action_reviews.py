"""The review step of a form: the page shows the result of a dry run before anything is saved."""

import html
import re
from collections.abc import Iterator
from typing import Any

import pytest

from console.history.models import ObjectChange
from console.kube.gvr import SERVICES
from console.kube.runtime import Runtime
from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.cluster import Cluster, Kubectl
from tests.contract.grants import rule
from tests.contract.objects import path, unique
from tests.contract.pages import Page, Person, console_on, known, person, recorded
from tests.contract.test_service_actions import drawn
from tests.contract.tidy import Scrap
from tests.views.conftest import _site
from tests.views.test_lists import text_of

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [SERVICES]) as found:
        yield found


@pytest.fixture
def olga(monkeypatch: pytest.MonkeyPatch, scrap: Scrap, namespace: str) -> Person:
    return person(monkeypatch, scrap, namespace, rule("get list patch", "services"))


@pytest.fixture
def made(admin: Client, runtime: Runtime, namespace: str) -> Obj:
    spec = {"selector": {"app": "web"}, "ports": [{"name": "web", "port": 80}]}
    body = {"metadata": {"name": unique("web")}, "spec": spec}
    found: Obj = admin.post(path(namespace, "services"), body).ok()
    known(runtime, SERVICES, found)
    return found


@pytest.fixture
def page(olga: Person, made: Obj) -> Page:
    return olga.on("service", "services", made)


def now(admin: Client, made: Obj) -> Any:
    meta = made["metadata"]
    return admin.get(path(meta["namespace"], "services", meta["name"])).ok()


async def stepped(page: Page, **sent: str) -> tuple[int, str]:
    answer = await page.client().post(page.url, {"uid": page.uid, **sent})
    return answer.status_code, await text_of(answer)


def hidden(text: str) -> dict[str, str]:
    """Return the hidden fields of the review form."""
    form = text.partition('<form class="confirm')[2].partition("</form>")[0]
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form)
    return {name: html.unescape(value) for name, value in found if name != "csrfmiddlewaretoken"}


async def test_review_shows_the_diff_and_the_kubectl_command_before_saving(
    admin: Client, made: Obj, page: Page, kubectl: Kubectl
) -> None:
    asked = await page.asks()
    assert 'value="review"' in asked and "kubectl" not in asked.partition("<main")[2]
    sent = {**drawn(asked), "ports-0-port": "8080", "selector": "app=it-s\r\ntier=x"}
    code, text = await stepped(page, **sent, step="review")
    assert code == 200
    shown = html.unescape(text)
    assert "-    port: 80\n" not in shown
    assert re.search(r"<del>\s*(- )?.*port: 80</del>", shown)
    assert re.search(r"<ins>\s*(- )?.*port: 8080</ins>", shown)
    assert "<ins>    tier: x</ins>" in shown
    line = re.search(r"<code>(kubectl patch services .*?)</code>", shown, re.S)
    assert line is not None
    # The dry run changes nothing and is not audited.
    assert now(admin, made) == made
    assert await recorded() == [] and await ObjectChange.objects.acount() == 0
    again = hidden(text)
    assert again == {**sent, "uid": page.uid}
    code, back = await stepped(page, **again, step="edit")
    assert code == 200 and drawn(back) == sent
    await page.does(**{**again, "step": "save"})
    spec = now(admin, made)["spec"]
    assert spec["ports"][0]["port"] == 8080
    assert spec["selector"] == {"app": "it-s", "tier": "x"}
    assert [one[4] for one in await recorded()] == [200]
    kubectl.line(line[1])
    assert now(admin, made)["spec"] == spec


async def test_review_reports_validation_errors_of_the_cluster_at_the_field(
    admin: Client, made: Obj, page: Page
) -> None:
    sent = {**drawn(await page.asks()), "ports-1-name": "again", "ports-1-port": "80"}
    code, text = await stepped(page, **sent, step="review")
    assert code == 422 and 'href="#form-ports-1-port">Port: Duplicate value' in text
    assert now(admin, made) == made and await recorded() == []


async def test_review_reports_a_conflicting_change_of_another_user(
    admin: Client, made: Obj, page: Page
) -> None:
    sent = {**drawn(await page.asks()), "selector": "app=mine"}
    where = path(made["metadata"]["namespace"], "services", made["metadata"]["name"])
    theirs = admin.patch(where, {"spec": {"selector": {"app": "theirs"}}}, MERGE_PATCH).ok()
    code, text = await stepped(page, **sent, step="review")
    assert code == 409 and "The value of spec.selector has changed in the meantime." in text
    assert now(admin, made)["spec"] == theirs["spec"]


@pytest.mark.parametrize(
    ("step", "code"), [("review", 200), ("edit", 400), ("save", 200), ("", 400), ("other", 400)]
)
async def test_api_clients_receive_a_status_for_each_step(
    admin: Client, made: Obj, page: Page, step: str, code: int
) -> None:
    sent = {**drawn(await page.asks()), "ports-0-port": "81"}
    found = await page.status(**sent, step=step)
    assert found["code"] == code
    assert (now(admin, made)["spec"]["ports"][0]["port"] == 81) is (step == "save")
