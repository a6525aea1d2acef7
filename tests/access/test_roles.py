"""Roles: visibility, creation and changes, and that users can't grant permissions they don't hold."""

import asyncio
import html
import json
import re
from copy import deepcopy
from typing import Any

import pytest
import yaml
from django.utils.translation import override

from console.audit.models import AuditRecord
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    ROLE_BINDINGS,
    ROLES,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
)
from console.kube.identity import Identity
from console.ui.core.clusters import clusters
from console.ui.navigation.page_routes import PageRoute, resolve_page
from tests.access.conftest import IAM, READ, Browser
from tests.access.console import signed_in, text_of, writes
from tests.rbac.fakes import without_version
from tests.rbac.objects import (
    GROUP,
    native_binding,
    native_role,
    rule,
    workspace_binding,
    workspace_role,
)
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

PLATFORM, SHOP = "/access/roles/global", "/access/roles/workspace"
NEW_SHOP = "/access/roles/new/workspace?workspace=shop"
SHOP_ROLES = "/clusters/host/workspaceroles.iam.kubesphere.io"
DELETE_OWN = f"{SHOP_ROLES}/shop-own/actions/delete"
VIEW, MANAGE = "role-template-view-projects", "role-template-manage-projects"


def stored(runtime: StaticRuntime, gvr: Any, name: str) -> dict[str, Any]:
    found: dict[str, Any] = deepcopy(runtime.console.of(gvr)[name])
    return found


# Visibility.


@pytest.mark.parametrize(
    ("who", "path", "code"),
    [
        ("admin", "/access/roles", 200),
        ("admin", "/access/roles?level=cluster", 200),
        ("admin", "/access/roles?level=project", 200),
        ("admin", "/access/roles?level=nonsense", 404),
        ("admin", f"{PLATFORM}/platform-admin", 200),
        ("admin", f"{PLATFORM}/nothing", 404),
        ("admin", "/access/roles/nonsense/x", 404),
        ("admin", "/access/roles/project/web", 404),
        ("admin", "/access/roles/project/web/operator", 200),
        ("admin", f"{PLATFORM}/keeper/nonsense", 404),
        ("carol", "/access/roles", 200),
        ("carol", f"{PLATFORM}/keeper", 200),
        ("carol", f"{SHOP}/shop-admin", 403),
        ("alice", "/workspaces/shop/roles", 200),
        ("alice", "/workspaces/other/roles", 403),
        ("alice", "/workspaces/nothing/roles", 403),
        ("alice", f"{SHOP}/shop-viewer", 200),
        ("alice", f"{SHOP}/other-admin", 403),
        ("alice", f"{SHOP}/nothing", 403),
        ("alice", f"{PLATFORM}/platform-admin", 403),
        ("alice", "/access/roles/project/web/operator", 200),
        ("alice", "/access/roles/project/kube-system/operator", 403),
        ("alice", "/access/roles?level=project&namespace=kube-system", 403),
        ("alice", "/access/roles?level=global", 403),
        ("alice", "/access/roles?level=cluster", 403),
        ("bob", f"{SHOP}/shop-admin", 200),
        ("bob", NEW_SHOP, 403),
        ("bob", f"{SHOP}/shop-inviter/edit", 403),
        ("charlie", "/access/roles", 403),
        ("charlie", "/workspaces/shop/roles", 403),
        ("charlie", f"{SHOP}/shop-admin", 403),
    ],
)
async def test_role_page_access(who: str, path: str, code: int) -> None:
    assert (await (await signed_in(who)).get(path)).status_code == code


async def test_forbidden_and_missing_roles_get_the_same_response() -> None:
    bob = await signed_in("bob")
    pages = []
    for name in ("other-admin", "nothing-more"):
        text = text_of(await bob.get(f"{SHOP}/{name}")).partition("<main")[2]
        pages.append(text.replace(name, "NAME").partition("</details>")[0])
    assert pages[0] == pages[1]
    assert "You don't have permission to get workspace roles." in html.unescape(pages[0])


async def test_the_list_hides_system_and_derived_roles_by_default() -> None:
    admin = await signed_in("admin")
    text = text_of(await admin.get("/access/roles?level=cluster"))
    assert "reader" in text and "system:node" not in text and "quarterdeck:" not in text
    text = text_of(await admin.get("/access/roles?level=cluster&all=1"))
    assert "system:node" in text and "quarterdeck:workspacerole:shop-admin" in text


async def test_the_list_is_rendered_again_after_a_change(runtime: StaticRuntime) -> None:
    admin = await signed_in("admin")
    etag = text_of(await admin.get("/access/roles")).partition('data-etag="')[2].partition('">')[0]
    etag = etag.replace("&quot;", '"')
    assert (await admin.get("/access/roles", If_None_Match=etag)).status_code == 304
    changed = stored(runtime, GLOBAL_ROLES, "keeper")
    changed["metadata"]["annotations"] = {"kubesphere.io/description": "Keeps"}
    runtime.console.put(GLOBAL_ROLES, changed)
    assert (await admin.get("/access/roles", If_None_Match=etag)).status_code == 200


@pytest.mark.parametrize("who", ["admin", "alice", "bob"])
async def test_role_pages_subscribe_to_their_content(runtime: StaticRuntime, who: str) -> None:
    browser = await signed_in(who)
    for url in ("/access/roles", "/workspaces/shop/roles", f"{SHOP}/shop-viewer"):
        text = text_of(await browser.get(url))
        followed = re.search(r'data-url="([^"]+)" data-etag="([^"]+)"', text)
        assert followed, text
        address, etag = (html.unescape(part) for part in followed.groups())
        place = resolve_page(address)
        assert isinstance(place, PageRoute), address
        access = clusters.host.access_for(Identity(who))
        assert access is not None
        with override("en"):
            assert place.etag(access) == etag, url
        assert (await browser.get(address, If_None_Match=etag)).status_code == 304


async def test_a_role_page_shows_its_permissions_and_holders() -> None:
    alice = await signed_in("alice")
    text = text_of(await alice.get(f"{SHOP}/shop-viewer"))
    assert "View all resources" in text
    assert "quarterdeck:workspacerole:shop-viewer" in text
    assert 'data-key="User bob"' in text
    assert "Edit role" not in text, "it is built in"


@pytest.fixture
def auditor(runtime: StaticRuntime) -> None:
    """Let alice list cluster roles and bindings, and read everything in project web."""
    put, rbac = runtime.console.put, "rbac.authorization.k8s.io"
    sees = rule(READ, "clusterroles clusterrolebindings", rbac)
    put(CLUSTER_ROLES, native_role("auditor", sees))
    put(CLUSTER_ROLE_BINDINGS, native_binding("auditors", "auditor", "User alice"))
    put(CLUSTER_ROLE_BINDINGS, native_binding("readers", "reader", "User charlie"))
    for project, who in (("web", "bob"), ("kube-system", "carol")):
        put(ROLE_BINDINGS, native_binding("readers", "reader", f"User {who}", namespace=project))


@pytest.mark.usefixtures("auditor")
async def test_holders_in_a_project_are_shown_only_to_users_who_may_see_its_bindings() -> None:
    for who, names in (("alice", ["bob", "charlie"]), ("admin", ["bob", "carol", "charlie"])):
        text = text_of(await (await signed_in(who)).get("/access/roles/cluster/reader"))
        assert re.findall(r'data-key="User (\w+)"', text) == names, who


@pytest.mark.usefixtures("auditor")
async def test_the_holder_count_includes_only_visible_bindings() -> None:
    for who, count in (("alice", "2"), ("admin", "3")):
        text = text_of(await (await signed_in(who)).get("/access/roles?level=cluster"))
        line = text.partition('data-key="/reader"')[2].partition("</tr>")[0]
        assert re.findall(r'class="number[^"]*">([^<]*)<', line) == [count], who


@pytest.mark.usefixtures("auditor")
async def test_the_delete_page_names_only_visible_holders(runtime: StaticRuntime) -> None:
    roles = rule("delete", "clusterroles", "rbac.authorization.k8s.io")
    runtime.console.put(CLUSTER_ROLES, native_role("deleter", roles))
    runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("deleters", "deleter", "User alice"))
    url = "/clusters/host/clusterroles/reader/actions/delete"
    for who, names in (("alice", "bob, charlie"), ("admin", "bob, carol, charlie")):
        text = text_of(await (await signed_in(who)).get(url))
        assert f"This role is assigned to {names}." in text, who


@pytest.mark.usefixtures("auditor")
@pytest.mark.parametrize(("subject", "code"), [("charlie", 409), ("bob", 302), ("alice", 302)])
async def test_a_role_can_be_granted_to_holders_in_a_project_or_by_a_derived_binding(
    runtime: StaticRuntime, subject: str, code: int
) -> None:
    derived = native_binding("quarterdeck:globalrolebinding:x", "reader", "User alice")
    runtime.console.put(CLUSTER_ROLE_BINDINGS, derived)
    admin = await signed_in("admin")
    fields = {"kind": "User", "subject": subject}
    answer = await admin.post("/access/roles/cluster/reader/grant", fields)
    assert answer.status_code == code
    given = f"{subject}-reader" in runtime.console.of(CLUSTER_ROLE_BINDINGS)
    assert given is (code == 302)
    assert (f"{subject} already has this role" in text_of(answer)) is not given


@pytest.mark.usefixtures("auditor")
async def test_revoking_from_a_hidden_holder_gets_the_response_for_a_missing_holder() -> None:
    alice, url = await signed_in("alice"), "/access/roles/cluster/reader/revoke"
    for subject in ("User carol", "User nobody"):
        taken = {"where": "kube-system", "binding": "readers", "subject": subject}
        answer = await alice.post(url, taken)
        assert answer.status_code == 409 and "no longer exists. Reload the page" in text_of(
            answer
        ), subject


# Creation.


async def make(browser: Browser, path: str = NEW_SHOP, **fields: Any) -> Any:
    given = {"name": "dev", "template": [MANAGE], **fields}
    return await browser.post(path, given)


async def test_a_role_aggregates_templates_and_their_dependencies(
    runtime: StaticRuntime,
) -> None:
    alice = await signed_in("alice")
    answer = await make(alice, alias="Developers", description="Who develops")
    assert (answer.status_code, answer["Location"]) == (302, f"{SHOP}/shop-dev")
    made = stored(runtime, WORKSPACE_ROLES, "shop-dev")
    notes = made["metadata"]["annotations"]
    assert json.loads(notes["iam.kubesphere.io/aggregation-roles"]) == [VIEW, MANAGE]
    assert notes["kubesphere.io/creator"] == "alice"
    assert notes["kubesphere.io/alias-name"] == "Developers"
    assert made["metadata"]["labels"] == {"kubesphere.io/workspace": "shop"}
    verbs = {verb for one in made["rules"] for verb in one["verbs"]}
    assert "delete" in verbs and not verbs & {"*", "escalate", "bind", "impersonate"}
    # kube-apiserver can't decide this, so the console writes and records the user as creator.
    assert ("alice", "create") not in runtime.notes  # type: ignore[attr-defined]
    row = await AuditRecord.objects.filter(resource="workspaceroles").aget()
    assert (row.actor, row.verb, row.name) == ("alice", "create", "shop-dev")


async def test_an_administrator_writes_with_the_own_identity(runtime: StaticRuntime) -> None:
    admin = await signed_in("admin")
    answer = await make(admin, "/access/roles/new/global", template=["role-template-view-users"])
    assert answer.status_code == 302
    assert ("admin", "create") in runtime.notes  # type: ignore[attr-defined]


async def test_a_cluster_role_made_of_templates_has_rules(runtime: StaticRuntime) -> None:
    admin = await signed_in("admin")
    path = "/access/roles/new/cluster"
    assert (await make(admin, path, template=["role-template-view-nodes"])).status_code == 302
    rules = stored(runtime, CLUSTER_ROLES, "dev")["rules"]
    assert {"nodes", "nodes/status"} <= set(rules[0]["resources"])


async def test_a_preview_writes_nothing(runtime: StaticRuntime) -> None:
    alice = await signed_in("alice")
    answer = await make(alice, preview="1", name="", further="- verbs: [get]")
    assert answer.status_code == 400 and "Each rule needs verbs" in text_of(answer)
    answer = await make(alice, preview="1", name="")
    assert answer.status_code == 200
    assert "Added automatically as dependencies:" in text_of(answer)
    assert writes(runtime) == []


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"name": ""}, "Use lowercase letters"),
        ({"name": "Dev"}, "Use lowercase letters"),
        ({"name": "../x"}, "Use lowercase letters"),
        ({"name": "x" * 63}, "Use lowercase letters"),
        ({"name": "viewer"}, "A role with this name already exists."),
        ({"further": "nonsense"}, "Not a valid list of rules"),
        ({"further": "- verbs: [get]\n  resource: [pods]"}, "Not a valid list of rules"),
        ({"further": "- verbs: *x"}, "Not a valid list of rules"),
        ({"further": "[" * 5000}, "Not a valid list of rules"),
        ({"further": "- verbs: [get]"}, "Each rule needs verbs"),
        ({"further": "x" * 20_000}, "The rules are longer than 16384 characters."),
    ],
)
async def test_invalid_values_are_reported_at_the_field_and_input_is_kept(
    runtime: StaticRuntime, fields: dict[str, str], text: str
) -> None:
    alice = await signed_in("alice")
    answer = await make(alice, description="Kept as typed", **fields)
    assert answer.status_code == 400
    assert text in text_of(answer) and "Kept as typed" in text_of(answer)
    field = f"role-{next(iter(fields))}"
    assert f'href="#{field}"' in text_of(answer) and f'id="{field}_error"' in text_of(answer)
    assert f'value="{MANAGE}"' in text_of(answer)
    assert [call for call in writes(runtime) if call[2] != "shop-viewer"] == []


# Users can't grant permissions that they don't hold (Z8).


async def test_a_role_beyond_the_own_permissions_cannot_be_created(runtime: StaticRuntime) -> None:
    carol = await signed_in("carol")
    path = "/access/roles/new/global"
    within = "- {verbs: [get], apiGroups: [''], resources: [nodes]}"
    assert (await make(carol, path, template=[], further=within)).status_code == 302
    made = stored(runtime, GLOBAL_ROLES, "dev")
    assert made["rules"] == [{"verbs": ["get"], "apiGroups": [""], "resources": ["nodes"]}]
    for number, further in enumerate(
        (
            "- {verbs: ['*'], apiGroups: ['*'], resources: ['*']}",
            "- {verbs: [get], apiGroups: [''], resources: [nodes, secrets]}",
            "- {verbs: [delete], apiGroups: [''], resources: [nodes]}",
            "- {verbs: [get], nonResourceURLs: ['*']}",
        )
    ):
        answer = await make(carol, path, name=f"grab-{number}", template=[], further=further)
        assert answer.status_code == 400
        assert "You cannot grant permissions that you don" in text_of(answer)
        assert f"grab-{number}" not in runtime.console.of(GLOBAL_ROLES)


async def test_a_role_cannot_be_extended_beyond_the_own_permissions(runtime: StaticRuntime) -> None:
    runtime.console.put(WORKSPACE_ROLES, workspace_role("shop-own", "shop", rule("get", "pods")))
    runtime.console.put(
        WORKSPACE_ROLE_BINDINGS,
        {
            **stored(runtime, WORKSPACE_ROLE_BINDINGS, "bob-shop-viewer"),
            "roleRef": {"kind": "WorkspaceRole", "name": "shop-inviter"},
        },
    )
    bob = await signed_in("bob")
    page = f"{SHOP}/shop-own/edit"
    version = stored(runtime, WORKSPACE_ROLES, "shop-own")["metadata"]["resourceVersion"]
    more = "- {verbs: ['*'], apiGroups: ['*'], resources: ['*']}"
    fields = {"uid": "uid-shop-own", "version": version, "further": more}
    answer = await bob.post(page, fields)
    assert answer.status_code == 400 and "permissions that you don" in text_of(answer)
    assert stored(runtime, WORKSPACE_ROLES, "shop-own")["rules"] == [rule("get", "pods")]
    answer = await bob.post(page, {**fields, "further": more.replace("['*']", "[get]", 1)})
    assert answer.status_code == 302


async def test_a_role_beyond_the_own_permissions_cannot_be_granted(runtime: StaticRuntime) -> None:
    carol = await signed_in("carol")
    for role in ("platform-admin",):
        answer = await carol.post(f"{PLATFORM}/{role}/grant", {"kind": "User", "subject": "carol"})
        assert answer.status_code == 403
        assert "This role also includes" in text_of(answer)
    assert len(runtime.console.of(GLOBAL_ROLE_BINDINGS)) == 2


async def test_wildcard_rules_do_not_allow_granting_the_platform_administrator_role(
    runtime: StaticRuntime,
) -> None:
    everything = stored(runtime, GLOBAL_ROLES, "keeper")
    runtime.console.put(GLOBAL_ROLES, {**everything, "rules": [rule("*", "*", "*")]})
    carol = await signed_in("carol")
    path = f"{PLATFORM}/platform-admin/grant"
    answer = await carol.post(path, {"kind": "User", "subject": "carol"})
    assert answer.status_code == 403
    assert len(runtime.console.of(GLOBAL_ROLE_BINDINGS)) == 2


@pytest.mark.parametrize("more", ["", "escalate", "bind"])
async def test_escalate_and_bind_permissions_apply_to_native_roles(
    runtime: StaticRuntime, more: str
) -> None:
    rights = [rule("get create", "roles rolebindings", GROUP)]
    if more:
        rights.append(rule(more, "roles", GROUP, "dev" if more == "escalate" else "operator"))
    runtime.console.put(CLUSTER_ROLES, native_role("gives", *rights))
    runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("gives", "gives", "User charlie"))
    charlie, words = await signed_in("charlie"), "You cannot grant permissions that you don"
    further = "- {verbs: [get], apiGroups: [''], resources: [secrets]}"
    path = "/access/roles/new/project?namespace=web"
    answer = await make(charlie, path, template=[], further=further)
    assert (words not in text_of(answer)) is ("web/dev" in runtime.console.of(ROLES))
    assert ("web/dev" in runtime.console.of(ROLES)) is (more == "escalate")
    path = "/access/roles/project/web/operator/grant"
    answer = await charlie.post(path, {"kind": "User", "subject": "bob"})
    assert (words not in text_of(answer)) is (more == "bind")
    assert ("web/bob-operator" in runtime.console.of(ROLE_BINDINGS)) is (more == "bind")


async def test_templates_beyond_the_own_permissions_are_marked_in_the_form() -> None:
    for who, beyond in (("admin", set()), ("carol", {"manage-users"})):
        text = text_of(await (await signed_in(who)).get("/access/roles/new/global"))
        leaves = re.findall(r'value="role-template-([^"]*)"(.*?)<ul', text, re.DOTALL)
        said = {name: "exceeds your permissions" in leaf for name, leaf in leaves}
        assert {name for name in ("manage-users", "manage-roles") if said[name]} == beyond, who


async def test_roles_of_other_workspaces_and_levels_are_forbidden(runtime: StaticRuntime) -> None:
    alice = await signed_in("alice")
    for path in (
        "/access/roles/new/workspace?workspace=other",
        "/access/roles/new/global",
        "/access/roles/new/cluster",
        f"{SHOP}/other-admin/edit",
        f"{SHOP_ROLES}/other-admin/actions/delete",
        f"{SHOP}/other-admin/grant",
        f"{PLATFORM}/platform-admin/grant",
    ):
        answer = await alice.post(path, {"name": "x", "kind": "User", "subject": "alice"})
        assert answer.status_code == 403, path
    assert (await alice.post("/access/roles/new/workspace", {})).status_code == 404
    assert writes(runtime) == []


# Granting and revoking.


async def test_a_role_is_granted_and_revoked(runtime: StaticRuntime) -> None:
    alice = await signed_in("alice")
    page = f"{SHOP}/shop-viewer"
    fields = {"kind": "User", "subject": "charlie"}
    assert (await alice.post(f"{page}/grant", fields)).status_code == 302
    made = stored(runtime, WORKSPACE_ROLE_BINDINGS, "shop.charlie")
    assert made["roleRef"] == {
        "apiGroup": "iam.kubesphere.io",
        "kind": "WorkspaceRole",
        "name": "shop-viewer",
    }
    assert made["metadata"]["labels"] == {
        "kubesphere.io/workspace": "shop",
        "iam.kubesphere.io/user-ref": "charlie",
    }
    assert (await alice.post(f"{page}/grant", fields)).status_code == 409
    taken = {"where": "", "binding": "shop.charlie", "subject": "User charlie"}
    assert (await alice.post(f"{page}/revoke", taken)).status_code == 302
    assert "shop.charlie" not in runtime.console.of(WORKSPACE_ROLE_BINDINGS)
    assert (await alice.post(f"{page}/revoke", taken)).status_code == 409
    verbs = [row.verb async for row in AuditRecord.objects.filter(actor="alice").order_by("time")]
    assert verbs[-2:] == ["create", "delete"]


async def test_the_workspace_manager_role_cannot_be_revoked(runtime: StaticRuntime) -> None:
    """The controllers would grant it again immediately."""
    managing = workspace_binding("shop-admin", "shop", "shop-admin", "User alice")
    runtime.console.put(WORKSPACE_ROLE_BINDINGS, managing)
    admin = await signed_in("admin")
    text = text_of(await admin.get(f"{SHOP}/shop-admin"))
    assert re.findall(r'name="binding" value="([^"]*)"', text) == ["alice-shop-admin"]
    taken = {"where": "", "binding": "shop-admin", "subject": "User alice"}
    answer = await admin.post(f"{SHOP}/shop-admin/revoke", taken)
    assert answer.status_code == 409 and "Choose another manager" in text_of(answer)
    assert "shop-admin" in runtime.console.of(WORKSPACE_ROLE_BINDINGS)


async def test_bindings_created_by_controllers_cannot_be_revoked(runtime: StaticRuntime) -> None:
    """The controllers would create it again immediately."""
    admin, made = await signed_in("admin"), "quarterdeck:globalrolebinding:carol-keeper"
    page = "/access/roles/cluster/quarterdeck:globalrole:keeper"
    assert f"{page}/revoke" not in text_of(await admin.get(page))
    taken = {"where": "", "binding": made, "subject": "User carol"}
    answer = await admin.post(f"{page}/revoke", taken)
    assert answer.status_code == 409 and "created this assignment from another role" in text_of(
        answer
    )
    assert made in runtime.console.of(CLUSTER_ROLE_BINDINGS)


async def test_the_existing_role_of_a_member_is_named_only_to_users_who_may_see_it(
    runtime: StaticRuntime,
) -> None:
    gives = (rule("get", "workspaceroles", IAM), rule("create", "workspacerolebindings", IAM))
    runtime.console.put(WORKSPACE_ROLES, workspace_role("shop-giver", "shop", *gives))
    bound = workspace_binding("shop.charlie", "shop", "shop-giver", "User charlie")
    runtime.console.put(WORKSPACE_ROLE_BINDINGS, bound)
    charlie = await signed_in("charlie")
    answer = await charlie.post(f"{SHOP}/shop-giver/grant", {"kind": "User", "subject": "bob"})
    assert answer.status_code == 409
    text = text_of(answer)
    assert "bob already has a role in this workspace." in text and "shop-viewer" not in text


async def test_a_member_has_only_one_role_in_a_workspace(runtime: StaticRuntime) -> None:
    alice = await signed_in("alice")
    before = set(runtime.console.of(WORKSPACE_ROLE_BINDINGS))
    for who, role, has in (("bob", "shop-admin", "viewer"), ("alice", "shop-viewer", "admin")):
        answer = await alice.post(f"{SHOP}/{role}/grant", {"kind": "User", "subject": who})
        assert answer.status_code == 409
        assert f"{who} already has the role shop-{has} in this workspace." in text_of(answer)
    assert set(runtime.console.of(WORKSPACE_ROLE_BINDINGS)) == before
    # kube-apiserver rejects bindings that the cache does not contain yet.
    for kind, who, named in (("User", "charlie", "charlie"), ("Group", "ops", "group.ops")):
        unseen = workspace_binding(f"shop.{named}", "shop", "shop-admin", f"{kind} {who}")
        runtime.console.objects[WORKSPACE_ROLE_BINDINGS, f"shop.{named}"] = unseen
        fields = {"kind": kind, "subject": who}
        answer = await alice.post(f"{SHOP}/shop-viewer/grant", fields)
        assert answer.status_code == 409
    other = await alice.post(f"{SHOP}/shop-viewer/grant", {"kind": "Group", "subject": "a b/C"})
    assert other.status_code == 302


async def test_revoking_removes_only_the_given_subject_of_a_binding(runtime: StaticRuntime) -> None:
    admin = await signed_in("admin")
    both = stored(runtime, GLOBAL_ROLE_BINDINGS, "carol-keeper")
    # A group can have the same name as a user.
    both["subjects"] += [{"kind": kind, "name": "bob"} for kind in ("User", "Group")]
    both["metadata"] |= {"labels": {"team": "crew"}, "annotations": {"keep": "me"}}
    runtime.console.put(GLOBAL_ROLE_BINDINGS, both)
    taken = {"where": "", "binding": "carol-keeper", "subject": "User bob"}
    assert (await admin.post(f"{PLATFORM}/keeper/revoke", taken)).status_code == 302
    left = stored(runtime, GLOBAL_ROLE_BINDINGS, "carol-keeper")
    names = [(one["kind"], one["name"]) for one in left["subjects"]]
    assert names == [("User", "carol"), ("Group", "bob")]
    assert all(
        left["metadata"][part] == both["metadata"][part] for part in ("labels", "annotations")
    )


async def test_revoking_fails_with_a_conflict_if_the_binding_has_a_new_subject(
    runtime: StaticRuntime,
) -> None:
    """In the outdated cache, carol is the only subject."""
    admin, both = await signed_in("admin"), stored(runtime, GLOBAL_ROLE_BINDINGS, "carol-keeper")
    both["subjects"].append({"kind": "User", "name": "bob"})
    runtime.console.delayed = True
    runtime.console.put(GLOBAL_ROLE_BINDINGS, both)
    taken = {"where": "", "binding": "carol-keeper", "subject": "User carol"}
    answer = await admin.post(f"{PLATFORM}/keeper/revoke", taken, Accept="application/json")
    assert (answer.status_code, answer.json()["reason"]) == (409, "Conflict")
    left = stored(runtime, GLOBAL_ROLE_BINDINGS, "carol-keeper")
    assert left["subjects"] == both["subjects"]


@pytest.mark.parametrize(
    ("kind", "subject", "code"),
    [
        ("User", "", 400),
        ("User", "system:anonymous", 400),
        ("Group", "system:masters", 400),
        ("Group", "system:authenticated", 400),
        ("ServiceAccount", "default", 400),
        ("User", "nobody-here", 400),
        ("Group", "ops team/DE", 302),
        ("User", "charlie", 302),
    ],
)
async def test_valid_subjects_of_a_grant(
    runtime: StaticRuntime, kind: str, subject: str, code: int
) -> None:
    admin = await signed_in("admin")
    fields = {"kind": kind, "subject": subject}
    answer = await admin.post(f"{PLATFORM}/platform-regular/grant", fields)
    assert answer.status_code == code
    assert len(runtime.console.of(GLOBAL_ROLE_BINDINGS)) == (3 if code == 302 else 2)


async def test_unknown_users_are_accepted_from_users_who_may_not_list_users(
    runtime: StaticRuntime,
) -> None:
    """An error would reveal which usernames exist."""
    alice = await signed_in("alice")
    fields = {"kind": "User", "subject": "nobody-here"}
    assert (await alice.post(f"{SHOP}/shop-viewer/grant", fields)).status_code == 302


async def test_the_last_platform_administrator_cannot_be_revoked(runtime: StaticRuntime) -> None:
    admin = await signed_in("admin")
    taken = {"where": "", "binding": "admins", "subject": "User admin"}
    answer = await admin.post(f"{PLATFORM}/platform-admin/revoke", taken)
    assert answer.status_code == 409 and "last platform administrator" in text_of(answer)
    await admin.post(f"{PLATFORM}/platform-admin/grant", {"kind": "User", "subject": "bob"})
    charlie = await signed_in("charlie")
    answer = await charlie.post(f"{PLATFORM}/platform-admin/revoke", taken)
    assert answer.status_code == 403
    assert "You don't have permission to" in html.unescape(text_of(answer))
    url = f"{PLATFORM}/platform-admin/revoke"
    answer = await admin.post(url, taken, Accept="application/json")
    assert (answer.status_code, answer.json()["status"]) == (200, "Success")
    answer = await admin.post(url, taken, Accept="application/json")
    assert (answer.status_code, answer.json()["reason"]) == (409, "Conflict")


# Changes, deletion and undo.


async def undo(browser: Browser, **headers: str) -> Any:
    """Confirm the review of the change that undoes the last change."""
    review = await browser.get("/access/roles/undo")
    seen = re.search(r'name="seen" value="([^"]*)"', text_of(review))
    sent = {"seen": seen[1]} if seen else {}
    return await browser.post("/access/roles/undo", sent, **headers)


@pytest.fixture
def own(runtime: StaticRuntime) -> dict[str, Any]:
    made = workspace_role("shop-own", "shop", rule("get", "pods"), annotations={"keep": "me"})
    made["aggregationRoleTemplates"] = {"roleSelector": {"matchLabels": {"team": "crew"}}}
    runtime.console.put(WORKSPACE_ROLES, made)
    return stored(runtime, WORKSPACE_ROLES, "shop-own")


def seen(role: dict[str, Any], **fields: Any) -> dict[str, Any]:
    meta = role["metadata"]
    return {"uid": meta["uid"], "version": meta["resourceVersion"], **fields}


async def test_an_edit_keeps_fields_that_the_form_does_not_show(
    runtime: StaticRuntime, own: dict[str, Any]
) -> None:
    alice = await signed_in("alice")
    page = text_of(await alice.get(f"{SHOP}/shop-own/edit"))
    assert "resources:\n  - pods" in page, "rules of no template are shown as they are"
    answer = await alice.post(f"{SHOP}/shop-own/edit", seen(own, template=[VIEW]))
    assert answer.status_code == 302
    saved = stored(runtime, WORKSPACE_ROLES, "shop-own")
    assert saved["metadata"]["annotations"]["keep"] == "me"
    assert saved["metadata"]["labels"] == own["metadata"]["labels"]
    assert saved["aggregationRoleTemplates"] == own["aggregationRoleTemplates"]
    assert rule("get", "pods") not in saved["rules"]


async def test_an_edit_conflict_is_reported_and_input_is_kept(
    runtime: StaticRuntime, own: dict[str, Any]
) -> None:
    alice, admin = await signed_in("alice"), await signed_in("admin")
    page = f"{SHOP}/shop-own/edit"
    assert (await admin.post(page, seen(own, template=[VIEW], alias="Theirs"))).status_code == 302
    answer = await alice.post(page, seen(own, template=[MANAGE], alias="Mine"))
    text = text_of(answer)
    assert answer.status_code == 409
    assert 'value="Mine"' in text, "what was typed stays"
    assert "Theirs" in text, "what the other one wrote is shown"
    assert "Only in your changes: Manage projects" in text
    assert (
        stored(runtime, WORKSPACE_ROLES, "shop-own")["metadata"]["annotations"][
            "kubesphere.io/alias-name"
        ]
        == "Theirs"
    )
    latest = stored(runtime, WORKSPACE_ROLES, "shop-own")
    assert f'value="{latest["metadata"]["resourceVersion"]}"' in text
    assert (await alice.post(page, seen(latest, template=[], alias="Mine"))).status_code == 302


async def test_ten_concurrent_editors_lose_no_changes(
    runtime: StaticRuntime, own: dict[str, Any]
) -> None:
    """Each editor adds a rule to the current role and retries after a conflict."""
    page, told = f"{SHOP}/shop-own/edit", []
    editors = [await signed_in(("alice", "admin")[number % 2]) for number in range(10)]

    async def add(number: int, editor: Browser) -> None:
        seen_now = own
        while True:
            rules = [*seen_now["rules"], rule("get", f"things{number}")]
            fields = seen(seen_now, further=yaml.safe_dump(rules))
            answer = await editor.post(page, fields)
            if answer.status_code == 302:
                return
            assert answer.status_code == 409
            assert f"things{number}" in text_of(answer), "what was typed stays"
            told.append(number)
            seen_now = stored(runtime, WORKSPACE_ROLES, "shop-own")

    await asyncio.gather(*(add(number, editor) for number, editor in enumerate(editors)))
    saved = stored(runtime, WORKSPACE_ROLES, "shop-own")["rules"]
    assert {one["resources"][0] for one in saved} == {"pods", *(f"things{n}" for n in range(10))}
    assert len(told) >= 9


async def test_built_in_roles_cannot_be_changed(runtime: StaticRuntime) -> None:
    admin = await signed_in("admin")
    for path in (
        f"{PLATFORM}/platform-admin",
        f"{SHOP}/shop-admin",
        "/access/roles/cluster/cluster-admin",
        "/access/roles/cluster/system:node",
        "/access/roles/cluster/quarterdeck:workspacerole:shop-admin",
        "/access/roles/project/web/operator",
    ):
        assert (await admin.post(f"{path}/edit", {})).status_code == 403, path
        moved = await admin.post(f"{path}/delete", {})
        assert moved.status_code == 307
        uid = {"uid": f"uid-{path.rpartition('/')[2]}"}
        for answer in (
            await admin.get(moved["Location"]),
            await admin.post(moved["Location"], uid),
        ):
            assert answer.status_code == 409, path
            assert "Only custom roles can be deleted" in text_of(answer), (
                "also where somebody holds it"
            )
    assert writes(runtime) == []


async def test_roles_that_cannot_be_deleted_have_no_delete_link() -> None:
    admin = await signed_in("admin")
    for kind, own, others in (
        ("globalroles.iam.kubesphere.io", ["keeper"], ["platform-admin", "platform-regular"]),
        ("workspaceroles.iam.kubesphere.io", ["shop-inviter"], ["shop-admin", "other-admin"]),
        ("clusterroles", ["reader"], ["system:node", "quarterdeck:workspacerole:shop-admin"]),
    ):
        text = text_of(await admin.get(f"/clusters/host/{kind}"))
        links = {name: f'/{kind}/{name}/actions/delete"' in text for name in own + others}
        assert links == {name: name in own for name in own + others}


async def test_the_old_delete_url_redirects_to_the_action(own: dict[str, Any]) -> None:
    alice = await signed_in("alice")
    old = f"{SHOP}/shop-own/delete"
    answer = await alice.get(f"{old}?next=/x")
    assert (answer.status_code, answer["Location"]) == (302, f"{DELETE_OWN}?next=/x")
    answer = await alice.post(old, {"uid": "uid-shop-own"})
    assert (answer.status_code, answer["Location"]) == (307, DELETE_OWN)
    answer = await alice.get("/access/roles/project/web/operator/delete")
    assert answer["Location"] == "/clusters/host/projects/web/roles/operator/actions/delete"


async def test_a_role_with_holders_cannot_be_deleted(
    runtime: StaticRuntime, own: dict[str, Any]
) -> None:
    alice = await signed_in("alice")
    page = f"{SHOP}/shop-own"
    await alice.post(f"{page}/grant", {"kind": "User", "subject": "charlie"})
    for answer in (
        await alice.get(DELETE_OWN),
        await alice.post(DELETE_OWN, {"uid": "uid-shop-own"}),
    ):
        assert answer.status_code == 409
        assert "This role is assigned to charlie." in text_of(answer)
    assert "shop-own" in runtime.console.of(WORKSPACE_ROLES)


async def test_bulk_deletion_skips_roles_with_holders(runtime: StaticRuntime) -> None:
    admin = await signed_in("admin")
    targets = "uid-shop-inviter shop-inviter"
    answer = await admin.post(
        "/bulk/host/globalroles.iam.kubesphere.io/delete", {"targets": "uid-keeper keeper"}
    )
    text = b"".join([part async for part in answer.streaming_content]).decode()
    assert "This role is assigned to carol." in text
    assert "keeper" in runtime.console.of(GLOBAL_ROLES)
    page = "/bulk/host/workspaceroles.iam.kubesphere.io/delete"
    answer = await admin.post(page, {"targets": targets})
    assert b"Deleted" in b"".join([part async for part in answer.streaming_content])
    assert "shop-inviter" not in runtime.console.of(WORKSPACE_ROLES)


async def test_deleting_a_role_requires_permission_and_is_audited(
    runtime: StaticRuntime, own: dict[str, Any]
) -> None:
    uid = {"uid": "uid-shop-own"}
    for who in ("charlie", "bob", "carol"):
        other = await signed_in(who)
        assert (await other.get(DELETE_OWN)).status_code == 403
        answer = await other.post(DELETE_OWN, uid)
        assert answer.status_code == 403
        assert "You don't have permission to" in html.unescape(text_of(answer))
    assert writes(runtime) == [] and not await AuditRecord.objects.filter(verb="delete").aexists()
    alice = await signed_in("alice")
    answer = await alice.post(DELETE_OWN, {"uid": "other"}, Accept="application/json")
    assert (answer.status_code, answer.json()["reason"]) == (409, "Conflict")
    assert "replaced by another object with the same name" in answer.json()["message"]
    answer = await alice.post(DELETE_OWN, uid, Accept="application/json")
    assert (answer.status_code, answer.json()["status"]) == (200, "Success")
    assert "shop-own" not in runtime.console.of(WORKSPACE_ROLES)
    rows = AuditRecord.objects.filter(verb="delete").order_by("time")
    found = [(one.actor, one.as_user, one.resource, one.name, one.code) async for one in rows]
    alike = ("alice", "alice", "workspaceroles", "shop-own")
    assert found == [(*alike, 409), (*alike, 200)]
    # Kubernetes has no permission for roles of a single workspace, so the console deletes the role.
    assert ("alice", "delete") not in runtime.notes  # type: ignore[attr-defined]


async def test_a_project_role_is_deleted_with_the_identity_of_the_user(
    runtime: StaticRuntime,
) -> None:
    alice = await signed_in("alice")
    await make(alice, "/access/roles/new/project?namespace=web", template=[])
    url = "/clusters/host/projects/web/roles/dev/actions/delete"
    uid = runtime.console.of(ROLES)["web/dev"]["metadata"]["uid"]
    assert (await alice.post(url, {"uid": uid})).status_code == 302
    assert "web/dev" not in runtime.console.of(ROLES)
    assert ("alice", "delete") in runtime.notes  # type: ignore[attr-defined]


async def test_deleting_a_role_can_be_undone(runtime: StaticRuntime, own: dict[str, Any]) -> None:
    alice = await signed_in("alice")
    page = f"{SHOP}/shop-own"
    text = text_of(await alice.get(page))
    assert f'href="{DELETE_OWN}"' in text
    asked = text_of(await alice.get(f"{DELETE_OWN}?next={page}"))
    assert f'class="button" href="{page}"' in asked and 'value="uid-shop-own"' in asked
    assert "kubectl" not in asked
    admin = await signed_in("admin")
    assert "kubectl delete workspaceroles.iam.kubesphere.io" in text_of(await admin.get(DELETE_OWN))
    assert (await alice.post(DELETE_OWN, {"uid": "other"})).status_code == 409
    answer = await alice.post(f"{DELETE_OWN}?next={page}", {"uid": "uid-shop-own"})
    assert (answer.status_code, answer["Location"]) == (302, "/workspaces/shop/roles")
    assert "shop-own" not in runtime.console.of(WORKSPACE_ROLES)
    assert "deleted role shop-own" in text_of(await alice.get("/workspaces/shop/roles"))
    review = text_of(await alice.get("/access/roles/undo"))
    assert "Undo change to workspace role shop-own</h1>" in review
    assert "<ins>  name: shop-own</ins>" in review and 'data-change="-"' not in review
    # A change that was not reviewed is not made.
    assert (await alice.post("/access/roles/undo", {"seen": "1"})).status_code == 403
    assert (await undo(alice))["Location"] == page
    assert stored(runtime, WORKSPACE_ROLES, "shop-own")["rules"] == own["rules"]
    assert (await undo(alice)).status_code == 403


def give_less(runtime: StaticRuntime) -> None:
    """Reduce alice's permissions: she may still grant workspace roles, but no longer holds their
    permissions.
    """
    binding = stored(runtime, WORKSPACE_ROLE_BINDINGS, "alice-shop-admin")
    less = {"roleRef": {**binding["roleRef"], "name": "shop-inviter"}}
    runtime.console.put(WORKSPACE_ROLE_BINDINGS, {**binding, **less})


async def test_undo_cannot_restore_a_role_beyond_the_current_permissions(
    runtime: StaticRuntime, own: dict[str, Any]
) -> None:
    alice = await signed_in("alice")
    runtime.console.put(WORKSPACE_ROLES, {**own, "rules": [rule("*", "*", "*")]})
    assert (await alice.post(DELETE_OWN, {"uid": "uid-shop-own"})).status_code == 302
    give_less(runtime)
    answer = await undo(alice)
    assert answer.status_code == 403 and "permissions that you don" in text_of(answer)
    assert "shop-own" not in runtime.console.of(WORKSPACE_ROLES)


async def test_undo_cannot_restore_a_binding_beyond_the_current_permissions(
    runtime: StaticRuntime,
) -> None:
    put = runtime.console.put
    put(WORKSPACE_ROLE_BINDINGS, workspace_binding("x", "shop", "shop-admin", "User charlie"))
    alice = await signed_in("alice")
    taken = {"where": "", "binding": "x", "subject": "User charlie"}
    assert (await alice.post(f"{SHOP}/shop-admin/revoke", taken)).status_code == 302
    give_less(runtime)
    answer = await undo(alice)
    assert answer.status_code == 403 and "permissions that you don" in text_of(answer)
    assert "x" not in runtime.console.of(WORKSPACE_ROLE_BINDINGS)


async def test_deleting_a_role_that_changed_meanwhile_is_a_conflict(
    runtime: StaticRuntime, own: dict[str, Any]
) -> None:
    """The cache is outdated: undo would restore other rules than those deleted."""
    alice = await signed_in("alice")
    runtime.console.delayed = True
    runtime.console.put(WORKSPACE_ROLES, {**own, "rules": [rule("get", "nodes")]})
    uid = {"uid": "uid-shop-own"}
    answer = await alice.post(DELETE_OWN, uid, Accept="application/json")
    assert (answer.status_code, answer.json()["reason"]) == (409, "Conflict")
    assert "shop-own" in runtime.console.of(WORKSPACE_ROLES)


async def test_an_edit_can_be_undone_until_the_role_changes_again(
    runtime: StaticRuntime, own: dict[str, Any]
) -> None:
    alice = await signed_in("alice")
    page = f"{SHOP}/shop-own"
    await alice.post(f"{page}/edit", seen(own, template=[VIEW]))
    assert "changed role shop-own" in text_of(await alice.get(page))
    review = text_of(await alice.get("/access/roles/undo"))
    assert re.search("<del> +- namespaces</del>", review) and "<ins>" not in review
    await undo(alice)
    now = stored(runtime, WORKSPACE_ROLES, "shop-own")
    assert without_version(now) == without_version(own)
    await alice.post(f"{page}/edit", seen(now, template=[VIEW]))
    runtime.console.put(
        WORKSPACE_ROLES, {**stored(runtime, WORKSPACE_ROLES, "shop-own"), "rules": []}
    )
    answer = await undo(alice, Accept="application/json")
    assert (answer.status_code, answer.json()["reason"]) == (409, "Conflict")
    assert stored(runtime, WORKSPACE_ROLES, "shop-own")["rules"] == []


async def test_undo_of_a_creation_is_a_conflict_after_another_change(
    runtime: StaticRuntime,
) -> None:
    alice = await signed_in("alice")
    assert (await make(alice)).status_code == 302
    changed = {**stored(runtime, WORKSPACE_ROLES, "shop-dev"), "rules": [rule("get", "pods")]}
    runtime.console.put(WORKSPACE_ROLES, changed)
    answer = await undo(alice, Accept="application/json")
    assert (answer.status_code, answer.json()["reason"]) == (409, "Conflict")
    assert stored(runtime, WORKSPACE_ROLES, "shop-dev")["rules"] == changed["rules"]


async def test_undo_keeps_owner_references_and_finalizers(
    runtime: StaticRuntime, own: dict[str, Any]
) -> None:
    owner = {"apiVersion": "v1", "kind": "Workspace", "name": "shop", "uid": "uid-shop"}
    own["metadata"] |= {"ownerReferences": [owner], "finalizers": ["example.com/keep"]}
    runtime.console.put(WORKSPACE_ROLES, own)
    before = stored(runtime, WORKSPACE_ROLES, "shop-own")
    alice = await signed_in("alice")
    await alice.post(f"{SHOP}/shop-own/edit", seen(before, template=[VIEW]))
    await undo(alice)
    now = stored(runtime, WORKSPACE_ROLES, "shop-own")
    assert without_version(now) == without_version(before)


async def test_cross_site_forms_are_refused(runtime: StaticRuntime) -> None:
    admin = await signed_in("admin")
    for path in (f"{PLATFORM}/keeper/grant", f"{PLATFORM}/keeper/revoke", "/access/roles/undo"):
        answer = await admin.post(path, {}, Sec_Fetch_Site="cross-site")
        assert answer.status_code == 403
        if not path.endswith("/undo"):
            assert (await admin.get(path)).status_code == 405
    assert writes(runtime) == []


async def test_a_project_role_is_created_with_the_identity_of_the_user(
    runtime: StaticRuntime,
) -> None:
    alice = await signed_in("alice")
    path = "/access/roles/new/project?namespace=web"
    answer = await make(alice, path, template=["role-template-view-app-workloads"])
    assert (answer.status_code, answer["Location"]) == (302, "/access/roles/project/web/dev")
    assert runtime.console.of(ROLES)["web/dev"]["metadata"]["namespace"] == "web"
    assert ("alice", "create") in runtime.notes  # type: ignore[attr-defined]
