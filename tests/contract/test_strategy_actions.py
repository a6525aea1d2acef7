"""Editing the update strategy of a workload."""

from typing import Any

import pytest

from console.kube import gvr as types
from console.kube.gvr import GVR, Key
from console.kube.runtime import Runtime
from tests.contract.client import Client
from tests.contract.pages import Person, recorded
from tests.contract.templateforms import (
    form_of,
    make,
    now,
    olga,
    runtime,
    says_what_is_wrong,
    what_the_cluster_finds,
)
from tests.views.conftest import _site

__all__ = ["_site", "olga", "runtime"]

pytestmark = pytest.mark.django_db(transaction=True)

ROLLING = {"type": "RollingUpdate", "maxSurge": "25%", "maxUnavailable": "25%"}
OF_SETS = {"type": "RollingUpdate", "maxSurge": "0", "maxUnavailable": "1"}


def rolling(**values: int | str) -> dict[str, Any]:
    return {"type": "RollingUpdate", "rollingUpdate": values}


@pytest.mark.parametrize(
    ("gvr", "field", "begins", "steps"),
    [
        (
            types.DEPLOYMENTS,
            "strategy",
            ROLLING,
            [
                ({"maxSurge": "2", "maxUnavailable": "0"}, rolling(maxSurge=2, maxUnavailable=0)),
                ({"maxSurge": ""}, rolling(maxSurge="25%", maxUnavailable=0)),
                ({"type": "Recreate"}, {"type": "Recreate"}),
                ({"type": "RollingUpdate"}, rolling(maxSurge="25%", maxUnavailable="25%")),
            ],
        ),
        (
            types.STATEFUL_SETS,
            "updateStrategy",
            {"type": "RollingUpdate", "partition": "0"},
            [
                ({"partition": "3"}, rolling(partition=3)),
                ({"type": "OnDelete"}, {"type": "OnDelete"}),
                ({"type": "RollingUpdate", "partition": "1"}, rolling(partition=1)),
            ],
        ),
        (
            types.DAEMON_SETS,
            "updateStrategy",
            OF_SETS,
            [
                ({"maxUnavailable": "10%"}, rolling(maxSurge=0, maxUnavailable="10%")),
                ({"type": "OnDelete"}, {"type": "OnDelete"}),
            ],
        ),
    ],
    ids=lambda value: value.resource if isinstance(value, GVR) else "",
)  # fmt: skip
async def test_the_strategy_is_changed_without_other_changes(
    admin: Client,
    runtime: Runtime,
    namespace: str,
    olga: Person,
    gvr: GVR,
    field: str,
    begins: dict[str, str],
    steps: list[tuple[dict[str, str], Any]],
) -> None:
    made = make(admin, runtime, namespace, {}, gvr)
    name = made["metadata"]["name"]
    for number, (typed, wanted) in enumerate(steps):
        page, sent = await form_of(olga, "strategy", made, gvr)
        if not number:
            assert await page.is_offered(gvr.resource, Key(namespace, name))
            assert {part: sent[part] for part in begins} == begins
            typed = {**typed, "minReadySeconds": "5"}
        await page.does(**{**sent, **typed})
        spec = now(admin, made, gvr)["spec"]
        assert spec[field] == wanted
        assert spec["minReadySeconds"] == 5
    rest = made["spec"].keys() - {field}
    assert {part: spec[part] for part in rest} == {part: made["spec"][part] for part in rest}
    assert await recorded() == [(olga.name, "patch", "strategy", name, 200)] * len(steps)


@pytest.mark.parametrize(
    ("typed", "field", "said"),
    [
        ({}, "", "No changes were made."),
        ({"type": "OnDelete"}, "type", "This option is no longer available."),
        ({"type": ""}, "type", "This option is no longer available."),
        ({"maxSurge": "a few"}, "maxSurge", "or a percentage such as 25%."),
        ({"maxSurge": "-1"}, "maxSurge", "or a percentage such as 25%."),
        (
            {"type": "Recreate", "maxSurge": "2"},
            "maxSurge",
            "This field applies only to RollingUpdate.",
        ),
        ({"minReadySeconds": "-1"}, "minReadySeconds", "Use a whole number from 0"),
        ({"was": '{"strategy": {"type": []}}'}, "", "The form is incomplete."),
        ({"was": '{"strategy": {"rollingUpdate": 1}}'}, "", "The form is incomplete."),
    ],
)
async def test_invalid_strategy_values_are_reported_at_the_field(
    admin: Client,
    runtime: Runtime,
    namespace: str,
    olga: Person,
    typed: dict[str, str],
    field: str,
    said: str,
) -> None:
    made = make(admin, runtime, namespace, {})
    await says_what_is_wrong(admin, olga, "strategy", made, typed, field, said)


async def test_validation_errors_of_the_cluster_are_reported_at_the_field(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace, {})
    typed = {"maxSurge": "0", "maxUnavailable": "0"}
    text = await what_the_cluster_finds(admin, olga, "strategy", made, **typed)
    assert 'href="#form-maxUnavailable">' in text and "may not be 0 when" in text
