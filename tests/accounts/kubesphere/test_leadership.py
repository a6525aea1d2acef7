"""Two processes of controllers: one works, and the other takes over when it is gone."""

import json
import os
import signal
import time

from tests.accounts.kubesphere.world import Replica, World
from tests.controlplane.waiting import eventually

#: The lease lasts 15 s and is looked at every two.
TAKEN_OVER = 30.0
USERS = "users.iam.kubesphere.io"


def works(world: World, name: str) -> None:
    """A new user is taken in."""
    made = {
        "apiVersion": "iam.kubesphere.io/v1alpha2",
        "kind": "User",
        "metadata": {"name": name},
        "spec": {"email": f"{name}@kubesphere.example", "password": "Harbour-bridge-7"},
    }
    world.put(made)
    eventually(
        lambda: world.get(USERS, name).get("status", {}).get("state") == "Active",
        f"{name} is taken in",
        timeout=TAKEN_OVER,
    )


def holder(world: World) -> str:
    lease = world.get("lease", "-n", "quarterdeck-system", "quarterdeck-controllers")
    return str(lease["spec"].get("holderIdentity"))


def another_leads(world: World, first: Replica) -> Replica:
    rest = [one for one in world.replicas if one is not first and one.process.poll() is None]
    found = eventually(
        lambda: next((one for one in rest if one.leads), None), "another leads", timeout=TAKEN_OVER
    )
    assert found is not None
    return found


def test_one_works_and_says_how(world: World) -> None:
    first = world.leader()
    works(world, "uma")
    text = first.metrics()
    assert 'quarterdeck_controller_reconciles_total{controller="user"}' in text
    assert f"_{first.process.pid}_" in holder(world)
    others = [one for one in world.replicas if one is not first and one.process.poll() is None]
    assert len(others) == 1
    assert "\nquarterdeck_controllers_leading 0\n" in others[0].metrics()


def test_what_fails_is_tried_again_and_shows(world: World) -> None:
    leader = world.leader()
    # Nobody can be taken in by a console that may not write users.
    role = world.get("clusterrole", "quarterdeck-console")
    rules = [rule for rule in role["rules"] if "users" not in rule["resources"]]
    world.kubectl("replace", "-f", "-", input=json.dumps({**role, "rules": rules}))
    try:
        made = {
            "apiVersion": "iam.kubesphere.io/v1alpha2",
            "kind": "User",
            "metadata": {"name": "vera"},
            "spec": {"email": "vera@kubesphere.example", "password": "Harbour-bridge-7"},
        }
        time.sleep(1)
        world.put(made)
        eventually(
            lambda: 'quarterdeck_controller_retrying{controller="user"} 1\n' in leader.metrics(),
            "it shows",
        )
    finally:
        fresh = world.get("clusterrole", "quarterdeck-console")
        world.kubectl("replace", "-f", "-", input=json.dumps({**fresh, "rules": role["rules"]}))
    eventually(lambda: world.get(USERS, "vera").get("status"), "vera is taken in", timeout=60)
    eventually(
        lambda: 'quarterdeck_controller_retrying{controller="user"} 0\n' in leader.metrics(),
        "nothing is left",
    )


def test_when_it_is_killed_another_goes_on(world: World) -> None:
    first = world.leader()
    first.process.kill()
    first.process.wait()
    second = another_leads(world, first)
    works(world, "walt")
    assert f"_{second.process.pid}_" in holder(world)
    world.start_controllers()


def test_one_that_was_frozen_writes_nothing_any_more(world: World) -> None:
    """It wakes up in the belief that it leads, with work to do."""
    first = world.leader()
    pid = first.process.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        second = another_leads(world, first)
        works(world, "xena")
        assert f"_{second.process.pid}_" in holder(world)
    finally:
        os.kill(pid, signal.SIGCONT)
    eventually(lambda: "\nquarterdeck_controllers_leading 0\n" in first.metrics(), "it stands by")
    works(world, "yuri")
    assert f"_{second.process.pid}_" in holder(world)
    assert first.process.poll() is None


def test_one_that_is_stopped_gives_the_lease_back(world: World) -> None:
    first = world.leader()
    began = time.monotonic()
    first.end()
    assert first.process.returncode == 0, first.log.read_text()
    another_leads(world, first)
    # Sooner than the lease would have run out.
    assert time.monotonic() - began < 15
    world.start_controllers()
