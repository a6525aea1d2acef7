"""Projects compete for the quota of their workspace on a real control plane."""

import asyncio
import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
import yaml

from console.kube.errors import ApiError, Forbidden
from console.kube.gvr import PODS, RESOURCE_QUOTAS, SERVICE_ACCOUNTS, WORKSPACES, Key
from console.kube.identity import Identity
from rbac.current import get_authorizer
from tests.rbac.objects import user
from tests.workspaces.cast import WAIT, Person, apply, listed, pod, read, template, until
from tests.workspaces.conftest import Tenancy
from workspaces.amounts import Amounts, amounts_of
from workspaces.names import SHARE

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("site")]

#: More tries, once the quota is used, than anything that is late could let through unseen.
AFTERWARDS = 10
Sums = dict[str, Amounts]


def quota(workspace: str, **hard: str) -> dict[str, Any]:
    return {
        "apiVersion": "quota.kubesphere.io/v1alpha2",
        "kind": "ResourceQuota",
        "metadata": {"name": workspace},
        "spec": {
            "selector": {"kubesphere.io/workspace": workspace},
            "quota": {"hard": {name.replace("_", "."): text for name, text in hard.items()}},
        },
    }


class Recorder:
    """The projects' shares together, at every version that kube-apiserver has had."""

    def __init__(self, tenancy: Tenancy, projects: Sequence[str]) -> None:
        self._projects = projects
        self._informer = tenancy.runtime.informer(RESOURCE_QUOTAS)
        self.seen: list[Sums] = []
        self.stop: Callable[[], None] = self._informer.add_listener(lambda _key: self._look())

    def now(self) -> Sums:
        """What is allowed, what is enforced and what is used, of each resource."""
        found: Sums = {"asked": {}, "enforced": {}, "used": {}}
        for name in self._projects:
            entry = self._informer.store.get(Key(name, SHARE))
            item = entry.original() if entry is not None else {}
            status = item.get("status") or {}
            for part, texts in (
                ("asked", (item.get("spec") or {}).get("hard")),
                ("enforced", status.get("hard")),
                ("used", status.get("used")),
            ):
                for resource, amount in amounts_of(texts).items():
                    found[part][resource] = found[part].get(resource, Decimal(0)) + amount
        return found

    def _look(self) -> None:
        self.seen.append(self.now())


class Tenants:
    """Makes and deletes pods as a person, many at a time."""

    def __init__(self, tenancy: Tenancy, name: str) -> None:
        self._runtime, self._who = tenancy.runtime, Identity(name)
        self.refused: list[str] = []

    async def create(self, project: str, name: str) -> bool:
        client = self._runtime.as_user(self._who)
        try:
            await client.create(PODS, yaml.safe_load(pod(name)), namespace=project)
        except Forbidden as error:
            self.refused.append(error.message)
            return False
        except ApiError:
            return False
        return True

    async def fill(self, projects: Sequence[str], wanted: int) -> int:
        """Pods that came to be: all projects try until there are so many, and then some times more."""
        made, end = 0, time.monotonic() + WAIT

        async def one(project: str) -> None:
            nonlocal made
            left = AFTERWARDS
            while left and time.monotonic() < end:
                if made >= wanted:
                    left -= 1
                if await self.create(project, f"pod-{uuid4().hex[:12]}"):
                    made += 1
                else:
                    await asyncio.sleep(0.05)

        await asyncio.gather(*map(one, projects))
        return made

    async def delete(self, project: str) -> None:
        client = self._runtime.as_user(self._who)
        items = self._runtime.informer(PODS).store.snapshot().entries
        names = [key.name for key in items if key.namespace == project]
        for name in names:
            await client.delete(PODS, namespace=project, name=name)


async def test_projects_compete_and_never_use_more_than_the_quota(tenancy: Tenancy) -> None:
    # Others for each try.
    workspace = f"rush-{uuid4().hex[:6]}"
    projects = [f"{workspace}-{letter}" for letter in "abc"]
    last = projects[-1]

    def pods() -> int:
        return sum(len(listed(tenancy, PODS, name)) for name in projects)

    apply(tenancy, user("rae"), template(workspace, "rae"), quota(workspace, pods="6"))
    rae = Person(tenancy, "rae")
    access = get_authorizer().access_for(Identity("rae"))
    await until(lambda: access.can("get", WORKSPACES, name=workspace), "sight of the workspace")
    await tenancy.runtime.wait_synced(PODS, timeout=20)
    recorder, tenants = Recorder(tenancy, projects), Tenants(tenancy, "rae")
    for name in projects:
        answer = await rae.post(f"/workspaces/{workspace}/projects/new", name=name)
        assert answer.status_code == 302, answer.content.decode()
    for name in projects:
        await until(partial(rae.may, "create", name), f"rights in {name}")
        account = partial(read, tenancy, SERVICE_ACCOUNTS, "default", name)
        await until(account, f"the account in {name}")

    # All want more than there is; what there is gets used, and not one more.
    assert await tenants.fill(projects, 6) == 6 == pods()
    assert any("exceeded quota: quarterdeck-workspace" in text for text in tenants.refused)
    await until(lambda: recorder.now()["used"]["pods"] == 6, "the count")
    for url in (f"/workspaces/{workspace}", f"/workspaces/{workspace}/quota"):
        text = (await rae.get(url)).content.decode()
        assert "6 of 6" in text
        assert "The quota is reached: what needs more is refused." in text

    # What one gives back another can have, also all of it.
    for name in projects:
        await tenants.delete(name)
    await until(lambda: recorder.now()["used"]["pods"] == 0, "the pods are gone", 60)
    assert await tenants.fill([last], 6) == 6

    # Less than is used stops everybody, and takes nothing away.
    apply(tenancy, quota(workspace, pods="4"))
    await until(lambda: recorder.now()["enforced"]["pods"] <= 4, "the lower quota")
    lowered = len(recorder.seen)
    assert await tenants.fill([projects[0]], 0) == 0
    assert pods() == 6
    assert all(sums["asked"].get("pods", 0) <= 4 for sums in recorder.seen[lowered:])
    # A quota that grows again lets them go on.
    apply(tenancy, quota(workspace, pods="8"))
    assert await tenants.fill([projects[0]], 1) == 1
    recorder.stop()
    assert pods() == 7
    for sums in recorder.seen:
        for part, amounts in sums.items():
            assert amounts.get("pods", Decimal(0)) <= 8, (part, amounts)
    before = recorder.seen[: lowered - 1]
    assert before and all(
        amounts.get("pods", Decimal(0)) <= 6 for sums in before for amounts in sums.values()
    )
