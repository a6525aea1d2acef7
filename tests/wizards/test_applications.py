"""Composed applications: the form edits several objects as one document."""

from copy import deepcopy
from typing import Any

import pytest

from console.ui.wizard.wizard import WizardDraft, name_of
from console.wizards.applications import APPLICATION, join, split
from tests.support.wizard_forms import OfflineContext, offline, saved_unchanged, step_fields

NEW = offline()


def new_draft() -> WizardDraft:
    return WizardDraft.of(APPLICATION, NEW, [])


def press(draft: WizardDraft, step: str, act: str = "", **values: str) -> None:
    found = APPLICATION.step(step)
    assert found is not None
    post = step_fields(draft, found)
    for name, value in values.items():
        post[name.replace("__", ".")] = value
    draft.submit(found, post, act)


def shop() -> list[dict[str, Any]]:
    """Fill in the form of an application with a stateless and a stateful service, and a route."""
    draft = reread(new_draft())
    assert len(draft.manifests) == 3
    press(draft, "basics", name="shop")
    press(draft, "services", "components.add", components__0__name="web")
    press(
        draft,
        "services",
        "components.0.containers.0.ports.add",
        components__1__name="db",
        components__1__kind="StatefulSet",
        components__0__containers__0__image="example/web:1",
        components__1__containers__0__image="example/db:1",
    )
    press(draft, "services", components__0__containers__0__ports__0__containerPort="8080")
    press(draft, "routes", "routes.add")
    press(
        draft,
        "routes",
        routes__0__name="shop",
        routes__0__rules__0__host="shop.example.com",
        routes__0__rules__0__paths__0__service="web",
    )
    return reread(draft).manifests


def reread(draft: WizardDraft) -> WizardDraft:
    return WizardDraft.of(APPLICATION, NEW, deepcopy(draft.manifests))


def test_the_objects_have_the_labels_of_kubesphere() -> None:
    app, web, web_service, db, db_service, route = shop()
    own = {"app.kubernetes.io/name": "shop", "app.kubernetes.io/version": "v1"}
    assert app["spec"]["selector"] == {"matchLabels": own} and app["spec"]["addOwnerRef"] is True
    assert [
        (one["kind"], name_of(one)) for one in (app, web, web_service, db, db_service, route)
    ] == [
        ("Application", "shop"),
        ("Deployment", "web-v1"),
        ("Service", "web"),
        ("StatefulSet", "db-v1"),
        ("Service", "db"),
        ("Ingress", "shop"),
    ]
    for manifest in (app, web, web_service, db, db_service, route):
        assert manifest["metadata"]["labels"].items() >= own.items()
        assert manifest["metadata"]["annotations"] == {"servicemesh.kubesphere.io/enabled": "false"}
    labels = {**own, "app": "web", "version": "v1"}
    assert web["spec"]["selector"] == {"matchLabels": labels}
    assert web["spec"]["template"]["metadata"]["labels"] == labels
    assert web_service["spec"]["selector"] == {**own, "app": "web"}
    assert web_service["spec"]["ports"] == [{"name": "port-8080", "port": 8080, "targetPort": 8080}]
    assert db["spec"]["serviceName"] == "db" and db_service["spec"]["clusterIP"] == "None"
    assert "clusterIP" not in web_service["spec"]
    backend = route["spec"]["rules"][0]["http"]["paths"][0]["backend"]
    assert backend == {"service": {"name": "web", "port": {"number": 80}}}


def test_names_and_labels_follow_the_names_of_the_form() -> None:
    draft = WizardDraft.of(APPLICATION, NEW, shop())
    press(draft, "basics", name="store", **{"app-version": "v2"})
    press(draft, "services", components__0__name="front")
    app, web, service, *_others = draft.manifests
    assert name_of(web) == "front-v1" and service["spec"]["selector"]["app"] == "front"
    labels = web["spec"]["selector"]["matchLabels"]
    assert labels["app.kubernetes.io/name"] == "store"
    assert labels["app.kubernetes.io/version"] == "v2"
    assert app["spec"]["selector"]["matchLabels"]["app.kubernetes.io/name"] == "store"


def test_services_are_copied_without_their_names_and_removed() -> None:
    draft = WizardDraft.of(APPLICATION, NEW, shop())
    press(draft, "services", "components.0.copy")
    press(draft, "services", components__1__name="other")
    kinds = [(one["kind"], name_of(one)) for one in draft.manifests]
    assert ("Deployment", "other-v1") in kinds and ("Service", "other") in kinds
    draft = reread(draft)
    press(draft, "services", "components.0.remove")
    assert ("Deployment", "web-v1") not in [(one["kind"], name_of(one)) for one in draft.manifests]


def test_an_application_is_complete_for_the_form_and_has_no_errors() -> None:
    draft = WizardDraft.of(APPLICATION, NEW, shop())
    assert draft.yaml_only() == []
    errors = [
        (step.id, field.name) for step in APPLICATION.steps for field, _e in draft.errors(step)
    ]
    # The offline context has no projects to choose from.
    assert errors == [("basics", "namespace")]


def test_joining_and_splitting_keep_all_manifests() -> None:
    found = shop()
    assert split(join(deepcopy(found))[0]) == found
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}
    alone = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "alone"}}
    draft = WizardDraft.of(APPLICATION, NEW, [other, *deepcopy(found), alone])
    assert draft.others == [other, alone]
    assert draft.manifests == [*found, other, alone]


def test_without_an_application_in_the_text_one_is_added() -> None:
    _app, *parts = shop()
    draft = WizardDraft.of(APPLICATION, NEW, deepcopy(parts))
    assert draft.manifests[1:] == parts and draft.manifests[0]["kind"] == "Application"


@pytest.mark.parametrize("served", [True, False])
def test_the_application_is_created_only_if_the_cluster_serves_its_type(served: bool) -> None:
    objects = {APPLICATION.main.gvr: ()} if served else {}
    context = OfflineContext(NEW.access, "shop", objects=objects)
    draft = WizardDraft.of(APPLICATION, context, shop())
    assert ("kind: Application" in draft.created_text) is served
    assert "kind: Deployment" in draft.created_text and "kind: Application" in draft.text
    warned = [one.text for one in APPLICATION.warnings(draft.state("")) if "no type" in one.text]
    assert bool(warned) is not served


def test_an_existing_application_is_edited_without_its_parts() -> None:
    app = shop()[0]
    assert saved_unchanged(APPLICATION.for_existing, offline(is_new=False), app) == [app]
    assert [one.id for one in APPLICATION.for_existing.steps] == ["basics"]
