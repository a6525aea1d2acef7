"""Permissions for the forms that edit a workload's pod template."""

import pytest

from console.kube.runtime import Runtime
from tests.contract.client import Client
from tests.contract.pages import Person, refused_to_strangers
from tests.contract.templateforms import make, olga, runtime
from tests.views.conftest import _site

__all__ = ["_site", "olga", "runtime"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("action", ["environment", "probes", "volumes", "strategy"])
async def test_users_without_permission_cannot_edit_the_pod_template(
    admin: Client, runtime: Runtime, namespace: str, olga: Person, action: str
) -> None:
    made = make(admin, runtime, namespace, {})
    await refused_to_strangers(olga.on(action, "deployments", made), "")
