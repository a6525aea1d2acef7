"""Validation of the workspace forms."""

from collections.abc import Iterator
from decimal import Decimal

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string

from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.support.staticruntime import StaticRuntime
from workspaces.pages.forms import (
    LimitsForm,
    MemberForm,
    NewProjectForm,
    NewWorkspaceForm,
    QuotaForm,
    SettingsForm,
)

NOTHING: dict[str, dict[str, str]] = {"defaultRequest": {}, "default": {}}


@pytest.fixture(autouse=True)
def host() -> Iterator[None]:
    set_host_cluster(StaticRuntime({}))
    yield
    unset_host_cluster()


def sent(**given: str) -> QueryDict:
    data = QueryDict(mutable=True)
    data.update(given)
    return data


def test_the_quota_form_parses_amounts() -> None:
    form = QuotaForm({"count/widgets": "3"}, sent(pods=" 10 ", **{"limits.memory": "4Gi"}))
    assert form.is_valid()
    assert form.amounts == {"pods": Decimal(10), "limits.memory": Decimal(4 * 1024**3)}
    assert "count/widgets" in form.fields
    assert form.error_fields["spec.hard[limits.memory]"] == "limits.memory"


def test_an_invalid_amount_is_refused() -> None:
    form = QuotaForm({}, sent(pods="many"))
    assert form.errors == {"pods": ["Enter an amount such as 2, 500m or 4Gi."]}


def test_the_project_form_requires_a_name_and_accepts_a_quota() -> None:
    form = NewProjectForm({}, sent(name="shop", pods="5"))
    assert form.is_valid() and form.amounts == {"pods": Decimal(5)}
    assert list(form.fields)[:3] == ["name", "alias", "description"]
    assert list(NewProjectForm({}, sent(pods="5")).errors) == ["name"]


def test_an_invalid_name_is_reported_at_the_field() -> None:
    for name, wrong in (
        ("Ä b", "Use lowercase"),
        ("kube-x", "Names that start with kube- are reserved for the system."),
        ("new", "another"),
    ):
        for form in (
            NewProjectForm({}, sent(name=name)),
            NewWorkspaceForm(sent(name=name, manager="zoe")),
        ):
            assert list(form.errors) == ["name"] and wrong in form.errors["name"][0]


def test_the_error_summary_gets_the_focus() -> None:
    html = render_to_string("ui/_form.html", {"form": NewProjectForm({}, sent(name=""))})
    assert '<div class="refusal" role="alert" tabindex="-1" autofocus>' in html
    assert "autofocus" not in render_to_string("ui/_form.html", {"form": NewProjectForm({})})


def test_requests_above_limits_are_refused() -> None:
    data = {"defaultRequest.cpu": "2", "default.cpu": "1", "defaultRequest.memory": "1Gi"}
    form = LimitsForm(NOTHING, sent(**data))
    assert form.errors == {"defaultRequest.cpu": ["The request exceeds the limit."]}
    form = LimitsForm(NOTHING, sent(**{**data, "defaultRequest.cpu": "1"}))
    assert form.is_valid()
    assert form.amounts == {
        "defaultRequest": {"cpu": Decimal(1), "memory": Decimal(1024**3)},
        "default": {"cpu": Decimal(1)},
    }
    assert not LimitsForm(NOTHING, sent(**{**data, "default.cpu": "x"})).is_valid()


def test_only_offered_roles_are_accepted() -> None:
    roles = {"role": [("", "none"), ("viewer", "viewer")]}
    assert MemberForm(sent(user="zoe", role=""), choices=roles).is_valid()
    assert list(MemberForm(sent(user="zoe", role="admin"), choices=roles).errors) == ["role"]


def test_the_form_shows_conflicting_changes_of_another_user() -> None:
    stored = {"alias": "Theirs", "description": "", "manager": "zoe", "isolated": True}
    form = SettingsForm(sent(alias="Mine", description="New", manager="zoe"), initial=stored)
    assert form.is_valid()
    form.show_conflict()
    html = render_to_string("ui/_form.html", {"form": form})
    assert "Saving again overwrites the current values." in html
    assert "Current value: Theirs" in html and "Current value: —" in html
    assert "Current value: zoe" not in html
    assert 'value="Mine"' in html and 'id="workspace-alias_helptext"' in html


def test_quota_fields_show_their_unit_and_what_is_left_of_the_workspace_quota() -> None:
    left = {"requests.cpu": Decimal(14), "requests.memory": Decimal(2**31), "pods": Decimal(0)}
    total = {name: amount + 26 for name, amount in left.items()}
    form = NewProjectForm({}, left=left, total={**total, "requests.memory": Decimal(2**32)})
    assert {name: form.fields[name].help_text for name in (*left, "services")} == {
        "requests.cpu": "requests.cpu · In cores, for example 2 or 500m. "
        "14 of 40 cores left in the workspace.",
        "requests.memory": "requests.memory · In bytes, for example 4Gi. "
        "2Gi of 4Gi left in the workspace.",
        "pods": "pods · A whole number. 0 of 26 left in the workspace.",
        "services": "services · A whole number.",
    }


def test_a_size_sets_the_amounts_of_a_project() -> None:
    form = NewProjectForm({}, sent(name="shop", size="small", pods="5"))
    assert form.is_valid()
    assert form.amounts == {
        "requests.cpu": Decimal(2),
        "requests.memory": Decimal(2**32),
        "requests.storage": Decimal(20 * 2**30),
    }
    assert NewProjectForm({}, sent(name="shop", size="shared", pods="5")).is_valid()
    form = NewProjectForm({}, sent(name="shop", size="shared", pods="5"))
    assert form.is_valid() and form.amounts == {}
    assert list(NewProjectForm({}, sent(name="shop", size="huge")).errors) == ["size"]


def test_amounts_above_the_remaining_quota_are_errors_at_their_fields() -> None:
    quota = {"left": {"requests.cpu": Decimal(1)}, "total": {"requests.cpu": Decimal(4)}}
    form = NewProjectForm({}, sent(name="shop", size="custom", **{"requests.cpu": "3"}), **quota)
    assert form.errors == {
        "requests.cpu": [
            "The workspace has 1 left. Enter 1 or less, or ask a workspace administrator for more."
        ]
    }
    [change] = [one.change for one in form.groups[0].grants if one.change]
    assert (change.width, change.added_width, change.level) == (75.0, 25.0, "error")
    html = render_to_string(form.form_template, {"form": form})
    assert 'aria-invalid="true"' in html and 'class="load"' in html
    form = NewProjectForm({}, sent(name="shop", size="small"), **quota)
    assert "CPU request: The workspace has 1 left." in str(form.errors["size"])
    assert QuotaForm({}, sent(**{"requests.cpu": "1"}), **quota).is_valid()
