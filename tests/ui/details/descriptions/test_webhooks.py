"""The pages of webhook configurations, service accounts, leases and certificate requests."""

from console.kube.gvr import (
    CERTIFICATE_SIGNING_REQUESTS,
    LEASES,
    SERVICE_ACCOUNTS,
    VALIDATING_WEBHOOK_CONFIGURATIONS,
)
from tests.ui.details.descriptions.described import described, objects

FOUND = objects("""
metadata: {name: hooks}
webhooks:
- name: check.example.org
  clientConfig: {service: {namespace: sys, name: hook, port: 8443, path: check}, caBundle: Zm9v}
  rules:
  - {operations: [CREATE, UPDATE], apiGroups: [apps], apiVersions: [v1], resources: [deployments]}
  failurePolicy: Ignore
  sideEffects: None
  timeoutSeconds: 5
  namespaceSelector: {matchLabels: {team: a}}
  matchConditions: [{name: not-system, expression: 'request.userInfo.username != "x"'}]
- name: other.example.org
  clientConfig: {url: 'https://hooks.example.org/x'}
---
metadata: {name: ci, namespace: a}
automountServiceAccountToken: false
imagePullSecrets: [{name: registry}]
---
metadata: {name: leader, namespace: a}
spec: {holderIdentity: x, acquireTime: '2026-11-20T10:00:00.000000Z', preferredHolder: y}
---
metadata: {name: csr}
spec: {request: bm90IFBFTQ==, signerName: example.org/s, groups: [devs, 'system:authenticated']}
""")


def test_webhooks_show_target_rules_and_policies() -> None:
    text = described(VALIDATING_WEBHOOK_CONFIGURATIONS, FOUND["hooks"])
    assert "Calls sys/hook:8443/check" in text
    assert "On failure accept the request (Ignore) Timeout 5 seconds Side effects none" in text
    assert "Projects team=a Objects all" in text
    assert 'not-system: request.userInfo.username != "x"' in text
    assert "CREATE, UPDATE deployments.apps v1" in text
    assert "other.example.org Calls https://hooks.example.org/x" in text
    assert "On failure reject the request (Fail) Timeout 10 seconds" in text


def test_service_account_shows_secrets_and_token() -> None:
    text = described(SERVICE_ACCOUNTS, FOUND["ci"])
    assert "Token in pods not mounted unless the pod requests it" in text
    assert "Mountable secrets none Image pull secrets registry" in text


def test_lease_shows_when_it_was_acquired() -> None:
    text = described(LEASES, FOUND["leader"])
    assert text == "Acquired 2026-11-20 10:00:00 UTC Preferred holder y"


def test_certificate_request_shows_its_subject_and_groups() -> None:
    text = described(CERTIFICATE_SIGNING_REQUESTS, FOUND["csr"])
    assert text == (
        "Subject could not be decoded Groups of the requestor devs system:authenticated"
    )
