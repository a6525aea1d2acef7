"""Objects that resemble the rendered output of well-known public Helm charts.

Each file contains the documents of a chart in the style of its templates: unknown and empty fields,
nulls, quoted numbers, octal modes, scripts, hooks and comments. They were written for the tests, and
are not copies of charts. `@name`, `@namespace`, `@labels` and `@selector` are what a release fills in.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from string import Template
from typing import Any

from console.views.wizards import read_manifests

FOLDER = Path(__file__).parent
_HEAD = re.compile(r"# chart: (?P<chart>(?P<name>[a-z-]+?)-v?[0-9.]+) (?P<version>\S+)\n")
#: Names of releases. The second one has values as in production.
PLAIN, PRODUCTION = "demo", "shop-production"


class _Chart(Template):
    delimiter = "@"


def rendered(path: Path, release: str) -> str:
    """Return the documents of a chart as text."""
    text = path.read_text()
    head = _HEAD.match(text)
    assert head is not None, path
    selector = f"app.kubernetes.io/name: {head['name']}, app.kubernetes.io/instance: {release}"
    labels = (
        f"helm.sh/chart: {head['chart']}, app.kubernetes.io/managed-by: Helm, "
        f'app.kubernetes.io/version: "{head["version"]}", {selector}'
    )
    # The labels of a selector are a part of the labels of the pods.
    text = text.replace("{@labels, @selector", "{@labels")
    name = f"{release}-{head['name']}"
    return _Chart(text).safe_substitute(
        name=name, namespace="platform", labels=labels, selector=selector
    )


def chart_objects() -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Yield the chart, the release and its objects. `PRODUCTION` has additional values."""
    for path in sorted(FOLDER.glob("*.yaml")):
        for release in (PLAIN, PRODUCTION):
            manifests = read_manifests(rendered(path, release))
            if release == PRODUCTION:
                manifests = [with_production_values(one) for one in manifests]
            yield path.stem, release, manifests


def with_production_values(manifest: dict[str, Any]) -> dict[str, Any]:
    """Add what charts render for common values: common labels and annotations of a company, and of
    pods additional environment variables, volumes, sidecars, tolerations, spread and probes.
    """
    metadata, spec = manifest["metadata"], manifest.get("spec")
    metadata["labels"] = {**(metadata.get("labels") or {}), "cost-center": "0042", "tier": "1e3"}
    metadata["annotations"] = {
        **(metadata.get("annotations") or {}),
        "meta.helm.sh/release-name": PRODUCTION,
        "argocd.argoproj.io/sync-wave": "-1",
        "example.com/owners": '["on-call@example.com"]',
        "kubectl.kubernetes.io/last-applied-configuration": '{"apiVersion":"v1"}\n' * 40,
    }
    if not isinstance(spec, dict):
        return manifest
    job = spec.get("jobTemplate", {}).get("spec", spec)
    template = job.get("template") if isinstance(job, dict) else None
    if isinstance(template, dict):
        _add_to_pods(template)
    if manifest["kind"] == "Service":
        spec |= {"trafficDistribution": "PreferClose", "healthCheckNodePort": None}
    if manifest["kind"] == "PersistentVolumeClaim":
        spec |= {"storageClassName": "-", "dataSource": None}
    return manifest


def _add_to_pods(template: dict[str, Any]) -> None:
    template["metadata"] = {
        **(template.get("metadata") or {}),
        "annotations": {
            "linkerd.io/inject": "enabled",
            "vault.hashicorp.com/agent-inject-template-env": '{{ with secret "a/b" }}\n{{ end }}',
        },
        "creationTimestamp": None,
    }
    pod = template["spec"]
    pod |= {
        "priorityClassName": "high",
        "schedulerName": "default-scheduler",
        "runtimeClassName": None,
        "dnsConfig": {"options": [{"name": "ndots", "value": "2"}, {"name": "edns0"}]},
        "imagePullSecrets": [{"name": "mirror"}, {"name": "quay"}],
        "nodeSelector": {**(pod.get("nodeSelector") or {}), "node.example.com/pool": "on"},
        "tolerations": [{"key": "spot", "operator": "Equal", "value": "true", "effect": None}],
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"app": "a"}},
                "matchLabelKeys": ["pod-template-hash"],
            }
        ],
        "x-unknown": {"list": [1, {"a": None}], "empty": {}},
        "volumes": [
            *(pod.get("volumes") or []),
            {"name": "tmp-extra", "emptyDir": None},
            {
                "name": "scratch",
                "ephemeral": {
                    "volumeClaimTemplate": {
                        "spec": {
                            "accessModes": ["ReadWriteOnce"],
                            "resources": {"requests": {"storage": "1Gi"}},
                        }
                    }
                },
            },
        ],
    }
    for container in pod["containers"]:
        container["env"] = [
            *(container.get("env") or []),
            {"name": "TZ", "value": "Europe/Berlin"},
            {"name": "PORT", "value": "8080"},
            {"name": "LEADING", "value": " a "},
            {"name": "SCRIPT", "value": 'set -e\n\techo "$HOME"\n\n# end \n'},
            {"name": "YES", "value": "yes"},
            {"name": "NULL", "value": "null"},
        ]
        container["resources"] = {
            "requests": {"cpu": "0.25", "memory": "268435456", "hugepages-2Mi": "0"},
            "limits": {"memory": "1.5Gi", "nvidia.com/gpu": 1, "cpu": None},
            "claims": [],
        }
        container["terminationMessagePolicy"] = "FallbackToLogsOnError"
        container["stdin"] = False
    pod["containers"].append(
        {
            "name": "log-shipper",
            "image": "registry.example.com:5000/team/fluent-bit@sha256:" + "0" * 64,
            "args": None,
            "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
        }
    )
