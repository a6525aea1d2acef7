"""The page that answers who may perform a request."""

from datetime import UTC, datetime
from typing import Any

import pytest

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GROUP_BINDINGS,
    GROUPS,
    GVR,
    NAMESPACES,
    ROLE_BINDINGS,
    ROLES,
    USERS,
)
from console.ui.core.clusters import clusters
from rbac.process_clusters import create_cluster
from tests.access.console import signed_in, text_of
from tests.access.groups import group, group_binding
from tests.rbac.objects import (
    admin_role,
    admins,
    native_binding,
    native_role,
    rule,
    user,
)
from tests.support.informers import preloaded, set_stale, take_away
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "/access/who-may"
PODS = f"{PAGE}?verb=delete&resource=pods&namespace=web"
NODES = f"{PAGE}?verb=list&resource=nodes"


async def holders(path: str, who: str = "admin") -> dict[tuple[str, str], dict[str, Any]]:
    """Return the items of the JSON document by kind and name."""
    answer = await (await signed_in(who)).get(f"{path}&format=json")
    assert answer.status_code == 200, answer.content
    found = answer.json()
    assert found["total"] == len(found["items"])
    return {(one["kind"], one["name"]): one for one in found["items"]}


async def test_the_answer_lists_users_with_their_bindings_and_source_roles() -> None:
    text = text_of(await (await signed_in("admin")).get(PODS))
    assert 'href="/access/rights/alice"' in text and 'href="/access/rights/bob"' not in text
    assert "quarterdeck:workspacerole:shop-admin" in text
    assert 'href="/access/roles/workspace/shop-admin"' in text
    found = await holders(PODS)
    assert set(found) == {("User", "admin"), ("User", "alice"), ("Group", "system:masters")}
    assert found["User", "alice"]["grants"] == [
        {
            "group": "",
            "binding": {"namespace": "web", "name": "quarterdeck:workspacerole:shop-admin"},
            "role": {
                "kind": "ClusterRole",
                "namespace": "",
                "name": "quarterdeck:workspacerole:shop-admin",
            },
            "aggregatedFrom": [],
        }
    ]


async def test_members_of_a_group_are_listed_with_the_group(runtime: StaticRuntime) -> None:
    runtime.console.put(GROUPS, group("crew"))
    runtime.console.put(GROUP_BINDINGS, group_binding("crew-1", "crew", "charlie"))
    bound = native_binding("crew-edits", "operator", "Group crew", namespace="web", kind="Role")
    runtime.console.put(ROLE_BINDINGS, bound)
    found = await holders(PODS)
    assert ("Group", "crew") in found
    (grant,) = found["User", "charlie"]["grants"]
    assert (grant["group"], grant["binding"]["name"]) == ("crew", "crew-edits")
    text = text_of(await (await signed_in("admin")).get(PODS))
    assert "group crew → binding <code>crew-edits</code>" in " ".join(text.split())
    take_away(runtime.informer(GROUP_BINDINGS), runtime.console.of(GROUP_BINDINGS)["crew-1"])
    assert ("User", "charlie") not in await holders(PODS)


async def test_service_accounts_and_groups_of_kubernetes_are_explained(
    runtime: StaticRuntime,
) -> None:
    subjects = ("ServiceAccount web/robot", "Group system:serviceaccounts:web")
    bound = native_binding("robots", "operator", *subjects, namespace="web", kind="Role")
    runtime.console.put(ROLE_BINDINGS, bound)
    found = await holders(PODS)
    assert ("ServiceAccount", "web/robot") in found
    assert found["Group", "system:serviceaccounts:web"]["state"] == "system"
    text = text_of(await (await signed_in("admin")).get(PODS))
    assert "All service accounts in project web" in text
    assert "system:masters" in text and "Built into kube-apiserver" in text
    assert "Other authorizers of kube-apiserver" in text


async def test_disabled_users_and_names_without_a_user_are_marked(runtime: StaticRuntime) -> None:
    runtime.console.put(USERS, user("bob", state="Disabled"))
    people = ("User bob", "User certificate-only")
    bound = native_binding("some", "operator", *people, namespace="web", kind="Role")
    runtime.console.put(ROLE_BINDINGS, bound)
    found = await holders(PODS)
    assert found["User", "bob"]["state"] == "disabled"
    assert found["User", "certificate-only"]["state"] == "no-user"
    assert found["User", "alice"]["state"] == "active"
    text = text_of(await (await signed_in("admin")).get(PODS))
    assert "Disabled: cannot sign in" in text and "No user with this name exists" in text
    assert 'href="/access/rights/certificate-only"' not in text


async def test_an_aggregated_role_names_the_roles_with_the_permission(
    runtime: StaticRuntime,
) -> None:
    labels = {"team": "edit"}
    for name, allowed in (("part", rule("delete", "pods")), ("other", rule("get", "nodes"))):
        part = native_role(name, allowed)
        part["metadata"]["labels"] = labels
        runtime.console.put(CLUSTER_ROLES, part)
    whole = native_role("whole", rule("delete", "pods"), rule("get", "nodes"))
    whole["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": labels}]}
    runtime.console.put(CLUSTER_ROLES, whole)
    runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("all", "whole", "User charlie"))
    (grant,) = (await holders(PODS))["User", "charlie"]["grants"]
    assert grant["aggregatedFrom"] == ["part"]
    text = " ".join(text_of(await (await signed_in("admin")).get(PODS)).split())
    assert "aggregated from part" in text


@pytest.mark.parametrize(
    ("rules", "path", "code"),
    [
        ([], NODES, 403),
        ([rule("list", "users groups groupbindings", "iam.kubesphere.io")], NODES, 403),
        ([rule("list", "clusterroles clusterrolebindings roles rolebindings",
               "rbac.authorization.k8s.io")], NODES, 403),
        ([rule("list", "users groups groupbindings", "iam.kubesphere.io"),
          rule("list", "clusterroles clusterrolebindings", "rbac.authorization.k8s.io")],
         NODES, 200),
        ([rule("list", "users groups groupbindings", "iam.kubesphere.io"),
          rule("list", "clusterroles clusterrolebindings", "rbac.authorization.k8s.io")],
         PODS, 403),
        ([rule("list", "users groups groupbindings", "iam.kubesphere.io"),
          rule("list", "clusterroles clusterrolebindings roles rolebindings",
               "rbac.authorization.k8s.io")], PODS, 200),
    ],
)  # fmt: skip
async def test_the_viewer_must_be_allowed_to_list_users_groups_roles_and_bindings(
    runtime: StaticRuntime, rules: list[dict[str, Any]], path: str, code: int
) -> None:
    runtime.console.put(CLUSTER_ROLES, native_role("sees", *rules))
    runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("sees", "sees", "User charlie"))
    charlie = await signed_in("charlie")
    for asked in (path, f"{path}&format=json"):
        answer = await charlie.get(asked)
        assert answer.status_code == code
        assert code == 200 or "system:masters" not in text_of(answer)


@pytest.mark.parametrize(
    ("query", "code", "text"),
    [
        ("", 200, "Find users with a permission"),
        ("resource=../pods", 400, "Enter a valid resource"),
        ("resource=pods&verb=%00", 400, "Enter a valid verb"),
        ("resource=pods&namespace=../web", 400, "Enter a valid project name"),
        ("resource=gadgets", 200, "does not know the resource gadgets"),
        ("resource=pods&verb=frobnicate", 200, "frobnicate is not a verb of Kubernetes"),
        ("resource=pods/log", 200, "system:masters"),
        ("resource=pods&cluster=nowhere", 404, ""),
        ("resource=pods&format=xml", 400, "Parameter format"),
    ],
)
async def test_invalid_and_unknown_words_are_reported(query: str, code: int, text: str) -> None:
    answer = await (await signed_in("admin")).get(f"{PAGE}?{query}")
    assert answer.status_code == code
    assert text in text_of(answer)


async def test_json_reports_an_invalid_question_as_a_status() -> None:
    answer = await (await signed_in("admin")).get(f"{PAGE}?resource=../pods&format=json")
    assert answer.status_code == 400 and answer.json()["kind"] == "Status"


@pytest.mark.parametrize("stale", [GROUP_BINDINGS, ROLE_BINDINGS, CLUSTER_ROLES])
async def test_an_answer_from_outdated_data_is_refused(runtime: StaticRuntime, stale: GVR) -> None:
    admin = await signed_in("admin")
    assert (await admin.get(PODS)).status_code == 200
    set_stale(runtime.informer(stale), datetime.now(UTC), "connection refused")
    assert (await admin.get(PODS)).status_code == 503


async def test_another_cluster_answers_with_its_own_bindings() -> None:
    objects: dict[GVR, list[dict[str, Any]]] = {
        CLUSTER_ROLES: [admin_role(), native_role("reader", rule("list", "pods"))],
        CLUSTER_ROLE_BINDINGS: [*admins("admin"), native_binding("e", "reader", "User bob")],
        ROLES: [],
        ROLE_BINDINGS: [],
        NAMESPACES: [],
    }
    member = StaticRuntime({gvr: preloaded(gvr, of) for gvr, of in objects.items()})
    clusters.add(create_cluster("member", member))
    try:
        path = f"{PAGE}?verb=list&resource=pods&cluster=member"
        people = {name for kind, name in await holders(path) if kind == "User"}
        assert people == {"admin", "bob"}
        answer = await (await signed_in("admin")).get(path)
        assert answer.status_code == 200
        assert 'href="/access/roles/' not in text_of(answer), "roles of the host cluster"
        assert (await (await signed_in("alice")).get(path)).status_code == 403
    finally:
        clusters.remove("member")


async def test_menu_and_palette_link_to_the_page_for_permitted_viewers() -> None:
    for who, offered in (("admin", True), ("bob", False)):
        browser = await signed_in(who)
        assert ("/access/who-may" in text_of(await browser.get("/access/rights"))) is offered
        assert ("/access/who-may" in text_of(await browser.get("/palette?q=who+may"))) is offered


async def test_object_pages_link_to_the_page_for_viewers_who_may_list_bindings() -> None:
    page = "/clusters/host/projects/web/configmaps/settings"
    url = "/access/who-may?verb=get&amp;resource=configmaps&amp;namespace=web&amp;name=settings"
    for who, offered in (("admin", True), ("alice", False)):
        answer = await (await signed_in(who)).get(page)
        assert answer.status_code == 200
        assert (url in text_of(answer)) is offered, who
