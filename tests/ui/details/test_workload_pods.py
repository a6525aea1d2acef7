"""The table of pods on the page of a workload."""

from console.kube.gvr import DEPLOYMENTS, PODS, Key
from tests.support.html import text
from tests.ui.details.relations.shop import PerType, drawn, everything, panel, subject_of, world
from tests.ui.support import pod

WEB = Key("shop", "web")


def test_overview_of_a_deployment_lists_its_pods_with_state_and_actions() -> None:
    html = drawn(subject_of(world(everything()), DEPLOYMENTS, WEB), panel(DEPLOYMENTS, "pods"))
    found = text(html)
    assert "Status Ready Restarts" in found
    assert 'href="/clusters/host/projects/shop/pods/' in html
    assert "/actions/delete" in html
    assert "/projects/team-b/" not in html


def test_pods_are_listed_worst_first_and_only_the_first_of_many() -> None:
    labels = {"app": "web"}
    pods = [pod(f"web-{n:02}", labels=labels) for n in range(30)]
    pods.append(pod("web-bad", labels=labels, waiting="CrashLoopBackOff"))
    shop = world({**everything(), PODS: pods})
    html = drawn(subject_of(shop, DEPLOYMENTS, WEB), panel(DEPLOYMENTS, "pods"))
    assert html.count("<tr ") == 21
    assert html.index("web-bad") < html.index("web-00")
    assert "All 31" in text(html)


def test_pods_and_actions_require_permission() -> None:
    shop = world(everything())
    lister = PerType({DEPLOYMENTS: None, PODS: ("shop",)})
    html = drawn(subject_of(shop, DEPLOYMENTS, WEB, lister), panel(DEPLOYMENTS, "pods"))
    assert "/projects/shop/pods/" in html
    assert "/actions/delete" not in html
    other = PerType({DEPLOYMENTS: None, PODS: ("team-b",)})
    assert drawn(subject_of(shop, DEPLOYMENTS, WEB, other), panel(DEPLOYMENTS, "pods")) == ""
