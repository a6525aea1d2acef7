"""Differences between objects, merging of two changes, and field ownership."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.kube.apply import owned_changes
from console.kube.managedfields import (
    NOTHING,
    Manager,
    list_elements,
    managers_of,
    merge_trees,
    path_text,
    select_fields,
    tree_of_paths,
)
from console.kube.merging import ABSENT, MergeConflict, diff, json_equal, merge, merge_patch
from tests.support.cputime import at_most

SHAPE: Any = {
    "f:spec": {
        "f:replicas": {},
        "f:selector": {},
        "f:containers": {
            'k:{"name":"a"}': {".": {}, "f:name": {}, "f:image": {}},
            'k:{"name":"b"}': {".": {}, "f:name": {}, "f:image": {}},
        },
    },
    "f:metadata": {"f:finalizers": {".": {}, 'v:"x"': {}}, "f:labels": {"f:app": {}}},
}


def spec(**values: Any) -> Any:
    return {"spec": values}


def container(name: str, image: str) -> Any:
    return {"name": name, "image": image}


def named(*containers: Any) -> Any:
    return spec(containers=[container(*one) for one in containers])


def merge_of(base: Any, mine: Any, theirs: Any) -> tuple[Any, list[str]]:
    conflicts: list[MergeConflict] = []

    def choose(conflict: MergeConflict) -> Any:
        conflicts.append(conflict)
        return conflict.mine

    found = merge(base, mine, theirs, SHAPE, choose)
    return found, [path_text(conflict.path) for conflict in conflicts]


_plain = st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["", "x"])
_values = st.recursive(
    _plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=8,
)
_objects = st.dictionaries(st.sampled_from("abc"), _values)


@given(_values, _values)
def test_values_are_equal_if_there_are_no_differences(one: Any, other: Any) -> None:
    assert json_equal(one, other) is (list(diff(one, other, None)) == [])
    assert json_equal(one, one)


def test_true_and_one_are_different() -> None:
    assert not json_equal({"a": True}, {"a": 1}) and json_equal({"a": 1}, {"a": 1.0})


@given(_objects, _objects)
def test_merge_with_a_single_change_is_that_change(base: Any, changed: Any) -> None:
    assert json_equal(merge_of(base, changed, base)[0], changed)
    assert json_equal(merge_of(base, base, changed)[0], changed)
    assert merge_of(base, changed, changed) == (changed, [])


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_null(v) for k, v in value.items() if v is not None}
    return value


@given(_objects, _objects)
def test_merge_patch_transforms_the_old_object_into_the_new_one(old: Any, new: Any) -> None:
    def patched(target: Any, patch: Any) -> Any:
        if not isinstance(patch, dict):
            return patch
        found = dict(target) if isinstance(target, dict) else {}
        for name, value in patch.items():
            if value is None:
                found.pop(name, None)
            else:
                found[name] = patched(found.get(name), value)
        return found

    old, new = _without_null(old), _without_null(new)
    assert json_equal(patched(old, merge_patch(old, new)), new)


@pytest.mark.parametrize(
    ("base", "mine", "theirs", "both", "conflicts"),
    [
        (spec(replicas=1), spec(replicas=2), spec(replicas=1, x=1), spec(replicas=2, x=1), []),
        (spec(replicas=1), spec(replicas=2), spec(replicas=3), None, [".spec.replicas"]),
        (spec(replicas=1), spec(), spec(replicas=3), None, [".spec.replicas"]),
        (spec(), spec(replicas=1), spec(replicas=1), spec(replicas=1), []),
        (
            named(("a", "1"), ("b", "1")),
            named(("a", "2"), ("b", "1")),
            named(("a", "1"), ("b", "2"), ("c", "1")),
            named(("a", "2"), ("b", "2"), ("c", "1")),
            [],
        ),
        (
            named(("a", "1"), ("b", "1")),
            named(("b", "1"), ("a", "1")),
            named(("a", "1"), ("b", "2")),
            named(("b", "2"), ("a", "1")),
            [],
        ),
        (
            named(("a", "1"), ("b", "1")),
            named(("a", "1")),
            named(("a", "2"), ("b", "1")),
            named(("a", "2")),
            [],
        ),
        (
            named(("a", "1")),
            named(("a", "2")),
            named(("a", "3")),
            None,
            ['.spec.containers[name="a"].image'],
        ),
        # A selector is atomic.
        (
            spec(selector={"a": "1"}),
            spec(selector={"a": "1", "b": "1"}),
            spec(selector={"a": "2"}),
            None,
            [".spec.selector"],
        ),
        # A list without known keys of its items is atomic, too.
        (spec(args=[1]), spec(args=[1, 2]), spec(args=[0, 1]), None, [".spec.args"]),
    ],
)
def test_two_changes_are_merged_field_by_field(
    base: Any, mine: Any, theirs: Any, both: Any, conflicts: list[str]
) -> None:
    found, conflicting = merge_of(base, mine, theirs)
    assert conflicting == conflicts
    assert both is None or found == both


def test_only_chosen_fields_are_selected() -> None:
    wanted = {
        "metadata": {"labels": {"app": "web", "b": "1"}, "finalizers": ["x", "y"]},
        "spec": {
            "replicas": 1,
            "selector": {"app": "web"},
            "containers": [container("a", "1"), container("b", "2")],
        },
    }
    old = {
        "metadata": {"labels": {"app": "web"}, "finalizers": ["x"]},
        "spec": {
            "replicas": 1,
            "selector": {"app": "old"},
            "containers": [container("a", "1"), container("b", "1")],
        },
    }
    paths = [one.path for one in diff(old, wanted, SHAPE) if one.new is not ABSENT]
    assert select_fields(wanted, tree_of_paths(paths), SHAPE) == {
        "metadata": {"labels": {"b": "1"}, "finalizers": ["y"]},
        "spec": {"selector": {"app": "web"}, "containers": [container("b", "2")]},
    }
    owned: Any = {"f:spec": {"f:replicas": {}, "f:containers": {'k:{"name":"a"}': {".": {}}}}}
    assert select_fields(wanted, owned, SHAPE) == {
        "spec": {"replicas": 1, "containers": [{"name": "a"}]}
    }


@pytest.mark.parametrize(
    ("items", "shape", "found"),
    [
        ([{"p": 1}, {"p": 2}], {'k:{"p":1,"q":"T"}': {}}, ['k:{"p":1}', 'k:{"p":2}']),
        ([{"p": 1}, {"p": 1}], {'k:{"p":1}': {}}, None),
        ([{"p": 1}, {"x": 1}], {'k:{"p":1}': {}}, None),
        (["a", "b"], {'v:"a"': {}}, ['v:"a"', 'v:"b"']),
        (["a", "a"], {'v:"a"': {}}, None),
        ([1, 2], {}, None),
        ([], {}, []),
    ],
)
def test_list_items_are_matched_by_their_keys(
    items: list[Any], shape: Any, found: list[str] | None
) -> None:
    assert list_elements(items, shape) == found


@pytest.mark.parametrize(
    "entries",
    [
        None,
        "x",
        [None, {}, {"fieldsV1": 3}, {"fieldsV1": {"k:nonsense": {}, "k:[]": {}, "f:a": 1}}],
    ],
)
def test_any_managed_fields_are_parsed(entries: Any) -> None:
    found = managers_of({"metadata": {"managedFields": entries}})
    assert merge_trees(one.fields for one in found) in ({}, {"f:a": {}})


def test_field_owner_is_found() -> None:
    owner = Manager("x", "Update", "", SHAPE)
    assert owner.owns(("f:spec", "f:replicas"))
    assert owner.owns(("f:spec", "f:selector", "f:app"))
    assert owner.owns(("f:spec",))
    assert not owner.owns(("f:spec", "f:other"))
    assert not Manager("x", "Update", "", NOTHING).owns(("f:spec",))


def test_owners_of_many_fields_are_found_quickly() -> None:
    keys = [f"k{number}" for number in range(20_000)]
    fields: Any = {"f:data": {".": {}, **{f"f:{key}": {} for key in keys}}}
    entries = [{"manager": "them", "operation": "Update", "fieldsV1": fields}]
    live = {"metadata": {"managedFields": entries}, "data": dict.fromkeys(keys, "1")}
    with at_most(3):
        found = list(owned_changes(live, {"metadata": {}, "data": dict.fromkeys(keys, "2")}))
    assert len(found) == len(keys) and {one.owners[0].name for one in found} == {"them"}
