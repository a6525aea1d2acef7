"""Custom types according to their definitions, and informers that follow changes of definitions."""

from typing import Any

from console.kube.custom_types import CustomTypes
from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS, GVR, USERS
from console.kube.informer import Informer
from console.kube.informerbuilder import TypeWatch
from console.kube.served_types import ServedTypes
from tests.support.informers import bring, preloaded, take_away

V1, V2 = GVR("x.org", "v1", "widgets"), GVR("x.org", "v2", "widgets")


def version(name: str, *, served: bool = True, storage: bool = False) -> dict[str, Any]:
    column = {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "priority": 1}
    return {
        "name": name,
        "served": served,
        "storage": storage,
        "schema": {"openAPIV3Schema": {"type": "object"}},
        "additionalPrinterColumns": [column],
    }


_revisions = iter(range(1, 10_000))


def definition(
    *versions: dict[str, Any],
    uid: str = "u1",
    established: bool = True,
    name: str = "widgets.x.org",
) -> dict[str, Any]:
    plural, _dot, group = name.partition(".")
    return {
        "metadata": {"name": name, "uid": uid, "resourceVersion": str(next(_revisions))},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {
                "plural": plural,
                "singular": "widget",
                "kind": "Widget",
                "listKind": "WidgetList",
                "shortNames": ["wd"],
            },
            "versions": list(versions),
        },
        "status": {
            "conditions": [{"type": "Established", "status": "True" if established else "False"}]
        },
    }


def informer(*items: dict[str, Any]) -> Informer[Any]:
    return preloaded(CUSTOM_RESOURCE_DEFINITIONS, items)


def test_type_is_read_from_its_definition() -> None:
    types = CustomTypes(informer(definition(version("v1", storage=True))))
    found = types.get(V1)
    assert found is not None
    assert (found.kind, found.singular) == ("Widget", "widget")
    assert (found.short_names, found.namespaced, found.uid) == (("wd",), True, "u1")
    column = found.columns[0]
    assert (column.name, column.type, column.jsonPath) == ("Size", "integer", ".spec.size")


def test_each_served_version_is_listed_and_the_most_stable_one_preferred() -> None:
    both = definition(version("v1", storage=True), version("v2"), version("v3", served=False))
    types = CustomTypes(informer(both))
    assert [item.gvr for item in types] == [V1, V2]
    preferred = types.find("x.org", "widgets")
    assert preferred is not None
    assert preferred.gvr == V2
    assert types.find("x.org", "planets") is None


def test_type_that_is_not_established_is_unknown() -> None:
    definitions = informer(definition(version("v1", storage=True), established=False))
    types = CustomTypes(definitions)
    assert types.get(V1) is None
    bring(definitions, definition(version("v1", storage=True)))
    assert types.get(V1) is not None
    take_away(definitions, definition(version("v1", storage=True)))
    assert types.get(V1) is None
    assert list(types) == []


class Told:
    """A factory with these informers that records its calls."""

    def __init__(self, *followed: GVR, gone: tuple[GVR, ...] = ()) -> None:
        self.followed, self.gone = followed, gone
        self.calls: list[tuple[str, GVR]] = []

    def informers(self) -> dict[GVR, None]:
        return dict.fromkeys(self.followed)

    def deleted_types(self) -> tuple[GVR, ...]:
        return self.gone

    def type_deleted(self, gvr: GVR) -> None:
        self.calls.append(("vanish", gvr))

    def type_created(self, gvr: GVR) -> None:
        self.calls.append(("appear", gvr))

    def relist(self, gvr: GVR) -> None:
        self.calls.append(("renew", gvr))


def watching(definitions: Informer[Any], told: Any) -> None:
    definitions.add_listener(TypeWatch(ServedTypes(CustomTypes(definitions)), (), told).changed)


def test_removed_or_unserved_type_ends_its_informer() -> None:
    definitions, told = informer(), Told(V1, V2)
    watching(definitions, told)
    bring(definitions, definition(version("v1"), version("v2", storage=True)))
    told.calls.clear()
    bring(definitions, definition(version("v1", served=False), version("v2", storage=True)))
    assert told.calls == [("vanish", V1), ("appear", V2)]
    told.calls.clear()
    take_away(definitions, definition(version("v2", storage=True)))
    assert told.calls == [("vanish", V1), ("vanish", V2)]


def test_redefined_type_reappears() -> None:
    definitions, told = informer(), Told(gone=(V1,))
    watching(definitions, told)
    bring(definitions, definition(version("v1", storage=True)))
    assert told.calls == [("appear", V1)]


def test_type_recreated_between_two_events_is_renewed() -> None:
    definitions, told = informer(), Told(V1)
    watching(definitions, told)
    bring(definitions, definition(version("v1", storage=True), uid="u1"))
    bring(definitions, definition(version("v1", storage=True), uid="u1"))
    assert ("renew", V1) not in told.calls
    bring(definitions, definition(version("v1", storage=True), uid="u2"))
    assert told.calls[-1] == ("renew", V1)


def test_built_in_types_are_not_affected() -> None:
    definitions, told = informer(), Told(USERS, GVR("y.org", "v1", "widgets"))
    watching(definitions, told)
    bring(definitions, definition(version("v1", storage=True)))
    assert told.calls == []
    bring(definitions, definition(version("v1alpha2"), name="users.iam.kubesphere.io"))
    take_away(definitions, definition(version("v1alpha2"), name="users.iam.kubesphere.io"))
    assert told.calls == [("appear", USERS)]
