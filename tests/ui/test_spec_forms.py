"""Forms that show a part of an object change nothing that nobody changed."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.http import QueryDict

from console.ui.decisions import Refused
from console.ui.network.rules import RulesForm
from console.ui.network.services import ServiceForm
from console.ui.rowforms import MOST, MOST_NEW
from console.ui.specforms import SpecForm

FIXTURES = Path(__file__).parents[1] / "kinds/fixtures"
FORMS: dict[str, type[SpecForm]] = {"services": ServiceForm, "ingresses": RulesForm}


def manifests() -> list[Any]:
    return [
        pytest.param(segment, found, id=f"{segment}-{found['metadata']['name']}")
        for segment in FORMS
        for found in yaml.safe_load_all((FIXTURES / f"{segment}.yaml").read_text())
    ]


def sent(form: SpecForm, **typed: str) -> QueryDict:
    """What a browser would send."""
    found = QueryDict(mutable=True)
    for field in form:
        value = field.value()
        if isinstance(value, bool):
            continue
        found[field.html_name] = str(value) if value is not None else ""
    found.update(typed)
    return found


def drawn(segment: str, spec: Any) -> SpecForm:
    return FORMS[segment](None, spec)


@pytest.mark.parametrize(("segment", "manifest"), manifests())
def it_is_no_change_when_it_is_sent_back_as_it_was(segment: str, manifest: Any) -> None:
    again = FORMS[segment](sent(drawn(segment, manifest["spec"] or {})), {})
    assert not again.is_valid()
    assert dict(again.errors) == {"__all__": ["Nothing was changed."]}


@pytest.mark.parametrize(
    ("segment", "spec"),
    [
        ("services", {"ports": "80"}),
        ("services", {"ports": [80]}),
        ("services", {"ports": [{"port": "80"}]}),
        ("services", {"ports": [{"port": 80, "protocol": []}]}),
        ("services", {"ports": [{"port": n} for n in range(MOST + 1)]}),
        ("services", {"selector": ["a"]}),
        ("services", {"selector": {"a": 1}}),
        ("services", {"sessionAffinity": {}}),
        ("services", {"sessionAffinityConfig": 1}),
        ("ingresses", {"rules": {}}),
        ("ingresses", {"rules": ["a"]}),
        ("ingresses", {"rules": [{"host": ["a"]}]}),
        ("ingresses", {"rules": [{"http": None}]}),
        ("ingresses", {"rules": [{"http": {"paths": [{}]}}]}),
        ("ingresses", {"rules": [{"http": {"paths": [{"path": 1}]}}]}),
        ("ingresses", {"rules": [{"http": {"paths": [{"path": "/"}] * (MOST + 1)}}]}),
        ("ingresses", {"tls": [{"hosts": "a"}]}),
        ("ingresses", {"tls": [{"secretName": {}}]}),
    ],
)
def it_says_what_it_cannot_show(segment: str, spec: Any) -> None:
    """And takes no form that says that it did."""
    with pytest.raises(Refused):
        drawn(segment, spec)
    said = "The form is not complete. Load the page again."
    form = FORMS[segment](sent(drawn(segment, {}), was=json.dumps(spec)), {})
    assert form.errors["__all__"] == [said]


def it_takes_so_many_new_rows_at_once() -> None:
    spec = {"ports": [{"name": "web", "port": 80, "protocol": "TCP"}], "selector": {"a": "b"}}
    new: dict[str, str] = {}
    for n in range(1, MOST_NEW + 1):
        new |= {f"ports-{n}-name": f"p{n}", f"ports-{n}-port": str(n), f"ports-{n}-protocol": "TCP"}
    form = ServiceForm(sent(drawn("services", spec), **new), {})
    assert form.is_valid()
    assert len(form.cleaned_data["changed"]["ports"]) == MOST_NEW + 1
    more = {f"ports-{MOST_NEW + 1}-port": "99"}
    form = ServiceForm(sent(drawn("services", spec), **new, **more), {})
    assert form.errors["__all__"] == ["The form is not complete. Load the page again."]


def it_leaves_alone_what_it_does_not_show() -> None:
    backend = {"service": {"name": "a", "port": {"number": 1}, "x": 1}}
    path = {"path": "/", "pathType": "Prefix", "backend": backend, "x": 1}
    spec = {"rules": [{"host": "a", "x": 1, "http": {"paths": [path], "x": 1}}]}
    form = RulesForm(sent(drawn("ingresses", spec), **{"paths-0-service": "b"}), {})
    assert form.is_valid(), form.errors
    service = {**backend["service"], "name": "b"}
    changed = {**path, "backend": {"service": service}}
    rules = [{"host": "a", "x": 1, "http": {"paths": [changed], "x": 1}}]
    assert form.cleaned_data["changed"] == {"rules": rules}
