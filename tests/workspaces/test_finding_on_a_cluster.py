"""Finding users to invite by a part of the name or email address."""

import re
from functools import partial
from typing import Any

import pytest
from pytest_django import Settings

from console.kube.gvr import USERS, WORKSPACE_ROLE_BINDINGS, WORKSPACE_ROLES, Key
from console.kube.identity import Identity
from console.ui.navigation.projects import may_see_workspace
from rbac.process_clusters import get_authorizer
from tests.rbac.objects import IAM, native_binding, native_role, rule, user, workspace_binding
from tests.workspaces.conftest import Tenancy
from tests.workspaces.users import Person, apply, bound_to, template, until
from workspaces.rights import MEMBERS, workspace_rights
from workspaces.services import user_search

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("site")]

INVITE = "/workspaces/finders/members/invite"
#: `fay` manages both workspaces, `fox` may read users, `fin` is a member of the other workspace,
#: `fog` of no workspace.
PEOPLE = ("fay", "fox", "fin", "fog", "fred-1", "fred-2")


async def ready(tenancy: Tenancy) -> None:
    apply(
        tenancy,
        *(user(name, email=f"{name}@mail.example") for name in PEOPLE),
        user("fossil", state="Disabled"),
        template("finders", "fay"),
        template("friends", "fay"),
        native_role("reads-users", rule("get list", "users", IAM)),
        native_binding("reads-users", "reads-users", "User fox"),
        workspace_binding("friends.fin", "friends", "friends-viewer", "User fin"),
        workspace_binding("finders.fox", "finders", "finders-admin", "User fox"),
    )
    followed = (USERS, WORKSPACE_ROLES, WORKSPACE_ROLE_BINDINGS)
    stores = {gvr: tenancy.runtime.informer(gvr).store for gvr in followed}
    for gvr, name in (
        *((USERS, name) for name in (*PEOPLE, "fossil")),
        *((gvr, f"{name}-admin") for gvr in followed[1:] for name in ("finders", "friends")),
        *((WORKSPACE_ROLE_BINDINGS, name) for name in ("friends.fin", "finders.fox")),
    ):
        await until(partial(stores[gvr].get, Key("", name)), name)
    both = [get_authorizer().access_for(Identity(name)) for name in ("fox", "fay")]
    await until(lambda: both[0].can("list", USERS), "the right")
    # Kubernetes permissions for the workspace are projected after the roles.
    managed = ((both[0], "finders"), (both[1], "finders"), (both[1], "friends"))
    await until(lambda: all(may_see_workspace(*one) for one in managed), "seeing them")
    rights = [partial(workspace_rights, access, "finders") for access in both]
    await until(lambda: all(of().is_allowed("create", MEMBERS) for of in rights), "inviting")


async def found(person: Person, part: str) -> list[str]:
    answer = await person.get(f"{INVITE}?q={part}")
    assert answer.status_code == 200
    return re.findall(r"\?user=([^&]+)&", answer.content.decode().partition('id="found"')[2])


def text_of(answer: Any) -> str:
    return str(answer.content.decode())


async def test_users_are_found_by_part_of_name_or_email_if_visible(
    tenancy: Tenancy, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.INVITE_SEARCH = "visible"
    await ready(tenancy)
    fox, fay = Person(tenancy, "fox"), Person(tenancy, "fay")
    # Members and disabled users can't be invited.
    assert await found(fox, "f") == ["fin", "fog", "fred-1", "fred-2"]
    assert await found(fox, "OG@Mail") == ["fog"]
    assert await found(fox, "") == await found(fox, "%20") == await found(fox, "nobody") == []
    assert "fog@mail.example" in text_of(await fox.get(f"{INVITE}?q=fog"))
    # Without permission to list users, only members of the own workspaces are found, and email
    # addresses are hidden.
    assert await found(fay, "f") == ["fin"]
    assert await found(fay, "mail") == []
    text = text_of(await fay.get(f"{INVITE}?q=fo"))
    assert "fog" not in text and "mail.example" not in text
    assert "enter the full username below" in text
    # Without the permission, the page doesn't mention email addresses.
    assert "email address" not in text and "email address" in text_of(await fox.get(INVITE))
    # By default, all users are found by name, still without email addresses.
    settings.INVITE_SEARCH = "all"
    assert await found(fay, "f") == ["fin", "fog", "fred-1", "fred-2"]
    assert await found(fay, "mail") == []
    text = text_of(await fay.get(f"{INVITE}?q=fo"))
    assert "fog" in text and "mail.example" not in text
    assert "Members of this workspace and disabled users" in text_of(
        await fay.get(f"{INVITE}?q=fossil")
    )
    # The number of results is limited.
    monkeypatch.setattr(user_search, "MOST", 2)
    assert await found(fox, "f") == ["fin", "fog"]
    assert "More users match" in text_of(await fox.get(f"{INVITE}?q=f"))


async def test_a_selected_user_fills_the_form_and_an_exact_name_works(tenancy: Tenancy) -> None:
    await ready(tenancy)
    fay = Person(tenancy, "fay")
    text = text_of(await fay.get(f"{INVITE}?user=fin&q=fi"))
    assert re.search(r'<input[^>]*name="user"[^>]*value="fin"', text)
    for name in ("fin", "fog"):
        answer = await fay.post(INVITE, user=name, role="finders-viewer")
        assert answer.status_code == 302
        assert bound_to(tenancy, "finders", name) == ["finders-viewer"]
    # The search text is not a pattern.
    hostile = "%22%3E%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%00"
    answer = await fay.get(f"{INVITE}?q={hostile}&user={hostile}")
    assert answer.status_code == 200 and "<img src=x" not in text_of(answer)
    # Users without permission to invite can't search.
    assert (await Person(tenancy, "fin").get(f"{INVITE}?q=f")).status_code == 403


async def test_users_are_suggested_only_to_users_who_may_invite(
    tenancy: Tenancy, settings: Settings
) -> None:
    settings.INVITE_SEARCH = "visible"
    await ready(tenancy)
    url = "/workspaces/finders/users"
    fox, fay = Person(tenancy, "fox"), Person(tenancy, "fay")
    form = text_of(await fox.get(INVITE))
    assert f'hx-get="{url}"' in form and '<datalist id="found-users">' in form
    text = text_of(await fox.get(f"{url}?user=fog"))
    assert '<option value="fog">fog@mail.example</option>' in text
    assert "fred" in text_of(await fox.get(f"{url}?manager=fred"))
    assert "fred" not in text_of(await fay.get(f"{url}?manager=fred"))
    assert "<option" not in text_of(await fox.get(url))
    assert (await Person(tenancy, "fin").get(f"{url}?user=f")).status_code == 403
