"""The form that creates a user also assigns a platform role that the creator may grant."""

from typing import Any

import pytest

from console.kube.errors import Forbidden
from console.kube.gvr import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, GLOBAL_ROLE_BINDINGS, USERS
from tests.access.conftest import IAM, READ, Browser
from tests.access.console import signed_in, text_of
from tests.access.new_users import NEW, bindings_of, create_user, offered
from tests.rbac.objects import native_binding, native_role, rule
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)


async def hires(runtime: StaticRuntime) -> Browser:
    """Sign in a user who may create users and grant roles by native permissions and holds no more
    than the role `keeper`.
    """
    rights = rule(f"{READ} create", "users globalroles globalrolebindings", IAM)
    runtime.console.put(CLUSTER_ROLES, native_role("hires", rights))
    runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("hires", "hires", "User carol"))
    return await signed_in("carol")


async def test_the_default_role_is_preselected_and_granted(runtime: StaticRuntime) -> None:
    admin = await signed_in("admin")
    roles = offered(text_of(await admin.get(NEW)))
    assert roles == {"": False, "keeper": False, "platform-admin": False, "platform-regular": True}
    answer = await create_user(runtime, admin, role="platform-regular")
    assert (answer.status_code, answer["Location"]) == (302, "/access/accounts/users/dora")
    assert "dora" in runtime.console.of(USERS)
    assert bindings_of(runtime, "dora") == ["platform-regular"]
    text = text_of(await admin.get(answer["Location"]))
    assert "Created user dora with the role platform-regular." in text


async def test_a_user_can_be_created_without_a_role(runtime: StaticRuntime) -> None:
    answer = await create_user(runtime, await signed_in("admin"), role="")
    assert answer.status_code == 302 and "dora" in runtime.console.of(USERS)
    assert bindings_of(runtime, "dora") == []


@pytest.mark.parametrize("role", ["junk", "shop-admin", "reader"])
async def test_a_role_that_is_not_offered_creates_no_user(
    runtime: StaticRuntime, role: str
) -> None:
    answer = await create_user(runtime, await signed_in("admin"), role=role)
    assert answer.status_code == 400
    assert "This option is no longer available. Choose another option." in text_of(answer)
    assert "dora" not in runtime.console.of(USERS)


async def test_only_roles_within_the_own_permissions_can_be_granted(runtime: StaticRuntime) -> None:
    carol = await hires(runtime)
    assert offered(text_of(await carol.get(NEW))).keys() == {"", "keeper", "platform-regular"}
    assert (await create_user(runtime, carol, role="platform-admin")).status_code == 400
    assert "dora" not in runtime.console.of(USERS)
    assert (await create_user(runtime, carol, role="keeper")).status_code == 302
    assert bindings_of(runtime, "dora") == ["keeper"]


async def test_the_role_field_is_hidden_without_permission_to_grant_roles(
    runtime: StaticRuntime,
) -> None:
    runtime.console.put(CLUSTER_ROLES, native_role("makes", rule(f"{READ} create", "users", IAM)))
    runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("makes", "makes", "User bob"))
    bob = await signed_in("bob")
    assert 'name="role"' not in text_of(await bob.get(NEW))
    assert (await create_user(runtime, bob, role="platform-admin")).status_code == 302
    assert bindings_of(runtime, "dora") == []


async def test_a_refused_role_binding_keeps_the_user_and_is_reported(
    runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin, create = await signed_in("admin"), runtime.console.create

    async def refused(gvr: Any, *arguments: Any, **options: Any) -> Any:
        if gvr == GLOBAL_ROLE_BINDINGS:
            raise Forbidden(403, "an admission policy says no")
        return await create(gvr, *arguments, **options)

    monkeypatch.setattr(runtime.console, "create", refused)
    answer = await create_user(runtime, admin, role="keeper")
    text = text_of(await admin.get(answer["Location"]))
    assert "Created user dora, but without the role keeper." in text
    assert "an admission policy says no" in text
    assert "dora" in runtime.console.of(USERS)
