"""The search returns exactly the objects that a linear scan finds, after any changes and for any
permissions.
"""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.kube.gvr import PODS, Key
from console.kube.informer import Informer
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.search import index_blocks
from console.ui.search.query import SearchQuery, parse_search
from console.ui.search.search import search, searchable
from tests.support.informers import bring, preloaded, take_away
from tests.ui.search.builtin_kinds import KINDS
from tests.ui.support import FakeAccess, admin, pod

NAMES = (
    "a",
    "b",
    "ab",
    "a-b",
    "b.a",
    "b:ab",
    "aab",
    "Ab",
    "q-b.b",
    "x-1",
    "x-2",
    "bb-a-b",
    "q\nab",
)
SPACES = ("shop", "team-a", "team-b")
IMAGES = ("registry/a-b:1", "registry/b/aß", "odd\n\x1etier=x\n\x00tier=x")
LABELS: tuple[dict[str, str], ...] = (
    {},
    {"tier": "x"},
    {"tier": "X"},
    {"tier": "xx", "app": "ab"},
    {"Tier": "x", "app": "7"},
    {"tier": "", "a.b/tier": "x"},
)
WORDS = (
    "a", "b", "ab", "-", "x", "q", "registry", "tier", "tier=", "image=a", "SS", "/po", "po", "1", "zz",
)  # fmt: skip
CONDITIONS = (
    "tier=x", "tier=X", "label=tier", "label=!tier", "tier!=x", "label=tier=", "Tier=x",
    "label=tier,app", "a.b/tier=x", "label=app>5",
)  # fmt: skip

queries = st.builds(
    lambda words, conditions: " ".join((*words, *conditions)),
    st.lists(st.sampled_from(WORDS), max_size=2),
    st.lists(st.sampled_from(CONDITIONS), max_size=2),
)
viewers = st.one_of(
    st.builds(admin),
    st.builds(
        lambda spaces, names: FakeAccess("eve", list_in=spaces, names=names),
        st.sets(st.sampled_from(SPACES)),
        st.lists(st.builds(Key, st.sampled_from(("", *SPACES)), st.sampled_from(NAMES))),
    ),
)


@pytest.fixture(autouse=True, scope="module")
def _small_blocks() -> Iterator[None]:
    """Use small index blocks, so that they are split and merged constantly."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_blocks, "SIZE", 4)
        yield


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2**16),
            st.integers(0, 80),
            st.integers(0, 10),
            st.lists(st.tuples(queries, viewers, st.integers(1, 6)), min_size=1, max_size=4),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_search_equals_a_linear_scan(
    steps: list[tuple[int, int, int, list[tuple[str, FakeAccess, int]]]],
) -> None:
    pods = preloaded(PODS)
    for seed, number, removals, asked in steps:
        change(pods, Random(seed), number, removals)  # noqa: S311
        for text, viewer, first in asked:
            query = parse_search(KINDS, text)
            assert found(query, viewer, pods, first) == looked_for(query, viewer, pods, first)


def change(pods: Informer[Any], random: Random, number: int, removals: int) -> None:
    """Apply a random change; `removals` out of ten remove something."""
    for _ in range(number):
        name, space = random.choice(NAMES), random.choice(SPACES)
        if random.randrange(10) < removals:
            take_away(pods, pod(name, space))
        else:
            labels, image = random.choice(LABELS), random.choice(IMAGES)
            bring(pods, pod(name, space, labels=labels, image=image))


def found(
    query: SearchQuery, viewer: Access, pods: Informer[Any], first: int
) -> tuple[int, list[str]]:
    """Return the number of matches, and the URLs of those shown."""
    where = [(one, pods) for one in searchable(viewer) if one.kind.gvr == PODS]
    groups = search(query, where, cluster="host", first=first).groups
    return next(((one.total, [hit.url for hit in one.hits]) for one in groups), (0, []))


def looked_for(
    query: SearchQuery, viewer: Access, pods: Informer[Any], first: int
) -> tuple[int, list[str]]:
    allowed = [one for one in searchable(viewer) if one.kind.gvr == PODS]
    if query.empty or not allowed:
        return 0, []
    [one] = allowed
    words = query.words_for(one.kind)
    texts = one.kind.search.texts
    entries = [
        entry
        for entry in pods.store.snapshot().entries.values()
        if one.readable.includes(entry.key)
        and all(selector.matches(entry.projection.labels) for selector in query.selectors)
        and all(has(entry, word, texts(entry.projection)) for word in words)
    ]
    entries.sort(key=lambda entry: order(entry.key, words))
    shown = [PAGE.format(entry.key.namespace, quoted(entry.key.name)) for entry in entries]
    return len(entries), shown[:first]


PAGE = "/clusters/host/projects/{}/pods/{}"


def quoted(name: str) -> str:
    return name.replace("\n", "%0A")


def has(entry: Entry[Any], word: str, texts: Any) -> bool:
    item = entry.projection
    labels = [f"{key}={value}" for key, value in item.labels.items()]
    everything = (item.name, item.owner, *texts, *labels)
    return any(word in text.casefold() for text in everything)


def order(key: Key, words: tuple[str, ...]) -> tuple[int, int, str, str]:
    return rank(key.name.casefold(), words), len(key.name), key.name, key.namespace


def rank(name: str, words: tuple[str, ...]) -> int:
    if not words or name == words[0]:
        return 0
    word = words[0]
    if name.startswith(word):
        return 1
    if any(sign + word in name for sign in "-.:"):
        return 2
    return 3 if word in name else 4
