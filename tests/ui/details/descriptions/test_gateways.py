"""The pages of Gateways and routes show listeners, matches and backends."""

from console.kube.gvr import GATEWAYS, GRPC_ROUTES, HTTP_ROUTES
from tests.ui.details.descriptions.described import described, objects

FOUND = objects("""
metadata: {name: edge, namespace: a}
spec:
  gatewayClassName: c
  listeners:
  - name: https
    hostname: '*.example.org'
    port: 443
    protocol: HTTPS
    tls: {mode: Terminate, certificateRefs: [{name: wild, namespace: certs}]}
    allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {team: a}}}}
  - {name: http, port: 80, protocol: HTTP}
status:
  listeners: [{name: https, attachedRoutes: 3}]
---
metadata: {name: web, namespace: a}
spec:
  hostnames: [shop.example.org]
  parentRefs: [{name: edge, namespace: infra, sectionName: https}]
  rules:
  - matches:
    - path: {type: Exact, value: /a}
      method: GET
      headers: [{name: version, value: '2'}]
    filters:
    - {type: RequestRedirect, requestRedirect: {scheme: https, statusCode: 301}}
    - {type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: X-A, value: b}]}}
    backendRefs: [{name: v1, port: 80, weight: 90}, {name: v2, port: 80, weight: 0}]
    timeouts: {request: 10s}
  - backendRefs: [{name: rest, port: 8080, namespace: b}]
---
metadata: {name: rpc, namespace: a}
spec:
  parentRefs: [{name: edge}]
  rules: [{matches: [{method: {service: shop.Cart, method: Add}}]}]
""")


def test_listeners_show_host_tls_and_accepted_routes() -> None:
    text = described(GATEWAYS, FOUND["edge"])
    assert (
        "https *.example.org 443 HTTPS decrypted by the gateway certs/wild projects with team=a 3"
        in text
    )
    assert "http all hosts 80 HTTP — this project" in text


def test_rules_of_a_route_show_matches_filters_and_weights() -> None:
    text = described(HTTP_ROUTES, FOUND["web"])
    assert "Hosts shop.example.org Attached to infra/edge, listener https" in text
    assert "GET, Exact /a, header version = 2" in text
    assert "RequestRedirect (scheme: https, statusCode: 301)" in text
    assert "RequestHeaderModifier (set: X-A=b)" in text
    assert "v1:80 (weight 90) v2:80 (weight 0) request: 10s" in text
    assert "all requests — b/rest:8080" in text


def test_grpc_methods_are_shown() -> None:
    assert "shop.Cart/Add" in described(GRPC_ROUTES, FOUND["rpc"])
