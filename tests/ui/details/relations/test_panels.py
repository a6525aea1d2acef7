"""Relation panels of the shop, and their permissions."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from django.utils.translation import override

from console.kube import gvr as types
from console.kube.gvr import GVR, Key
from console.kube.informer import Informer
from console.ui.core.kind import ResourceKind
from console.ui.core.permissions import Denied
from console.ui.core.registry import kinds
from console.ui.details.panels.standard import tabs_of
from console.ui.lists.columns import LinkTarget, target_url
from tests.kinds.world import POLYGLOT, informer_of
from tests.support.html import Elements, text
from tests.support.translations import HAN
from tests.ui.details.relations.shop import (
    PANELS,
    WEB,
    PerType,
    World,
    a_pod,
    drawn,
    everything,
    named,
    panel,
    subject_of,
    world,
)
from tests.ui.support import alice, charlie


@pytest.fixture(scope="module")
def shop() -> World:
    return world(everything())


def test_used_by_counts_each_kind_and_links_to_the_objects(shop: World) -> None:
    html = drawn(subject_of(shop, types.CONFIG_MAPS, Key("shop", "web-conf")))
    assert "Deployments 1 " in text(html)
    assert "ReplicaSets 2 " in text(html)
    assert "Pods 2 " in text(html)
    assert "team-b" not in html


def test_link_to_all_shows_as_many_objects_as_counted(shop: World) -> None:
    pods = [a_pod(f"web-2-{number:05}") for number in range(12)]
    many = world({**everything(), types.PODS: [*pods, *everything()[types.PODS][2:]]})
    subject = subject_of(many, types.CONFIG_MAPS, Key("shop", "web-conf"))
    html = drawn(subject, panel(types.CONFIG_MAPS, "used-by"))
    assert "Pods 12 " in text(html)
    assert (
        html.count("web-2-0000") == 20
    )  # Ten rows, each with the name in the URL and in the text.
    assert 'href="/clusters/host/pods?namespace=shop&amp;uses=ConfigMap%2Fweb-conf"' in html
    assert "All 12" in html
    kind = kinds.by_type(types.PODS)
    assert kind is not None
    uses = next(item for item in kind.every_filter if item.param == "uses")
    test = uses.test(uses.clean(["ConfigMap/web-conf"]))
    entries = many[types.PODS].store.snapshot().entries.values()
    assert sum(test(entry) for entry in entries if entry.key.namespace == "shop") == 12


def test_link_to_all_is_omitted_if_the_list_has_no_such_filter() -> None:
    sets = [{**named(f"db-{n}"), "spec": {"serviceName": "web"}} for n in range(12)]
    many = world({**everything(), types.STATEFUL_SETS: sets})
    subject = subject_of(many, types.SERVICES, WEB)
    html = drawn(subject, panel(types.SERVICES, "used-by"))
    assert "StatefulSets 12 " in text(html)
    assert "uses=Service" not in html


def test_unused_is_stated_only_if_all_referrers_are_visible(shop: World) -> None:
    gvr, lonely = types.CONFIG_MAPS, named("lonely")
    informers = world({**everything(), gvr: [lonely]})
    says = "No references found.</p>"
    assert says in drawn(subject_of(informers, gvr, Key("shop", "lonely")))
    tenant = PerType({gvr: ("shop",), types.PODS: ("shop",)})
    assert says not in drawn(subject_of(informers, gvr, Key("shop", "lonely"), tenant))
    alone = {gvr: informers[gvr]}
    html = drawn(subject_of(alone, gvr, Key("shop", "lonely")))
    assert says not in html and "No references found. Some resource types are hidden" in html


def test_used_by_lists_the_worst_status_first(shop: World) -> None:
    html = drawn(subject_of(shop, types.SERVICES, WEB), panel(types.SERVICES, "selected"))
    assert html.index("web-2-bbbbb") < html.index("web-2-aaaaa")
    assert "Crash loop" in html


def test_uses_shows_how_an_object_is_used_and_whether_it_is_missing(shop: World) -> None:
    subject = subject_of(shop, types.PODS, Key("shop", "web-2-aaaaa"))
    html = text(drawn(subject, panel(types.PODS, "uses")))
    assert "web-conf volume conf, environment of app" in html
    assert "web-2-aaaaa-scratch volume scratch Missing" in html
    assert "web-ca volume both" in html and "web-ca volume both Missing" not in html
    # The existence of Secrets is unknown.
    assert "Secrets 6" in html and "web-env environment of app Missing" not in html


@pytest.mark.parametrize("gvr", PANELS, ids=lambda gvr: gvr.resource)
def test_statuses_are_translated(shop: World, gvr: GVR) -> None:
    for entry in shop[gvr].store.snapshot().entries.values() if gvr in shop else ():
        with override("zh-hans"):
            html = drawn(subject_of(shop, gvr, entry.key))
        words = re.findall(r'<span class="word">([^<]*)</span>', html)
        assert [word for word in words if not re.search(HAN, word)] == []


@pytest.mark.parametrize("id", ["uses", "map"])
def test_secret_is_linked_for_users_who_may_list_secrets(shop: World, id: str) -> None:
    pod = Key("shop", "web-2-aaaaa")
    page = target_url("host", LinkTarget("secrets", "shop", "web-tls"))
    assert page in drawn(subject_of(shop, types.PODS, pod), panel(types.PODS, id))
    tenant = PerType({types.PODS: ("shop",), types.SECRETS: ("team-b",)})
    html = drawn(subject_of(shop, types.PODS, pod, tenant), panel(types.PODS, id))
    assert page not in html and "web-tls" in html


def test_deployment_owns_its_replica_sets_and_their_pods(shop: World) -> None:
    html = drawn(subject_of(shop, types.DEPLOYMENTS, WEB), panel(types.DEPLOYMENTS, "owned"))
    said = text(html)
    assert said.index("revision 2") < said.index("Crash loop") < said.index("revision 1")
    assert "team-b" not in html


def test_object_with_a_forged_owner_reference_is_not_listed() -> None:
    objects = everything()
    stranger = a_pod("stranger", "team-b")
    stranger["metadata"]["ownerReferences"][0]["uid"] = "uid-shop-web-2"
    objects[types.PODS].append(stranger)
    found = world(objects)
    assert "stranger" not in drawn(subject_of(found, types.REPLICA_SETS, Key("shop", "web-2")))


def test_selectors_of_a_pod_are_listed(shop: World) -> None:
    subject = subject_of(shop, types.PODS, Key("shop", "web-2-aaaaa"))
    said = text(drawn(subject, panel(types.PODS, "used-by")))
    assert "Services 1 web" in said
    assert "keep" in said
    assert "close" in said
    deployment = subject_of(shop, types.DEPLOYMENTS, WEB)
    said = text(drawn(deployment, panel(types.DEPLOYMENTS, "used-by")))
    assert "web-hpa" in said and "Services 1 web" in said


@pytest.mark.parametrize(("selector", "selects"), [({}, True), (None, False)])
def test_disruption_budget_without_a_selector_selects_nothing(selector: Any, selects: bool) -> None:
    budget = {**named("keep"), "spec": {"minAvailable": 1}}
    if selector is not None:
        budget["spec"]["selector"] = selector
    found = world({**everything(), types.POD_DISRUPTION_BUDGETS: [budget]})
    subject = subject_of(found, types.PODS, Key("shop", "web-2-aaaaa"))
    assert ("keep" in drawn(subject, panel(types.PODS, "used-by"))) is selects


def test_endpoints_show_readiness_and_pods(shop: World) -> None:
    said = text(drawn(subject_of(shop, types.SERVICES, WEB), panel(types.SERVICES, "endpoints")))
    assert "1 of 2 ready" in said
    assert said.index("10.0.0.8 8080 Not ready web-2-bbbbb") < said.index("10.0.0.7 8080 Ready")


def test_node_sums_the_requests_of_its_pods() -> None:
    objects = everything()
    ended = a_pod("web-2-ended")
    ended["status"]["phase"] = "Succeeded"
    init = a_pod("web-2-greedy")
    init["spec"]["initContainers"] = [
        {"name": "side", "restartPolicy": "Always", "resources": {"requests": {"cpu": "100m"}}},
        {"name": "once", "resources": {"requests": {"cpu": "1", "memory": "64Mi"}}},
    ]
    elsewhere = a_pod("web-2-other", node="node-2")
    objects[types.PODS] += [ended, init, elsewhere]
    found = world(objects)
    said = text(drawn(subject_of(found, types.NODES, Key("", "node-1"))))
    # Four pods of 250m, and one whose init container and sidecar together request more than its
    # later containers.
    assert "CPU requested 2.1 of 2, 105 %" in said
    assert "Memory requested 640Mi of 1Gi, 62 %" in said
    assert "Pods 5 of 110, 4 %" in said
    assert "web-2-other" not in said
    assert "Only pods in projects" not in said


def test_node_shows_a_tenant_only_the_tenants_pods(shop: World) -> None:
    access = PerType({types.NODES: None, types.PODS: ("team-b",)})
    html = drawn(subject_of(shop, types.NODES, Key("", "node-1"), access))
    assert "Pods 2 of 110" in text(html)
    assert "Only pods in projects that you have permission to view are counted." in html
    assert "shop" not in text(html)


def test_node_counts_only_pods_the_viewer_may_see() -> None:
    objects = everything()
    objects[types.PODS] = [
        a_pod(f"web-{at}", namespace)
        for namespace, count in (("shop", 55), ("team-b", 51), ("team-c", 3))
        for at in range(count)
    ]
    found = world(objects)

    def said(access: PerType | None = None) -> str:
        return text(drawn(subject_of(found, types.NODES, Key("", "node-1"), access)))

    assert "All 109" in said()
    assert "All 51" in said(PerType({types.NODES: None, types.PODS: ("team-b",)}))
    few = said(PerType({types.NODES: None, types.PODS: ("team-c",)}))
    assert "All " not in few and "more" not in few


def test_map_links_to_neighbors_and_describes_relations_in_words(shop: World) -> None:
    html = drawn(
        subject_of(shop, types.REPLICA_SETS, Key("shop", "web-2")), panel(types.REPLICA_SETS, "map")
    )
    links = [a.get("href") for _, tag, a in Elements(html).found if tag == "a"]
    assert target_url("host", LinkTarget("deployments", "shop", "web")) in links
    assert target_url("host", LinkTarget("pods", "shop", "web-2-aaaaa")) in links
    said = text(html)
    assert "deployment web — owns — replicaset web-2" in said.lower()
    assert "replicaset web-2 — volume conf — configmap web-conf" in said.lower()
    assert "service web — selects — replicaset web-2" in said.lower()


def test_map_is_limited_in_size() -> None:
    objects = everything()
    objects[types.PODS] = [a_pod(f"web-2-{number:05}") for number in range(40)]
    objects[types.CONFIG_MAPS] = []
    found = world(objects)
    html = drawn(
        subject_of(found, types.REPLICA_SETS, Key("shop", "web-2")),
        panel(types.REPLICA_SETS, "map"),
    )
    boxes = [a for _, tag, a in Elements(html).found if tag == "rect"]
    assert len(boxes) <= 30
    assert f"and {40 - 6 + 11 - 7} more" in html


def test_panels_render_while_informers_are_missing_or_unsynced() -> None:
    found = world(everything())
    for gvr, panels in PANELS.items():
        for key in found[gvr].store.snapshot().entries if gvr in found else ():
            subject = subject_of({gvr: found[gvr]}, gvr, key)
            for one in panels:
                one.html(subject)


@pytest.mark.parametrize(
    "kind", [k for k in kinds if k.gvr in PANELS], ids=lambda kind: kind.segment
)
def test_hostile_text_of_the_object_is_escaped(kind: ResourceKind) -> None:
    informers = dict(world(everything()))
    informers[kind.gvr] = informer_of(kind)
    for key in informers[kind.gvr].store.snapshot().entries:
        html = drawn(subject_of(informers, kind.gvr, key))
        found = Elements(html).found
        assert not [tag for _, tag, _ in found if tag in ("img", "script")]
        assert not [a for _, _, attributes in found for a in attributes if a.startswith("on")]
        assert "\u202e" not in html
        assert "49=1+1" not in html


def test_hostile_text_of_related_objects_is_escaped() -> None:
    objects = everything()
    for listed in objects.values():
        for item in listed:
            item["metadata"]["annotations"] = {"kubernetes.io/change-cause": POLYGLOT}
    objects[types.PODS][0]["status"]["containerStatuses"][0]["state"] = {
        "waiting": {"reason": POLYGLOT, "message": POLYGLOT}
    }
    found = world(objects)
    for gvr in PANELS:
        for key in found[gvr].store.snapshot().entries if gvr in found else ():
            html = drawn(subject_of(found, gvr, key))
            assert "<img" not in html and "\u202e" not in html


def all_subjects(informers: World) -> Iterable[tuple[GVR, Key]]:
    for gvr in PANELS:
        if gvr in informers:
            yield from ((gvr, key) for key in informers[gvr].store.snapshot().entries)


def test_panels_reveal_nothing_about_other_projects() -> None:
    """The rendering is byte-identical with and without objects in the other project."""
    objects = everything()
    # `bare` contains cluster-scoped objects only; the full world also contains the other project.
    without = {
        gvr: [o for o in listed if o["metadata"]["namespace"] != "shop"]
        for gvr, listed in objects.items()
    }
    access = PerType(
        {
            gvr: ("team-b",) if any(o["metadata"]["namespace"] for o in listed) else None
            for gvr, listed in objects.items()
        }
    )
    full, bare = world(objects), world(without)
    seen = 0
    for gvr, key in all_subjects(bare):
        if key.namespace in ("", "team-b"):
            html = drawn(subject_of(full, gvr, key, access))
            assert html == drawn(subject_of(bare, gvr, key, access)), (gvr, key)
            seen += bool(html)
    assert seen > 15


def test_user_without_further_permissions_sees_only_references_of_the_object() -> None:
    full = world(everything())
    for gvr, key in all_subjects(full):
        html = drawn(subject_of(full, gvr, key, charlie()))
        assert "Missing" not in html
        assert "<a " not in html, (gvr, key)
        assert "data-severity" not in html.replace(_own_box(html), "")


def _own_box(html: str) -> str:
    """Return the box of the displayed object in its map, including its status."""
    match = re.search(r'<rect class="map-box here".*?</g>', html, re.DOTALL)
    return match[0] if match else ""


def test_objects_permitted_by_name_are_shown() -> None:
    access = PerType({types.CONFIG_MAPS: None})
    access.names = [Key("shop", "web-2-aaaaa")]
    subject = subject_of(world(everything()), types.CONFIG_MAPS, Key("shop", "web-conf"), access)
    said = text(drawn(subject, panel(types.CONFIG_MAPS, "used-by")))
    assert said.startswith("Pods 1 web-2-aaaaa")
    assert "bbbbb" not in said


class Asked(PerType):
    """A user with all permissions that records the checked types."""

    def __init__(self) -> None:
        super().__init__({})
        self.types: set[GVR] = set()

    def namespaces_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[str] | None:
        self.types.add(gvr)
        return None


def test_panels_check_only_permissions_of_their_declared_types() -> None:
    """Renderings are shared between users with equal permissions for these types."""
    full = world(everything())
    for gvr, key in all_subjects(full):
        for one in PANELS[gvr]:
            access = Asked()
            subject = subject_of(full, gvr, key, access)
            one.html(subject)
            assert access.types <= {gvr, *one.needs(subject.kind)}, (gvr, one.id)


class Looked(dict[GVR, Informer[Any]]):
    """The informers of a world, with a record of the requested types."""

    def __init__(self, full: World) -> None:
        super().__init__(full)
        self.types: set[GVR] = set()

    def get(self, gvr: GVR, default: Any = None) -> Any:
        self.types.add(gvr)
        return super().get(gvr, default)


def test_each_panel_reads_only_its_declared_types() -> None:
    """A panel is updated only for changes of its own types, even if another panel of the page reads
    more types.
    """
    full = world(everything())
    for gvr, key in all_subjects(full):
        subject = subject_of(full, gvr, key)
        for one in (part for tab in tabs_of(subject.kind) for part in tab.panels):
            informers = Looked(full)
            one.html(replace(subject, informers=informers))
            assert informers.types <= {gvr, *one.needs(subject.kind)}, (gvr, one.id)


@pytest.mark.parametrize("kind", [*kinds], ids=lambda kind: kind.segment)
def test_tabs_and_panels_have_unique_ids(kind: ResourceKind) -> None:
    """The ID of a tab is the last segment of its URL, where other pages of an object have theirs."""
    tabs = [tab.id for tab in tabs_of(kind)]
    others = {"account", "actions", "delete", "edit", "new", *kind.actions_by_name}
    assert len(set(tabs)) == len(tabs) and others.isdisjoint(tabs)
    for tab in tabs_of(kind):
        ids = [one.id for one in tab.panels]
        assert len(set(ids)) == len(ids)
        assert all(name.replace("-", "").isidentifier() for name in (tab.id, *ids))


def test_panels_are_empty_for_a_user_without_permissions() -> None:
    """`readable` raises Denied, which must not break the panels."""
    subject = subject_of(world(everything()), types.SERVICES, WEB, alice())
    try:
        html = drawn(subject)
    except Denied:
        pytest.fail("a panel must not refuse the page")
    assert "web-2-aaaaa" not in html


def test_pod_shows_its_containers_before_its_ports() -> None:
    kind = kinds.by_type(types.PODS)
    assert kind is not None
    shown = [panel.id for panel in tabs_of(kind)[0].panels if panel.place == "left"]
    assert shown.index("containers") < shown.index("ports")
