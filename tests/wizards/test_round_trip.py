"""A manifest that is opened in its wizard and saved unchanged is unchanged."""

import json
from copy import deepcopy
from random import Random
from typing import Any

import pytest

from console.ui.wizard.fields import BoundField
from console.ui.wizard.parts import walk
from console.ui.wizard.wizard import Wizard, WizardDraft
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
from tests.support.depth import SEED, number
from tests.support.wizard_forms import EXISTING, manifest_variation, saved_unchanged
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


@pytest.mark.parametrize(
    ("wizard", "manifest"), WIZARDS, ids=[wizard.main.api_kind for wizard, _manifest in WIZARDS]
)
def test_an_unchanged_manifest_stays_unchanged(wizard: Wizard, manifest: dict[str, Any]) -> None:
    assert saved_unchanged(wizard, EXISTING, manifest) == [manifest]
    random = Random(SEED)  # noqa: S311
    for count in range(number(200, 10_000)):
        varied = manifest_variation(manifest, random)
        got = saved_unchanged(wizard, EXISTING, deepcopy(varied), rendered=count % 20 == 0)
        assert json.dumps(got, sort_keys=True) == json.dumps([varied], sort_keys=True)


@pytest.mark.parametrize(
    ("wizard", "manifest"), WIZARDS, ids=[wizard.main.api_kind for wizard, _manifest in WIZARDS]
)
def test_the_fields_of_a_step_have_different_names(
    wizard: Wizard, manifest: dict[str, Any]
) -> None:
    draft = WizardDraft.of(wizard, EXISTING, [deepcopy(manifest)])
    for step in wizard.steps:
        nodes = [node for one in draft.bound(step) for node in walk(one)]
        names = [node.name for node in nodes if isinstance(node, BoundField)]
        assert len(names) == len({*names})
