"""The quick start of a Deployment."""

from typing import Any

import pytest

from console.ui.wizard.wizard import REVIEW, WizardDraft
from console.wizards.quick import DEPLOYMENT, QUICK_START
from tests.support.wizard_forms import offline, step_fields

NEW = offline()


def submit(draft: WizardDraft, **values: str) -> None:
    sent = step_fields(draft, QUICK_START)
    for name, value in values.items():
        sent[name.replace("__", ".")] = value
    draft.submit(QUICK_START, sent, leaves=True)


def begun(**values: str) -> WizardDraft:
    draft = WizardDraft.of(DEPLOYMENT, NEW, [])
    submit(draft, **values)
    return draft


def problems(draft: WizardDraft) -> list[str]:
    return [str(error) for _field, error in draft.errors(QUICK_START)]


def test_three_fields_make_a_deployment_a_service_and_an_ingress() -> None:
    draft = begun(image="registry/shop/api:2", port="8080", ingress__host="shop.example.com")
    [main, service, ingress] = draft.manifests
    assert [one["metadata"]["name"] for one in draft.manifests] == ["shop"] * 3
    assert main["spec"]["selector"] == {"matchLabels": {"app": "shop"}}
    assert main["spec"]["template"]["spec"]["containers"] == [
        {"name": "app", "image": "registry/shop/api:2", "ports": [{"containerPort": 8080}]}
    ]
    assert service["spec"] == {
        "ports": [{"port": 80, "targetPort": 8080}],
        "selector": {"app": "shop"},
    }
    [rule] = ingress["spec"]["rules"]
    assert rule["host"] == "shop.example.com"
    backend = {"service": {"name": "shop", "port": {"number": 80}}}
    assert rule["http"]["paths"] == [{"path": "/", "pathType": "Prefix", "backend": backend}]
    assert not draft.yaml_only()
    assert DEPLOYMENT.step_after("quick") == REVIEW


def test_names_and_objects_follow_the_fields() -> None:
    draft = begun(image="shop/My_API:2", port="80")
    assert draft.name == "my-api" and len(draft.manifests) == 2
    submit(draft, image="web@sha256:0")
    assert {one["metadata"]["name"] for one in draft.manifests} == {"web"}
    submit(draft, ingress__host="www.example.com", port="81")
    assert len(draft.manifests) == 3 and draft.name == "www"
    assert draft.documents["service"]["spec"]["ports"] == [{"port": 80, "targetPort": 81}]
    submit(draft, name="mine")
    submit(draft, ingress__host="", port="")
    assert draft.manifests == [draft.main] and draft.name == "mine"
    assert "ports" not in draft.main["spec"]["template"]["spec"]["containers"][0]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({}, "Enter an image."),
        ({"image": "web", "port": "0"}, "Use a whole number from 1 to 65,535."),
        (
            {"image": "web", "ingress__host": "a.example.com"},
            "Enter the port that the app listens on, too.",
        ),
        (
            {"image": "web", "port": "80", "ingress__host": "Not a host"},
            "Use up to 253 lowercase letters, digits, - and dots.",
        ),
    ],
)
def test_missing_and_wrong_values_are_reported(values: dict[str, Any], problem: str) -> None:
    assert problem in problems(begun(**values))


def test_a_manifest_without_containers_gets_one() -> None:
    draft = begun(image="web")
    del draft.main["spec"]["template"]["spec"]["containers"]
    submit(draft, image="web")
    assert draft.main["spec"]["template"]["spec"]["containers"][0]["image"] == "web"


@pytest.mark.parametrize(
    "spec", ["text", None, {"template": "x"}, {"template": {"spec": {"containers": ["x"]}}}]
)
def test_values_of_other_types_are_kept(spec: Any) -> None:
    draft = WizardDraft.of(DEPLOYMENT, NEW, [{**MANIFEST, "spec": spec, "metadata": "x"}])
    submit(draft, image="web", port="80", ingress__host="a.example.com")
    assert draft.main["metadata"] == "x"
    assert spec is None or draft.main["spec"] == spec


MANIFEST = {"apiVersion": "apps/v1", "kind": "Deployment"}
