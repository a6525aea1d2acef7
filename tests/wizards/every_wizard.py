"""Every wizard with manifests of its kind that have many fields."""

from typing import Any

from console.ui.wizard.wizard import Wizard
from console.wizards import (
    configuration,
    jobs,
    network,
    network_policies,
    policies,
    secrets,
    storage,
    workloads,
)
from tests.wizards import rich

WIZARDS: list[tuple[Wizard, dict[str, Any]]] = [
    (workloads.DEPLOYMENT, rich.DEPLOYMENT),
    (configuration.CONFIG_MAP, rich.CONFIG_MAP),
    (configuration.SERVICE_ACCOUNT, rich.SERVICE_ACCOUNT),
    (storage.PERSISTENT_VOLUME_CLAIM, rich.PERSISTENT_VOLUME_CLAIM),
    (network.SERVICE, rich.SERVICE),
    (network.SERVICE, rich.EXTERNAL_NAME),
    (network.SERVICE, rich.HEADLESS),
    (secrets.SECRET, rich.OPAQUE),
    (secrets.SECRET, rich.REGISTRY),
    (secrets.SECRET, rich.BASIC_AUTH),
    (secrets.SECRET, rich.SSH_KEY),
    (network.INGRESS, rich.INGRESS),
    (network.HTTP_ROUTE, rich.HTTP_ROUTE),
    (network_policies.NETWORK_POLICY, rich.NETWORK_POLICY),
    (storage.STORAGE_CLASS, rich.STORAGE_CLASS),
    (storage.VOLUME_SNAPSHOT, rich.VOLUME_SNAPSHOT),
    (storage.VOLUME_SNAPSHOT_CLASS, rich.VOLUME_SNAPSHOT_CLASS),
    (policies.HORIZONTAL_POD_AUTOSCALER, rich.HORIZONTAL_POD_AUTOSCALER),
    (policies.POD_DISRUPTION_BUDGET, rich.POD_DISRUPTION_BUDGET),
    (policies.RESOURCE_QUOTA, rich.RESOURCE_QUOTA),
    (policies.LIMIT_RANGE, rich.LIMIT_RANGE),
    (policies.PRIORITY_CLASS, rich.PRIORITY_CLASS),
    (workloads.STATEFUL_SET, rich.STATEFUL_SET),
    (workloads.DAEMON_SET, rich.DAEMON_SET),
    (jobs.JOB, rich.JOB),
    (jobs.CRON_JOB, rich.CRON_JOB),
]
