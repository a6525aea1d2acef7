"""Tokens with two consoles that share a PostgreSQL database, and a kube-apiserver that uses one of
them as token webhook.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import psycopg

from console.kube.gvr import LOGIN_RECORDS
from tests.accounts.conftest import HASH, PASSWORD, hashed
from tests.accounts.oauth.clients import claims_of
from tests.accounts.oauth.world import TRIES, USERS, World
from tests.controlplane.waiting import eventually
from tests.rbac.objects import user
from tests.support.depth import DEEP, number

#: Seconds within which a revocation is effective everywhere, even on a busy machine.
TIMEOUT = 30.0
#: kube-apiserver caches successful token reviews for 10 s, regardless of its options.
SOON_IN_KUBERNETES = 15.0

# Shared state of the replicas.


def test_each_replica_accepts_tokens_of_the_other(world: World) -> None:
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


def test_a_token_revoked_at_one_replica_is_refused_at_the_other(world: World) -> None:
    world.add_user("ben")
    tokens = world.sign_in(0, "ben")
    assert world.ask(0, "/oauth/revoke", token=tokens["refresh_token"]).status == 200
    assert world.statuses("ben", tokens["access_token"]) == {401}


def test_exactly_one_of_concurrent_refreshes_succeeds(world: World) -> None:
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


def test_a_key_rotation_applies_to_both_replicas(world: World) -> None:
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
        # In the gate, test_keys tests this with a single console.
        world.manage("oauth_keys", "remove", claims_of(old, 0)["kid"])
        assert world.statuses("dora", old) == {401}


# kube-apiserver.


def test_kubectl_authenticates_as_the_user_of_the_token(world: World) -> None:
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


def test_kubectl_is_refused_with_other_tokens(world: World) -> None:
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


def test_kube_apiserver_refuses_other_audiences(world: World) -> None:
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


# Revocation.


def test_user_changes_revoke_tokens_everywhere(world: World) -> None:
    """kube-apiserver caches reviews, so the three cases are tested together."""
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
        eventually(partial(_refused, world, name, token), f"both refuse {name}", timeout=TIMEOUT)
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


def test_tokens_are_refused_without_the_database(world: World) -> None:
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


# Brute-force protection across replicas.


def test_failed_attempts_at_both_replicas_are_counted_together(world: World) -> None:
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


#: `{}` is the PostgreSQL process that is slowed down at each count.
SLOW = """
    CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN IF pg_backend_pid() = {} THEN PERFORM pg_sleep(1); END IF; RETURN NULL; END';
    CREATE TRIGGER slow BEFORE UPDATE ON accounts_failedattempts EXECUTE FUNCTION take_time();
"""
#: The process with the latest query.
LAST = """
    SELECT pid FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
    ORDER BY state_change DESC LIMIT 1
"""


def test_concurrent_attempts_are_counted_before_verification(world: World) -> None:
    """The last allowed attempt is counted for the user but not yet for the address. A faster
    concurrent attempt must not be treated as if only the address were locked.
    """
    world.add_user("mona")

    def guess(replica: int) -> int:
        fields = {"grant_type": "password", "username": "mona", "password": "wrong"}
        return world.token(replica, **fields).status

    assert [guess(0) for _ in range(TRIES - 1)] == [400] * (TRIES - 1)
    with psycopg.connect(world.database.url, autocommit=True) as database:

        def full() -> int:
            """Return the number of counters that have reached the limit."""
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


def test_tokens_stay_revoked_after_a_user_is_enabled_again(world: World) -> None:
    """Even if the token was not used meanwhile."""
    world.add_user("kate")
    token = world.sign_in(0, "kate")["access_token"]
    world.put(user("kate", password=HASH, state="Disabled"))
    fields = {"grant_type": "password", "username": "kate", "password": PASSWORD}
    eventually(
        lambda: {world.token(replica, **fields).status for replica in (0, 1)} == {400},
        "both know",
        timeout=TIMEOUT,
    )
    world.put(user("kate", password=HASH))
    eventually(lambda: world.token(1, **fields).status == 200, "kate can sign in", timeout=TIMEOUT)
    assert world.statuses("kate", token) == {401}
