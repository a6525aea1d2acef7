"""What is offered in the row of a project."""

from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import NAMESPACES
from rbac.current import no_host, use_host
from tests.informers import preloaded
from tests.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs, _site
from tests.views.test_lists import text_of
from workspaces.pages.projectactions import EditQuota

__all__ = ["_site"]

QUOTA, LED = "/projects/shop/quota", "/workspaces/acme/projects/shop/quota"


def project(name: str, **labels: str) -> dict[str, Any]:
    meta = {"name": name, "uid": f"uid-{name}", "labels": labels, "resourceVersion": "1"}
    return {"metadata": meta, "status": {"phase": "Active"}}


@pytest.fixture(autouse=True)
def host() -> Iterator[None]:
    found = [project("shop", **{"kubesphere.io/workspace": "acme"}), project("alone")]
    use_host(StaticRuntime({NAMESPACES: preloaded(NAMESPACES, found)}))
    yield
    no_host()


async def it_leads_from_the_row_to_the_quota() -> None:
    text = await text_of(await ClientAs()("admin").get("/clusters/host/namespaces"))
    assert f'href="{QUOTA}"' in text
    # A project of no workspace shares nobody's.
    assert text.count("/quota") == 1
    for url, led in (("/clusters/host/namespaces/shop/actions/quota", QUOTA), (QUOTA, LED)):
        answer = await ClientAs()("admin").get(url)
        assert (answer.status_code, answer["Location"]) == (302, led)
    for name in ("alone", "gone"):
        assert (await ClientAs()("admin").get(f"/projects/{name}/quota")).status_code == 404
        assert (await ClientAs()("charlie").get(f"/projects/{name}/quota")).status_code == 403


def it_is_for_whoever_may_change_the_quota_of_the_project() -> None:
    action, somebody = EditQuota(), FakeAccess("alice", list_in={"shop"}, delete_in={"shop"})
    assert not action.exempt(somebody, "shop")
    assert action.exempt(somebody, "alone")
