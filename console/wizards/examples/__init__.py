"""Examples of the kinds. The manifests are in the files of this directory."""

from pathlib import Path

from django.utils.translation import gettext_lazy

from console.ui.wizard.examples import Example
from console.ui.wizard.fields import Text


def _example(id: str, title: Text, hint: Text) -> Example:
    return Example(id=id, title=title, hint=hint, path=Path(__file__).with_name(f"{id}.yaml"))


DEPLOYMENTS = (
    _example(
        "web",
        gettext_lazy("Web application"),
        gettext_lazy("Two replicas with health checks, limits and a Service"),
    ),
    _example(
        "worker",
        gettext_lazy("Background worker"),
        gettext_lazy("Handles jobs of a queue without accepting connections"),
    ),
)
STATEFUL_SETS = (
    _example(
        "postgres",
        gettext_lazy("PostgreSQL database"),
        gettext_lazy("One replica with a volume claim, and a generated password in a Secret"),
    ),
    _example(
        "cache",
        gettext_lazy("Cache that survives restarts"),
        gettext_lazy("Valkey with a volume claim for its append-only file"),
    ),
)
DAEMON_SETS = (
    _example(
        "node-exporter",
        gettext_lazy("Node metrics"),
        gettext_lazy("Prometheus node exporter on every node, without changes to the node"),
    ),
)
JOBS = (
    _example(
        "migration",
        gettext_lazy("Database migration"),
        gettext_lazy(
            "Runs once, is retried twice, ends after 10 minutes, and is deleted after a day"
        ),
    ),
)
CRON_JOBS = (
    _example(
        "nightly",
        gettext_lazy("Nightly task"),
        gettext_lazy("At 2:00, never twice at the same time, with a time limit"),
    ),
)
SERVICES = (
    _example(
        "web-internal",
        gettext_lazy("Address inside the cluster"),
        gettext_lazy("Port 80 leads to the named port http of the pods"),
    ),
    _example(
        "outside-database",
        gettext_lazy("Name for a server outside the cluster"),
        gettext_lazy("Apps use the name of the Service, and the server can change"),
    ),
)
INGRESSES = (
    _example(
        "web-tls",
        gettext_lazy("Host name with TLS"),
        gettext_lazy("A host name with a certificate from a Secret, and a Service behind it"),
    ),
)
HTTP_ROUTES = (
    _example(
        "canary",
        gettext_lazy("Canary release"),
        gettext_lazy("90% of the requests to the stable version, 10% to the new one"),
    ),
)
NETWORK_POLICIES = (
    _example(
        "deny-all",
        gettext_lazy("Deny all traffic except DNS"),
        gettext_lazy("A safe start: other policies then allow single connections"),
    ),
    _example(
        "same-project",
        gettext_lazy("Allow traffic inside the project"),
        gettext_lazy("Pods accept connections only from pods of the same project"),
    ),
)
CONFIG_MAPS = (
    _example(
        "nginx-config",
        gettext_lazy("Configuration file"),
        gettext_lazy("A file for nginx, which pods mount as a volume"),
    ),
)
SERVICE_ACCOUNTS = (
    _example(
        "config-reader",
        gettext_lazy("Account that reads configuration"),
        gettext_lazy("A service account with a role that may only read ConfigMaps"),
    ),
)
PERSISTENT_VOLUME_CLAIMS = (
    _example(
        "data",
        gettext_lazy("Volume for one pod"),
        gettext_lazy("10Gi of the default storage class"),
    ),
)
STORAGE_CLASSES = (
    _example(
        "local-disks",
        gettext_lazy("Disks of the nodes"),
        gettext_lazy("Volumes are bound when a pod is scheduled, and kept without a claim"),
    ),
)
HORIZONTAL_POD_AUTOSCALERS = (
    _example(
        "web-autoscaler",
        gettext_lazy("Scale by CPU usage"),
        gettext_lazy("2 to 10 replicas at 70% CPU, fewer replicas only after 5 minutes"),
    ),
)
POD_DISRUPTION_BUDGETS = (
    _example(
        "one-at-a-time",
        gettext_lazy("One pod at a time"),
        gettext_lazy("Node maintenance evicts one pod after the other, and broken pods right away"),
    ),
)
RESOURCE_QUOTAS = (
    _example(
        "small-project",
        gettext_lazy("Small project"),
        gettext_lazy("4 cores, 8Gi of memory, 100Gi of storage and no load balancers"),
    ),
)
LIMIT_RANGES = (
    _example(
        "container-defaults",
        gettext_lazy("Defaults for containers"),
        gettext_lazy("Requests and limits for containers that don't set their own"),
    ),
)
PRIORITY_CLASSES = (
    _example(
        "batch-jobs",
        gettext_lazy("Low priority for batch jobs"),
        gettext_lazy("These pods wait for free capacity and never evict other pods"),
    ),
)
