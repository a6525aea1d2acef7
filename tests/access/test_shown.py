"""Role and permission pages show each part, and accept each action, only with the required
permission.
"""

import pytest

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLE_BINDINGS,
    ROLE_BINDINGS,
)
from tests.access.conftest import IAM, Browser
from tests.access.console import signed_in, text_of, writes
from tests.rbac.objects import GROUP, Manifest, binding, native_binding, native_role, rule
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

KEEPER, NEW = "/access/roles/global/keeper", "/access/roles/new/global?from=keeper"
DELETE = "/clusters/host/globalroles.iam.kubesphere.io/keeper/actions/delete"
NATIVE = "quarterdeck:globalrole:keeper"


async def charlie_with(runtime: StaticRuntime, *rules: Manifest) -> Browser:
    """Sign in charlie with cluster-wide permission for `rules` only."""
    runtime.console.put(CLUSTER_ROLES, native_role("of-charlie", *rules))
    bound = native_binding("of-charlie", "of-charlie", "User charlie")
    runtime.console.put(CLUSTER_ROLE_BINDINGS, bound)
    return await signed_in("charlie")


def all_but(rights: dict[str, Manifest], missing: str | None) -> list[Manifest]:
    return [one for name, one in rights.items() if name != missing]


def without(missing: str | None, parts: dict[str, str]) -> set[str]:
    """Return the names of `parts` that don't require the permission `missing`."""
    return {part for part, needs in parts.items() if missing not in needs.split()}


# Role pages.

OF_ROLE = {
    "update": rule("update", "globalroles", IAM, "keeper"),
    "create": rule("create", "globalroles", IAM),
    "delete": rule("delete", "globalroles", IAM, "keeper"),
    "look": rule("list", "globalrolebindings", IAM),
    "give": rule("create", "globalrolebindings", IAM),
    "take": rule("delete", "globalrolebindings", IAM, "carol-keeper"),
    "cut": rule("update", "globalrolebindings", IAM, "carol-keeper"),
    "user": rule("get", "users", IAM, "carol"),
    "native": rule("get", "clusterroles", GROUP, NATIVE),
}
SEES_ROLE = rule("get", "globalroles", IAM)


@pytest.mark.parametrize("missing", [None, *OF_ROLE])
async def test_each_part_of_a_role_page_requires_its_permission(
    runtime: StaticRuntime, missing: str | None
) -> None:
    parts = {
        f'href="{KEEPER}/edit"': "update",
        f'href="{NEW}"': "create",
        f'href="{DELETE}"': "delete",
        'data-key="User carol"': "look",
        f'action="{KEEPER}/grant"': "look give",
        f'action="{KEEPER}/revoke"': "look take cut",
        'href="/access/rights/carol"': "look user",
        f'href="/clusters/host/clusterroles/{NATIVE}"': "native",
        # Parts of the delete page.
        "This role is assigned to carol.": "delete look",
    }
    charlie = await charlie_with(runtime, SEES_ROLE, *all_but(OF_ROLE, missing))
    text = "".join([text_of(await charlie.get(page)) for page in (KEEPER, DELETE)])
    assert {part for part in parts if part in text} == without(missing, parts)


@pytest.mark.parametrize("missing", [None, *OF_ROLE])
async def test_each_action_on_a_role_requires_its_permission(
    runtime: StaticRuntime, missing: str | None
) -> None:
    """The refusal doesn't depend on the state of the role."""
    carol = {"where": "", "binding": "carol-keeper", "subject": "User carol"}
    acts: list[tuple[str, dict[str, str], str]] = [
        (f"{KEEPER}/edit", {}, "update"),
        (NEW, {}, "create"),
        (DELETE, {}, "delete"),
        (f"{KEEPER}/grant", {"kind": "User", "subject": "carol"}, "give"),
        (f"{KEEPER}/revoke", {**carol, "subject": "User nobody"}, "look"),
        (f"{KEEPER}/revoke", carol, "look take"),
    ]
    charlie = await charlie_with(runtime, SEES_ROLE, *all_but(OF_ROLE, missing))
    for path, fields, needs in acts:
        answer = await (charlie.post(path, fields) if fields else charlie.get(path))
        assert (answer.status_code == 403) is (missing in needs.split()), path
    may_take = missing not in ("look", "take")
    assert bool(writes(runtime)) is may_take
    assert ("carol-keeper" in runtime.console.of(GLOBAL_ROLE_BINDINGS)) is not may_take


# Permission pages of users.

OF_RIGHTS = {
    "view": rule("impersonate", "users", names="alice"),
    "global": rule("list", "globalrolebindings", IAM),
    "workspace": rule("list", "workspacerolebindings", IAM),
    "cluster": rule("list", "clusterrolebindings", GROUP),
    "project": rule("list", "rolebindings", GROUP),
}


@pytest.mark.parametrize("missing", [None, *OF_RIGHTS])
async def test_the_roles_of_a_user_are_limited_to_bindings_that_the_viewer_may_list(
    runtime: StaticRuntime, missing: str | None
) -> None:
    put = runtime.console.put
    put(GLOBAL_ROLE_BINDINGS, binding("regular", ("User", "alice"), role="platform-regular"))
    put(CLUSTER_ROLE_BINDINGS, native_binding("reads", "reader", "User alice"))
    operates = native_binding("operates", "operator", "User alice", namespace="web", kind="Role")
    put(ROLE_BINDINGS, operates)
    parts = {
        'href="/access/view-as/users/alice"': "view",
        'data-key="/regular"': "global",
        'data-key="shop/alice-shop-admin"': "workspace",
        'data-key="/reads"': "cluster",
        'data-key="web/operates"': "project",
    }
    sees_user = rule("get", "users", IAM, "alice")
    charlie = await charlie_with(runtime, sees_user, *all_but(OF_RIGHTS, missing))
    text = text_of(await charlie.get("/access/rights/alice"))
    assert {part for part in parts if part in text} == without(missing, parts)
