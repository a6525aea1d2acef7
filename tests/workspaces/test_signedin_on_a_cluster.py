"""What everybody may read, on a real control plane, whose policies the console is held to."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from console.kube import controller
from rbac.signedin import signed_in_factories
from tests.rbac.objects import user
from tests.workspaces.cast import Person, apply, until
from tests.workspaces.conftest import Tenancy


@contextmanager
def controllers(tenancy: Tenancy, *resources: str) -> Iterator[None]:
    """With that in the configuration."""
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


async def test_people_read_what_is_switched_on_and_service_accounts_do_not(
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
