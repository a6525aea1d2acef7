"""Resources that all signed-in users may read, on a real control plane with the console's policies."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from console.kube import controller
from rbac.authenticated_reads import signed_in_factories
from tests.rbac.objects import user
from tests.workspaces.conftest import Tenancy
from tests.workspaces.users import Person, apply, until


@contextmanager
def controllers(tenancy: Tenancy, *resources: str) -> Iterator[None]:
    """Run the controllers with `resources` configured."""
    runtime = tenancy.runtime
    running = [
        runtime.spawn(controller.run(runtime, factory(runtime)))
        for factory in signed_in_factories(resources)
    ]
    try:
        yield
    finally:
        for future in running:
            future.cancel()


async def test_users_may_read_configured_resources_and_service_accounts_may_not(
    tenancy: Tenancy,
) -> None:
    name = f"ivy-{uuid4().hex[:6]}"
    apply(tenancy, user(name))
    ivy = Person(tenancy, name)
    account = Person(tenancy, "system:serviceaccount:default:default")
    assert ivy.kubectl("get", "nodes").returncode == 1
    with controllers(tenancy, "nodes", "storageclasses"):
        await until(lambda: ivy.kubectl("get", "nodes").returncode == 0, "sight of the nodes")
        assert ivy.kubectl("get", "storageclasses").returncode == 0
        for refused in ("users.iam.kubesphere.io", "secrets", "persistentvolumes"):
            assert "forbidden" in ivy.kubectl("get", refused).stderr
        assert "forbidden" in account.kubectl("get", "nodes").stderr
    with controllers(tenancy):
        await until(lambda: ivy.kubectl("get", "nodes").returncode == 1, "the end of it")
