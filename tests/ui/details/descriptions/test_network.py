"""The pages of Services, Ingresses and EndpointSlices show what the objects do."""

from console.kube.gvr import (
    ENDPOINT_SLICES,
    INGRESS_CLASSES,
    INGRESSES,
    PODS,
    SERVICES,
)
from tests.ui.details.descriptions.described import described, html_of, objects

INGRESS = objects("""
metadata: {name: wildcards-no-http, namespace: cases-a}
spec:
  rules: [{host: '*.one.example.org'}, {host: '*.two.example.org'}]
  tls: [{hosts: ['*.one.example.org'], secretName: wild}, {hosts: ['*.two.example.org']}]
---
metadata: {name: default-only, namespace: cases-a}
spec:
  defaultBackend: {service: {name: fallback, port: {name: http}}}
---
metadata: {name: bucket, namespace: cases-a}
spec:
  defaultBackend: {resource: {apiGroup: storage.example.org, kind: Bucket, name: assets}}
  rules:
  - http:
      paths:
      - path: /icons
        pathType: ImplementationSpecific
        backend: {resource: {apiGroup: storage.example.org, kind: Bucket, name: icons}}
  - host: other.example.org
    http:
      paths:
      - {path: /a, pathType: Prefix, backend: {service: {name: b, port: {name: web}}}}
      - {pathType: Exact, backend: {service: {name: c, port: {number: 80}}}}
""")

SERVICE = objects("""
metadata: {name: no-ports-headless, namespace: cases-a}
spec: {clusterIP: None, selector: {app: x}}
---
metadata: {name: external-name, namespace: cases-a}
spec: {type: ExternalName, externalName: db.example.org, selector: {app: x}}
---
metadata: {name: no-selector, namespace: cases-a}
spec: {ports: [{name: pg, port: 5432, targetPort: pg-alt, appProtocol: postgresql}]}
---
metadata: {name: lb-local, namespace: cases-a}
spec:
  type: LoadBalancer
  externalTrafficPolicy: Local
  internalTrafficPolicy: Cluster
  loadBalancerSourceRanges: [10.0.0.0/8]
  externalIPs: [192.0.2.7]
  ipFamilies: [IPv4, IPv6]
  ipFamilyPolicy: PreferDualStack
  sessionAffinity: ClientIP
  sessionAffinityConfig: {clientIP: {timeoutSeconds: 600}}
  ports:
  - {name: http, port: 80, targetPort: 8080, nodePort: 30080}
  - {name: dns, port: 53, protocol: UDP, nodePort: 30053}
  selector: {app: x}
status:
  loadBalancer: {ingress: [{hostname: lb-1.example.org}, {ip: 203.0.113.9, ipMode: Proxy}]}
""")


def test_rules_of_an_ingress_show_host_path_type_and_port() -> None:
    text = described(INGRESSES, INGRESS["bucket"])
    assert "all hosts /icons ImplementationSpecific Bucket.storage.example.org/icons" in text
    assert "other.example.org /a Prefix b:web" in text
    assert "other.example.org all paths Exact c:80" in text
    assert "Default backend Bucket.storage.example.org/assets" in text


def test_ingress_without_paths_shows_its_hosts_and_certificates() -> None:
    text = described(INGRESSES, INGRESS["wildcards-no-http"])
    assert "*.two.example.org all paths the default backend" in text
    assert "*.one.example.org wild" in text
    assert "*.two.example.org none: the controller chooses the certificate" in text


def test_ingress_with_only_a_default_backend_shows_it() -> None:
    text = described(INGRESSES, INGRESS["default-only"])
    assert text.startswith("Default backend fallback:http")


def test_long_ingress_is_cut_with_the_number_of_further_rules() -> None:
    rules = [{"host": f"h{n}.example.org"} for n in range(1000)]
    obj = {"metadata": {"name": "many", "namespace": "a", "uid": "u"}, "spec": {"rules": rules}}
    html = html_of(INGRESSES, obj)
    assert "h99.example.org" in html and "h100.example.org" not in html
    assert "and 900 more" in html and len(html) < 60_000


def test_foreign_text_in_a_rule_is_escaped() -> None:
    rules = [{"host": "<b>\u202e"}]
    obj = {"metadata": {"name": "odd", "namespace": "a", "uid": "u"}, "spec": {"rules": rules}}
    html = html_of(INGRESSES, obj)
    assert "&lt;b&gt;⟨U+202E⟩" in html and "<b>" not in html


def test_load_balancer_shows_traffic_policies_sources_and_affinity() -> None:
    text = described(SERVICES, SERVICE["lb-local"])
    assert "IP families IPv4, IPv6 (PreferDualStack)" in text
    assert "Load balancer lb-1.example.org 203.0.113.9 (Proxy)" in text
    assert "External IPs 192.0.2.7" in text and "Allowed sources 10.0.0.0/8" in text
    assert "External traffic Local: traffic goes only to pods on the node" in text
    assert "Internal traffic Cluster: traffic may go to pods on any node" in text
    assert "go to the same pod (timeout: 10m)" in text


def test_ports_of_a_service_show_target_and_node_ports() -> None:
    text = described(SERVICES, SERVICE["lb-local"], "ports")
    assert "80 http 8080 30080" in text and "53 /UDP dns 53 30053" in text
    assert "App protocol" not in text
    text = described(SERVICES, SERVICE["no-selector"], "ports")
    assert "5432 pg pg-alt postgresql" in text and "Node port" not in text


def test_external_name_is_explained_and_not_reported_as_broken() -> None:
    name = SERVICE["external-name"]
    assert "DNS answers with the external name db.example.org." in described(SERVICES, name)
    assert described(SERVICES, name, "endpoints", ENDPOINT_SLICES, PODS) == ""
    assert described(SERVICES, name, "cause", ENDPOINT_SLICES, PODS) == ""


def test_headless_service_is_explained() -> None:
    assert described(SERVICES, SERVICE["no-ports-headless"]).startswith("Headless: DNS answers")


def test_endpoint_slice_shows_conditions_and_ports() -> None:
    obj = objects("""
metadata: {name: web-1, namespace: a}
addressType: IPv4
ports: [{name: http, port: 80, appProtocol: h2c}]
endpoints:
- addresses: [10.0.0.1]
  conditions: {ready: false, serving: true, terminating: true}
  targetRef: {kind: Pod, name: web-a}
  nodeName: node-1
  zone: eu-1a
""")["web-1"]
    text = described(ENDPOINT_SLICES, obj)
    assert "http 80 TCP h2c" in text
    assert "10.0.0.1 not ready, serving, terminating Pod/web-a node-1 eu-1a" in text


def test_ingress_class_shows_the_namespace_of_its_parameters() -> None:
    obj = objects("""
metadata: {name: nginx}
spec:
  controller: example.com/c
  parameters: {apiGroup: k8s.example.com, kind: P, scope: Namespace, namespace: x, name: y}
""")["nginx"]
    text = described(INGRESS_CLASSES, obj)
    assert text == "Parameters P.k8s.example.com/x/y Scope of the parameters Namespace"
