"""Invalid kind declarations are refused at registration."""

from typing import Any

import pytest

from console.kinds.pods import PodKind
from console.kube.gvr import PODS
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import InvalidKindDeclaration, Registry, kinds
from console.ui.lists.columns import Column, NameColumn, StatusColumn, TextColumn
from console.ui.lists.filters import SearchFilter, StatusFilter


def declare(**changes: Any) -> type[ResourceKind]:
    return type("Broken", (PodKind,), changes)


def test_pods_are_registered_by_their_url_segment() -> None:
    kind = kinds.by_segment("pods")
    assert kind is not None
    assert kind.gvr == PODS
    whole = {(verb, PODS, "") for verb in ("list", "create", "delete", "get", "patch")}
    asked = [("create", "eviction"), ("create", "portforward"), ("get", "log")]
    asked += [("patch", "ephemeralcontainers"), ("get", "proxy")]
    asked += [(verb, part) for verb in ("get", "create") for part in ("exec", "attach")]
    assert kind.checked_permissions == {*whole, *((verb, PODS, part) for verb, part in asked)}
    assert kinds.by_segment("pods.apps") is None
    assert kinds.by_segment("planets") is None


def test_custom_resource_has_its_group_in_the_url_segment() -> None:
    registry = Registry()
    registry.add(declare(gvr=PODS.__class__("example.com", "v1", "widgets")))
    assert registry.by_segment("widgets.example.com") is not None
    assert registry.by_segment("widgets") is None


def _text(column_id: str, priority: int = 2) -> TextColumn:
    return TextColumn(id=column_id, label="x", priority=priority, get=lambda item: "")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"gvr": "pods"}, "gvr is missing"),
        ({"scope": "Namespaced"}, "scope is missing"),
        ({"columns": None}, "columns is missing"),
        ({"projection": "Pod"}, "projection is missing"),
        ({"nav": Nav("nowhere", 1)}, "navigation group 'nowhere'"),
        ({"nav": Nav("custom", 1, "nowhere")}, "navigation entry 'nowhere'"),
        ({"columns": (NameColumn(), NameColumn(id="n2"))}, "exactly one NameColumn"),
        ({"columns": (NameColumn(), _text("a"), _text("a"))}, "column a is declared twice"),
        ({"columns": (NameColumn(), _text("a", 5))}, "priority 5"),
        ({"columns": (NameColumn(), _text("a&b"))}, "letters, digits"),
        ({"columns": (NameColumn(), "name")}, "not of type Column"),
        ({"columns": (NameColumn(),), "filters": (StatusFilter(),)}, "requires a StatusColumn"),
        ({"filters": (SearchFilter(), SearchFilter())}, "filter q is declared twice"),
        ({"filters": ("q",)}, "not of type Filter"),
        ({"actions": ("delete",)}, "not of type Action"),
    ],
)
def test_invalid_declaration_is_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidKindDeclaration, match=problem):
        Registry().add(declare(**changes))


@pytest.mark.parametrize(
    ("scope", "columns", "expected"),
    [
        (Scope.NAMESPACED, (StatusColumn(),), "name namespace status age"),
        (Scope.CLUSTER, (StatusColumn(),), "name status age"),
        (Scope.NAMESPACED, (_text("a"), NameColumn()), "a name age"),
        (Scope.CLUSTER, (_text("age"), _text("a")), "name age a"),
    ],
)
def test_standard_columns_are_added_unless_they_are_declared(
    scope: Scope, columns: tuple[Column, ...], expected: str
) -> None:
    kind = Registry().add(declare(scope=scope, columns=columns))
    assert " ".join(column.id for column in kind.columns) == expected


def test_kind_cannot_be_declared_twice() -> None:
    registry = Registry()
    registry.add(declare())
    with pytest.raises(InvalidKindDeclaration, match="already declared"):
        registry.add(declare())


def test_all_problems_of_a_declaration_are_reported_together() -> None:
    with pytest.raises(InvalidKindDeclaration) as caught:
        Registry().add(
            declare(
                columns=(NameColumn(), NameColumn(id="n2"), _text("a", 9), _text("a")),
                filters=("q",),
            )
        )
    for part in ("priority 9", "declared twice", "NameColumn", "not of type Filter"):
        assert part in str(caught.value)
