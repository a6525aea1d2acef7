"""The wizard of NetworkPolicies writes the manifests that an expert would write, and shows who can
connect to whom before and after.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from console.kube.gvr import (
    DEPLOYMENTS,
    GVR,
    INGRESSES,
    NAMESPACES,
    NETWORK_POLICIES,
    PODS,
    SERVICES,
    Key,
)
from console.kube.network_policies import EGRESS, INGRESS, Policy, read_policy
from console.ui.wizard.state import FormState
from console.ui.wizard.wizard import WizardDraft
from console.wizards.network_policies import NETWORK_POLICY
from console.wizards.reach import Evaluation, Reach, ports_text
from tests.support.wizard_forms import OfflineContext, filled_in, offline, step_fields, step_html
from tests.wizards import rich
from tests.wizards.cached_objects import CachedObject


class Projection:
    """A projection with any fields."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


def pod(namespace: str, workload: str, number: int = 1, **labels: str) -> CachedObject:
    name = f"{workload}-{number}"
    ports = [{"name": "http", "containerPort": 8080}]
    projection = Projection(
        labels={"app": workload, **labels},
        owner=f"StatefulSet.apps/{workload}",
        ended=False,
        spec=hash(name),
    )
    manifest = {"spec": {"containers": [{"ports": ports}]}}
    return CachedObject(Key(namespace, name), projection, manifest)


def namespace(name: str, **labels: str) -> CachedObject:
    held = {"kubernetes.io/metadata.name": name, **labels}
    return CachedObject(Key("", name), Projection(labels=held))


def policy(name: str, **spec: Any) -> CachedObject:
    return CachedObject(Key("shop", name), None, {"metadata": {"name": name}, "spec": spec})


PODS_OF_ALL = (
    pod("shop", "web"),
    pod("shop", "web", 2),
    pod("shop", "api"),
    pod("ops", "probe"),
    pod("ops", "backup"),
    pod("lab", "probe"),
)
SPACES = (namespace("shop", team="shop"), namespace("ops", team="ops"), namespace("lab"))


def context(*policies: CachedObject, is_new: bool = True) -> OfflineContext:
    deployment = CachedObject(Key("shop", "web"), Projection(selector="app=web"))
    objects: dict[GVR, Sequence[Any]] = {
        PODS: PODS_OF_ALL,
        NAMESPACES: SPACES,
        NETWORK_POLICIES: policies,
        DEPLOYMENTS: (deployment,),
    }
    return offline(objects=objects, is_new=is_new)


def new_policy(*policies: CachedObject) -> WizardDraft:
    return WizardDraft.of(NETWORK_POLICY, context(*policies), [])


RULE = "types__ingress__ingress__0__"


def test_rules_with_all_kinds_of_peers_are_entered() -> None:
    draft = new_policy()
    filled_in(draft, name="web", selected="Deployment web")
    [step] = NETWORK_POLICY.steps
    prefix = "types.ingress.ingress"
    for act in ("0.from.add", "0.from.add", "0.from.add", "0.ports.add", "0.ports.add"):
        draft.submit(step, fields_of(draft), f"{prefix}.{act}")
    kinds = {
        f"{RULE}from__1__kind": "projects",
        f"{RULE}from__2__kind": "both",
        f"{RULE}from__3__kind": "block",
    }
    filled_in(draft, **kinds)
    filled_in(
        draft,
        **{
            f"{RULE}from__0__kind__pods__pods": "app=api, tier in (b, a)",
            f"{RULE}from__1__kind__projects__projects": "kubernetes.io/metadata.name=ops",
            f"{RULE}from__2__kind__both__projects": "",
            f"{RULE}from__2__kind__both__pods": "app=probe",
            f"{RULE}from__3__kind__block__cidr": "10.0.0.0/8",
            f"{RULE}from__3__kind__block__except": "10.1.0.0/16, 10.2.0.0/16",
            f"{RULE}ports__0__port": "http",
            f"{RULE}ports__1__protocol": "UDP",
            f"{RULE}ports__1__port": "3000",
            f"{RULE}ports__1__endPort": "4000",
        },
    )
    assert problems(draft) == [] and not draft.yaml_only()
    assert draft.main == {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "podSelector": {"matchLabels": {"app": "web"}},
            "policyTypes": ["Ingress"],
            "ingress": [
                {
                    "from": [
                        {
                            "podSelector": {
                                "matchLabels": {"app": "api"},
                                "matchExpressions": [
                                    {"key": "tier", "operator": "In", "values": ["a", "b"]}
                                ],
                            }
                        },
                        {
                            "namespaceSelector": {
                                "matchLabels": {"kubernetes.io/metadata.name": "ops"}
                            }
                        },
                        {
                            "namespaceSelector": {},
                            "podSelector": {"matchLabels": {"app": "probe"}},
                        },
                        {
                            "ipBlock": {
                                "cidr": "10.0.0.0/8",
                                "except": ["10.1.0.0/16", "10.2.0.0/16"],
                            }
                        },
                    ],
                    "ports": [
                        {"port": "http"},
                        {"port": 3000, "protocol": "UDP", "endPort": 4000},
                    ],
                }
            ],
        },
    }


def fields_of(draft: WizardDraft) -> Any:
    return step_fields(draft, NETWORK_POLICY.steps[0])


def problems(draft: WizardDraft) -> list[tuple[str, str]]:
    """Return the errors, except that the viewer may create objects in no project."""
    found = draft.errors(NETWORK_POLICY.steps[0])
    return [(one.name, str(error)) for one, error in found if one.name != "namespace"]


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("deny-in", {"policyTypes": ["Ingress"]}),
        ("deny-out", {"policyTypes": ["Egress"]}),
        ("deny", {"policyTypes": ["Ingress", "Egress"]}),
        ("project", {"policyTypes": ["Ingress"], "ingress": [{"from": [{"podSelector": {}}]}]}),
        (
            "dns",
            {
                "policyTypes": ["Egress"],
                "egress": [
                    {"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]}
                ],
            },
        ),
    ],
)
def test_a_preset_replaces_the_rules_and_keeps_the_selected_pods(
    preset: str, expected: dict[str, Any]
) -> None:
    draft = new_policy()
    filled_in(draft, selected="Deployment web", types="both")
    made = filled_in(draft, preset=preset)
    assert made["spec"] == {"podSelector": {"matchLabels": {"app": "web"}}, **expected}
    assert fields_of(draft)["preset"] == preset


def test_rules_of_a_direction_return_when_it_is_restricted_again() -> None:
    draft = WizardDraft.of(NETWORK_POLICY, context(), [rich.NETWORK_POLICY | {}])
    spec = draft.main["spec"]
    egress = spec["egress"]
    filled_in(draft, types="ingress")
    assert spec["policyTypes"] == ["Ingress"] and "egress" not in spec
    filled_in(draft, types="both")
    assert spec["policyTypes"] == ["Ingress", "Egress"] and spec["egress"] == egress


def test_the_labels_of_pods_are_kept_when_projects_are_added() -> None:
    draft = new_policy()
    filled_in(draft, **{f"{RULE}from__0__kind__pods__pods": "app=web"})
    filled_in(draft, **{f"{RULE}from__0__kind": "both"})
    [rule] = draft.main["spec"]["ingress"]
    assert rule["from"] == [
        {"podSelector": {"matchLabels": {"app": "web"}}, "namespaceSelector": {}}
    ]


@pytest.mark.parametrize(
    ("field", "text", "problem"),
    [
        ("podSelector", "app in (", "The parentheses in “app in (” do not match."),
        ("podSelector", "a>1", "Label selectors can't compare numbers."),
        (f"{RULE}from__0__kind__block__cidr", "10.0.0.0", "Enter a network, such as 10.0.0.0/8."),
        (
            f"{RULE}from__0__kind__block__except",
            "192.168.0.0/16",
            "192.168.0.0/16 is not inside 10.0.0.0/8.",
        ),
        (f"{RULE}from__0__kind__block__except", "10.0.0.0/8", "Exclude only a part of 10.0.0.0/8."),
        (f"{RULE}ports__0__port", "70000", "Enter a port number up to 65535 or a port name."),
        (f"{RULE}ports__0__endPort", "7", "Enter 80 or more."),
    ],
)
def test_a_wrong_value_is_reported_at_its_field(field: str, text: str, problem: str) -> None:
    draft = new_policy()
    [step] = NETWORK_POLICY.steps
    draft.submit(step, fields_of(draft), "types.ingress.ingress.0.ports.add")
    filled_in(draft, name="web")
    if "block" in field:
        filled_in(draft, **{f"{RULE}from__0__kind": "block"})
        filled_in(draft, **{f"{RULE}from__0__kind__block__cidr": "10.0.0.0/8"})
    filled_in(draft, **{field: text})
    assert problems(draft) == [(field.replace("__", "."), problem)]


def reaches(draft: WizardDraft, direction: str = INGRESS) -> list[Reach]:
    assert isinstance(draft.context, OfflineContext)
    return Evaluation(draft.context, draft.main).reaches(direction)


def told(reach: Reach) -> dict[str, tuple[str, str]]:
    return {
        f"{one.name} ({one.place})": (ports_text(one.before), ports_text(one.after))
        for one in reach.peers
    }


def test_everyone_can_connect_before_and_only_the_project_after() -> None:
    draft = new_policy()
    filled_in(draft, selected="Deployment web")
    [reach] = reaches(draft)
    assert (reach.name, reach.count) == ("web", 2)
    assert told(reach) == {
        "web (this project, 2 pods)": ("all ports", "all ports"),
        "api (this project, 1 pod)": ("all ports", "all ports"),
        "All pods (ops, 2 pods)": ("all ports", "blocked"),
        "All pods (lab, 1 pod)": ("all ports", "blocked"),
        "All addresses (outside the cluster)": ("all ports", "blocked"),
    }


def test_other_policies_and_both_ends_of_connections_are_evaluated() -> None:
    allow = policy(
        "allow",
        podSelector={"matchLabels": {"app": "web"}},
        ingress=[
            {
                "from": [
                    {
                        "podSelector": {"matchLabels": {"app": "probe"}},
                        "namespaceSelector": {"matchLabels": {"team": "ops"}},
                    }
                ],
                "ports": [{"port": "http"}],
            }
        ],
    )
    closed = policy("closed", podSelector={"matchLabels": {"app": "api"}}, policyTypes=["Egress"])
    draft = new_policy(allow, closed)
    filled_in(draft, selected="Deployment web")
    [reach] = reaches(draft)
    assert told(reach) == {
        "web (this project, 2 pods)": ("blocked", "all ports"),
        "api (this project, 1 pod)": ("blocked", "blocked"),
        "probe (ops, 1 pod)": ("TCP 8080", "TCP 8080"),
        "backup (ops, 1 pod)": ("blocked", "blocked"),
        "All pods (lab, 1 pod)": ("blocked", "blocked"),
        "All addresses (outside the cluster)": ("blocked", "blocked"),
    }


def test_an_edited_policy_is_replaced_and_not_added() -> None:
    live = policy("mine", podSelector={}, ingress=[{}])
    manifest = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "mine", "namespace": "shop"},
        "spec": {"podSelector": {"matchLabels": {"app": "api"}}, "policyTypes": ["Ingress"]},
    }
    draft = WizardDraft.of(NETWORK_POLICY, context(live, is_new=False), [manifest])
    closed, opened = sorted(reaches(draft), key=lambda one: one.name)
    assert (closed.name, opened.name) == ("api", "web")
    assert {after for _before, after in told(closed).values()} == {"blocked"}
    assert {after for _before, after in told(opened).values()} == {"all ports"}


def test_outgoing_connections_to_addresses_are_shown() -> None:
    draft = new_policy()
    manifest = draft.main
    manifest["spec"] = {
        "podSelector": {},
        "policyTypes": ["Egress"],
        "egress": [
            {
                "to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}],
                "ports": [{"port": 443}, {"protocol": "UDP", "port": 53}],
            }
        ],
    }
    [reach] = reaches(draft, EGRESS)
    assert reach.count == 3 and reach.name == "web, api"
    shown = told(reach)
    place = "(outside the cluster)"
    assert shown[f"10.0.0.0/8 {place}"] == ("all ports", "TCP 443, UDP 53")
    assert shown[f"10.1.0.0/16 {place}"] == ("all ports", "blocked")
    assert shown[f"Other addresses {place}"] == ("all ports", "blocked")


def test_a_project_without_pods_shows_an_example() -> None:
    empty = offline(objects={NAMESPACES: SPACES, PODS: (), NETWORK_POLICIES: ()})
    draft = WizardDraft.of(NETWORK_POLICY, empty, [])
    filled_in(draft, podSelector="app=new")
    [reach] = Evaluation(empty, draft.main).reaches(INGRESS)
    assert (reach.name, reach.count) == ("app=new", 0)


def test_many_pods_with_the_same_connections_are_one_row() -> None:
    pods = [pod(f"p{n}", "probe") for n in range(20)] + [pod("shop", f"w{n}") for n in range(20)]
    spaces = [namespace("shop"), *(namespace(f"p{n}") for n in range(20))]
    many = offline(objects={PODS: pods, NAMESPACES: spaces, NETWORK_POLICIES: ()})
    draft = WizardDraft.of(NETWORK_POLICY, many, [])
    [reach] = Evaluation(many, draft.main).reaches(INGRESS)
    assert reach.name == "w0, w1 and 18 more"
    assert [f"{one.name} ({one.place})" for one in reach.peers] == [
        "Pods of 20 workloads (this project, 20 pods)",
        "Other pods (20 projects, 20 pods)",
        "All addresses (outside the cluster)",
    ]


def test_the_drawing_has_a_text_for_before_and_after() -> None:
    draft = new_policy()
    filled_in(draft, selected="Deployment web")
    html = step_html(draft, NETWORK_POLICY.steps[0])
    assert html.count('<svg class="reach"') == 2 == html.count('role="img"')
    assert "api (this project, 1 pod): all ports; All pods (ops, 2 pods): blocked" in html
    assert "2 pods match now." in html


def test_pods_of_viewers_without_permissions_are_left_out() -> None:
    draft = WizardDraft.of(NETWORK_POLICY, offline(), [])
    html = step_html(draft, NETWORK_POLICY.steps[0])
    assert "You can&#x27;t list the network policies of this project" in html
    assert "Pods and projects that you can&#x27;t list are left out." in html


def warnings(draft: WizardDraft) -> list[str]:
    state = FormState(draft.context, draft.documents)
    return [one.text for one in NETWORK_POLICY.warnings(state)]


def test_a_page_evaluates_a_draft_once(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []

    def counted(manifest: Mapping[str, Any], namespace: str) -> Policy:
        names.append(manifest["metadata"].get("name", ""))
        return read_policy(manifest, namespace)

    monkeypatch.setattr("console.wizards.reach.read_policy", counted)
    draft = WizardDraft.of(
        NETWORK_POLICY,
        offline(objects={**context().objects, NETWORK_POLICIES: (policy("all", podSelector={}),)}),
        [],
    )
    step_html(draft, NETWORK_POLICY.steps[0])
    NETWORK_POLICY.facts(draft.scope(draft.state("")))
    warnings(draft)
    assert sorted(names) == ["", "all"]
    filled_in(draft, name="web", preset="deny-out")
    names.clear()
    assert warnings(draft)
    assert sorted(names) == ["all", "web"]


def test_blocked_dns_is_a_warning_that_a_button_fixes() -> None:
    draft = new_policy()
    filled_in(draft, preset="deny-out")
    assert warnings(draft) == ["No rule allows DNS (UDP port 53), so names can't be resolved."]
    draft.submit(NETWORK_POLICY.steps[0], fields_of(draft), "types.egress.dns.fill")
    assert warnings(draft) == []
    assert fields_of(draft)["preset"] == "dns"


def test_an_ingress_that_loses_its_controller_is_a_warning() -> None:
    service = CachedObject(Key("shop", "web"), Projection(selector="app=web"))
    ingress = CachedObject(Key("shop", "shop"), Projection(backends=("web",)))
    held = context()
    objects = {**held.objects, SERVICES: (service,), INGRESSES: (ingress,)}
    draft = WizardDraft.of(NETWORK_POLICY, offline(objects=objects), [])
    assert warnings(draft) == [
        "Ingress shop may stop working: no pods of other projects can connect."
    ]
    filled_in(draft, **{f"{RULE}from__0__kind": "projects"})
    assert warnings(draft) == []


@pytest.mark.parametrize("spec", ["x", None, [], {"ingress": "x"}, {"policyTypes": ["X"]}])
def test_values_of_other_types_are_kept(spec: Any) -> None:
    manifest = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "spec": spec}
    draft = WizardDraft.of(NETWORK_POLICY, context(), [manifest])
    filled_in(draft, name="web")
    assert draft.main["spec"] == spec
    assert step_html(draft, NETWORK_POLICY.steps[0]) and NETWORK_POLICY.facts(
        draft.scope(draft.state(""))
    )
