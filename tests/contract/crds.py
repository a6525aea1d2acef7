"""CustomResourceDefinitions for single tests."""

import secrets
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.objects import CRDS, path
from tests.controlplane.waiting import eventually

#: Schema of a widget: a size from 1 to 9, a color with the default blue, and free-form notes.
SCHEMA: Obj = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1, "maximum": 9},
                "color": {"type": "string", "enum": ["blue", "red"], "default": "blue"},
                "notes": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "parts": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {
                            "name": {"type": "string", "pattern": "^[a-z]+$"},
                            "count": {"type": "integer", "default": 1},
                        },
                    },
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                },
            },
        },
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    },
}


def definition(**version: Any) -> Obj:
    """Return the definition of widgets in a unique API group. `version` adds fields to version v1."""
    group = f"g{secrets.token_hex(4)}.example.com"
    names = {
        "plural": "widgets",
        "singular": "widget",
        "kind": "Widget",
        "listKind": "WidgetList",
        "shortNames": ["wd"],
        "categories": ["gadgets"],
    }
    served = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": names,
            "versions": [{**served, **version}],
        },
    }


def establish(admin: Client, cleanup: Cleanup, crd: Obj, namespace: str) -> str:
    """Create the definition, wait until its type is served, and return the path of its objects in
    the namespace.
    """
    cleanup.create(CRDS, crd)
    where = path(namespace, "widgets", group=f"{crd['spec']['group']}/v1")
    eventually(lambda: is_established(admin, crd), "the definition is established")
    # A type can be unavailable for a moment after its definition is established, for example on
    # another replica.
    eventually(lambda: admin.get(where).status == 200, "the type is served")
    return where


@contextmanager
def served(admin: Client, definitions: Iterable[Obj]) -> Iterator[None]:
    """Create the definitions, wait until they are established, and delete them at the end."""
    names = []
    with ExitStack() as stack:
        cleanup = Cleanup(admin, stack)
        for one in definitions:
            cleanup.create(CRDS, one)
            names.append(one["metadata"]["name"])
            eventually(partial(is_established, admin, one), "the type is established")
        yield
    for name in names:
        eventually(partial(_is_gone, admin, name), "the type is gone")


def _is_gone(admin: Client, name: str) -> bool:
    return admin.get(f"{CRDS}/{name}").status == 404


def is_established(admin: Client, crd: Obj) -> bool:
    found = admin.get(f"{CRDS}/{crd['metadata']['name']}").ok()
    conditions = found.get("status", {}).get("conditions") or ()
    return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)


def widget(crd: Obj, name: str, **spec: Any) -> Obj:
    return {
        "apiVersion": f"{crd['spec']['group']}/v1",
        "kind": "Widget",
        "metadata": {"name": name},
        "spec": spec,
    }
