"""Redirects from the URLs of the KubeSphere console to the equivalent pages."""

from urllib.parse import urlsplit

import pytest
from django.urls import resolve

from console.pages.kubesphere import views
from console.pages.kubesphere.segments import OF_CLUSTER, OF_PROJECT, TABS
from console.ui.core.registry import kinds
from console.ui.details.panels.standard import tabs_of
from tests.accounts.conftest import Browser

pytestmark = pytest.mark.django_db(transaction=True)

HOST = "/clusters/host"
SHOP = f"{HOST}/projects/shop"
TEAM = "/workspaces/team"
IN_TEAM = "/team/clusters/host/projects/shop"
#: Resource types whose URL segment in KubeSphere is the plural of the Kubernetes API.
SAME = (
    "deployments", "statefulsets", "daemonsets", "jobs", "cronjobs", "pods", "services", "ingresses",
    "secrets", "configmaps", "serviceaccounts", "networkpolicies",
)  # fmt: skip
ELSEWHERE = {
    **dict.fromkeys(
        (
            "404", "logquery", "eventsearch", "auditingsearch", "bill", "support", "apps", "apps/id-1",
            "apps/id-1/deploy", "apps-manage/store", "apps-manage/categories",
            "apps-manage/reviews/unprocessed", "apps-manage/reviews/processed", "apps-manage/reviews/all",
            "settings/base-info", "settings/mail", "settings/dingtalk", "settings/feishu",
            "settings/wecom", "settings/slack", "settings/webhook",
        ),
        "/",
    ),
    "settings/third-login": "/access/providers",
    "terminal/kubectl/host": HOST,
    "terminal/nodename/node-1": f"{HOST}/nodes/node-1",
    "terminal/cluster/host/projects/shop/pods/cart-1/containers/web":
        f"{SHOP}/pods/cart-1/terminal?container=web",
    "access/workspaces": "/workspaces",
    "access/accounts/alice": "/access/accounts/users/alice",
    "access/roles/platform-admin": "/access/roles/global/platform-admin",
}  # fmt: skip
IN_A_CLUSTER = {
    **dict.fromkeys(
        (
            "overview", "kubeConfig", "components", "ippools", "monitor-cluster", "monitor-resource",
            "alerts", "alert-rules", "custom-monitoring", "base-info", "visibility",
            "log-collections/logging", "log-collections/events", "log-collections/auditing",
            "gateways/cluster", "gateways/project",
        ),
        HOST,
    ),
    "edgenodes": f"{HOST}/nodes",
    "edgenodes/node-1": f"{HOST}/nodes/node-1",
    "projects": f"{HOST}/namespaces",
    "customresources": f"{HOST}/customresourcedefinitions",
    "customresources/widgets.example.com": f"{HOST}/customresourcedefinitions/widgets.example.com",
    "volumes": f"{HOST}/persistentvolumeclaims",
    "volume-snapshots": f"{HOST}/volumesnapshots.snapshot.storage.k8s.io",
    "volume-snapshot-classes": f"{HOST}/volumesnapshotclasses.snapshot.storage.k8s.io",
    "volume-snapshot-content/s": f"{HOST}/volumesnapshotcontents.snapshot.storage.k8s.io/s",
    "members": f"{HOST}/clusterrolebindings",
    "pv/pv-1": f"{HOST}/persistentvolumes/pv-1",
    "nodes/node-1/running-status": f"{HOST}/nodes/node-1",
    "nodes/node-1/metadata": f"{HOST}/nodes/node-1",
    "components/kube-system/coredns": f"{HOST}/projects/kube-system/services/coredns",
    "projects/shop/overview": SHOP,
    "projects/shop/pods": f"{HOST}/pods?namespace=shop",
    "projects/shop/gateway": SHOP,
    "projects/shop/quotas": f"{HOST}/resourcequotas?namespace=shop",
    "projects/shop/volumes/data": f"{SHOP}/persistentvolumeclaims/data",
    "projects/shop/volumes/data/events": f"{SHOP}/persistentvolumeclaims/data/events",
    "projects/shop/deployments/web/resource-status": f"{SHOP}/deployments/web",
    "projects/shop/deployments/web/revision-control": f"{SHOP}/deployments/web/revisions",
    "projects/shop/pods/web-1/schedule": f"{SHOP}/pods/web-1",
    "projects/shop/pods/web-1/revision-control": f"{SHOP}/pods/web-1",
}  # fmt: skip
IN_A_WORKSPACE = {
    "overview": TEAM,
    "devops": TEAM,
    "apps": TEAM,
    "apps/id-1/versions": TEAM,
    "repos": TEAM,
    "federatedprojects": f"{TEAM}/projects",
    "base-info": f"{TEAM}/settings",
    "groups": f"{TEAM}/departments",
    "roles/team-admin": "/access/roles/workspace/team-admin",
    "roles/team-admin/authorizedUsers": "/access/roles/workspace/team-admin",
    "members/bob": f"{TEAM}/members",
    "members/bob/roles": f"{TEAM}/members",
}
IN_A_PROJECT = {
    "": SHOP,
    "/overview": SHOP,
    **{f"/{kind}": f"{HOST}/{kind}?namespace=shop" for kind in SAME},
    **{f"/{kind}/web": f"{SHOP}/{kind}/web" for kind in SAME},
    **dict.fromkeys(
        (
            "/grayrelease", "/s2ibuilders", "/alerts", "/alert-rules", "/custom-monitoring",
            "/gateways", "/log-collections",
        ),
        SHOP,
    ),
    **dict.fromkeys(
        ("/applications/template", "/applications/composing"),
        f"{HOST}/applications.app.k8s.io?namespace=shop",
    ),
    "/volumes": f"{HOST}/persistentvolumeclaims?namespace=shop",
    "/volumes/data/monitors": f"{SHOP}/persistentvolumeclaims/data",
    "/volume-snapshots": f"{HOST}/volumesnapshots.snapshot.storage.k8s.io?namespace=shop",
    "/roles": f"{HOST}/roles?namespace=shop",
    "/members": f"{TEAM}/projects/shop",
    "/base-info": f"{TEAM}/projects/shop",
    "/deployments/web/resource-status": f"{SHOP}/deployments/web",
    "/deployments/web/revision-control": f"{SHOP}/deployments/web/revisions",
    "/deployments/web/metadata": f"{SHOP}/deployments/web",
    "/deployments/web/env": f"{SHOP}/deployments/web",
    "/deployments/web/events": f"{SHOP}/deployments/web/events",
    "/pods/web-1/containers/web/logs": f"{SHOP}/pods/web-1",
}  # fmt: skip
FEDERATED = {
    "": SHOP,
    "/overview": SHOP,
    "/deployments": f"{HOST}/deployments?namespace=shop",
    "/deployments/web/resource-status": f"{SHOP}/deployments/web",
    "/quota": f"{TEAM}/projects/shop",
}
DEVOPS = {
    **dict.fromkeys(("", "/pipelines", "/pipelines/build/activity", "/cd", "/code-repo"), SHOP),
    "/base-info": SHOP,
    "/credentials": f"{HOST}/secrets?namespace=shop",
    "/roles": f"{HOST}/roles?namespace=shop",
    "/members": f"{HOST}/rolebindings?namespace=shop",
}
THEIRS = {
    **{f"/{rest}": to for rest, to in ELSEWHERE.items()},
    **{f"{HOST}/{rest}": to for rest, to in IN_A_CLUSTER.items()},
    **{f"{TEAM}/{rest}": to for rest, to in IN_A_WORKSPACE.items()},
    **{f"{IN_TEAM}{rest}": to for rest, to in IN_A_PROJECT.items()},
    **{f"/team/federatedprojects/shop{rest}": to for rest, to in FEDERATED.items()},
    **{f"/team/clusters/host/devops/shop{rest}": to for rest, to in DEVOPS.items()},
}
#: URLs that exist in both consoles.
OURS = (
    "/login", "/login/confirm", "/password/confirm", "/dashboard", "/access/accounts", "/access/roles",
    HOST, SHOP, f"{HOST}/nodes", f"{HOST}/roles", f"{HOST}/storageclasses", f"{HOST}/nodes/node-1",
    f"{HOST}/nodes/node-1/events", f"{HOST}/storageclasses/fast", f"{SHOP}/log",
    *(f"{HOST}/{kind}" for kind in SAME), *(f"{SHOP}/{kind}/web" for kind in SAME),
    *(f"{TEAM}/{page}" for page in ("projects", "quota", "roles", "members")),
)  # fmt: skip


async def where(browser: Browser, path: str) -> str:
    answer = await browser.get(path)
    assert answer.status_code == 302
    return str(answer["Location"])


async def test_every_kubesphere_url_redirects_to_an_equivalent_page(browser: Browser) -> None:
    await browser.login("alice")
    assert {path: await where(browser, path) for path in THEIRS} == THEIRS
    for to in THEIRS.values():
        assert resolve(urlsplit(to).path).func.__module__ != views.__name__


async def test_members_redirect_to_their_account_if_the_viewer_may_see_it(browser: Browser) -> None:
    await browser.login("admin")
    assert await where(browser, f"{TEAM}/members/bob") == "/access/accounts/users/bob"


@pytest.mark.parametrize("path", OURS)
def test_urls_that_exist_in_both_consoles_are_not_redirected(path: str) -> None:
    assert resolve(path).func.__module__ != views.__name__


def test_kubesphere_path_segments_do_not_collide_with_kinds_or_tabs() -> None:
    assert not {"projects", *OF_CLUSTER, *OF_PROJECT} & {kind.segment for kind in kinds}
    assert not set(TABS) & {tab.id for kind in kinds for tab in tabs_of(kind)}


@pytest.mark.parametrize(
    ("path", "to"),
    [
        ("/clusters/default", HOST),
        ("/clusters/default?x=1", f"{HOST}?x=1"),
        ("/clusters/default/volumes?name=a%26b", f"{HOST}/volumes?name=a%26b"),
        ("/clusters/default/nodes/n%3F1", f"{HOST}/nodes/n%3F1"),
        ("/team/clusters/default/projects/shop/pods", f"{IN_TEAM}/pods"),
    ],
)
async def test_root_of_the_single_cluster_redirects_to_the_host_cluster(
    browser: Browser, path: str, to: str
) -> None:
    await browser.login("alice")
    assert await where(browser, path) == to


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("name=web&page=3&limit=10&sortBy=createTime", "q=web"),
        ("keyword=a%26b", "q=a%26b"),
        ("labelSelector=app%3Dweb", "label=app%3Dweb"),
        ("labelSelector=((", ""),
        ("namespace=other&next=//evil", ""),
    ],
)
async def test_namespace_filter_is_kept_in_the_redirect(
    browser: Browser, query: str, kept: str
) -> None:
    await browser.login("alice")
    found = urlsplit(await where(browser, f"{IN_TEAM}/pods?{query}"))
    assert {*found.query.split("&")} == {"namespace=shop", *([kept] if kept else [])}


async def test_list_in_all_projects_keeps_its_namespace_filter(browser: Browser) -> None:
    await browser.login("alice")
    to = await where(browser, f"{HOST}/volumes?namespace=shop")
    assert to == f"{HOST}/persistentvolumeclaims?namespace=shop"


async def test_redirect_continues_after_sign_in(browser: Browser) -> None:
    path = f"{IN_TEAM}/deployments/web/env"
    login = await where(browser, path)
    assert login.startswith("/login?next=")
    shown = (await browser.get(login)).context["form"].next
    assert (await browser.login("alice", next=shown))["Location"] == path
    assert await where(browser, path) == THEIRS[path]


@pytest.mark.parametrize(
    "path",
    [
        "/team/clusters/nowhere/projects/shop/pods",
        "/team/clusters/host/projects/SHOP/pods",
        f"{IN_TEAM}/nonsense",
        f"{IN_TEAM}/nonsense/x",
        "/access/accounts/..",
        f"{HOST}/volumes/%2e%2e",
        "/%5cevil/clusters/host/projects/shop",
    ],
)
async def test_unknown_kubesphere_url_returns_404(browser: Browser, path: str) -> None:
    await browser.login("alice")
    assert (await browser.get(path)).status_code == 404


async def test_only_get_requests_are_redirected(browser: Browser) -> None:
    await browser.login("alice")
    assert (await browser.post(f"{HOST}/volumes")).status_code == 405
