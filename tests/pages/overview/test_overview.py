"""The three overview pages: their numbers compared with expected values, for each test user."""

import re
from html import unescape
from typing import Any

import pytest

from console.kube.gvr import (
    CUSTOM_RESOURCE_DEFINITIONS,
    DEPLOYMENTS,
    GATEWAYS,
    GRPC_ROUTES,
    GVR,
    HTTP_ROUTES,
    JOBS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    RESOURCE_QUOTAS,
    VOLUME_SNAPSHOTS,
    Key,
)
from console.ui.core.page_data import load_page_data
from console.ui.core.registry import kinds
from console.ui.diagnosis.attention import MOST, attention, checked_types, update_problem_indexes
from rbac.process_clusters import set_host_cluster
from tests.kinds.custom_types import definition
from tests.kinds.untranslated_text import english_in
from tests.pages.overview.pages import CLUSTER, PLATFORM, SHOP, gauge, page, section
from tests.pages.overview.world import EVIL, Obj, claim, deployment, meta, node
from tests.support.informers import bring, preloaded, set_stale, take_away
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import But, FakeAccess, admin, alice, charlie, pod
from tests.views.conftest import ClientAs
from tests.views.viewers import VIEWERS

TEAM_A = "/clusters/host/projects/team-a"


def text(html: str) -> str:
    main = html[html.index("<main") : html.index("</main>")]
    return " ".join(re.sub(r"<[^>]+>", " ", main).split())


def lines(html: str) -> list[str]:
    """Return the lines of the attention list in page order: state, object, count, reason."""
    if 'class="troubles"' not in html:
        return []
    found = html.split('class="troubles"')[1].split("</ul>")[0].split("<li")[1:]
    plain = [re.sub(r'<span class="since">.*', "", one, flags=re.DOTALL) for one in found]
    return [" ".join(re.sub(r"<[^>]*>|^[^>]*>", " ", one).split()) for one in plain]


def states(html: str) -> list[list[tuple[str, str]]]:
    """Return severity and word of each state, by line of the attention list."""
    found = html.split('class="troubles"')[1].split("</ul>")[0].split("<li")[1:]
    pattern = r'class="status" data-severity="(\w+)"><svg.*?</svg>\s*<span class="word">([^<]+)<'
    return [re.findall(pattern, one, re.DOTALL) for one in found]


def numbers(html: str) -> dict[str, str]:
    """Return the texts of the links with counts, by URL."""
    found = re.findall(
        r'class="(?:why|status)".{,400}?<a class="link" href="([^"]+)">([^<]+)<', html, re.DOTALL
    )
    return {url.replace("&amp;", "&"): words for url, words in found}


@pytest.mark.parametrize("path", [PLATFORM, CLUSTER, SHOP, TEAM_A])
async def test_overview_is_translated(
    client_as: ClientAs, runtime: StaticRuntime, path: str
) -> None:
    bring(runtime.informer(DEPLOYMENTS), short())
    # Has a different problem than its deployment, and there are more problems than lines shown.
    bring(runtime.informer(PODS), of_deployment("web-5d4-a", "CrashLoopBackOff"))
    for one in range(MOST):
        bring(runtime.informer(PODS), pod(f"many-{one}", "shop", waiting="ImagePullBackOff"))
    response = await client_as("admin", **{"Accept-Language": "zh-hans"}).get(path)
    assert english_in(response.content.decode()) == []


def short() -> Obj:
    """Return a deployment that lacks pods without a reason from Kubernetes."""
    found = deployment("short", "shop")
    found["spec"]["replicas"] = 3
    found["status"] |= {"replicas": 3, "updatedReplicas": 3, "readyReplicas": 2}
    return found


async def test_attention_list_is_sorted_by_severity(client_as: ClientAs) -> None:
    found = lines(await page(client_as, CLUSTER))
    expected = [
        "Not ready node-3 node KubeletNotReady",
        "Crash loop web-2 pod · shop Container app is in a crash loop",
        "Image pull failed api-1 pod · team-a Could not pull the image of container app",
        "Stuck rollout web deployment · shop ProgressDeadlineExceeded",
        "Failed import job · team-a BackoffLimitExceeded",
        "Nearly full team resource quota · team-a requests.cpu: 9.5/10",
        "Waiting data persistent volume claim · shop",
    ]
    for line, begin in zip(found, expected, strict=True):
        assert line.startswith(begin)


async def test_attention_list_explains_pending_claims(
    client_as: ClientAs, runtime: StaticRuntime
) -> None:
    async def why(url: str, who: str = "admin") -> str:
        found = lines(await page(client_as, url, who))
        return next(line for line in found if "persistent volume claim" in line)

    for url in (CLUSTER, SHOP):
        assert "storage class gone does not exist" in await why(url)
        # The severity equals the one in the list of claims.
        assert [("progress", "Waiting")] in states(await page(client_as, url))
    # Alice may not read storage classes.
    bring(runtime.informer(PERSISTENT_VOLUME_CLAIMS), claim("own", "team-a"))
    assert (await why(TEAM_A, "alice")).endswith("Pending")
    assert [("progress", "Waiting")] in states(await page(client_as, TEAM_A, "alice"))


def of_deployment(name: str, state: str) -> Obj:
    """Return a pod of the deployment `web`, owned by a replica set named after it."""
    made = pod(name, "shop", waiting=state)
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d4", "controller": True}
    made["metadata"] |= {"ownerReferences": [{**owner, "uid": "u"}]}
    made["metadata"]["labels"] = {"pod-template-hash": "5d4"}
    return made


async def test_workload_and_its_pods_share_one_line(
    client_as: ClientAs, runtime: StaticRuntime
) -> None:
    for name in ("web-5d4-a", "web-5d4-b"):
        bring(runtime.informer(PODS), of_deployment(name, "CrashLoopBackOff"))
    html = await page(client_as, SHOP)
    found = [line for line in lines(html) if " web " in line]
    assert len(found) == 1
    assert found[0].startswith("Crash loop web deployment 2 pods Container app is in a crash loop")
    assert found[0].endswith(" Stuck rollout")
    url = "/clusters/host/pods?namespace=shop&state=Crash+loop&owner=ReplicaSet.apps%2Fweb-5d4"
    assert numbers(html)[url] == "2 pods"
    # Users without access to the deployment see its pods.
    take_away(runtime.informer(DEPLOYMENTS), deployment("web", "shop"))
    html = await page(client_as, SHOP)
    assert any(line.startswith("Crash loop web-5d4 2 pods") for line in lines(html))


async def test_each_state_of_a_line_has_the_severity_of_the_list(
    client_as: ClientAs, runtime: StaticRuntime
) -> None:
    """A pod that cannot be scheduled is a warning, and its deployment without any pod an error."""
    bad = of_deployment("down-5d4-a", "")
    bad["metadata"]["ownerReferences"][0]["name"] = "down-5d4"
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    bad["status"] = {"phase": "Pending", "conditions": [condition]}
    bring(runtime.informer(PODS), bad)
    down = deployment("down", "shop")
    down["status"] |= {"readyReplicas": 0, "availableReplicas": 0}
    bring(runtime.informer(DEPLOYMENTS), down)
    html = await page(client_as, SHOP)
    expected = [("warn", "Unschedulable"), ("error", "Not available")]
    assert expected in states(html)
    # The line is sorted by its worst state.
    order = states(html)
    assert order.index(expected) < order.index([("progress", "Waiting")])


async def test_pods_are_grouped_only_by_owners_the_viewer_can_see(
    client_as: ClientAs, runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Erin may see deployments of another project."""
    monkeypatch.setitem(VIEWERS, "erin", lambda: But(DEPLOYMENTS, "team-a"))
    for name in ("web-5d4-a", "web-5d4-b"):
        bring(runtime.informer(PODS), of_deployment(name, "CrashLoopBackOff"))
    for who, told in (("admin", "web deployment · shop"), ("erin", "web-5d4 shop")):
        found = [line for line in lines(await page(client_as, CLUSTER, who)) if " 2 pods " in line]
        assert len(found) == 1
        assert found[0].startswith(f"Crash loop {told} 2 pods")


async def test_remaining_problems_are_counted(client_as: ClientAs, runtime: StaticRuntime) -> None:
    for number in range(30):
        bring(runtime.informer(PODS), pod(f"bad-{number}", "team-b", waiting="CrashLoopBackOff"))
    html = await page(client_as, CLUSTER)
    assert len(lines(html)) <= 20
    told = sum(line.startswith("Crash loop") for line in lines(html))
    assert numbers(html)["/clusters/host/pods?state=Crash+loop"] == f"{31 - told} pods more"


async def test_problems_are_counted_only_in_projects_the_viewer_can_see(
    runtime: StaticRuntime,
) -> None:
    both = ("shop", "team-a")
    sight = await load_page_data(alice(), checked_types(in_projects=True), namespaces=both)
    await update_problem_indexes(sight)
    found = attention(sight)
    assert {line.namespace for line in found.lines} == {"team-a"}
    assert "shop" not in repr(found)
    assert (
        await load_page_data(charlie(), checked_types(in_projects=True), namespaces=both)
    ).nothing_visible


async def test_owner_reference_cycle_terminates(
    client_as: ClientAs, runtime: StaticRuntime
) -> None:
    failed = {"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}
    for name, other in (("a", "b"), ("b", "a")):
        owner = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "name": other,
            "uid": f"u-shop-{other}",
            "controller": True,
        }
        job = {"metadata": meta(name, "shop", ownerReferences=[owner]), "spec": {}}
        bring(runtime.informer(JOBS), {**job, "status": {"conditions": [failed]}})
    assert any(line.startswith("Failed") for line in lines(await page(client_as, SHOP)))


async def test_counts_match_the_lists_they_link_to(
    client_as: ClientAs, runtime: StaticRuntime
) -> None:
    for name in ("web-5d4-a", "web-5d4-b"):
        bring(runtime.informer(PODS), of_deployment(name, "CrashLoopBackOff"))
    for who in ("admin", "dora"):
        for path in (PLATFORM, CLUSTER, SHOP):
            for url, words in numbers(await page(client_as, path, who)).items():
                listed = await client_as(who).get(f"{url}&format=json")
                total = int((await _body(listed)).split('"total":')[1].split(",")[0])
                assert words.split()[0] == str(total), (who, path, words)


async def _body(response: Any) -> str:
    if response.streaming:
        return b"".join([part async for part in response.streaming_content]).decode()
    return str(response.content.decode())


async def test_number_of_failing_objects_is_the_same_on_every_page(client_as: ClientAs) -> None:
    """In the project picker, the table of projects, and the menu of the project."""
    for who, expected in (("admin", {"shop": 2, "team-a": 2}), ("alice", {"team-a": 2})):
        response = await client_as(who).get(CLUSTER)
        failing = response.context["scope"].problems.failing
        shown = {name: number for (_level, name), number in failing.items() if name and number}
        assert shown == expected
        html = response.content.decode()
        table = section(html, "projects")
        for name, number in expected.items():
            assert f" {name} {number} " in table
            url = f"/clusters/host/projects/{name}"
            assert f'href="{url}#attention"' in html
            rail = (await client_as(who).get(url)).context["nav"].rail
            counts = [one for entry in rail if entry.problems for one in entry.problems.counts]
            assert sum(one.latest.failing for one in counts if one.latest) == number


def test_menus_count_every_kind_that_is_checked_for_problems() -> None:
    """A kind with an entry is checked unless it reports no errors."""
    calm = {"users", "loginrecords", "events", "namespaces", "ingresses"}
    for kind in kinds:
        if kind.checked_for_problems:
            assert "state" in {one.param for one in kind.every_filter}, kind.segment
        elif kind.nav.entry and kind.status_column is not None:
            assert kind.gvr.resource in calm


async def test_reserved_resources_are_summed_up(client_as: ClientAs) -> None:
    html = await page(client_as, CLUSTER)
    # 1 + 0.5 + 0.25 of 3 nodes with 4 cores; a finished pod reserves nothing.
    assert gauge(html, "cpu") == "CPU of 12 Requested 1.8 14 % Limits 2 16 %"
    assert gauge(html, "memory") == "Memory of 24Gi Requested 1.6Gi 6 % Limits 2Gi 8 %"
    assert gauge(html, "pods") == "Pods of 330 Non-terminated 4 1 %"
    shop = await page(client_as, SHOP)
    assert gauge(shop, "cpu") == "CPU Requested 1.5 Limits 2"
    assert gauge(shop, "pods") == "Pods Non-terminated 2"


async def test_overview_reflects_every_change(client_as: ClientAs, runtime: StaticRuntime) -> None:
    await page(client_as, CLUSTER)
    take_away(runtime.informer(PODS), pod("web-2", "shop"))
    bring(runtime.informer(NODES), node("node-3", cpu="8"))
    html = await page(client_as, CLUSTER)
    assert gauge(html, "cpu") == "CPU of 16 Requested 1.2 7 % Limits 2 12 %"
    assert not any(what.startswith(("Crash", "Not ready")) for what in lines(html))


async def test_viewer_of_one_project_sees_sums_of_that_project_only(client_as: ClientAs) -> None:
    for path in (PLATFORM, CLUSTER):
        html = await page(client_as, path, "alice")
        assert [line.split(" · ")[0] for line in lines(html)] == [
            "Image pull failed api-1 pod",
            "Failed import job",
            "Nearly full team resource quota",
        ]
        for canary in ("shop", "team-b", "web-1", "web-2", "node-1", "plain", "Back-off"):
            assert canary not in html, (path, canary)
    html = await page(client_as, CLUSTER, "alice")
    assert gauge(html, "cpu") == "CPU Requested 250m"
    assert gauge(html, "pods") == "Pods Non-terminated 1"
    assert section(html, "projects").endswith("team-a 2 250m 64Mi 1")
    assert section(html, "nodes") == ""


async def test_only_quotas_the_viewer_may_see_are_shown(
    client_as: ClientAs, runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Including permissions limited to resource names."""
    status = {"hard": {"requests.memory": "8Gi"}, "used": {"requests.memory": "1Gi"}}
    another = {"metadata": meta("another", "team-a"), "status": status}
    bring(runtime.informer(RESOURCE_QUOTAS), another)
    assert "Memory request" in await page(client_as, TEAM_A, "alice")
    access = FakeAccess("erin", list_in=(), delete_in=(), names={Key("team-a", "team")})
    monkeypatch.setitem(VIEWERS, "erin", lambda: access)
    found = section(await page(client_as, TEAM_A, "erin"), "quotas")
    assert "CPU request" in found and "Memory request" not in found


async def test_forbidden_and_missing_projects_look_identical(client_as: ClientAs) -> None:
    def blank(html: str) -> str:
        return re.sub(r"shop|nowhere", "X", text(html))

    refused = await page(client_as, SHOP, "alice", 403)
    missing = await page(client_as, "/clusters/host/projects/nowhere", "alice", 403)
    assert blank(refused) == blank(missing)
    await page(client_as, "/clusters/host/projects/nowhere", "admin", 404)
    await page(client_as, "/clusters/elsewhere", "admin", 404)
    await page(client_as, "/clusters/elsewhere/projects/shop", "admin", 404)


async def test_user_without_permissions_sees_an_explanation(client_as: ClientAs) -> None:
    html = unescape(await page(client_as, PLATFORM, "charlie"))
    assert "You don't have access to any workspace or project yet" in html
    assert "You are signed in as charlie." in html
    html = unescape(await page(client_as, CLUSTER, "charlie"))
    assert "You don't have access to any workspace or project yet" in html
    await page(client_as, SHOP, "charlie", 403)


async def test_viewer_of_a_single_pod_sees_only_that_pod_counted(client_as: ClientAs) -> None:
    html = await page(client_as, PLATFORM, "dora")
    assert lines(html) == []
    assert section(html, "projects").endswith("shop 0 1 1Gi 1")
    assert gauge(await page(client_as, SHOP, "dora"), "cpu") == "CPU Requested 1 Limits 2"
    assert "team-a" not in html


async def test_only_nodes_the_viewer_may_see_are_ranked(
    client_as: ClientAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Including permissions limited to resource names."""
    access = FakeAccess("erin", list_in=(), delete_in=(), names={Key("", "node-1")})
    monkeypatch.setitem(VIEWERS, "erin", lambda: access)
    html = await page(client_as, CLUSTER, "erin")
    assert "node-1" in section(html, "nodes")
    assert "node-2" not in html and "node-3" not in html


async def test_anonymous_users_are_redirected_to_sign_in(client_as: ClientAs) -> None:
    for path in ("/", PLATFORM, CLUSTER, SHOP):
        response = await client_as("").get(path)
        assert response["Location"].startswith("/login?next=")
    assert (await client_as("admin").get("/"))["Location"] == PLATFORM


async def test_overview_shows_recent_changes_and_warnings(
    client_as: ClientAs, runtime: StaticRuntime
) -> None:
    deployments = runtime.informer(DEPLOYMENTS)
    gone = deployment("old", "shop")
    bring(deployments, gone)
    take_away(deployments, gone)
    runtime.recent_deletions.note(DEPLOYMENTS, Key("shop", "old"))
    html = await page(client_as, PLATFORM)
    changes = section(html, "changes")
    assert "Deleted deployment old shop" in changes
    assert "Created deployment api team-a" in changes
    # Created months ago.
    assert "deployment web " not in changes
    warnings = section(html, "warnings")
    assert "BackOff ×12 web-2 shop Back-off restarting" in warnings
    assert "plain team-b" in warnings
    seen = await page(client_as, PLATFORM, "alice")
    assert "old" not in section(seen, "changes")
    assert section(seen, "warnings").endswith("None")


async def test_tenant_input_is_escaped(client_as: ClientAs, runtime: StaticRuntime) -> None:
    bad = pod("web-3", "shop", waiting="CrashLoopBackOff")
    bad["status"]["containerStatuses"][0]["lastState"] = {
        "terminated": {"exitCode": 1, "reason": EVIL}
    }
    bring(runtime.informer(PODS), bad)
    for path in (PLATFORM, CLUSTER, SHOP):
        html = await page(client_as, path)
        assert "<script>alert" not in html
        assert "\u202e" not in html
        assert "⟨U+202E⟩" in html
    assert (await client_as("admin").get("/clusters/host/projects/%3Cscript%3E")).status_code == 404


async def test_unchanged_overview_returns_304(client_as: ClientAs, runtime: StaticRuntime) -> None:
    first = await client_as("admin").get(CLUSTER)
    tag = first["ETag"]
    assert f'data-etag="{tag.replace(chr(34), "&quot;")}"' in first.content.decode()
    again = await client_as("admin", **{"If-None-Match": tag}).get(CLUSTER)
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", tag)
    bring(runtime.informer(PODS), pod("new", "shop", waiting="CrashLoopBackOff"))
    changed = await client_as("admin", **{"If-None-Match": tag}).get(CLUSTER)
    assert changed.status_code == 200
    other = await client_as("alice", **{"If-None-Match": changed["ETag"]}).get(CLUSTER)
    assert other.status_code == 200


async def test_stale_overview_is_marked(client_as: ClientAs, runtime: StaticRuntime) -> None:
    tag = (await client_as("admin").get(CLUSTER))["ETag"]
    set_stale(runtime.informer(PODS), runtime.last_response, "it is away")
    response = await client_as("admin", **{"If-None-Match": tag}).get(CLUSTER)
    assert response.status_code == 200
    assert 'data-live="stale"' in response.content.decode()


async def test_quota_list_shows_the_tightest_quota_per_resource(
    client_as: ClientAs, runtime: StaticRuntime
) -> None:
    quotas = runtime.informer(RESOURCE_QUOTAS)
    for name, cpu, pods in (("whole", "95", "20"), ("loose", "40", "40")):
        status = {
            "hard": {"requests.cpu": cpu, "pods": pods},
            "used": {"requests.cpu": "9.5", "pods": "20"},
        }
        bring(quotas, {"metadata": meta(name, "team-a"), "status": status})
    found = section(await page(client_as, TEAM_A), "quotas")
    assert (
        found
        == "Quotas Resource Used Quota Pods 20 of 20 100 % whole CPU request 9.5 of 10 95 % team"
    )
    html = await page(client_as, TEAM_A)
    bars = re.findall(r'bar-requested" data-pressure="(\w*)"', html[html.index('id="quotas"') :])
    assert bars[:2] == ["error", "warn"]


NOT_ACCEPTED = {"type": "Accepted", "status": "False", "reason": "NoMatchingParent"}
ROUTE_STATUS = {"parents": [{"parentRef": {"name": "public"}, "conditions": [NOT_ACCEPTED]}]}


@pytest.mark.parametrize(
    ("gvr", "status", "line"),
    [
        (HTTP_ROUTES, ROUTE_STATUS, "Not accepted HTTP route extra"),
        (GRPC_ROUTES, ROUTE_STATUS, "Not accepted gRPC route extra"),
        (GATEWAYS, {"conditions": [NOT_ACCEPTED]}, "Not accepted gateway extra"),
        (
            VOLUME_SNAPSHOTS,
            {"readyToUse": False, "error": {"message": "timeout"}},
            "Failed volume snapshot extra",
        ),
    ],
    ids=lambda value: getattr(value, "resource", None),
)
@pytest.mark.usefixtures("runtime")
async def test_failing_objects_of_installed_extensions_need_attention(
    gvr: GVR, status: Obj, line: str
) -> None:
    item = {"metadata": meta("extra", "shop"), "spec": {}, "status": status}
    types = preloaded(CUSTOM_RESOURCE_DEFINITIONS, [definition(gvr.qualified)])
    runtime = StaticRuntime({gvr: preloaded(gvr, [item]), CUSTOM_RESOURCE_DEFINITIONS: types})
    set_host_cluster(runtime)
    sight = await load_page_data(admin(), checked_types(), namespaces=("shop",))
    await update_problem_indexes(sight)
    assert [f"{one.state.word} {one.noun} {one.name}" for one in attention(sight).lines] == [line]
