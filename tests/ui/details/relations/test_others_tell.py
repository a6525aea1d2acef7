"""Panels about an object that use data of other objects, and the values of a ConfigMap."""

import pytest

from console.kube import gvr as types
from console.kube.gvr import GVR, Key
from console.ui.details.panels.data import LONGEST, MOST, DataPanel
from console.ui.details.panels.standard import tabs_of
from tests.support.html import text
from tests.ui.details.relations.shop import (
    WEB,
    Obj,
    PerType,
    drawn,
    everything,
    named,
    panel,
    subject_of,
    world,
)

CLAIM = Key("shop", "web-data")


def answering(*ready: bool) -> dict[GVR, list[Obj]]:
    """Return the shop with ready and unready endpoints of its service."""
    found = everything()
    labels = {"kubernetes.io/service-name": "web"}
    endpoints = [
        {"addresses": [f"10.0.0.{at}"], "conditions": {"ready": one}}
        for at, one in enumerate(ready)
    ]
    found[types.ENDPOINT_SLICES] = [
        {**named("web-x", "shop", ("Service", "web"), labels), "endpoints": endpoints}
    ]
    return found


@pytest.mark.parametrize(
    ("ready", "said"),
    [
        ((True, False), ""),
        ((False,), "No ready endpoints: the only endpoint is not ready."),
        ((False, False), "No ready endpoints: none of the 2 endpoints is ready."),
        ((), "No endpoints: no running pod matches the selector of this service."),
    ],
)
def test_service_shows_whether_it_has_ready_endpoints(ready: tuple[bool, ...], said: str) -> None:
    subject = subject_of(world(answering(*ready)), types.SERVICES, WEB)
    assert text(drawn(subject, panel(types.SERVICES, "cause"))) == said


def test_service_without_a_selector_shows_no_endpoint_problem() -> None:
    objects = answering()
    objects[types.SERVICES] = [{**named("web"), "spec": {}}]
    subject = subject_of(world(objects), types.SERVICES, WEB)
    assert text(drawn(subject, panel(types.SERVICES, "cause"))) == ""


def test_endpoints_are_hidden_without_permission() -> None:
    tenant = PerType({types.SERVICES: ("shop",), types.ENDPOINT_SLICES: ("team-b",)})
    subject = subject_of(world(answering(False)), types.SERVICES, WEB, tenant)
    assert text(drawn(subject, panel(types.SERVICES, "cause"))) == ""


def a_claim(**spec: str) -> dict[GVR, list[Obj]]:
    claim = {**named("web-data"), "spec": spec, "status": {"phase": "Pending"}}
    there = {**named("fast"), "provisioner": "example"}
    del there["metadata"]["namespace"]
    return {
        **everything(),
        types.PERSISTENT_VOLUME_CLAIMS: [claim],
        types.STORAGE_CLASSES: [there],
    }


def test_claim_explains_its_missing_storage_class() -> None:
    cause = panel(types.PERSISTENT_VOLUME_CLAIMS, "cause")

    def said(objects: dict[GVR, list[Obj]], access: PerType | None = None) -> str:
        gvr = types.PERSISTENT_VOLUME_CLAIMS
        return text(drawn(subject_of(world(objects), gvr, CLAIM, access), cause))

    gone = "No volume can be provisioned because storage class gone does not exist."
    assert said(a_claim(storageClassName="gone")).startswith(gone)
    assert gone not in said(a_claim(storageClassName="fast"))
    waiting = a_claim(storageClassName="fast")
    there = waiting[types.STORAGE_CLASSES][0]
    there["volumeBindingMode"] = "WaitForFirstConsumer"
    assert said(waiting).startswith("The volume is created when the first pod uses this claim.")
    there["provisioner"] = "kubernetes.io/no-provisioner"
    assert said(waiting).startswith("Storage class fast has no provisioner")
    bound = a_claim(storageClassName="gone", volumeName="pv-1")
    assert gone not in said(bound)
    ending = a_claim(storageClassName="gone")
    meta = ending[types.PERSISTENT_VOLUME_CLAIMS][0]["metadata"]
    meta["deletionTimestamp"] = meta["creationTimestamp"]
    assert said(ending) == "The object is being deleted."
    tenant = PerType({types.PERSISTENT_VOLUME_CLAIMS: ("shop",)})
    assert gone not in said(a_claim(storageClassName="gone"), tenant)


def test_first_tab_of_a_config_map_shows_its_values() -> None:
    data = {"b": "two\nlines\n", "a": "one", "evil": "\u202e<script>", "none": ""}
    found = {**named("web-conf"), "data": data, "binaryData": {"icon": "AAECAw=="}}
    subject = subject_of(
        world({types.CONFIG_MAPS: [found]}), types.CONFIG_MAPS, Key("shop", "web-conf")
    )
    first = tabs_of(subject.kind)[0]
    assert any(isinstance(panel, DataPanel) for panel in first.panels)
    html = drawn(subject, DataPanel())
    assert text(html) == (
        "a one b 2 lines two lines evil ⟨U+202E⟩&lt;script&gt; icon 4 bytes of binary "
        "data none empty"
    )


def test_long_values_and_many_keys_are_truncated() -> None:
    data = {f"k{at:03}": "x" * (LONGEST + 1) for at in range(MOST + 2)}
    found = {**named("web-conf"), "data": data}
    subject = subject_of(
        world({types.CONFIG_MAPS: [found]}), types.CONFIG_MAPS, Key("shop", "web-conf")
    )
    html = drawn(subject, DataPanel())
    assert html.count("Showing only the beginning.") == MOST
    assert "x" * (LONGEST + 1) not in html
    assert "and 2 more" in html
