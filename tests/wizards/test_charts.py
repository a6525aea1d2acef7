"""Objects as in public charts are opened in their wizards and saved unchanged."""

from collections.abc import Mapping
from typing import Any

import pytest

from console.ui.editing.yaml_text import plain_yaml
from console.ui.wizard.wizard import Wizard, WizardDraft
from console.views.wizards import read_manifests
from tests.support.wizard_forms import EXISTING, fields_of, offline, step_fields, step_html
from tests.wizards.charts import chart_objects
from tests.wizards.every_wizard import WIZARDS

BY_KIND: Mapping[str, Wizard] = {wizard.main.api_kind: wizard for wizard, _manifest in WIZARDS}
CHARTS = {f"{chart}-{release}": manifests for chart, release, manifests in chart_objects()}


def saved(wizard: Wizard, draft: WizardDraft, *, rendered: bool) -> list[dict[str, Any]]:
    """Submit all steps unchanged, each as text like in a browser, and return the manifests."""
    for step in wizard.steps:
        draft = WizardDraft.of(wizard, draft.context, read_manifests(draft.text))
        sent = fields_of(step_html(draft, step)) if rendered else step_fields(draft, step)
        draft.submit(step, sent, leaves=True)
    return read_manifests(draft.text)


def test_there_are_300_objects_of_all_kinds() -> None:
    found = [one for manifests in CHARTS.values() for one in manifests]
    assert len(found) >= 300
    assert {one["kind"] for one in found} == {*BY_KIND}


@pytest.mark.parametrize("manifests", CHARTS.values(), ids=CHARTS)
def test_an_unchanged_object_stays_unchanged(manifests: list[dict[str, Any]]) -> None:
    for manifest in manifests:
        wizard = BY_KIND[manifest["kind"]].for_existing
        assert wizard.main.matches(manifest)
        draft = WizardDraft.of(wizard, EXISTING, [manifest])
        assert saved(wizard, draft, rendered=True) == [manifest]


@pytest.mark.parametrize("manifests", CHARTS.values(), ids=CHARTS)
def test_the_objects_of_a_chart_stay_unchanged_as_one_draft(
    manifests: list[dict[str, Any]],
) -> None:
    kinds = ("Deployment", "StatefulSet", "DaemonSet")
    workload = next(one for one in manifests if one["kind"] in kinds)
    wizard = BY_KIND[workload["kind"]]
    draft = WizardDraft.of(
        wizard, offline(), read_manifests("---\n".join(map(plain_yaml, manifests)))
    )
    found = saved(wizard, draft, rendered=False)
    assert sorted(map(plain_yaml, found)) == sorted(map(plain_yaml, manifests))
