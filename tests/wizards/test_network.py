"""Wizards of network objects write the manifests that an expert would write."""

from console.kube.gvr import DEPLOYMENTS
from console.ui.wizard.wizard import WizardDraft
from console.wizards import network
from tests.support.wizard_forms import filled_in, offline


class _Deployment:
    """A cached Deployment whose pods have the label `app=web`."""

    key = type("Key", (), {"name": "web"})
    projection = type("Projection", (), {"selector": "app=web"})


def new_service() -> WizardDraft:
    context = offline(objects={DEPLOYMENTS: [_Deployment]})
    return WizardDraft.of(network.SERVICE, context, [])


def test_a_service_selects_the_pods_of_a_chosen_workload() -> None:
    draft = new_service()
    made = filled_in(draft, name="web", kind__cluster__pods="Deployment web")
    assert made["spec"] == {"ports": [{"port": 80}], "selector": {"app": "web"}}


def test_a_service_that_loses_its_node_ports_has_no_node_port_numbers() -> None:
    draft = new_service()
    filled_in(draft, kind="node")
    filled_in(draft, **{"kind.node.ports.0.nodePort": "30080"})
    assert draft.main["spec"] == {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30080}]}
    assert filled_in(draft, kind="headless")["spec"] == {
        "clusterIP": "None",
        "ports": [{"port": 80}],
    }


def test_a_provider_fills_in_its_annotations_and_keeps_others() -> None:
    draft = new_service()
    filled_in(draft, kind="balancer", annotations="team=shop")
    made = filled_in(draft, kind__balancer__provider="openelb")
    assert made["metadata"]["annotations"] == {
        "team": "shop",
        "lb.kubesphere.io/v1alpha1": "openelb",
        "protocol.openelb.kubesphere.io/v1alpha1": "layer2",
    }
    assert made["spec"]["type"] == "LoadBalancer"


def test_an_ingress_leads_to_a_named_port() -> None:
    draft = WizardDraft.of(network.INGRESS, offline(), [])
    made = filled_in(
        draft, name="shop", rules__0__paths__0__service="web", rules__0__paths__0__port="http"
    )
    [rule] = made["spec"]["rules"]
    [path] = rule["http"]["paths"]
    assert path["backend"] == {"service": {"name": "web", "port": {"name": "http"}}}
