"""Filters that any kind may use, beyond those that every kind has."""

from dataclasses import dataclass
from typing import Any

import pytest

from console.kube.gvr import DEPLOYMENTS, EVENTS, GVR, USERS
from console.ui.filters import BadValue, ChoiceFilter, FieldFilter
from console.ui.kind import segment_of
from console.ui.registry import Registry, kinds


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


def test_a_choice_is_one_of_those_there_are() -> None:
    assert TYPE.clean(["warning", "NORMAL", " Warning "]) == ("Warning", "Normal")
    assert passes(TYPE, ("Warning",), "Warning")
    assert not passes(TYPE, ("Warning",), "Normal")
    assert passes(TYPE, ("Warning", "Normal"), "Normal")
    with pytest.raises(BadValue, match="Normal, Warning"):
        TYPE.clean(["Fatal"])


def test_a_field_is_equal_not_alike() -> None:
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
def test_kubernetes_own_kinds_have_short_addresses(gvr: GVR, segment: str | None) -> None:
    assert segment_of(gvr) == (segment or "volumesnapshots.snapshot.storage.k8s.io")


def test_a_kind_is_found_by_its_type_in_its_version() -> None:
    found = kinds.of(DEPLOYMENTS)
    assert found is not None
    assert found.segment == "deployments"
    assert kinds.of(GVR("apps", "v1beta1", "deployments")) is None
    assert Registry().of(DEPLOYMENTS) is None
