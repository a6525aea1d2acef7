"""Forms for a part of a spec leave everything else unchanged."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.http import QueryDict

from console.actions.ingress_rules import RulesForm
from console.actions.services import ServiceForm
from console.actions.workloads.environment import EnvironmentForm
from console.actions.workloads.probes import ProbesForm
from console.actions.workloads.strategies import DeploymentStrategyForm
from console.actions.workloads.volumes import VolumesForm
from console.ui.core.manifests import mapping
from console.ui.core.permissions import Refused
from console.ui.forms.row_forms import MOST, MOST_NEW
from console.ui.forms.spec_forms import SpecForm

FIXTURES = Path(__file__).parents[1] / "kinds/fixtures"
KINDS = ("services", "ingresses")
FORMS: dict[str, type[SpecForm]] = {
    "services": ServiceForm,
    "ingresses": RulesForm,
    "environment": EnvironmentForm,
    "probes": ProbesForm,
    "volumes": VolumesForm,
    "strategy": DeploymentStrategyForm,
}
#: Specs to test in addition to those of the fixtures.
OF_PODS = ("environment", "probes", "volumes")
PROBED = {
    "env": [{"name": "A", "value": " x\n"}, {"name": "B", "valueFrom": {"fieldRef": {"x": "y"}}}],
    "livenessProbe": {"exec": {"command": ["a", "b c"]}, "initialDelaySeconds": 0, "x": 1},
    "volumeMounts": [{"name": "v", "mountPath": "/v", "readOnly": False, "x": 1}],
}
PODS = {"containers": [{"name": "c", **PROBED}], "volumes": [{"name": "v", "emptyDir": {"x": 1}}]}


def form(segment: str, data: QueryDict | None, spec: Any) -> SpecForm:
    place = (("spec", "template", "spec"),) if segment in OF_PODS else ()
    return FORMS[segment](data, spec, *place)


def manifests() -> list[Any]:
    found = [
        pytest.param(segment, found["spec"] or {}, id=f"{segment}-{found['metadata']['name']}")
        for segment in FORMS
        for found in yaml.safe_load_all(
            (FIXTURES / (f"{segment}.yaml" if segment in KINDS else "deployments.yaml")).read_text()
        )
    ]
    return [*found, *(pytest.param(segment, PODS, id=segment) for segment in OF_PODS)]


def sent(form: SpecForm, **typed: str) -> QueryDict:
    """Return the data that a browser would submit."""
    found = QueryDict(mutable=True)
    for field in form:
        value = field.value()
        if isinstance(value, bool):
            continue
        found[field.html_name] = str(value) if value is not None else ""
    found.update(typed)
    return found


def drawn(segment: str, spec: Any) -> SpecForm:
    return form(segment, None, spec)


@pytest.mark.parametrize(("segment", "spec"), manifests())
def test_unchanged_form_is_refused_as_no_change(segment: str, spec: Any) -> None:
    if segment in OF_PODS and "template" in spec:
        spec = mapping(spec, "template", "spec")
    again = form(segment, sent(drawn(segment, spec)), {})
    assert not again.is_valid()
    assert dict(again.errors) == {"__all__": ["No changes were made."]}


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
        ("environment", {"containers": {}}),
        ("environment", {"containers": ["a"]}),
        ("environment", {"containers": [{"name": 1}]}),
        ("environment", {"initContainers": [{"name": "a", "env": {}}]}),
        ("environment", {"containers": [{"name": "a", "env": [{"name": " a"}]}]}),
        ("environment", {"containers": [{"name": "a", "env": [{"name": "a", "value": 1}]}]}),
        ("environment", {"containers": [{"name": "a", "env": [{"name": "a"}] * (MOST + 1)}]}),
        ("environment", {"containers": [{"name": "a", "env": [{"name": "a"}] * 51}] * 2}),
        ("environment", {"containers": [{"name": "a", "env": [{"name": "a", "valueFrom": 1}]}]}),
        ("probes", {"containers": [{"name": "a", "livenessProbe": {}}]}),
        ("probes", {"containers": [{"name": "a", "livenessProbe": []}]}),
        ("probes", {"containers": [{"name": "a", "livenessProbe": {"exec": 1, "grpc": 1}}]}),
        ("probes", {"containers": [{"name": "a", "livenessProbe": {"exec": {"command": "a"}}}]}),
        ("probes", {"containers": [{"name": "a", "livenessProbe": {"grpc": {"port": []}}}]}),
        ("probes", {"containers": [{"name": "a"}] * 26}),
        ("volumes", {"volumes": {}}),
        ("volumes", {"volumes": ["a"]}),
        ("volumes", {"volumes": [{"name": {}}]}),
        ("volumes", {"containers": [{"name": "a", "volumeMounts": [{"name": "a"}]}]}),
        ("volumes", {"containers": [{"name": "a", "volumeMounts": "a"}]}),
        ("strategy", {"strategy": []}),
        ("strategy", {"strategy": {"type": {}}}),
        ("strategy", {"strategy": {"type": "OnDelete"}}),
        ("strategy", {"strategy": {"rollingUpdate": {"maxSurge": []}}}),
        ("strategy", {"minReadySeconds": "1"}),
    ],
)
def test_unrepresentable_spec_is_refused_with_an_explanation(segment: str, spec: Any) -> None:
    """The refusal also applies to submitted forms."""
    with pytest.raises(Refused):
        drawn(segment, spec)
    said = "The form is incomplete. Reload the page."
    found = form(segment, sent(drawn(segment, {}), was=json.dumps(spec)), {})
    assert found.errors["__all__"] == [said]


def test_values_without_a_field_are_kept() -> None:
    bell, odd = {"name": "A", "value": "\a"}, {"name": "v", "emptyDir": {"medium": []}, "x": 1}
    spec = {"containers": [{"name": "c", "env": [bell]}], "volumes": [odd]}
    for segment, typed in (
        ("environment", {"containers0-1-name": "B", "containers0-1-source": "value"}),
        ("volumes", {"volumes-1-name": "w", "volumes-1-kind": "emptyDir"}),
    ):
        found = form(segment, sent(drawn(segment, spec), **typed), {})
        assert found.is_valid(), found.errors
        changed = found.cleaned_data["changed"]
        if segment == "environment":
            assert changed["containers"][0]["env"] == [bell, {"name": "B", "value": ""}]
        else:
            assert changed == {"volumes": [odd, {"name": "w", "emptyDir": {}}]}


def test_number_of_new_rows_is_limited() -> None:
    spec = {"ports": [{"name": "web", "port": 80, "protocol": "TCP"}], "selector": {"a": "b"}}
    new: dict[str, str] = {}
    for n in range(1, MOST_NEW + 1):
        new |= {f"ports-{n}-name": f"p{n}", f"ports-{n}-port": str(n), f"ports-{n}-protocol": "TCP"}
    found = ServiceForm(sent(drawn("services", spec), **new), {})
    assert found.is_valid()
    assert len(found.cleaned_data["changed"]["ports"]) == MOST_NEW + 1
    more = {f"ports-{MOST_NEW + 1}-port": "99"}
    found = ServiceForm(sent(drawn("services", spec), **new, **more), {})
    assert found.errors["__all__"] == ["The form is incomplete. Reload the page."]


def test_unsupported_parts_are_left_unchanged() -> None:
    backend = {"service": {"name": "a", "port": {"number": 1}, "x": 1}}
    path = {"path": "/", "pathType": "Prefix", "backend": backend, "x": 1}
    spec = {"rules": [{"host": "a", "x": 1, "http": {"paths": [path], "x": 1}}]}
    found = RulesForm(sent(drawn("ingresses", spec), **{"paths-0-service": "b"}), {})
    assert found.is_valid(), found.errors
    service = {**backend["service"], "name": "b"}
    changed = {**path, "backend": {"service": service}}
    rules = [{"host": "a", "x": 1, "http": {"paths": [changed], "x": 1}}]
    assert found.cleaned_data["changed"] == {"rules": rules}
