"""Two processes of controllers: one works, and the other takes over when it is gone."""

import json
import os
import signal

import pytest

from console.kube.gvr import CLUSTER_ROLES, LEASES, USERS
from tests.accounts.kubesphere.world import Replica, World
from tests.controlplane.waiting import eventually

#: The lease lasts 15 s and is looked at every two.
TAKEN_OVER = 30.0


@pytest.fixture(autouse=True)
def _two(world: World) -> None:
    """One that leads and one that stands by; the test before may have ended one."""
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


def test_one_works_and_says_how(world: World) -> None:
    first = world.leader()
    world.takes_in("uma")
    text = first.metrics()
    assert 'quarterdeck_controller_reconciles_total{controller="user"}' in text
    assert f"_{first.process.pid}_" in holder(world)
    others = [one for one in alive(world) if one is not first]
    assert len(others) == 1
    assert "\nquarterdeck_controllers_leading 0.0\n" in others[0].metrics()


def test_what_fails_is_tried_again_and_shows(world: World) -> None:
    leader = world.leader()
    console = "system:serviceaccount:quarterdeck-system:quarterdeck-console"

    def may_update_users() -> bool:
        asked = ("auth", "can-i", "update", USERS.qualified, f"--as={console}")
        return world.cluster.kubectl(*asked).returncode == 0

    assert may_update_users()
    # Nobody can be taken in by a console that may not write users.
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


# The lease of one that was frozen runs out as well, and tests/kube/test_leader.py has one that died.
@pytest.mark.deep
def test_when_it_is_killed_another_goes_on(world: World) -> None:
    first = world.leader()
    first.process.kill()
    first.process.wait()
    second = another_leads(world, first)
    world.takes_in("walt")
    assert f"_{second.process.pid}_" in holder(world)


def test_one_that_was_frozen_writes_nothing_any_more(world: World) -> None:
    """It wakes up in the belief that it leads, with work to do."""
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


def test_one_that_is_stopped_gives_the_lease_back(world: World) -> None:
    first = world.leader()
    first.end()
    assert first.process.returncode == 0, first.log.read_text()
    # Nobody else may have it before it runs out, unless it was given back.
    assert f"_{first.process.pid}_" not in holder(world)
    another_leads(world, first)
