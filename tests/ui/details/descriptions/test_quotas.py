"""The pages of quotas, limit ranges and disruption budgets."""

from console.kube.gvr import LIMIT_RANGES, POD_DISRUPTION_BUDGETS, RESOURCE_QUOTAS
from tests.ui.details.descriptions.described import described, html_of, objects

QUOTA = objects("""
metadata: {name: units, namespace: cases-q}
spec: {hard: {configmaps: 5k, requests.storage: 1500M}}
status:
  hard: {configmaps: 5k, requests.storage: 1500M, pods: '0', limits.cpu: '2', count/x.y: '3'}
  used: {configmaps: '2', requests.storage: 1.4G, pods: '0', limits.cpu: 2500m}
---
metadata: {name: new, namespace: cases-q}
spec: {hard: {requests.cpu: 1e3, requests.example.com/gpu: '4'}}
---
metadata: {name: scoped, namespace: cases-q}
spec:
  hard: {pods: '10'}
  scopeSelector:
    matchExpressions: [{scopeName: PriorityClass, operator: In, values: [high, critical]}]
---
metadata: {name: scopes-old, namespace: cases-q}
spec:
  hard: {pods: '3'}
  scopes: [BestEffort, NotTerminating]
""")


def test_usage_is_shown_as_bars() -> None:
    text, html = (
        described(RESOURCE_QUOTAS, QUOTA["units"]),
        html_of(RESOURCE_QUOTAS, QUOTA["units"]),
    )
    assert "configmaps 2 of 5k, 0 %" in text
    assert "requests.storage 1.4G of 1500M, 93 %" in text
    assert "limits.cpu 2500m of 2, 125 %" in text
    assert "pods 0 of 0, 0 %" in text and "count/x.y 0 of 3, 0 %" in text
    assert html.count('data-level="error"') == 1 and html.count('data-level="warn"') == 1
    assert "Counts only" not in text


def test_limits_are_shown_before_the_usage_is_counted() -> None:
    text = described(RESOURCE_QUOTAS, QUOTA["new"])
    assert "usage not counted yet" in text and "requests.example.com/gpu 4" in text


def test_scope_selector_is_described() -> None:
    text = described(RESOURCE_QUOTAS, QUOTA["scoped"])
    assert "Counts only pods whose priority class is one of: high, critical." in text


def test_all_scopes_are_described() -> None:
    text = described(RESOURCE_QUOTAS, QUOTA["scopes-old"])
    assert text.startswith("Counts only objects that match all of these scopes:")
    assert "without requests and limits (BestEffort) pods without an active deadline" in text


def test_limit_range_is_a_table() -> None:
    obj = objects("""
metadata: {name: l, namespace: a}
spec:
  limits:
  - type: Container
    default: {cpu: 500m}
    defaultRequest: {cpu: 100m}
    max: {memory: 1Gi}
    maxLimitRequestRatio: {cpu: '4'}
  - {type: PersistentVolumeClaim, min: {storage: 1Gi}}
""")["l"]
    text = described(LIMIT_RANGES, obj)
    assert "Container cpu — — 100m 500m 4" in text
    assert "Container memory — 1Gi — — —" in text
    assert "PersistentVolumeClaim storage 1Gi" in text


def test_eviction_policy_of_unhealthy_pods_is_described() -> None:
    budgets = objects("""
metadata: {name: always, namespace: a}
spec: {maxUnavailable: 0, unhealthyPodEvictionPolicy: AlwaysAllow, selector: {matchLabels: {a: b}}}
---
metadata: {name: default, namespace: a}
spec: {minAvailable: 34%, selector: {matchLabels: {a: b}}}
""")
    always = described(POD_DISRUPTION_BUDGETS, budgets["always"])
    assert always == "Unhealthy pods Can always be evicted (AlwaysAllow)."
    assert "(IfHealthyBudget)" in described(POD_DISRUPTION_BUDGETS, budgets["default"])
