"""Any object is either projected or refused with `msgspec.DecodeError`.

The API omits empty fields, writes null for unset lists and times, and a custom resource without
a schema may contain anything.
"""

from itertools import cycle
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from console.kube.projections import DECODERS
from console.kube.uncached import UNCACHED
from console.ui.core.kind import ResourceKind
from console.ui.details.detail import detail
from console.ui.navigation.page_routes import detail_route
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.kinds.world import (
    Obj,
    at,
    decoded,
    encoded,
    fixture_of,
    informer_of,
    is_time,
    leaves,
    objects_of,
    put,
    without,
)
from tests.support.depth import number
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import admin

#: Fields that every object has.
_IDENTITY = {("metadata",), ("metadata", "name")}


def shown(kind: ResourceKind, obj: Obj) -> None:
    """Decode and render the object. A value of the wrong type is refused with DecodeError."""
    try:
        projection = decoded(kind, obj)
    except msgspec.DecodeError:
        return
    assert isinstance(projection, kind.projection)


def test_all_test_objects_are_decoded(kind: ResourceKind) -> None:
    for obj in objects_of(kind):
        found = projection = decoded(kind, obj)
        assert isinstance(found, kind.projection)
        assert projection.name == obj["metadata"]["name"]
        assert projection.uid == obj["metadata"]["uid"]


def test_optional_fields_may_be_absent(kind: ResourceKind) -> None:
    for obj in fixture_of(kind):
        for path in leaves(obj):
            if path not in _IDENTITY:
                decoded(kind, without(obj, path))


def test_lists_and_times_may_be_null(kind: ResourceKind) -> None:
    for obj in fixture_of(kind):
        for path in leaves(obj):
            value = at(obj, path)
            if isinstance(value, list) or is_time(value):
                decoded(kind, put(obj, path, None))


_STRANGE: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    1e300,
    "",
    "\u202e\x00",
    [],
    [None],
    {},
    {"a": None},
    [[]],
)


def test_any_value_in_any_field_is_rendered_or_refused(kind: ResourceKind) -> None:
    for obj in fixture_of(kind)[:2]:
        for path in leaves(obj):
            for value in _STRANGE:
                shown(kind, put(obj, path, value))


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=number(10, 300), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_random_changes_are_rendered_or_refused(kind: ResourceKind, data: st.DataObject) -> None:
    obj = data.draw(st.sampled_from(fixture_of(kind)))
    path = data.draw(st.sampled_from(list(leaves(obj))))
    shown(kind, put(obj, path, data.draw(_json)))


def test_values_that_are_no_objects_are_refused(kind: ResourceKind) -> None:
    private = UNCACHED.get(kind.gvr)
    decode = private.decode if private else DECODERS[kind.gvr]
    for text in (b"", b"null", b"[]", b"{", b"{}", b'{"metadata":{}}'):
        with pytest.raises(msgspec.DecodeError):
            decode(text)


def test_projections_are_frozen_and_untracked_by_the_garbage_collector(kind: ResourceKind) -> None:
    assert issubclass(kind.projection, msgspec.Struct)
    config = kind.projection.__struct_config__
    assert config.frozen
    assert not config.gc


def test_every_column_renders_every_object(kind: ResourceKind) -> None:
    """Including columns hidden in narrow windows."""
    for obj in fixture_of(kind)[:2]:
        for path in leaves(obj):
            if path in _IDENTITY:
                continue
            _draw(kind, without(obj, path))


def _draw(kind: ResourceKind, obj: Obj) -> None:
    entry: Any = _Entry(decoded(kind, obj))
    for column in kind.columns:
        column.value(entry)
        assert isinstance(column.plain(entry), str | int | None)
        assert column.sort_key(entry) == column.sort_key(entry)


def test_every_panel_renders_every_object(
    kind: ResourceKind, caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest
) -> None:
    """Panels read the raw object, of which decoding validates only the fields that columns need."""
    obj = fixture_of(kind)[0]
    informer = informer_of(kind, [obj])
    meta = obj["metadata"]
    host = set_host_cluster(StaticRuntime({}))
    request.addfinalizer(unset_host_cluster)
    place = detail_route(host, meta.get("namespace", ""), kind.segment, meta["name"])
    assert place is not None
    for at_path, value in zip(leaves(obj), cycle((*_STRANGE, "x" * 2000))):
        informer.replace([encoded(put(obj, at_path, value))], "1")
        detail(place, admin(), informer, {})
        failed = [one for one in caplog.records if one.name == "console.ui.details.detail"]
        assert failed == [], (at_path, value)


class _Entry:
    """The parts of a store entry that columns read."""

    def __init__(self, projection: Any) -> None:
        self.projection = projection
        self.key = _Key(projection.namespace, projection.name)


class _Key:
    def __init__(self, namespace: str, name: str) -> None:
        self.namespace, self.name = namespace, name
