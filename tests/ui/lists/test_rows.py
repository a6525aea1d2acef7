"""Signatures of rows and etags of lists, and their content."""

import dataclasses

import pytest

from console.kube.gvr import DEPLOYMENTS, PODS, Key
from console.ui.core.registry import kinds
from console.ui.fragments.cached_fragments import rows_html
from console.ui.lists.rows import ActionBar, action_bar, make_row
from console.ui.lists.selection import ListQuery
from console.ui.lists.table import build_table
from tests.support.informers import bring, preloaded, take_away
from tests.ui.pod_lists import spec_of, table
from tests.ui.support import admin, bob, pod


def test_signature_changes_only_with_displayed_values() -> None:
    informer = preloaded(PODS, [pod("web-1", restarts=1)])
    before = build_table(ListQuery.of(spec_of(""), admin()), informer)
    same = pod("web-1", restarts=1)
    same["metadata"]["annotations"] = {"note": "not shown"}
    bring(informer, same)
    after = build_table(ListQuery.of(spec_of(""), admin()), informer)
    assert after.resource_version != before.resource_version
    assert (after.rows, after.etag) == (before.rows, before.etag)
    bring(informer, pod("web-1", restarts=2))
    changed = build_table(ListQuery.of(spec_of(""), admin()), informer)
    assert changed.rows[0].signature != before.rows[0].signature
    assert changed.etag != before.etag
    assert changed.rows[0].status_key == before.rows[0].status_key


def test_recreated_pod_has_a_new_signature() -> None:
    informer = preloaded(PODS, [pod("web-1", uid="1")])
    before = build_table(ListQuery.of(spec_of(""), admin()), informer).rows[0]
    bring(informer, pod("web-1", uid="2"))
    after = build_table(ListQuery.of(spec_of(""), admin()), informer).rows[0]
    assert (after.id, after.key) == (before.id, before.key)
    assert after.signature != before.signature


def test_etag_depends_on_objects_on_other_pages() -> None:
    objects = [pod(f"p-{n}") for n in range(4)]
    one = table("limit=2", objects=objects)
    assert one.etag == table("limit=2", objects=objects).etag
    assert one.etag != table("limit=2", objects=objects[:3]).etag
    failing = [*objects[:3], pod("p-3", waiting="CrashLoopBackOff")]
    assert table("limit=2&status=ok", objects=objects[:3]).etag != (
        table("limit=2&status=ok", objects=failing).etag
    )


def test_shared_row_is_rendered_in_each_viewers_language() -> None:
    """Including status texts of the console itself."""
    status = {"replicas": 3, "updatedReplicas": 3, "readyReplicas": 2, "availableReplicas": 2}
    web = {
        "metadata": {"name": "web", "namespace": "shop", "uid": "1", "resourceVersion": "1"},
        "spec": {"replicas": 3},
        "status": status,
    }
    kind, entry = (
        kinds.by_type(DEPLOYMENTS),
        preloaded(DEPLOYMENTS, [web]).store.get(Key("shop", "web")),
    )
    assert kind is not None and entry is not None
    row = make_row(kind, admin(), entry)
    assert make_row(kind, admin(), entry) is row
    said = {"en": "2 of 3 ready", "zh-hans": "3 个中 2 个就绪"}
    for lang, others in (("zh-hans", "en"), ("en", "zh-hans")):
        html = rows_html([row], lang)
        assert said[lang] in html and said[others] not in html


def test_permissions_are_part_of_a_row() -> None:
    assert table("", bob()).rows[0].signature != table().rows[0].signature


def test_table_is_immutable() -> None:
    found = table()
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.total = 0  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.rows[0].name = ""  # type: ignore[misc]


def test_generated_suffix_is_separated_from_the_name() -> None:
    generated = pod(
        "web-7f9c8d6b5-x2x9q",
        owner=("ReplicaSet", "web-7f9c8d6b5"),
        labels={"pod-template-hash": "7f9c8d6b5"},
    )
    row = table(objects=[generated]).rows[0]
    assert (row.stem, row.suffix) == ("web", "-7f9c8d6b5-x2x9q")


def test_filter_form_keeps_parameters_without_a_field() -> None:
    form = table("q=web&namespace=shop&label=app%3Dweb&status=error&sort=-age&limit=20").filters
    assert form.hidden == (
        ("label", "app=web"),
        ("status", "error"),
        ("sort", "-age"),
        ("limit", "20"),
    )
    assert (form.q, form.namespace, form.statuses) == ("web", "shop", ("error",))
    assert [chip.label for chip in form.chips] == ["Label app=web"]
    assert form.chips[0].remove_url == (
        "/clusters/host/pods?q=web&namespace=shop&status=error&sort=-age&limit=20"
    )
    assert form.clear_url == "/clusters/host/pods?sort=-age&limit=20"
    several = table("namespace=shop&namespace=team-a").filters
    assert several.namespace == ""
    assert several.hidden == (("namespace", "shop"), ("namespace", "team-a"))


def test_changed_store_is_read_again() -> None:
    informer = preloaded(PODS, [])
    seen = []
    for name in ("c", "a", "b"):
        bring(informer, pod(name))
        seen.append(
            [row.name for row in build_table(ListQuery.of(spec_of(""), admin()), informer).rows]
        )
    assert seen == [["c"], ["a", "c"], ["a", "b", "c"]]
    take_away(informer, pod("a"))
    bring(informer, pod("b", waiting="CrashLoopBackOff"))
    assert [row.name for row in build_table(ListQuery.of(spec_of(""), admin()), informer).rows] == [
        "b",
        "c",
    ]


def test_frequent_actions_are_buttons_and_destructive_ones_are_last_in_the_menu() -> None:
    menu = table().rows[0].menu
    bar = action_bar(menu)
    assert [item.action.name for item in bar.buttons] == ["log", "terminal", "open-port", "edit"]
    assert [item.action.name for item in bar.others] == ["labels", "copy", "debug"]
    assert [item.action.name for item in bar.destructive] == ["evict", "delete"]
    assert action_bar(()) == ActionBar((), (), ())
