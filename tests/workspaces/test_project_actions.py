"""Actions in the row of a project."""

from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, NAMESPACES, USERS
from console.kube.identity import Identity
from console.ui.core.clusters import clusters
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.rbac.objects import TENANT, Manifest, native_binding, native_role, rule, user
from tests.support.informers import preloaded
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs, _site
from tests.workspaces.fakes import TYPES
from workspaces.pages.project_actions import AssignWorkspace, EditQuota

__all__ = ["_site"]

QUOTA, LED = "/projects/shop/quota", "/workspaces/acme/projects/shop/quota"


def project(name: str, **labels: str) -> dict[str, Any]:
    meta = {"name": name, "uid": f"uid-{name}", "labels": labels, "resourceVersion": "1"}
    return {"metadata": meta, "status": {"phase": "Active"}}


@pytest.fixture(autouse=True)
def host() -> Iterator[None]:
    found = [project("shop", **{"kubesphere.io/workspace": "acme"}), project("alone")]
    set_host_cluster(StaticRuntime({NAMESPACES: preloaded(NAMESPACES, found)}))
    yield
    unset_host_cluster()


async def test_the_project_row_links_to_the_quota() -> None:
    text = await text_of(await ClientAs()("admin").get("/clusters/host/namespaces"))
    assert f'href="{QUOTA}"' in text
    # A project without workspace has no quota page.
    assert text.count("/quota") == 1
    for url, led in (("/clusters/host/namespaces/shop/actions/quota", QUOTA), (QUOTA, LED)):
        answer = await ClientAs()("admin").get(url)
        assert (answer.status_code, answer["Location"]) == (302, led)
    for name in ("alone", "gone"):
        assert (await ClientAs()("admin").get(f"/projects/{name}/quota")).status_code == 404
        assert (await ClientAs()("charlie").get(f"/projects/{name}/quota")).status_code == 403


def test_the_quota_action_requires_a_workspace_project() -> None:
    action, somebody = EditQuota(), FakeAccess("alice", list_in={"shop"}, delete_in={"shop"})
    assert not action.is_protected(somebody, "shop")
    assert action.is_protected(somebody, "alone")


PATCHES, LISTS = rule("patch", "namespaces"), rule("list", "workspacetemplates", TENANT)


@pytest.mark.parametrize(
    ("rules", "name", "exempt"),
    [
        ((PATCHES, LISTS), "shop", False),
        ((PATCHES, LISTS), "kube-system", True),
        ((PATCHES,), "shop", True),
        ((LISTS, {**PATCHES, "resourceNames": ["shop"]}), "shop", True),
    ],
)
def test_assigning_a_workspace_requires_permission_for_all_projects(
    rules: tuple[Manifest, ...], name: str, exempt: bool
) -> None:
    objects = {
        USERS: [user("ann")],
        CLUSTER_ROLES: [native_role("own", *rules)],
        CLUSTER_ROLE_BINDINGS: [native_binding("own", "own", "User ann")],
    }
    set_host_cluster(StaticRuntime({gvr: preloaded(gvr, objects.get(gvr, [])) for gvr in TYPES}))
    access = clusters.host.access_for(Identity("ann"))
    assert access is not None
    assert AssignWorkspace().is_protected(access, name) is exempt
