"""The rollout panel of a workload."""

import re
from typing import Any

import pytest
from django.utils.translation import override

from console.kube import gvr as types
from console.kube.gvr import GVR, Key
from console.kube.store import Entry
from tests.kinds.untranslated_text import english_in
from tests.ui.details.relations.shop import (
    PerType,
    World,
    a_pod,
    drawn,
    everything,
    named,
    panel,
    replica_set,
    subject_of,
    template,
    world,
)

WEB = Key("shop", "web")
ALL = (types.DEPLOYMENTS, types.REPLICA_SETS, types.PODS)
NO_NODE = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "0/3 nodes are available: 3 Insufficient cpu.",
}


def rolling(*pods: Any, updated: int = 3, ready: int = 2, **status: Any) -> World:
    """Return a deployment of 5 pods whose newest revision is the third."""
    objects = everything()
    found = {
        **named("web"),
        "spec": {
            "replicas": 5,
            "selector": {"matchLabels": {"app": "web"}},
            "template": template(),
        },
        "status": {"replicas": 5, "updatedReplicas": updated, "readyReplicas": ready, **status},
    }
    objects[types.DEPLOYMENTS] = [found]
    objects[types.REPLICA_SETS].append(replica_set(3, replicas=updated))
    objects[types.PODS] += pods
    return world(objects)


def unscheduled(name: str) -> Any:
    found = a_pod(name, owner="web-3")
    found["spec"]["nodeName"] = ""
    found["status"] = {"phase": "Pending", "conditions": [NO_NODE]}
    return found


def shown(informers: World, *, rights: dict[GVR, Any] | None = None) -> str:
    access = None if rights is None else PerType(rights)
    html = drawn(
        subject_of(informers, types.DEPLOYMENTS, WEB, access), panel(types.DEPLOYMENTS, "rollout")
    )
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html)).strip()


def test_progress_bars_and_reasons_of_waiting_pods_are_shown() -> None:
    text = shown(rolling(unscheduled("web-3-aaaaa"), unscheduled("web-3-bbbbb")))
    assert "Up to date 3 of 5, 60 %" in text
    assert "Ready 2 of 5, 40 %" in text
    assert "web-3-aaaaa" in text and "and 1 more" in text
    assert "not enough CPU" in text
    # Missing pods of the previous revision no longer matter.
    assert "web-2-bbbbb" not in text


def test_pods_with_different_problems_are_listed_separately() -> None:
    crashing = a_pod("web-3-ccccc", owner="web-3", waiting="CrashLoopBackOff")
    text = shown(rolling(unscheduled("web-3-aaaaa"), crashing))
    assert "not enough CPU" in text and "in a crash loop" in text and "more" not in text


def test_finished_rollout_is_one_line() -> None:
    assert shown(rolling(updated=5, ready=5)) == "All 5 pods are up to date and ready."


def test_pods_are_hidden_without_permission() -> None:
    waiting = rolling(unscheduled("web-3-aaaaa"))
    rights = dict.fromkeys(ALL, ["shop"])
    assert "web-3-aaaaa" in shown(waiting, rights=rights)
    for kept in (types.PODS, types.REPLICA_SETS):
        text = shown(waiting, rights={**rights, kept: []})
        assert "Up to date 3 of 5" in text and "web-3-aaaaa" not in text


@pytest.mark.parametrize("gvr", [types.STATEFUL_SETS, types.DAEMON_SETS])
def test_workloads_without_replica_sets_own_their_pods_directly(gvr: GVR) -> None:
    owner = {types.STATEFUL_SETS: "StatefulSet", types.DAEMON_SETS: "DaemonSet"}[gvr]
    mine = unscheduled("web-0")
    mine["metadata"] |= named("web-0", owner=(owner, "web"))["metadata"]
    found = {
        **named("web"),
        "spec": {"replicas": 2, "template": template()},
        "status": {
            "replicas": 2, "updatedReplicas": 1, "readyReplicas": 1, "desiredNumberScheduled": 2,
            "updatedNumberScheduled": 1, "numberReady": 1,
        },
    }  # fmt: skip
    html = drawn(
        subject_of(world({gvr: [found], types.PODS: [mine]}), gvr, WEB), panel(gvr, "rollout")
    )
    assert "1 of 2" in html and "web-0" in html and "Insufficient cpu" in html


def test_workload_with_zero_replicas_shows_no_rollout() -> None:
    objects = everything()
    objects[types.DEPLOYMENTS][0]["spec"]["replicas"] = 0
    assert shown(world(objects)) == ""


def test_diagnosis_is_the_most_frequent_problem_of_the_pods() -> None:
    cause = panel(types.DEPLOYMENTS, "cause")

    def said(informers: World) -> str:
        html = drawn(subject_of(informers, types.DEPLOYMENTS, WEB), cause)
        return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html)).strip()

    pods = [unscheduled("web-3-a"), unscheduled("web-3-b"), a_pod("web-3-c", owner="web-3")]
    assert said(rolling(*pods)).startswith("2 pods: None of the 3 nodes can run this pod: ")
    assert "2 pods" not in said(rolling(*pods, updated=5, ready=5))
    with override("zh-hans"):
        html = drawn(subject_of(rolling(*pods), types.DEPLOYMENTS, WEB), cause)
    assert english_in(html) == []
    assert "5 个中 3 个已更新" in html
    tenant = PerType({types.DEPLOYMENTS: ("shop",)})
    html = drawn(subject_of(rolling(*pods), types.DEPLOYMENTS, WEB, tenant), cause)
    assert "nodes" not in html


def test_diagnosis_and_rollout_read_each_pod_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Key] = []
    original = Entry.original

    def counted(self: Entry[Any]) -> dict[str, Any]:
        read.append(self.key)
        return original(self)

    informers = rolling(unscheduled("web-3-a"), unscheduled("web-3-b"))
    subject = subject_of(informers, types.DEPLOYMENTS, WEB)
    monkeypatch.setattr(Entry, "original", counted)
    both = drawn(subject, panel(types.DEPLOYMENTS, "cause"), panel(types.DEPLOYMENTS, "rollout"))
    assert both.count("Insufficient cpu") > 1
    pods = [key for key in read if key != WEB]
    assert len(pods) == len(set(pods)) == 2
