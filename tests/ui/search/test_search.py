"""Search over all kinds: matches, ranking and permissions."""

from typing import Any

import pytest

from console.kube.gvr import DEPLOYMENTS, NAMESPACES, PODS, Key
from console.kube.informer import Informer
from console.ui.core.access import Access
from console.ui.core.kind_names import kind_named, kinds_like
from console.ui.lists.selection import ListQuery, select
from console.ui.search.index_blocks import packed
from console.ui.search.query import MAX_LABELS, MAX_LENGTH, parse_search
from console.ui.search.search import best_of, search, searchable
from console.ui.search.search_index import BlockMatch, search_index_of
from tests.support.informers import bring, preloaded, take_away
from tests.ui.search.builtin_kinds import KINDS
from tests.ui.support import FakeAccess, admin, alice, charlie, dora, namespace, pod, small_world

Found = dict[str, tuple[int, list[str]]]


def deployment(name: str, space: str = "shop") -> dict[str, Any]:
    metadata = {"name": name, "namespace": space, "uid": f"d-{name}", "resourceVersion": "7"}
    return {"metadata": {**metadata, "labels": {"app": "web"}}, "spec": {}, "status": {}}


@pytest.fixture
def world() -> dict[Any, Informer[Any]]:
    return {
        PODS: preloaded(PODS, small_world()),
        DEPLOYMENTS: preloaded(DEPLOYMENTS, [deployment("web"), deployment("webhook")]),
        NAMESPACES: preloaded(NAMESPACES, [namespace("shop"), namespace("web")]),
    }


def look(world: dict[Any, Informer[Any]], text: str, access: Access | None = None) -> Found:
    where = [
        (one, world[one.kind.gvr]) for one in searchable(access or admin()) if one.kind.gvr in world
    ]
    found = search(parse_search(KINDS, text), where, cluster="host")
    return {
        group.kind.plural: (group.total, ["".join(hit.name) for hit in group.hits])
        for group in found.groups
    }


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("cart-1", {"pods": (1, ["cart-1"])}),
        ("CART", {"pods": (1, ["cart-1"])}),
        ("10.0.0.20", {"pods": (1, ["cart-1"])}),
        ("ip=10.0.0.20", {"pods": (1, ["cart-1"])}),
        ("ledger", {"pods": (1, ["web-1"])}),
        ("image=ledger:7", {"pods": (1, ["web-1"])}),
        ("tier=front", {"pods": (1, ["web-1"])}),
        ("label=tier", {"pods": (1, ["web-1"])}),
        ("label=tier=front web", {"pods": (1, ["web-1"])}),
        ("tier=fron", {}),
        ("deploy hook", {"deployments": (1, ["webhook"])}),
        ("/pods", {}),
        ("no-such-thing", {}),
        ("", {}),
        ("   ", {}),
        ("label=", {}),
    ],
)
def test_matching_objects_are_found(
    world: dict[Any, Informer[Any]], text: str, wanted: Found
) -> None:
    assert look(world, text) == wanted


def test_objects_are_found_by_owner(world: dict[Any, Informer[Any]]) -> None:
    bring(world[PODS], pod("abc", owner=("Job", "nightly")))
    assert look(world, "job/nightly") == {"pods": (1, ["abc"])}


def test_kind_with_the_best_matches_is_first(world: dict[Any, Informer[Any]]) -> None:
    assert list(look(world, "web")) == ["deployments", "namespaces", "pods"]
    assert look(world, "web")["deployments"] == (2, ["web", "webhook"])
    # Two pods are named web-1, and web-2 is the third match.
    assert look(world, "web")["pods"] == (3, ["web-1", "web-1", "web-2"])


def test_named_kind_is_first(world: dict[Any, Informer[Any]]) -> None:
    assert next(iter(look(world, "po web"))) == "pods"
    # The words may also be text to find in other kinds.
    bring(world[DEPLOYMENTS], deployment("pods-web"))
    assert look(world, "pods web")["deployments"] == (1, ["pods-web"])


def test_better_matches_are_ranked_higher() -> None:
    names = ["b-app", "app", "xappy", "apply", "zz", "app-2", "a.app"]
    found = best_of(matches(names), ("app",), 9)
    assert [key.name for _rank, key in found] == [
        "app", "app-2", "apply", "a.app", "b-app", "xappy", "zz",
    ]  # fmt: skip
    assert [rank for rank, _key in found] == [0, 1, 1, 2, 2, 3, 4]
    assert best_of(matches(names), ("app",), 2) == found[:2]
    assert [rank for rank, _key in best_of(matches(["b", "a"]), (), 5)] == [0, 0]
    assert best_of([], ("app",), 5) == []


def matches(names: list[str]) -> list[BlockMatch]:
    blocks = packed({Key("", name): {name} for name in names})
    return [BlockMatch(block, block.every) for block in blocks]


def test_index_block_matches_substrings() -> None:
    [match] = matches(["a-b", "b-a"])
    assert [match.block.matching([word]) for word in ("a", "b", "a", "ab", "a-b")] == [
        3,
        3,
        3,
        0,
        1,
    ]


def test_only_objects_the_viewer_may_list_are_found(world: dict[Any, Informer[Any]]) -> None:
    assert look(world, "web", charlie()) == {}
    assert look(world, "api", alice()) == {"pods": (2, ["api-1", "api-2"])}
    assert look(world, "web", alice()) == {}
    # Permission by resource name, in one project and in all projects.
    assert look(world, "web", dora())["pods"] == (1, ["web-1"])
    everywhere = FakeAccess("eve", list_in=(), names=[Key("", "web-1")])
    assert look(world, "web", everywhere)["pods"] == (2, ["web-1", "web-1"])
    both = FakeAccess("eve", list_in={"shop"}, names=[Key("", "web-1")])
    assert look(world, "web", both)["pods"] == (3, ["web-1", "web-1", "web-2"])


@pytest.mark.parametrize("text", ["web", "label=app=web", "app!=web", "web 10.0", "web tier=front"])
def test_search_total_equals_the_total_of_the_linked_list(
    world: dict[Any, Informer[Any]], text: str
) -> None:
    query, [pods] = (
        parse_search(KINDS, text),
        [one for one in searchable(admin()) if one.kind.gvr == PODS],
    )
    [group] = search(query, [(pods, world[PODS])], cluster="host").groups
    spec = query.list_of(pods.kind, "host")
    assert (spec.errors, group.url) == ((), spec.url)
    assert group.total == select(ListQuery.of(spec, admin()), world[PODS]).total


def test_search_index_follows_the_store(world: dict[Any, Informer[Any]]) -> None:
    pods = world[PODS]
    assert look(world, "cart") != {}
    take_away(pods, pod("cart-1"))
    bring(pods, pod("api-1", "team-a", image="example/newly"))
    assert look(world, "cart") == {}
    assert look(world, "newly") == {"pods": (1, ["api-1"])}
    [declared] = [one.kind.search for one in searchable(admin()) if one.kind.gvr == PODS]
    kept: Any = search_index_of(declared, pods)
    assert (len(kept), kept.rebuilds) == (5, 1)


def test_emptied_namespace_can_be_filled_again(world: dict[Any, Informer[Any]]) -> None:
    assert look(world, "ledger") != {}
    take_away(world[PODS], pod("web-1", "team-b"))
    assert look(world, "ledger") == {}
    bring(world[PODS], pod("web-1", "team-b", image="ledger"))
    assert look(world, "ledger") == {"pods": (1, ["web-1"])}


@pytest.mark.parametrize(
    "text",
    [
        "x" * (MAX_LENGTH + 1),
        "a\x00b",
        "a\u202eb",
        "label=a=",
        "label=((",
        "label==",
        "label=,,",
        " ".join(f"k{n}=v" for n in range(MAX_LABELS + 1)),
        "=",
        "==",
        "=x",
        "!",
        "/",
        "image=",
        "%s{{7*7}}'\"<script>",
        "\ud800",
    ],
)
def test_any_text_is_accepted(world: dict[Any, Informer[Any]], text: str) -> None:
    query = parse_search(KINDS, text)
    assert len(query.text) <= MAX_LENGTH
    look(world, text)
    if not query.error:
        for one in searchable(admin()):
            assert query.list_of(one.kind, "host").url


@pytest.mark.parametrize(
    ("word", "segment"),
    [
        ("po", "pods"), ("pod", "pods"), ("Pods", "pods"), ("deploy", "deployments"),
        ("svc", "services"), ("容器组", "pods"), ("部署", "deployments"), ("sts", "statefulsets"),
        ("deployments.apps", "deployments"), ("ns", "namespaces"),
    ],
)  # fmt: skip
def test_kinds_are_found_by_short_names(word: str, segment: str) -> None:
    kind = kind_named(KINDS, word)
    assert kind is not None
    assert kind.segment == segment
    assert kinds_like(KINDS, word)[0] is kind


def test_kinds_are_found_by_a_part_of_their_names() -> None:
    found = [kind.segment for kind in kinds_like(KINDS, "role bi")]
    assert found[0] == "rolebindings"
    assert "clusterrolebindings" in found
    assert kinds_like(KINDS, "zzz") == []
