"""Changing the role of a service account in its project."""

import html
from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import ROLE_BINDINGS, ROLES, SERVICE_ACCOUNTS, Key
from console.kube.runtime import Runtime
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster, Kubectl
from tests.contract.grants import (
    GROUP,
    VERSION,
    Grants,
    review,
    role_ref,
    rule,
    service_account,
)
from tests.contract.objects import path, unique
from tests.contract.pages import (
    Page,
    Person,
    console_on,
    known,
    kubectl_line,
    person,
    recorded,
    refused_to_strangers,
)
from tests.controlplane.waiting import eventually
from tests.support.forms import form_data
from tests.views.conftest import _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)
ANNOTATION = "iam.kubesphere.io/role"
LABEL = "iam.kubesphere.io/serviceaccount-ref"


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [SERVICE_ACCOUNTS, ROLES, ROLE_BINDINGS]) as found:
        yield found


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup, namespace: str) -> Person:
    return person(
        monkeypatch,
        cleanup,
        namespace,
        rule("get list watch", "secrets configmaps"),
        rule("get list create delete", "rolebindings", GROUP),
        rule("get list", "roles", GROUP),
        rule("get list patch", "serviceaccounts"),
    )


def make_role(admin: Client, runtime: Runtime, namespace: str, *rules: Obj) -> str:
    body = {"metadata": {"name": unique("role")}, "rules": list(rules)}
    made: Obj = admin.post(path(namespace, "roles", group=VERSION), body).ok()
    known(runtime, ROLES, made)
    return str(made["metadata"]["name"])


def make(admin: Client, runtime: Runtime, namespace: str, **notes: str) -> Obj:
    body = {"metadata": {"name": unique("builder"), "annotations": notes}}
    made: Obj = admin.post(path(namespace, "serviceaccounts"), body).ok()
    known(runtime, SERVICE_ACCOUNTS, made)
    return made


def account_of(admin: Client, runtime: Runtime, made: Obj) -> Obj:
    meta = made["metadata"]
    found: Obj = admin.get(path(meta["namespace"], "serviceaccounts", meta["name"])).ok()
    known(runtime, SERVICE_ACCOUNTS, found)
    return found


def bindings_of(admin: Client, made: Obj) -> list[Obj]:
    meta = made["metadata"]
    where = path(meta["namespace"], "rolebindings", group=VERSION)
    subject = service_account(meta["namespace"], meta["name"])
    return [one for one in admin.get(where).ok()["items"] if subject in one["subjects"]]


def settled(admin: Client, runtime: Runtime, made: Obj) -> list[str]:
    """Return the account's roles after the console has loaded them."""
    account_of(admin, runtime, made)
    found = bindings_of(admin, made)
    for one in found:
        known(runtime, ROLE_BINDINGS, one)
    meta, store = made["metadata"], runtime.informer(ROLE_BINDINGS).store
    names = {one["metadata"]["name"] for one in found}
    me = f"{meta['namespace']}/{meta['name']}"

    def no_other() -> bool:
        entries = store.snapshot().entries.values()
        return {e.key.name for e in entries if me in e.projection.service_accounts} == names

    eventually(no_other, "the console knows what is gone")
    return [one["roleRef"]["name"] for one in found]


async def form_of(editor: Person, made: Obj) -> tuple[Page, dict[str, str]]:
    page = editor.on("role", "serviceaccounts", made)
    return page, form_data(await page.asks())


async def test_a_service_account_role_can_be_set_changed_and_removed(
    admin: Client, runtime: Runtime, namespace: str, editor: Person
) -> None:
    made = make(admin, runtime, namespace)
    name = made["metadata"]["name"]
    reader = make_role(admin, runtime, namespace, rule("get", "secrets"))
    lister = make_role(admin, runtime, namespace, rule("list", "configmaps"))
    page, sent = await form_of(editor, made)
    assert await page.is_offered("serviceaccounts", Key(namespace, name))
    assert sent["role"] == ""
    await page.does(**{**sent, "role": reader})
    assert settled(admin, runtime, made) == [reader]
    (binding,) = bindings_of(admin, made)
    assert binding["metadata"]["labels"] == {LABEL: name}
    (owner,) = binding["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("ServiceAccount", made["metadata"]["uid"])
    account = account_of(admin, runtime, made)
    assert account["metadata"]["annotations"] == {ANNOTATION: reader}
    who = f"system:serviceaccount:{namespace}:{name}"
    may = {"verb": "get", "resource": "secrets", "namespace": namespace}
    eventually(lambda: review(admin, who, **may), "it may read secrets")
    page, sent = await form_of(editor, made)
    assert sent["role"] == reader
    await page.does(**{**sent, "role": lister})
    assert settled(admin, runtime, made) == [lister]
    eventually(lambda: not review(admin, who, **may), "it may not any more")
    page, sent = await form_of(editor, made)
    await page.does(**{**sent, "role": ""})
    assert settled(admin, runtime, made) == []
    assert ANNOTATION not in account_of(admin, runtime, made)["metadata"].get("annotations", {})
    assert await recorded() == [(editor.name, "patch", "role", name, 200)] * 3


async def test_granting_a_role_beyond_own_permissions_is_forbidden(
    admin: Client, runtime: Runtime, namespace: str, editor: Person
) -> None:
    made = make(admin, runtime, namespace)
    mighty = make_role(admin, runtime, namespace, rule("*", "*", "*"))
    page, sent = await form_of(editor, made)
    text = await page.refuses(403, **{**sent, "role": mighty})
    assert "attempting to grant RBAC permissions not currently held" in html.unescape(text)
    assert bindings_of(admin, made) == []
    assert account_of(admin, runtime, made) == made


async def test_other_role_bindings_are_listed_and_kept(
    admin: Client, runtime: Runtime, namespace: str, editor: Person, cleanup: Cleanup
) -> None:
    made = make(admin, runtime, namespace)
    name = made["metadata"]["name"]
    role = make_role(admin, runtime, namespace, rule("get", "secrets"))
    theirs = Grants(cleanup, namespace).bind_here(
        service_account(namespace, name), role_ref("Role", role)
    )
    settled(admin, runtime, made)
    page = editor.on("role", "serviceaccounts", made)
    asked = await page.asks()
    text = f"Role binding {theirs} also grants the role {role} to the service account."
    assert text in asked
    await page.does(**{**form_data(asked), "role": role})
    assert settled(admin, runtime, made) == [role, role]


async def test_a_role_annotation_without_a_binding_grants_no_role(
    admin: Client, runtime: Runtime, namespace: str, editor: Person
) -> None:
    role = make_role(admin, runtime, namespace, rule("get", "secrets"))
    made = make(admin, runtime, namespace, **{ANNOTATION: role})
    page = editor.on("role", "serviceaccounts", made)
    asked = await page.asks()
    assert (
        f"The service account is annotated with the role {role}, but has no role binding" in asked
    )
    sent = form_data(asked)
    assert sent["role"] == ""
    await page.does(**{**sent, "role": role})
    assert settled(admin, runtime, made) == [role]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({}, "No changes were made."),
        ({"role": "unheard-of"}, "This option is no longer available. Choose another option."),
        (
            {"was": "another"},
            (
                "The role of the service account has changed since you opened this form. Check "
                "the role and try again."
            ),
        ),
        ({"name": ""}, ""),
    ],
)
async def test_invalid_role_values_are_rejected(
    admin: Client,
    runtime: Runtime,
    namespace: str,
    editor: Person,
    typed: dict[str, str],
    said: str,
) -> None:
    made = make(admin, runtime, namespace)
    page, sent = await form_of(editor, made)
    assert said in await page.refuses(400, **{**sent, **typed})
    assert bindings_of(admin, made) == []
    assert account_of(admin, runtime, made) == made


async def test_the_displayed_kubectl_command_has_the_same_effect(
    admin: Client, runtime: Runtime, namespace: str, editor: Person, kubectl: Kubectl
) -> None:
    roles = [make_role(admin, runtime, namespace, rule("get", "secrets")) for _ in range(2)]
    pair = [make(admin, runtime, namespace) for _ in range(2)]
    for role in (*roles, ""):
        for made, by_line in zip(pair, (False, True), strict=True):
            page, sent = await form_of(editor, made)
            sent["role"] = role
            if not by_line:
                await page.does(**sent)
            else:
                other = Page(page.who, page.url, "another")
                kubectl.line(kubectl_line(await other.refuses(409, **sent)))
            settled(admin, runtime, made)
        found = [alike(admin, runtime, made) for made in pair]
        assert found[0] == found[1]


def alike(admin: Client, runtime: Runtime, made: Obj) -> Any:
    meta = made["metadata"]
    notes = account_of(admin, runtime, made)["metadata"].get("annotations", {})
    told = [
        (one["roleRef"], len(one["subjects"]), [owner["kind"] for owner in owners])
        for one in bindings_of(admin, made)
        if (owners := one["metadata"]["ownerReferences"])
        and one["metadata"]["labels"] == {LABEL: meta["name"]}
    ]
    return notes, told


async def test_users_without_permission_cannot_change_the_role(
    admin: Client, runtime: Runtime, namespace: str, editor: Person
) -> None:
    made = make(admin, runtime, namespace)
    await refused_to_strangers(editor.on("role", "serviceaccounts", made), "")
    assert account_of(admin, runtime, made) == made


async def test_a_recreated_account_of_the_same_name_is_not_changed(
    admin: Client, runtime: Runtime, namespace: str, editor: Person
) -> None:
    made = make(admin, runtime, namespace)
    role = make_role(admin, runtime, namespace, rule("get", "secrets"))
    page, sent = await form_of(editor, made)
    other = Page(page.who, page.url, "another")
    assert (await other.status(**{**sent, "role": role}))["code"] == 409
    assert bindings_of(admin, made) == []
