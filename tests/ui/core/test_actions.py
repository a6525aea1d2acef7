"""Permissions and availability of actions."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from django.test import RequestFactory
from django.utils.functional import Promise

from console.actions.creation import create_object
from console.actions.service_accounts import ChangeAccountRole
from console.actions.volume_copies import Clone, VolumeForm
from console.actions.workloads.autoscaling import Autoscale
from console.kube.errors import Conflict
from console.kube.gvr import (
    DEPLOYMENTS,
    GVR,
    HORIZONTAL_POD_AUTOSCALERS,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
    USERS,
    Key,
)
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from console.ui.core.actions import Action, ActionContext, ActionSucceeded, Permission
from console.ui.core.kind_permissions import RestrictedAccess, permissions_key
from console.ui.core.permissions import Denied, Refused, denied_for
from console.ui.core.registry import kinds
from console.ui.core.subject import Subject
from console.ui.forms.forms import ConsoleForm
from console.ui.fragments.empty_states import denied_text
from console.views.denial import MissingPermission, request_text
from console.views.denial import denied_page as page_of
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.rbac.fakes import FakeConsole
from tests.rbac.objects import native_binding
from tests.support.informers import preloaded
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess, admin, alice, pod

KEY = Key("team-a", "web")


def test_permission_applies_to_the_object_a_subresource_or_a_related_type() -> None:
    scale = Permission("patch", "scale")
    assert scale.granted(alice(), DEPLOYMENTS, KEY)
    assert not scale.granted(alice(), DEPLOYMENTS, Key("team-b", "web"))
    assert not scale.granted(alice(), DEPLOYMENTS)
    debug = Permission("delete", gvr=PODS)
    assert debug.granted(alice(), DEPLOYMENTS, KEY)
    denied = denied_for(debug, DEPLOYMENTS, "team-b")
    assert (denied.verb, denied.gvr, denied.namespace, denied.subresource) == (
        "delete",
        PODS,
        "team-b",
        "",
    )


def test_cloned_volume_has_the_modes_and_class_of_its_claim() -> None:
    same = {"accessModes": ["ReadWriteMany"], "storageClassName": "fast", "volumeMode": "Block"}
    claim = {"spec": {**same, "volumeName": "pv-1", "selector": {"matchLabels": {"a": "b"}}}}
    body = Clone().body(Key("shop", "data"), claim, {"name": "copy", "size": "2Gi"})
    assert body["spec"] == {
        **same,
        "resources": {"requests": {"storage": "2Gi"}},
        "dataSource": {"kind": "PersistentVolumeClaim", "name": "data"},
    }


def test_volume_from_a_snapshot_starts_with_the_values_of_its_source_claim() -> None:
    """With uncommon modes."""
    of = {"accessModes": ["ReadWriteMany"], "storageClassName": "fast", "volumeMode": "Block"}
    begins = VolumeForm(None, "data", "3Gi", ["fast", "slow"], of).initial
    assert begins.pop("name").startswith("data-")
    assert begins == {
        "size": "3Gi",
        "storage_class": "fast",
        "access_mode": "ReadWriteMany",
        "volume_mode": "Block",
    }


async def test_created_object_is_linked_if_the_user_may_see_it() -> None:
    informers = {PODS: preloaded(PODS, [])}
    set_host_cluster(StaticRuntime(informers))
    try:
        console = FakeConsole(informers)
        for access, leads in ((alice(), True), (FakeAccess("b", list_in=(), delete_in=()), False)):
            context: Any = SimpleNamespace(key=KEY, access=access, client=console, audit_id="")
            name = f"of-{access.identity.name}"
            done = await create_object(context, PODS, pod(name, KEY.namespace), "Made")
            assert done.url.endswith(f"/{name}") if leads else done == ActionSucceeded("Made")
    finally:
        unset_host_cluster()


async def test_binding_changed_meanwhile_is_not_overwritten() -> None:
    account = {"metadata": {"name": "robot", "namespace": "shop", "uid": "u-robot"}}
    account["metadata"]["resourceVersion"] = "1"
    robot = native_binding("robot", "viewer", "ServiceAccount shop/robot", namespace="shop")
    informers = {
        SERVICE_ACCOUNTS: preloaded(SERVICE_ACCOUNTS, [account]),
        ROLE_BINDINGS: preloaded(ROLE_BINDINGS, [robot]),
    }
    console, key = FakeConsole(informers), Key("shop", "robot")
    console.delayed = True
    subjects = [*robot["subjects"], {"kind": "User", "name": "carol"}]
    console.put(ROLE_BINDINGS, {**robot, "subjects": subjects})
    gone = [informers[ROLE_BINDINGS].store.get(key)]
    context = ActionContext(
        request=cast(Any, None),
        kind=cast(Any, kinds.by_type(SERVICE_ACCOUNTS)),
        key=key,
        uid="u-robot",
        access=admin(),
        client=cast(Any, console),
        audit_id="",
        run_related=cast(Any, None),
        data={"made": None, "gone": gone, "named": True, "role": ""},
    )
    with pytest.raises(Conflict):
        await ChangeAccountRole().run(context)
    assert len(console.of(ROLE_BINDINGS)["shop/robot"]["subjects"]) == 2


@pytest.mark.parametrize(
    "action, gvr, missing",
    [
        (ChangeAccountRole(), SERVICE_ACCOUNTS, ROLES),
        (ChangeAccountRole(), SERVICE_ACCOUNTS, ROLE_BINDINGS),
        (Autoscale(), DEPLOYMENTS, HORIZONTAL_POD_AUTOSCALERS),
    ],
    ids=lambda one: one.resource if isinstance(one, GVR) else one.name,
)
@pytest.mark.parametrize("running", [True, False])
def test_form_is_refused_while_existing_objects_are_unknown(
    action: Action, gvr: GVR, missing: GVR, running: bool
) -> None:
    """Otherwise a second autoscaler or a second role could be created."""
    kind, key = kinds.by_type(gvr), Key("shop", "web")
    body = {"metadata": {"name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "1"}}
    assert kind is not None
    informers = {one: preloaded(one) for one in action.reads(kind)}
    entry = (informers | {gvr: preloaded(gvr, [body])})[gvr].store.get(key)
    assert entry is not None

    def form() -> ConsoleForm | None:
        return action.make_form(Subject(kind, key, entry, admin(), informers, "host"), None)

    assert form() is not None
    if running:
        informers[missing] = Informer(missing, DECODERS[missing])
    else:
        del informers[missing]
    with pytest.raises(
        Refused, match="The cluster is not responding, so this action is not available"
    ):
        form()


def test_lists_of_users_are_not_shared_between_administrators() -> None:
    """Users may not delete their own account, so the menus differ although the permissions are
    equal.
    """
    users, pods = kinds.by_segment("users.iam.kubesphere.io"), kinds.by_segment("pods")
    assert users is not None and pods is not None
    ann, bob = FakeAccess("ann"), FakeAccess("bob")
    assert permissions_key(pods, ann) == permissions_key(pods, bob)
    assert permissions_key(users, ann) != permissions_key(users, bob)
    [delete] = [action for action in users.actions if action.name == "delete"]
    assert delete.is_allowed(ann, USERS, Key("", "bob")) and not delete.is_allowed(
        ann, USERS, Key("", "ann")
    )


def test_detail_page_may_check_permissions_of_its_actions() -> None:
    pods = kinds.by_segment("pods")
    assert pods is not None
    access = RestrictedAccess(admin(), pods, frozenset())
    assert access.can("delete", PODS, namespace="shop", name="web-1")
    assert access.can("create", PODS, namespace="shop", name="web-1", subresource="eviction")
    assert not access.can("create", PODS, namespace="shop", name="web-1", subresource="binding")
    assert access.namespaces_where("create", PODS, "binding") == frozenset()
    assert access.names_where("create", PODS, "binding") == frozenset()


def test_refusal_names_the_subresource() -> None:
    denied = Denied("patch", DEPLOYMENTS, "shop", "scale")
    assert denied_text(denied, "deployments") == (
        "You don't have permission to patch scale of deployments in project shop."
    )
    anywhere = Denied("patch", DEPLOYMENTS, subresource="scale")
    assert (
        denied_text(anywhere, "deployments")
        == "You don't have permission to patch scale of deployments."
    )
    missing = MissingPermission("patch", "deployments/scale", "apps", "shop", True)
    text = request_text("bob", missing, "/clusters/host/deployments")
    assert "resources:\n  - deployments/scale" in text


@pytest.mark.usefixtures("host")
def test_refusal_page_proposes_permission_for_the_subresource() -> None:
    request = RequestFactory().get("/clusters/host/deployments")
    request.access = alice()  # type: ignore[attr-defined]
    request.account, request.csp_nonce = "alice", "nonce"  # type: ignore[attr-defined]
    html = page_of(request, Denied("patch", DEPLOYMENTS, "shop", "scale")).content.decode()
    assert "deployments/scale" in html


def _actions(base: type[Action] = Action) -> Iterator[type[Action]]:
    for action in base.__subclasses__():
        yield action
        yield from _actions(action)


def test_action_names_are_translated() -> None:
    """Labels are words, not sentences, and some actions have no page that other tests check."""
    assert kinds.by_type(PODS) is not None
    names = ("label", "title_text", "button_text", "effect_text", "done_word", "refused_word")
    found = [
        (f"{action.__qualname__}.{name}", getattr(action, name, ""))
        for action in _actions()
        if not action.__module__.startswith("tests.")
        for name in names
    ]
    assert len(found) > 300
    assert [name for name, text in found if text and not isinstance(text, Promise)] == []
