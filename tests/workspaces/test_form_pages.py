"""The forms of the workspace pages write, report errors, and record each request in the audit log."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from console.audit.models import AuditRecord
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
)
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.rbac.objects import TENANT, native_binding, native_role, rule
from tests.views.conftest import Utf8Client
from tests.workspaces.fakes import TenantRuntime
from tests.workspaces.service_objects import objects

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("site")]

CONSOLE = "quarterdeck-console"
ACME, SHOP = "/workspaces/acme", "/workspaces/acme/projects/shop"
MEMBERS, DEPARTMENTS = f"{ACME}/members", f"{ACME}/departments"


class Saved(NamedTuple):
    """A form that is saved: the fields, the page after success, and the audit records as
    `as_user verb resource namespace/name code`.
    """

    fields: dict[str, str]
    then: str
    records: tuple[str, ...]


SAVED = {
    f"{MEMBERS}/invite": Saved(
        {"user": "cleo", "role": "acme-viewer"},
        MEMBERS,
        (f"{CONSOLE} create workspacerolebindings /acme.cleo 200",),
    ),
    f"{MEMBERS}/max/role": Saved(
        {"role": "acme-keeper", "version": "?"},
        MEMBERS,
        (f"{CONSOLE} update workspacerolebindings /max 200",),
    ),
    f"{MEMBERS}/max/remove": Saved(
        {}, MEMBERS, (f"{CONSOLE} delete workspacerolebindings /max 200",)
    ),
    f"{DEPARTMENTS}?new": Saved(
        {"title": "Tea", "parent": ""}, DEPARTMENTS, (f"{CONSOLE} create groups / 200",)
    ),
    f"{DEPARTMENTS}/crew": Saved(
        {"role": "", "add": "max", "leave": ""},
        DEPARTMENTS,
        (f"{CONSOLE} create groupbindings /crew 200",),
    ),
    f"{DEPARTMENTS}/cubs/delete": Saved({}, DEPARTMENTS, (f"{CONSOLE} delete groups /cubs 200",)),
    f"{ACME}/quota?edit": Saved(
        {"pods": "20", "version": "?"},
        f"{ACME}/quota",
        ("ann update resourcequotas /acme 200",),
    ),
    f"{ACME}/settings?edit": Saved(
        {"alias": "Acme", "manager": "boss", "version": "?"},
        f"{ACME}/settings",
        (f"{CONSOLE} update workspacetemplates /acme 200",),
    ),
    f"{SHOP}/quota": Saved(
        {"pods": "6", "version": "?"}, SHOP, ("ann update resourcequotas shop/shop 200",)
    ),
    f"{SHOP}/limits": Saved({"default.cpu": "1"}, SHOP, ("ann create limitranges shop/shop 200",)),
    f"{SHOP}/member": Saved(
        {"user": "max", "role": "viewer"}, SHOP, ("ann create rolebindings shop/max-viewer 200",)
    ),
}


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[TenantRuntime]:
    """A cluster in which `ann` is an administrator of the workspace and may edit native objects, and
    `max` is a viewer.
    """
    given = objects()
    sight = (rule("get", "workspaces", TENANT), rule("get", "namespaces"))
    native = (
        rule("*", "resourcequotas limitranges"),
        rule("*", "rolebindings", "rbac.authorization.k8s.io"),
        rule("*", "resourcequotas", "quota.kubesphere.io"),
    )
    for who, rules in (("ann", (*sight, *native)), ("max", sight)):
        given[CLUSTER_ROLES].append(native_role(who, *rules))
        given[CLUSTER_ROLE_BINDINGS].append(native_binding(who, who, f"User {who}"))
    found = TenantRuntime(given)
    monkeypatch.setattr(found, "as_user", lambda _identity: found.console)
    set_host_cluster(found)
    yield found
    unset_host_cluster()


async def send(path: str, who: str = "ann", **fields: str) -> Any:
    return await Utf8Client().post(path, fields, headers={"X-Person": who})


async def version_in(path: str) -> str:
    page = (await Utf8Client().get(path, headers={"X-Person": "ann"})).content.decode()
    return page.partition('name="version" value="')[2].partition('"')[0]


async def records() -> tuple[str, ...]:
    found = AuditRecord.objects.order_by("id")
    return tuple(
        [
            f"{one.as_user} {one.verb} {one.resource} {one.namespace}/{one.name} {one.code}"
            async for one in found
        ]
    )


@pytest.mark.parametrize("path", SAVED)
async def test_a_saved_form_is_recorded_and_redirects(runtime: TenantRuntime, path: str) -> None:
    fields, then, wanted = SAVED[path]
    if fields.get("version"):
        fields = {**fields, "version": await version_in(path)}
    answer = await send(path, **fields)
    assert (answer.status_code, answer.headers.get("Location")) == (302, then)
    assert await records() == wanted
    assert runtime.console.writes == len(wanted)


@pytest.mark.parametrize("path", SAVED)
async def test_a_form_without_permission_writes_and_records_nothing(
    runtime: TenantRuntime, path: str
) -> None:
    page = SHOP if path.startswith(SHOP) else ACME
    answer = await Utf8Client().get(page, headers={"X-Person": "max"})
    assert answer.status_code == 200
    assert (await send(path, "max", **SAVED[path].fields)).status_code == 403
    assert not runtime.console.writes and not await records()


async def test_a_refused_form_keeps_the_input(runtime: TenantRuntime) -> None:
    answer = await send(f"{MEMBERS}/invite", user="ghost", role="acme-viewer")
    assert answer.status_code == 400 and 'value="ghost"' in answer.content.decode()
    assert not runtime.console.writes and not await records()


async def test_a_form_with_an_outdated_version_is_a_conflict(runtime: TenantRuntime) -> None:
    answer = await send(f"{MEMBERS}/max/role", role="acme-admin", version="1.2.3")
    assert answer.status_code == 409 and not runtime.console.writes
