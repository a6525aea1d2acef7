"""Filters that any kind may use, in addition to the common ones."""

from dataclasses import dataclass
from typing import Any

import pytest

from console.kube.gvr import DEPLOYMENTS, EVENTS, GVR, USERS
from console.ui.core.kind import segment_of
from console.ui.core.registry import Registry, kinds
from console.ui.lists.filters import ChoiceFilter, FieldFilter, InvalidFilterValue


@dataclass(frozen=True)
class Held:
    projection: Any


TYPE = ChoiceFilter(
    param="type", label="Type", choices=(("Normal", "n"), ("Warning", "w")), get=lambda v: v
)
ROLE = FieldFilter(param="role", label="Role", get=lambda v: v)


def passes(found: ChoiceFilter | FieldFilter, values: tuple[str, ...], projection: Any) -> bool:
    entry: Any = Held(projection)
    return found.test(values)(entry)


def test_choice_filter_accepts_declared_values_only() -> None:
    assert TYPE.clean(["warning", "NORMAL", " Warning "]) == ("Warning", "Normal")
    assert passes(TYPE, ("Warning",), "Warning")
    assert not passes(TYPE, ("Warning",), "Normal")
    assert passes(TYPE, ("Warning", "Normal"), "Normal")
    with pytest.raises(InvalidFilterValue, match="Normal, Warning"):
        TYPE.clean(["Fatal"])


def test_field_filter_matches_exact_values() -> None:
    assert passes(ROLE, ("worker",), ("gpu", "worker"))
    assert not passes(ROLE, ("work",), ("worker",))
    assert not passes(ROLE, ("Worker",), ("worker",))
    assert not passes(ROLE, ("worker",), ())


@pytest.mark.parametrize(
    ("gvr", "segment"),
    [
        (DEPLOYMENTS, "deployments"),
        (EVENTS, "events"),
        (USERS, "users.iam.kubesphere.io"),
        (GVR("snapshot.storage.k8s.io", "v1", "volumesnapshots"), None),
    ],
)
def test_built_in_kinds_have_short_url_segments(gvr: GVR, segment: str | None) -> None:
    assert segment_of(gvr) == (segment or "volumesnapshots.snapshot.storage.k8s.io")


def test_kind_is_found_by_group_version_and_resource() -> None:
    found = kinds.by_type(DEPLOYMENTS)
    assert found is not None
    assert found.segment == "deployments"
    assert kinds.by_type(GVR("apps", "v1beta1", "deployments")) is None
    assert Registry().by_type(DEPLOYMENTS) is None
