"""Single faults on the real control plane behind the fault-injecting proxy."""

from itertools import pairwise

import pytest

from console.kube.gvr import CLUSTER_ROLE_BINDINGS, CUSTOM_RESOURCE_DEFINITIONS, GLOBAL_ROLES, PODS
from tests.chaos.console import following
from tests.chaos.observer import fresh
from tests.chaos.targets import TARGETS
from tests.chaos.world import World
from tests.controlplane.cluster import ETCD
from tests.controlplane.proxy import RecordedRequest, Script, ScriptedResponse, refusal
from tests.controlplane.waiting import eventually

#: Seconds after the last data by which an informer must report that it is stale (G4).
HONEST = 15.0
PODS_OF = next(target for target in TARGETS if target.gvr == PODS)
ROLES_OF = next(target for target in TARGETS if target.gvr == GLOBAL_ROLES)
IN_STREAM = refusal(410, "Expired").body


def on(verb: str, resource: str, *answers: ScriptedResponse) -> Script:
    """Return a script that gives these responses, in order, to requests of one type."""
    left = iter(answers)

    def script(seen: RecordedRequest) -> ScriptedResponse | None:
        wanted = seen.verb == verb and seen.resource == resource
        return next(left, None) if wanted else None

    return script


# F1: truncated, fragmented, and merged frames.


@pytest.mark.parametrize(
    ("piece", "hold"), [(1, 0.0), pytest.param(7, 0.0, marks=pytest.mark.deep), (None, 0.3)]
)
def test_fragmented_and_merged_events_are_parsed(
    world: World, piece: int | None, hold: float
) -> None:
    with following(world) as console:
        world.proxy.deliver(piece=piece, hold=hold)
        world.proxy.reset()
        for number in range(3):
            console.write(PODS_OF, f"piece-{number}", times=3)
            console.delete(PODS_OF, f"piece-{number}")


def test_a_watch_resumes_after_a_cut_within_an_event(world: World) -> None:
    with following(world) as console:
        for number, after in enumerate((1, 30, 200, 700, 2000)):
            # The responses to the previous reconnects must not use up the bytes.
            eventually(lambda: all(map(fresh, console.observer.informers.values())), "it follows")
            world.proxy.cut(after=after)
            console.write(PODS_OF, f"cut-{number}", times=3)
            eventually(lambda: not fresh(console.observer.informers[PODS]), "it was cut")
            world.proxy.cut(after=None)
            console.delete(PODS_OF, f"cut-{number}")
        assert console.requests("list", PODS_OF) == []
        asked = [seen.query for seen in console.requests("watch", PODS_OF)]
        # Without changes, only bookmarks keep the resource version from expiring.
        assert all(int(query["resourceVersion"]) > 1 for query in asked)
        assert all(query["allowWatchBookmarks"] == "true" for query in asked)


# F2: half-open connections.


def test_a_silent_connection_is_reported_as_stale(world: World) -> None:
    with following(world) as console:
        world.proxy.swallow()
        console.write(PODS_OF, "swallowed")
        eventually(console.stale, "it says that it is stale", timeout=HONEST)
        assert not console.holds(PODS_OF, "swallowed")
        world.proxy.heal()
        eventually(lambda: console.holds(PODS_OF, "swallowed"), "it follows", timeout=10)
        console.delete(PODS_OF, "swallowed")


# F3: 410 in three variants.


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(refusal(410, "Expired"), id="at the start"),
        pytest.param(
            ScriptedResponse(200, b'{"type":"ERROR","object":%b}\n' % IN_STREAM), id="in the stream"
        ),
    ],
)
def test_an_expired_version_causes_one_new_list(world: World, answer: ScriptedResponse) -> None:
    with following(world) as console:
        console.write(PODS_OF, "forgotten")
        eventually(lambda: console.holds(PODS_OF, "forgotten"), "it follows")
        console.mark()
        world.proxy.refuse()
        world.proxy.reset()
        console.delete(PODS_OF, "forgotten")
        world.proxy.answer(on("watch", "pods", answer))
        world.proxy.accept()
        eventually(lambda: not console.holds(PODS_OF, "forgotten"), "it lists", timeout=10)
        assert len(console.requests("list", PODS_OF)) == 1


def test_a_compaction_causes_one_new_list(world: World) -> None:
    with following(world) as console:
        console.write(PODS_OF, "compacted")
        eventually(lambda: console.holds(PODS_OF, "compacted"), "it follows")
        console.mark()
        world.proxy.refuse()
        world.proxy.reset()
        console.delete(PODS_OF, "compacted")
        world.cluster.kill()
        eventually(console.stale, "it says that it is stale", timeout=HONEST)
        assert console.holds(PODS_OF, "compacted")
        world.cluster.compact()
        world.cluster.restart()
        world.proxy.accept()
        eventually(lambda: not console.holds(PODS_OF, "compacted"), "it lists", timeout=10)
        assert len(console.requests("list", PODS_OF)) == 1


# F4: error responses.

TOO_LARGE = refusal(
    504, "Timeout", "Too large resource version", retry_after=1, cause="ResourceVersionTooLarge"
)


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([refusal(429, "TooManyRequests", retry_after=1)] * 2),
        [refusal(500, "InternalError"), refusal(503, "ServiceUnavailable")],
        [TOO_LARGE] * 2,
    ],
    ids=["429", "500 and 503", "too large version"],
)
def test_a_failed_watch_is_retried_without_a_list(
    world: World, answers: list[ScriptedResponse]
) -> None:
    with following(world) as console:
        console.mark()
        world.proxy.answer(on("watch", "pods", *answers))
        # Only this watch: a failed probe would restart every watch again.
        world.proxy.reset("pods")
        # A different name for each retry of the test.
        name = f"refused-{answers[0].status}-{len(world.proxy.seen)}"
        console.write(PODS_OF, name)
        eventually(lambda: console.holds(PODS_OF, name), "it follows", timeout=15)
        watches = console.requests("watch", PODS_OF)
        assert [watch.status for watch in watches] == [*(one.status for one in answers), 200]
        for refused, again in pairwise(watches):
            assert again.at - refused.at >= float(answers[0].headers.get("Retry-After", 0))
        assert console.requests("list", PODS_OF) == []
        console.delete(PODS_OF, name)


# F5: permissions and tokens.


def test_the_cache_is_kept_while_permissions_are_revoked(world: World) -> None:
    with following(world) as console:
        world.revoke()
        world.proxy.reset()
        informer = console.observer.informers[PODS]
        eventually(lambda: "forbidden" in informer.freshness.problem, "it says why")
        assert len(informer.store) > 0
        console.write(PODS_OF, "unseen")
        assert not console.holds(PODS_OF, "unseen")
        world.grant()
        eventually(lambda: console.holds(PODS_OF, "unseen"), "it follows", timeout=15)
        console.delete(PODS_OF, "unseen")


def test_a_rotated_token_is_used(world: World) -> None:
    before, mark = world.kubeconfig.read_text(), len(world.proxy.seen)
    with following(world) as console:
        world.rotate()
        assert world.kubeconfig.read_text() != before
        world.proxy.reset()
        console.write(PODS_OF, "rotated")
        eventually(lambda: console.holds(PODS_OF, "rotated"), "it follows", timeout=20)
        assert 401 in [one.status for one in world.proxy.seen[mark:]]
        console.delete(PODS_OF, "rotated")


# F6: a hanging server.


def test_a_hanging_server_is_reported_until_it_recovers(world: World) -> None:
    with following(world) as console:
        world.cluster.freeze()
        eventually(console.stale, "it says that it is stale", timeout=HONEST)
        world.cluster.thaw()
        world.cluster.wait_ready()
        console.write(PODS_OF, "thawed")
        eventually(lambda: console.holds(PODS_OF, "thawed"), "it follows", timeout=10)
        console.delete(PODS_OF, "thawed")


def test_an_etcd_outage_is_reported_until_it_recovers(world: World) -> None:
    """kube-apiserver keeps its watches open but sends nothing."""
    with following(world) as console:
        world.cluster.freeze(ETCD)
        try:
            eventually(console.stale, "it says that it is stale", timeout=HONEST)
        finally:
            world.cluster.thaw(ETCD)
        world.cluster.wait_ready()
        console.write(PODS_OF, "stored")
        eventually(lambda: console.holds(PODS_OF, "stored"), "it follows", timeout=10)
        console.delete(PODS_OF, "stored")


# F9: a type that is deleted and defined again.


def test_a_redefined_type_is_watched_again(world: World) -> None:
    definition = CUSTOM_RESOURCE_DEFINITIONS.path("", GLOBAL_ROLES.qualified)
    with following(world) as console:
        informer = console.observer.informers[GLOBAL_ROLES]
        assert len(informer.store) > 0
        try:
            world.ask("DELETE", definition)
            eventually(lambda: world.ask("GET", definition)[0] == 404, "the type is removed")
            # kube-apiserver can close the watch before it has reported each deletion. The remaining
            # objects are shown as stale: a type that is briefly not served must not look as if all
            # its objects were deleted.
            eventually(
                lambda: not len(informer.store) or informer.freshness.stale_since is not None,
                "its objects are gone, or told to be stale",
            )
        finally:
            world.define()
        console.write(ROLES_OF, "again")
        eventually(lambda: console.holds(ROLES_OF, "again"), "it follows", timeout=20)
        console.delete(ROLES_OF, "again")


# F10: high load.


def test_a_frequently_changed_object_is_up_to_date(world: World) -> None:
    with following(world) as console:
        console.write(PODS_OF, "hot", times=300)
        console.delete(PODS_OF, "hot")


def test_deletions_during_a_list_are_noticed(world: World) -> None:
    bindings = next(target for target in TARGETS if target.gvr == CLUSTER_ROLE_BINDINGS)
    names = [f"during-{number}" for number in range(60)]
    with following(world) as console:
        for name in names:
            console.write(bindings, name, times=0)
        eventually(lambda: console.holds(bindings, names[-1]), "it follows")
        # The list is transferred in small pieces for about a second.
        gone = refusal(410, "Expired")
        world.proxy.answer(on("watch", bindings.gvr.resource, gone))
        world.proxy.deliver(piece=200, hold=0.02)
        console.mark()
        world.proxy.reset()
        eventually(lambda: bool(console.requests("list", bindings)), "it lists")
        for name in names:
            console.delete(bindings, name)
        world.proxy.heal()
        eventually(lambda: not any(console.holds(bindings, name) for name in names), "all gone")


# F11: listeners.


def test_a_removed_listener_receives_nothing_more(world: World) -> None:
    heard: list[object] = []
    with following(world) as console:
        remove = console.observer.informers[PODS].add_listener(heard.append)
        console.write(PODS_OF, "heard")
        eventually(lambda: heard, "it hears")
        remove()
        heard.clear()
        console.delete(PODS_OF, "heard")
        eventually(lambda: not console.holds(PODS_OF, "heard"), "it follows")
        assert heard == []
