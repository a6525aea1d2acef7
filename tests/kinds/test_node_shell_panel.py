"""The panel that explains why node shells are unavailable."""

import pytest
from pytest_django import Settings

from console.actions.node_shell import NodeShellPanel
from console.kube.gvr import GVR, NODES, Key
from console.ui.core.registry import kinds
from console.ui.core.subject import Subject
from tests.support.informers import preloaded
from tests.ui.support import FakeAccess, admin, alice


class WithoutAttach(FakeAccess):
    def can(
        self, verb: str, gvr: GVR, *, namespace: str = "", name: str = "", subresource: str = ""
    ) -> bool:
        return subresource != "attach" and super().can(
            verb, gvr, namespace=namespace, name=name, subresource=subresource
        )


def panel_of(access: FakeAccess) -> str:
    kind, key = kinds.by_type(NODES), Key("", "node-1")
    entry = preloaded(NODES, [{"metadata": {"name": "node-1"}}]).store.get(key)
    assert kind is not None and entry is not None
    return NodeShellPanel().html(Subject(kind, key, entry, access, {}, "host"))


def test_the_panel_shows_the_setting_to_users_who_may_create_pods_everywhere(
    settings: Settings,
) -> None:
    settings.NODE_SHELL_NAMESPACE = ""
    assert "NODE_SHELL_NAMESPACE" in panel_of(admin())
    assert panel_of(alice()) == ""


def test_the_panel_shows_the_missing_permission(settings: Settings) -> None:
    settings.NODE_SHELL_NAMESPACE = "shells"
    assert "permission to create pods/attach in project shells" in panel_of(
        WithoutAttach("carol", get_in=None)
    )


@pytest.mark.parametrize("access", [admin(), alice()], ids=["admin", "alice"])
def test_the_panel_is_hidden_if_node_shells_are_available(
    settings: Settings, access: FakeAccess
) -> None:
    settings.NODE_SHELL_NAMESPACE = "shells"
    assert panel_of(access) == ""
