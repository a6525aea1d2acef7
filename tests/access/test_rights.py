"""The permission check page, for the own and other users, and the explanation on pages of refused
requests.
"""

import pytest
from django.template.loader import render_to_string

from access.rights.rows import AssignedRoleRow
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
from tests.access.console import signed_in, text_of
from tests.access.groups import group, group_binding
from tests.rbac.objects import native_binding, native_role, rule, user
from tests.support.informers import take_away
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

ASK = "verb=delete&resource=pods&namespace=web"


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
async def test_permission_check_access(who: str, path: str, code: int) -> None:
    assert (await (await signed_in(who)).get(path)).status_code == code


def test_names_of_roles_without_a_page_do_not_wrap_per_letter() -> None:
    """Names break at any character: next to a wide text, each letter would be on a separate line."""
    link = AssignedRoleRow(
        "Cluster", "system:discovery", "", "", "", "binding", ("view everything",)
    )
    text = render_to_string("access/rights/_held.html", {"links": [link]})
    assert '<span class="full"><span class="stem">system:discovery</span></span>' in text


async def test_an_allowed_request_lists_the_binding_and_the_source_role() -> None:
    alice = await signed_in("alice")
    text = text_of(await alice.get(f"/access/rights?{ASK}"))
    assert 'data-answer="yes"' in text
    assert "quarterdeck:workspacerole:shop-admin" in text, "the binding"
    assert 'href="/access/roles/workspace/shop-admin"' in text, "the role that it was made of"


async def test_a_denied_request_shows_the_missing_permission_and_users_who_can_grant_it() -> None:
    bob = await signed_in("bob")
    text = text_of(await bob.get(f"/access/rights?{ASK}"))
    assert 'data-answer="no"' in text
    assert "admin, alice" in text, "bob may see who has which role in this project"
    charlie = await signed_in("charlie")
    text = text_of(await charlie.get(f"/access/rights?{ASK}"))
    assert "alice" not in text and "A platform administrator can grant this permission." in text


async def test_bindings_of_other_users_are_shown_only_if_the_viewer_may_list_them(
    runtime: StaticRuntime,
) -> None:
    """Carol may read users, but not project or cluster bindings."""
    operates = native_binding("operates", "operator", "User alice", namespace="web", kind="Role")
    runtime.console.put(ROLE_BINDINGS, operates)
    admin, carol = await signed_in("admin"), await signed_in("carol")
    for browser, knows in ((admin, True), (carol, False)):
        text = text_of(await browser.get(f"/access/rights/alice?{ASK}"))
        assert 'data-answer="yes"' in text
        assert ("operates" in text) is knows
        assert ("don't have permission to view" in text) is not knows
        text = text_of(await browser.get("/access/rights/charlie?verb=list&resource=nodes"))
        assert 'data-answer="no"' in text
        assert ("Users who can grant this permission" in text) is knows


async def test_sign_in_history_requires_permission_to_list_login_records(
    runtime: StaticRuntime,
) -> None:
    """Permission to change a user is not enough."""
    may = native_role("keeps-users", rule("get list patch", "users", "iam.kubesphere.io"))
    runtime.console.put(CLUSTER_ROLES, may)
    bound = native_binding("keeps-users", "keeps-users", "User charlie")
    runtime.console.put(CLUSTER_ROLE_BINDINGS, bound)
    await signed_in("bob")
    for who, knows in (("admin", True), ("charlie", False)):
        text = text_of(await (await signed_in(who)).get("/access/accounts/users/bob"))
        assert "Reset password" in text
        assert ("Sign-in history" in text) is knows


async def test_the_project_is_ignored_for_cluster_scoped_types() -> None:
    carol = await signed_in("carol")
    asked = "/access/rights?verb=list&resource=nodes&namespace=web"
    assert 'data-answer="yes"' in text_of(await carol.get(asked))


async def test_permissions_of_a_department_count_and_the_department_is_shown(
    runtime: StaticRuntime,
) -> None:
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
def test_group_bindings_cannot_grant_system_groups(runtime: StaticRuntime, name: str) -> None:
    runtime.console.put(GROUPS, group(name))
    runtime.console.put(GROUP_BINDINGS, group_binding("x", name, "charlie"))
    assert groups_of(runtime, "charlie") == ()


def test_a_binding_to_a_missing_group_grants_nothing(runtime: StaticRuntime) -> None:
    runtime.console.put(GROUP_BINDINGS, group_binding("x", "crew", "charlie"))
    assert groups_of(runtime, "charlie") == ()
    runtime.console.put(GROUPS, group("crew"))
    assert groups_of(runtime, "charlie") == ("crew",)
    assert groups_of(runtime, "bob") == ()


def test_groups_in_the_spec_of_a_user_grant_nothing(runtime: StaticRuntime) -> None:
    runtime.console.put(GROUPS, group("crew"))
    own = user("charlie")
    own["spec"]["groups"] = ["crew", "system:masters"]
    runtime.console.put(USERS, own)
    assert groups_of(runtime, "charlie") == ()


# Refused requests.


async def test_a_forbidden_page_shows_the_permission_who_can_grant_it_and_a_manifest() -> None:
    bob = await signed_in("bob")
    answer = await bob.get("/access/roles/new/project?namespace=web")
    text = text_of(answer)
    assert answer.status_code == 403
    assert "<code>create</code>" in text and "<code>roles.rbac.authorization.k8s.io</code>" in text
    assert "project web" in text
    assert "Users who can grant this permission:" in text and "admin, alice" in text
    assert "kind: RoleBinding" in text and "name: bob" in text and "namespace: web" in text


async def test_a_forbidden_page_hides_administrators_if_the_user_may_not_list_them() -> None:
    charlie = await signed_in("charlie")
    text = text_of(await charlie.get("/clusters/host/nodes"))
    assert "kind: ClusterRoleBinding" in text
    assert "admin," not in text and "alice" not in text
    assert "A platform administrator can grant this permission." in text


async def test_a_missing_permission_of_the_console_is_reported_with_503(
    runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    unsynced = Informer(PODS, DECODERS[PODS])
    monkeypatch.setattr(Informer, "refusal", property(lambda _self: Forbidden(403, "no")))
    runtime._informers[PODS] = unsynced
    admin = await signed_in("admin")
    answer = await admin.get("/clusters/host/pods")
    text = text_of(answer)
    assert answer.status_code == 503
    assert "The console does not have permission to list pods" in text
    assert "Request to send" not in text


async def test_the_project_picker_lists_only_visible_projects() -> None:
    for who, seen, unseen in (("bob", ["web"], ["kube-system"]), ("admin", ["web"], [])):
        text = text_of(await (await signed_in(who)).get("/clusters/host"))
        picker = text.partition("<main")[0]
        assert all(f'/projects/{name}"' in picker for name in seen), who
        assert not any(f'/projects/{name}"' in picker for name in unseen), who


async def test_menu_and_account_page_link_to_the_permission_check() -> None:
    admin = await signed_in("admin")
    text = text_of(await admin.get("/access/accounts/users/bob"))
    assert 'href="/access/rights/bob"' in text
    assert 'href="/access/view-as/users/bob"' in text
    assert 'href="/access/roles"' in text and 'href="/access/rights"' in text
