"""A manifest that is opened in its wizard and saved unchanged is unchanged."""

import json
from copy import deepcopy
from random import Random
from typing import Any

import pytest

from console.ui.wizard.fields import BoundField
from console.ui.wizard.parts import walk
from console.ui.wizard.wizard import Wizard, WizardDraft
from tests.support.depth import SEED, number
from tests.support.wizard_forms import EXISTING, manifest_variation, saved_unchanged
from tests.wizards.every_wizard import WIZARDS


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
