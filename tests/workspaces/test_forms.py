"""Validation of the workspace forms."""

from collections.abc import Iterator
from decimal import Decimal

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string

from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.staticruntime import StaticRuntime
from workspaces.pages.forms import (
    DeleteWorkspaceForm,
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


def test_deleting_a_workspace_requires_typing_its_name() -> None:
    assert DeleteWorkspaceForm("shop", sent(typed="shop")).is_valid()
    for typed in ("", "Shop", "shops"):
        assert list(DeleteWorkspaceForm("shop", sent(typed=typed)).errors) == ["typed"]


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
