"""The page of a NetworkPolicy describes its rules in sentences."""

from typing import Any

from console.kube.gvr import NETWORK_POLICIES
from tests.ui.details.descriptions.described import described


def policy(**spec: Any) -> dict[str, Any]:
    meta = {"name": "p", "namespace": "a", "uid": "u"}
    return {"metadata": meta, "spec": {"podSelector": {}, **spec}}


def test_peers_and_ports_are_described_in_one_sentence() -> None:
    web, team = {"matchLabels": {"app": "web"}}, {"matchLabels": {"team": "a"}}
    rule = {
        "from": [{"podSelector": web, "namespaceSelector": team}, {"podSelector": web}],
        "ports": [{"port": 80, "endPort": 90}, {"protocol": "UDP"}, {"port": "dns"}],
    }
    ports = "TCP 80–90, UDP (all ports), TCP dns"
    assert described(NETWORK_POLICIES, policy(ingress=[rule])) == (
        f"Ingress Allows ingress from pods with app=web in projects with team=a on {ports}. "
        f"Allows ingress from pods with app=web in this project on {ports}. "
        "Egress Does not affect egress."
    )


def test_policies_without_rules_deny_everything() -> None:
    text = described(NETWORK_POLICIES, policy(policyTypes=["Ingress", "Egress"]))
    assert text == "Ingress Denies all ingress. Egress Denies all egress."


def test_empty_rule_allows_everything() -> None:
    text = described(NETWORK_POLICIES, policy(egress=[{}], policyTypes=["Egress"]))
    assert text == "Ingress Does not affect ingress. Egress Allows all egress."


def test_blocks_and_empty_selectors_are_described() -> None:
    block = {"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16", "10.2.0.0/16"]}}
    peers = [block, {"namespaceSelector": {}}, {"podSelector": {}}]
    text = described(NETWORK_POLICIES, policy(egress=[{"to": peers}]))
    assert "Allows egress to 10.0.0.0/8 except 10.1.0.0/16, 10.2.0.0/16." in text
    assert "Allows egress to all pods in all projects." in text
    assert "Allows egress to all pods in this project." in text


def test_ports_without_peers_apply_to_any_source() -> None:
    text = described(NETWORK_POLICIES, policy(ingress=[{"ports": [{"port": 443}]}]))
    assert "Allows ingress from any source on TCP 443." in text


def test_invalid_selector_is_not_shown_as_all_pods() -> None:
    peers = [{"podSelector": {"matchLabels": {"app": 1}}}]
    text = described(NETWORK_POLICIES, policy(ingress=[{"from": peers}]))
    assert "pods with an invalid selector" in text


def test_sentences_are_limited() -> None:
    rules = [{"from": [{"ipBlock": {"cidr": f"10.0.{n}.0/24"}}]} for n in range(1000)]
    text = described(NETWORK_POLICIES, policy(ingress=rules))
    assert "10.0.99.0/24" in text and "10.0.100.0/24" not in text and "and 900 more" in text
