"""What somebody may do, and why: asked by themselves and by others; and what a refusal says."""

from typing import Any

import pytest
from django.template.loader import render_to_string

from access.rights.views import Link
from console.kube.errors import Forbidden
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GROUP_BINDINGS,
    GROUPS,
    PODS,
    ROLE_BINDINGS,
    USERS,
)
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from rbac.memberships import groups_of
from tests.access.test_roles import signed_in, text_of
from tests.informers import take_away
from tests.rbac.objects import native_binding, native_role, rule, user
from tests.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

ASK = "verb=delete&resource=pods&namespace=web"


def group(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "iam.kubesphere.io/v1alpha2",
        "kind": "Group",
        "metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": "1"},
    }


def group_binding(name: str, of: str, *users: str) -> dict[str, Any]:
    return {
        "apiVersion": "iam.kubesphere.io/v1alpha2",
        "kind": "GroupBinding",
        "metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": "1"},
        "groupRef": {"apiGroup": "iam.kubesphere.io", "kind": "Group", "name": of},
        "users": list(users),
    }


@pytest.mark.parametrize(
    ("who", "path", "code"),
    [
        ("admin", "/access/rights", 200),
        ("admin", "/access/rights/bob", 200),
        ("admin", "/access/rights/nobody", 404),
        ("bob", "/access/rights", 200),
        ("bob", "/access/rights/bob", 200),
        ("bob", "/access/rights/alice", 403),
        ("bob", "/access/rights/nobody", 403),
        ("charlie", "/access/rights", 200),
        ("admin", "/access/rights/bob?verb=%00&resource=pods", 400),
        ("admin", "/access/rights/bob?resource=../pods", 400),
        ("admin", f"/access/rights/bob?resource=pods&name={'x' * 300}", 400),
        ("admin", "/access/rights/bob?resource=pods/log&verb=get", 200),
        ("admin", "/access/rights/bob?resource=*&verb=*", 200),
    ],
)
async def test_who_may_ask(who: str, path: str, code: int) -> None:
    assert (await (await signed_in(who)).get(path)).status_code == code


def test_the_name_of_a_role_without_a_page_has_room_too() -> None:
    """Names break anywhere: beside a wide text each letter would have a line of its own."""
    link = Link("Cluster", "system:discovery", "", "", "", "binding", ("view everything",))
    text = render_to_string("access/rights/_held.html", {"links": [link]})
    assert '<span class="full"><span class="stem">system:discovery</span></span>' in text


async def test_a_yes_names_the_chain() -> None:
    alice = await signed_in("alice")
    text = text_of(await alice.get(f"/access/rights?{ASK}"))
    assert 'data-answer="yes"' in text
    assert "quarterdeck:workspacerole:shop-admin" in text, "the binding"
    assert 'href="/access/roles/workspace/shop-admin"' in text, "the role that it was made of"


async def test_a_no_says_what_is_missing_and_who_could_give_it() -> None:
    bob = await signed_in("bob")
    text = text_of(await bob.get(f"/access/rights?{ASK}"))
    assert 'data-answer="no"' in text
    assert "admin, alice" in text, "bob may see who has which role in this project"
    charlie = await signed_in("charlie")
    text = text_of(await charlie.get(f"/access/rights?{ASK}"))
    assert "alice" not in text and "A platform administrator can give it." in text


async def test_of_others_one_learns_no_more_than_their_bindings_tell(
    runtime: StaticRuntime,
) -> None:
    """Carol may read users, and no bindings of projects or of the cluster."""
    operates = native_binding("operates", "operator", "User alice", namespace="web", kind="Role")
    runtime.console.put(ROLE_BINDINGS, operates)
    admin, carol = await signed_in("admin"), await signed_in("carol")
    for browser, knows in ((admin, True), (carol, False)):
        text = text_of(await browser.get(f"/access/rights/alice?{ASK}"))
        assert 'data-answer="yes"' in text
        assert ("operates" in text) is knows
        assert ("bindings that are not for everybody to see" in text) is not knows
        text = text_of(await browser.get("/access/rights/charlie?verb=list&resource=nodes"))
        assert 'data-answer="no"' in text
        assert ("These people can give this right" in text) is knows


async def test_logins_are_for_those_who_may_list_them(runtime: StaticRuntime) -> None:
    """To change a user is not enough."""
    may = native_role("keeps-users", rule("get list patch", "users", "iam.kubesphere.io"))
    runtime.console.put(CLUSTER_ROLES, may)
    bound = native_binding("keeps-users", "keeps-users", "User charlie")
    runtime.console.put(CLUSTER_ROLE_BINDINGS, bound)
    await signed_in("bob")
    for who, knows in (("admin", True), ("charlie", False)):
        text = text_of(await (await signed_in(who)).get("/access/accounts/users/bob"))
        assert "Reset password" in text
        assert ("Login history" in text) is knows


async def test_a_type_of_the_cluster_is_asked_without_a_project() -> None:
    carol = await signed_in("carol")
    asked = "/access/rights?verb=list&resource=nodes&namespace=web"
    assert 'data-answer="yes"' in text_of(await carol.get(asked))


async def test_a_department_counts_and_is_named(runtime: StaticRuntime) -> None:
    runtime.console.put(GROUPS, group("crew"))
    runtime.console.put(GROUP_BINDINGS, group_binding("crew-1", "crew", "charlie"))
    runtime.console.put(
        ROLE_BINDINGS,
        native_binding(
            "crew-views", "quarterdeck:workspacerole:shop-viewer", "Group crew", namespace="web"
        ),
    )
    charlie = await signed_in("charlie")
    asked = "/access/rights?verb=list&resource=pods&namespace=web"
    text = text_of(await charlie.get(asked))
    assert 'data-answer="yes"' in text and "group crew" in text
    take_away(runtime.informer(GROUP_BINDINGS), runtime.console.of(GROUP_BINDINGS)["crew-1"])
    assert 'data-answer="no"' in text_of(await charlie.get(asked))


@pytest.mark.parametrize("name", ["system:masters", "system:authenticated", "", " crew"])
def test_no_group_of_kubernetes_own_comes_of_a_binding(runtime: StaticRuntime, name: str) -> None:
    runtime.console.put(GROUPS, group(name))
    runtime.console.put(GROUP_BINDINGS, group_binding("x", name, "charlie"))
    assert groups_of(runtime, "charlie") == ()


def test_a_group_that_is_not_there_gives_nothing(runtime: StaticRuntime) -> None:
    runtime.console.put(GROUP_BINDINGS, group_binding("x", "crew", "charlie"))
    assert groups_of(runtime, "charlie") == ()
    runtime.console.put(GROUPS, group("crew"))
    assert groups_of(runtime, "charlie") == ("crew",)
    assert groups_of(runtime, "bob") == ()


def test_what_a_user_says_of_themselves_gives_nothing(runtime: StaticRuntime) -> None:
    runtime.console.put(GROUPS, group("crew"))
    own = user("charlie")
    own["spec"]["groups"] = ["crew", "system:masters"]
    runtime.console.put(USERS, own)
    assert groups_of(runtime, "charlie") == ()


# A refusal.


async def test_a_refusal_says_the_right_the_people_and_the_request() -> None:
    bob = await signed_in("bob")
    answer = await bob.get("/access/roles/new/project?namespace=web")
    text = text_of(answer)
    assert answer.status_code == 403
    assert "<code>create</code>" in text and "<code>roles.rbac.authorization.k8s.io</code>" in text
    assert "project web" in text
    assert "These people can give this right:" in text and "admin, alice" in text
    assert "kind: RoleBinding" in text and "name: bob" in text and "namespace: web" in text


async def test_it_names_nobody_to_whoever_may_not_know() -> None:
    charlie = await signed_in("charlie")
    text = text_of(await charlie.get("/clusters/host/nodes"))
    assert "kind: ClusterRoleBinding" in text
    assert "admin," not in text and "alice" not in text
    assert "A platform administrator can change what you may do." in text


async def test_it_is_another_page_when_the_console_itself_may_not(
    runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    unsynced = Informer(PODS, DECODERS[PODS])
    monkeypatch.setattr(Informer, "refusal", property(lambda _self: Forbidden(403, "no")))
    runtime._informers[PODS] = unsynced
    admin = await signed_in("admin")
    answer = await admin.get("/clusters/host/pods")
    text = text_of(answer)
    assert answer.status_code == 503
    assert "The console itself may not list pods" in text
    assert "Request to send" not in text


async def test_the_projects_are_those_that_one_may_see() -> None:
    for who, seen, unseen in (("bob", ["web"], ["kube-system"]), ("admin", ["web"], [])):
        text = text_of(await (await signed_in(who)).get("/clusters/host"))
        picker = text.partition("<main")[0]
        assert all(f'/projects/{name}"' in picker for name in seen), who
        assert not any(f'/projects/{name}"' in picker for name in unseen), who


async def test_the_menu_and_the_account_lead_there() -> None:
    admin = await signed_in("admin")
    text = text_of(await admin.get("/access/accounts/users/bob"))
    assert 'href="/access/rights/bob"' in text
    assert 'href="/access/view-as/users/bob"' in text
    assert 'href="/access/roles"' in text and 'href="/access/rights"' in text
