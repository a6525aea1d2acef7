"""Lists of pods by query, user and objects."""

from typing import Any

from django.http import QueryDict

from console.kube.gvr import PODS
from console.ui.core.registry import kinds
from console.ui.lists.selection import ListQuery
from console.ui.lists.table import Table, build_table
from console.ui.lists.viewspec import ViewSpec
from tests.support.informers import preloaded
from tests.ui.support import (
    NAMESPACE_NAMES,
    FakeAccess,
    admin,
    small_world,
)


def spec_of(query: str) -> ViewSpec:
    kind = kinds.by_segment("pods")
    assert kind is not None
    return ViewSpec.parse(kind, QueryDict(query), cluster="host")


def table(
    query: str = "", access: FakeAccess | None = None, objects: list[dict[str, Any]] | None = None
) -> Table:
    informer = preloaded(PODS, small_world() if objects is None else objects)
    return build_table(
        ListQuery.of(spec_of(query), access or admin()), informer, namespaces=NAMESPACE_NAMES
    )


def keys(found: Table) -> list[str]:
    return [row.key for row in found.rows]
