"""Two consoles on one PostgreSQL, in front of a kube-apiserver that asks one of them who a token is."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import psycopg

from console.kube.gvr import LOGIN_RECORDS
from tests.accounts.conftest import HASH, PASSWORD, hashed
from tests.accounts.oauth.clients import claims_of
from tests.accounts.oauth.world import TRIES, USERS, World
from tests.controlplane.waiting import eventually
from tests.depth import DEEP, number
from tests.rbac.objects import user

#: Seconds within which an end is felt everywhere, also on a machine that does much else.
SOON = 30.0
#: kube-apiserver remembers for 10 s whom it let in, whatever it is told to.
SOON_IN_KUBERNETES = 15.0

# What the replicas agree on.


def test_each_accepts_what_the_other_issued(world: World) -> None:
    world.add_user("ann")
    for replica in (0, 1):
        tokens = world.sign_in(replica, "ann")
        assert world.statuses("ann", tokens["access_token"]) == {200}
        answer = world.token(
            1 - replica, grant_type="refresh_token", refresh_token=tokens["refresh_token"]
        )
        assert answer.status == 200
        assert world.statuses("ann", answer.body["access_token"]) == {200}
    found = world.ask(1, USERS + "ann", tokens["access_token"]).body
    assert found["spec"] == {"email": "ann@example.com"}


def test_what_one_revoked_the_other_refuses_at_once(world: World) -> None:
    world.add_user("ben")
    tokens = world.sign_in(0, "ben")
    assert world.ask(0, "/oauth/revoke", token=tokens["refresh_token"]).status == 200
    assert world.statuses("ben", tokens["access_token"]) == {401}


def test_of_two_refreshes_at_once_exactly_one_succeeds(world: World) -> None:
    world.add_user("cleo")
    with ThreadPoolExecutor(max_workers=4) as pool:
        for _ in range(number(3, 8)):
            token = world.sign_in(0, "cleo")["refresh_token"]
            fields = {"grant_type": "refresh_token", "refresh_token": token}
            running = [pool.submit(world.token, n % 2, **fields) for n in range(4)]
            answers = [one.result() for one in running]
            assert sorted(answer.status for answer in answers) == [200, 400, 400, 400]
            new = next(answer.body for answer in answers if answer.status == 200)
            assert world.statuses("cleo", new["access_token"]) == {401}


def test_keys_change_under_both(world: World) -> None:
    world.add_user("dora")
    old = world.sign_in(0, "dora")["access_token"]
    listed = world.manage("oauth_keys", "rotate").stdout
    fresh = [world.sign_in(replica, "dora")["access_token"] for replica in (0, 1)]
    kids = {claims_of(token, 0)["kid"] for token in fresh}
    assert len(kids) == 1
    assert kids != {claims_of(old, 0)["kid"]}
    assert kids.pop() in listed
    for token in (old, *fresh):
        assert world.statuses("dora", token) == {200}
    if DEEP:
        # In the gate of one console alone, in test_keys.
        world.manage("oauth_keys", "remove", claims_of(old, 0)["kid"])
        assert world.statuses("dora", old) == {401}


# kube-apiserver.


def test_kubectl_is_the_user_of_the_token(world: World) -> None:
    world.add_user("emma")
    token = world.sign_in(1, "emma")["access_token"]
    found = world.whoami(token)
    assert found is not None
    assert found["username"] == "emma"
    assert found["groups"] == ["system:authenticated"]
    assert found["uid"] == world.user("emma")["metadata"]["uid"]
    assert "forbidden" in world.kubectl(token, "get", "pods").stderr
    binding = (
        "create",
        "rolebinding",
        "emma",
        "--clusterrole=view",
        "--user=emma",
        "-n",
        "default",
    )
    assert world.cluster.kubectl(*binding).returncode == 0
    eventually(
        lambda: world.kubectl(token, "get", "pods").returncode == 0, "emma may list pods", timeout=5
    )


def test_kubectl_is_nobody_with_anything_else(world: World) -> None:
    world.add_user("finn")
    tokens = world.sign_in(0, "finn")
    assert world.whoami(tokens["access_token"])
    for token in (tokens["refresh_token"], tokens["access_token"][:-4] + "AAAA", "x"):
        assert world.whoami(token) is None
    world.ask(1, "/oauth/logout", tokens["access_token"])
    eventually(
        lambda: world.whoami(tokens["access_token"]) is None,
        "it is refused",
        timeout=SOON_IN_KUBERNETES,
    )


def test_kube_apiserver_does_not_take_it_for_another_audience(world: World) -> None:
    world.add_user("gina")
    token = world.sign_in(0, "gina")["access_token"]

    def reviewed(**spec: Any) -> bool:
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token, **spec},
        }
        path = "/apis/authentication.k8s.io/v1/tokenreviews"
        answer = world.cluster.api.request("POST", path, body)
        return bool(answer.json()["status"].get("authenticated"))

    assert reviewed()
    assert not reviewed(audiences=["vault"])


# Ends.


def test_with_the_user_it_ends_everywhere(world: World) -> None:
    """Kubernetes believes its own cache for a while, so the three are looked at together."""
    deleted, disabled, changed = names = ("hugo-deleted", "hugo-disabled", "hugo-changed")
    tokens = {}
    for name in names:
        world.add_user(name)
        tokens[name] = world.sign_in(0, name)
        assert world.statuses(name, tokens[name]["access_token"]) == {200}
        assert world.whoami(tokens[name]["access_token"])
    world.delete_user(deleted)
    world.put(user(disabled, password=HASH, state="Disabled"))
    world.put(user(changed, password=hashed("Another1")))
    for name, found in tokens.items():
        token = found["access_token"]
        eventually(partial(_refused, world, name, token), f"both refuse {name}", timeout=SOON)
    for name, found in tokens.items():
        token = found["access_token"]
        unknown = partial(_unknown, world, token)
        eventually(unknown, f"kubectl refuses {name}", timeout=SOON_IN_KUBERNETES)
        answer = world.token(1, grant_type="refresh_token", refresh_token=found["refresh_token"])
        assert (answer.status, answer.body["error"]) == (400, "invalid_grant")


def _unknown(world: World, token: str) -> bool:
    return world.whoami(token) is None


def _refused(world: World, name: str, token: str) -> bool:
    return world.statuses(name, token) == {401}


def test_without_the_database_nobody_is_let_in(world: World) -> None:
    world.add_user("ivan")
    tokens = world.sign_in(0, "ivan")
    token = tokens["access_token"]
    assert world.whoami(token)
    world.database.stop()
    try:
        assert world.statuses("ivan", token) == {503}
        fields = {"grant_type": "password", "username": "ivan", "password": PASSWORD}
        answer = world.token(0, **fields)
        assert (answer.status, answer.body["error"]) == (503, "temporarily_unavailable")
        eventually(
            lambda: world.whoami(token) is None, "kubectl is refused", timeout=SOON_IN_KUBERNETES
        )
    finally:
        world.database.start()
    eventually(lambda: world.statuses("ivan", token) == {200}, "it counts again")


# Protection: what counts for one counts for both.


def test_guesses_at_two_replicas_are_guesses_at_one_user(world: World) -> None:
    world.add_user("jack")

    def guess(at: int) -> int:
        fields = {"grant_type": "password", "username": "jack", "password": "wrong"}
        return world.token(at % 2, **fields).status

    with ThreadPoolExecutor(max_workers=20) as pool:
        statuses = list(pool.map(guess, range(TRIES + 10)))
    assert sorted(statuses) == [400] * TRIES + [429] * 10
    fields = {"grant_type": "password", "username": "jack", "password": PASSWORD}
    assert [world.token(replica, **fields).status for replica in (0, 1)] == [429, 429]

    def failed() -> list[Any]:
        label = "labelSelector=iam.kubesphere.io/user-ref=jack"
        found = world.cluster.api.get(f"{LOGIN_RECORDS.path()}?{label}").json()["items"]
        return [one for one in found if not one["spec"]["success"]]

    eventually(lambda: len(failed()) == TRIES, "each is recorded once")
    assert {one["spec"]["sourceIP"] for one in failed()} == {"127.0.0.1"}


#: {} is the process of PostgreSQL that takes its time over each count.
SLOW = """
    CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN IF pg_backend_pid() = {} THEN PERFORM pg_sleep(1); END IF; RETURN NULL; END';
    CREATE TRIGGER slow BEFORE UPDATE ON accounts_failedattempts EXECUTE FUNCTION take_time();
"""
#: That of whoever has asked last.
LAST = """
    SELECT pid FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
    ORDER BY state_change DESC LIMIT 1
"""


def test_a_guess_is_one_while_another_is_counted(world: World) -> None:
    """The last one is counted for the user and not yet for where it comes from: whoever is quicker with
    another must not get through as somebody who is only locked from elsewhere."""
    world.add_user("mona")

    def guess(replica: int) -> int:
        fields = {"grant_type": "password", "username": "mona", "password": "wrong"}
        return world.token(replica, **fields).status

    assert [guess(0) for _ in range(TRIES - 1)] == [400] * (TRIES - 1)
    with psycopg.connect(world.database.url, autocommit=True) as database:

        def full() -> int:
            """Counts to which nothing can be added."""
            rows = "SELECT 1 FROM accounts_failedattempts WHERE count = %s"
            return len(database.execute(rows, [TRIES]).fetchall())

        before = full()
        [slow] = database.execute(LAST).fetchone() or [0]
        database.execute(SLOW.format(slow))
        try:
            with ThreadPoolExecutor(max_workers=1) as pool:
                last = pool.submit(guess, 0)
                eventually(lambda: full() > before, "the last one is counted")
                assert guess(1) == 429
                assert last.result() == 400
        finally:
            database.execute("DROP FUNCTION take_time CASCADE")


def test_a_disabled_user_who_is_enabled_again_has_nothing_left(world: World) -> None:
    """Though nobody showed the token in between."""
    world.add_user("kate")
    token = world.sign_in(0, "kate")["access_token"]
    world.put(user("kate", password=HASH, state="Disabled"))
    fields = {"grant_type": "password", "username": "kate", "password": PASSWORD}
    eventually(
        lambda: {world.token(replica, **fields).status for replica in (0, 1)} == {400},
        "both know",
        timeout=SOON,
    )
    world.put(user("kate", password=HASH))
    eventually(lambda: world.token(1, **fields).status == 200, "kate can sign in", timeout=SOON)
    assert world.statuses("kate", token) == {401}
