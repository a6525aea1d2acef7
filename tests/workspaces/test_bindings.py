"""Bindings are changed as they were seen, or not at all."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from console.kube.gvr import GVR, WORKSPACE_ROLE_BINDINGS, Key
from rbac.current import no_host, use_host
from tests.rbac.fakes import FakeConsole
from tests.rbac.objects import workspace_binding
from tests.workspaces.fakes import TenantRuntime
from workspaces.services.acting import Actor, Overtaken
from workspaces.services.bindings import USER, take_out


class Writer:
    """An actor whose writes nobody records."""

    def __init__(self, console: FakeConsole) -> None:
        self._console = console

    @asynccontextmanager
    async def as_console(
        self, verb: str, gvr: GVR, name: str, *, namespace: str = ""
    ) -> AsyncIterator[tuple[FakeConsole, Any]]:
        yield self._console, SimpleNamespace(audit_id="")


@pytest.fixture
def runtime() -> Iterator[TenantRuntime]:
    ann = workspace_binding("ann", "acme", "acme-viewer", "User ann")
    found = TenantRuntime({WORKSPACE_ROLE_BINDINGS: [ann]})
    use_host(found)
    yield found
    no_host()


@pytest.mark.parametrize("seen", [("ann",), ("ann", "ben")])
async def test_nobody_is_taken_out_with_another(
    runtime: TenantRuntime, seen: tuple[str, ...]
) -> None:
    """Whoever was added after the page was made has a right that nobody took away."""
    people = [f"User {name}" for name in seen]
    bound = workspace_binding("ann", "acme", "acme-viewer", *people)
    runtime.console.put(WORKSPACE_ROLE_BINDINGS, bound)
    entry = runtime.informer(WORKSPACE_ROLE_BINDINGS).store.get(Key("", "ann"))
    assert entry is not None
    runtime.console.delayed = True
    more = workspace_binding("ann", "acme", "acme-viewer", *people, "User cleo")
    runtime.console.put(WORKSPACE_ROLE_BINDINGS, more)
    actor = cast(Actor, Writer(runtime.console))
    with pytest.raises(Overtaken):
        await take_out(actor, WORKSPACE_ROLE_BINDINGS, entry, USER, "ann")
    subjects = runtime.console.of(WORKSPACE_ROLE_BINDINGS)["ann"]["subjects"]
    assert [one["name"] for one in subjects] == [*seen, "cleo"]
