"""Leader election of two controller processes: one is active, and the other takes over."""

import json
import os
import signal

import pytest

from console.kube.gvr import CLUSTER_ROLES, LEASES, USERS
from tests.accounts.kubesphere.world import Replica, World
from tests.controlplane.waiting import eventually

#: Seconds. The lease lasts 15 s and is checked every two seconds.
TAKEN_OVER = 30.0


@pytest.fixture(autouse=True)
def _two(world: World) -> None:
    """Ensure one leader and one standby. The previous test may have ended one."""
    while len(alive(world)) < 2:
        world.start_controllers()
    eventually(lambda: all(one.metrics() for one in alive(world)), "both are up", timeout=40)


def alive(world: World) -> list[Replica]:
    return [one for one in world.replicas if one.process.poll() is None]


def holder(world: World) -> str:
    lease = world.get(LEASES, "quarterdeck-controllers", "quarterdeck-system")
    return str(lease["spec"].get("holderIdentity"))


def another_leads(world: World, first: Replica) -> Replica:
    rest = [one for one in alive(world) if one is not first]
    found = eventually(
        lambda: next((one for one in rest if one.leads), None), "another leads", timeout=TAKEN_OVER
    )
    assert found is not None
    return found


def test_one_process_leads_and_exposes_metrics(world: World) -> None:
    first = world.leader()
    world.takes_in("uma")
    text = first.metrics()
    assert 'quarterdeck_controller_reconciles_total{controller="user"}' in text
    assert f"_{first.process.pid}_" in holder(world)
    others = [one for one in alive(world) if one is not first]
    assert len(others) == 1
    assert "\nquarterdeck_controllers_leading 0.0\n" in others[0].metrics()


def test_failed_reconciliations_are_retried_and_counted(world: World) -> None:
    leader = world.leader()
    console = "system:serviceaccount:quarterdeck-system:quarterdeck-console"

    def may_update_users() -> bool:
        asked = ("auth", "can-i", "update", USERS.qualified, f"--as={console}")
        return world.cluster.kubectl(*asked).returncode == 0

    assert may_update_users()
    # Without permission to update users, no user can be reconciled.
    role = world.get(CLUSTER_ROLES, "quarterdeck-console")
    rules = [rule for rule in role["rules"] if "users" not in rule["resources"]]
    world.kubectl("replace", "-f", "-", input=json.dumps({**role, "rules": rules}))
    try:
        made = {
            "apiVersion": "iam.kubesphere.io/v1alpha2",
            "kind": "User",
            "metadata": {"name": "vera"},
            "spec": {"email": "vera@kubesphere.example", "password": "Harbour-bridge-7"},
        }
        eventually(lambda: not may_update_users(), "kube-apiserver knows")
        world.put(made)
        eventually(
            lambda: 'quarterdeck_controller_retrying{controller="user"} 1.0\n' in leader.metrics(),
            "it shows",
        )
    finally:
        fresh = world.get(CLUSTER_ROLES, "quarterdeck-console")
        world.kubectl("replace", "-f", "-", input=json.dumps({**fresh, "rules": role["rules"]}))
    eventually(lambda: world.get(USERS, "vera").get("status"), "vera is taken in", timeout=60)
    eventually(
        lambda: 'quarterdeck_controller_retrying{controller="user"} 0.0\n' in leader.metrics(),
        "nothing is left",
    )


# The lease of a frozen process expires too, and tests/kube/test_leader.py covers a killed process.
@pytest.mark.deep
def test_the_standby_takes_over_after_a_kill(world: World) -> None:
    first = world.leader()
    first.process.kill()
    first.process.wait()
    second = another_leads(world, first)
    world.takes_in("walt")
    assert f"_{second.process.pid}_" in holder(world)


def test_a_frozen_leader_writes_nothing_after_losing_the_lease(world: World) -> None:
    """The process wakes up with pending work, assuming that it still leads."""
    first = world.leader()
    pid = first.process.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        second = another_leads(world, first)
        world.takes_in("xena")
        assert f"_{second.process.pid}_" in holder(world)
    finally:
        os.kill(pid, signal.SIGCONT)
    eventually(lambda: "\nquarterdeck_controllers_leading 0.0\n" in first.metrics(), "it stands by")
    world.takes_in("yuri")
    assert f"_{second.process.pid}_" in holder(world)
    assert first.process.poll() is None


def test_a_stopped_leader_releases_the_lease(world: World) -> None:
    first = world.leader()
    first.end()
    assert first.process.returncode == 0, first.log.read_text()
    # Before expiry, another process can acquire the lease only if it was released.
    assert f"_{first.process.pid}_" not in holder(world)
    another_leads(world, first)
