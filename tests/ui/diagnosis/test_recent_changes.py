"""The incremental list of recent changes equals sorting the whole store after any changes."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from console.kube.gvr import EVENTS, PODS
from console.ui.core.permissions import Readable
from console.ui.diagnosis.recent_changes import (
    ChangeTime,
    RecentChanges,
    change_time,
    recent_changes_of,
)
from tests.pages.overview.world import warning
from tests.support.informers import preloaded
from tests.ui.changes import RIGHTS, change, changes
from tests.ui.support import small_world


@given(st.lists(changes, max_size=20))
def test_recent_changes_follow_the_store(then: Sequence[tuple[str, Any]]) -> None:
    informer = preloaded(PODS, small_world())
    latest = RecentChanges(informer.store, change_time)
    for what, given_ in [*then, ("read", None)]:
        change(informer, what, given_)
        if what != "read":
            continue
        for readable in RIGHTS:
            for wanted in ((), ("shop",), ("shop", "team-a")):
                expected = sorted(
                    (
                        ChangeTime(entry.projection.created, key)
                        for key, entry in informer.store.snapshot().entries.items()
                        if readable.includes(key) and (not wanted or key.namespace in wanted)
                    ),
                    reverse=True,
                )
                assert latest.newest(readable, 3, wanted) == expected[:3]


def test_recent_events_are_warnings_sorted_by_last_occurrence() -> None:
    normal = {**warning("n", "shop", "2026-11-20T12:00:00Z"), "type": "Normal"}
    late = warning("late", "shop", "2026-11-20T11:00:00Z")
    early = warning("early", "team-a", "2026-11-20T10:00:00Z")
    informer = preloaded(EVENTS, [normal, early, late])
    found = recent_changes_of(informer).newest(Readable(None), 5)
    assert [moment.key.name for moment in found] == ["late", "early"]
    assert found[0].at == datetime(2026, 11, 20, 11, tzinfo=UTC)
