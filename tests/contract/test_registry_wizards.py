"""Wizards that ask a real registry: verification of credentials, tags and images."""

import base64
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from pytest_django import Settings

from console.registries.policy import RegistryPolicy
from tests.contract.console import _runtime, runtime
from tests.contract.import_pages import Desk, desk
from tests.contract.objects import unique
from tests.contract.wizard_pages import WizardVisitor
from tests.registries.conftest import (
    API,
    IMAGE,
    Pki,
    Silent,
    password_registry,
    pki,
    silent,
)
from tests.registries.server import PASSWORD, USER, RealRegistry, digest_of
from tests.support.html import text
from tests.support.responses import text_of
from tests.support.wizard_forms import fields_of
from tests.views.conftest import ClientAs, _site

__all__ = ["_runtime", "_site", "desk", "password_registry", "pki", "runtime", "silent"]

pytestmark = pytest.mark.django_db(transaction=True)
ROW = "kind.registry.auths.0"
Allow = Callable[..., None]


@pytest.fixture
def allow(settings: Settings, pki: Pki) -> Allow:
    """Return a function that lists registries, as an administrator does."""

    def listed(*entries: str, trusts: bool = True) -> None:
        settings.REGISTRY_POLICY = RegistryPolicy.of(entries)
        settings.REGISTRY_CA = str(pki.authority.certificate) if trusts else ""

    return listed


async def secret_for(desk: Desk, registry: str, password: str = PASSWORD) -> WizardVisitor:
    """Fill in a Secret for a registry."""
    visitor = WizardVisitor(desk.who)
    await visitor.open(f"/clusters/host/new/secrets?namespace={desk.namespace}")
    await visitor.press("act.kind.show", name=unique("pull"), kind="registry")
    await visitor.press(
        f"act.{ROW}.show",
        **{
            f"{ROW}.key": registry,
            f"{ROW}.username": USER,
            f"{ROW}.password": password,
        },
    )
    return visitor


async def ask_with_script(visitor: WizardVisitor, act: str, **values: str) -> str:
    """Ask a question as htmx does, and return the fragment."""
    sent = fields_of(visitor.html)
    for name, value in values.items():
        sent[name.replace("__", ".")] = value
    sent["step"] = f"act.{act}"
    client = ClientAs()(visitor.who, **{"HX-Request": "true"})
    response = await client.post(visitor.url.partition("?")[0], sent)
    assert response.status_code == 200
    html = await text_of(response)
    assert "<html" not in html
    return html


async def test_a_password_is_verified_with_and_without_scripts(
    desk: Desk, password_registry: RealRegistry, allow: Allow
) -> None:
    allow(password_registry.address)
    visitor = await secret_for(desk, password_registry.address)
    await visitor.press(f"act.{ROW}.verify.ask")
    assert f"Signed in as {USER}." in visitor.html, visitor.html
    assert f"Signed in as {USER}." in await ask_with_script(visitor, f"{ROW}.verify.ask")
    wrong = {f"{ROW}.password": "wrong"}
    html = await ask_with_script(visitor, f"{ROW}.verify.ask", **wrong)
    assert "refused the user name or password" in html and "wrong" not in html
    # The script's question doesn't change the draft.
    await visitor.open(visitor.url)
    await visitor.press(f"act.{ROW}.verify.ask", **wrong)
    assert "refused the user name or password" in visitor.html
    await visitor.press("next")
    await visitor.press("create")
    assert "Objects created" in visitor.html, visitor.html


async def test_problems_of_a_registry_are_shown_next_to_the_fields(
    desk: Desk, password_registry: RealRegistry, allow: Allow, silent: Silent, monkeypatch: Any
) -> None:
    monkeypatch.setattr("console.registries.egress.DEADLINE", 0.3)
    address = password_registry.address
    allow(silent.address, address, trusts=False)
    for registry, told in (
        ("registry.invalid", "The host registry.invalid was not found."),
        (silent.address, "No response within"),
        (address, "is not trusted: unable to get local issuer certificate."),
        ("127.0.0.1", "has a private address. An administrator can add the host to REGISTRIES."),
        ("169.254.169.254", "has an address that is never allowed."),
        ("a b", "Enter the address of the registry."),
    ):
        visitor = await secret_for(desk, registry)
        await visitor.press(f"act.{ROW}.verify.ask")
        assert told in text(visitor.html), visitor.html
    visitor = await secret_for(desk, address, "")
    await visitor.press(f"act.{ROW}.verify.ask")
    assert "Enter the user name and the password." in visitor.html


async def test_verification_of_certificates_can_be_skipped_where_it_is_allowed(
    desk: Desk, password_registry: RealRegistry, allow: Allow
) -> None:
    allow(password_registry.address, trusts=False)
    visitor = await secret_for(desk, password_registry.address)
    assert "kind.registry.insecure" not in visitor.fields
    allow(f"insecure://{password_registry.address}", trusts=False)
    visitor = await secret_for(desk, password_registry.address)
    await visitor.press(f"act.{ROW}.verify.ask")
    assert "You can skip the verification" in visitor.html
    await visitor.press(f"act.{ROW}.verify.ask", kind__registry__insecure="on")
    assert f"Signed in as {USER}." in visitor.html
    await visitor.press("go.yaml")
    assert "secret.kubesphere.io/force-insecure" in visitor.html


async def containers_of(desk: Desk, image: str, **values: str) -> WizardVisitor:
    """Open the step for containers of a new Deployment with an image."""
    visitor = WizardVisitor(desk.who)
    await visitor.open(f"/clusters/host/new/deployments?namespace={desk.namespace}")
    await visitor.press("next", name=unique("app"))
    await visitor.press("act.containers.0.show", containers__0__image=image, **values)
    return visitor


def pull_secret(desk: Desk, registry: str) -> str:
    name = unique("pull")
    login = {"auth": base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()}
    desk.admin.post(
        desk.path("secrets"),
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name},
            "type": "kubernetes.io/dockerconfigjson",
            "stringData": {".dockerconfigjson": json.dumps({"auths": {registry: login}})},
        },
    ).ok()
    return name


async def test_an_image_is_read_with_the_pull_secret_of_the_pod(
    desk: Desk, password_registry: RealRegistry, allow: Allow
) -> None:
    address = password_registry.address
    allow(address)
    secret, image = pull_secret(desk, address), f"{address}/{API}:2.18.4"
    visitor = await containers_of(desk, image)
    # The viewer may not list Secrets, so the registry is asked without credentials.
    html = text(await ask_with_script(visitor, "containers.0.image.look"))
    assert "The registry requires a user name and password." in html
    await visitor.press("go.settings")
    await visitor.press("act.imagePullSecrets.add")
    await visitor.press("go.containers", imagePullSecrets__0__name=secret)
    await visitor.press("act.containers.0.image.look")
    shown = text(visitor.html)
    assert f"Image found. linux/amd64 · read with Secret {secret}" in shown
    assert "Command /app/server --port 8080 User 65532" in shown
    for port in ("53/UDP", "8080", "9090"):
        assert f"Add port {port}" in shown
    await visitor.press("act.containers.0.image.port.8080")
    await visitor.press("act.containers.0.image.port.53/udp")
    assert visitor.fields["containers.0.ports.0.containerPort"] == "8080"
    assert visitor.fields["containers.0.ports.1.protocol"] == "UDP"
    html = await ask_with_script(visitor, "containers.0.image.look")
    assert "Add port 9090" in text(html) and "Add port 8080" not in text(html)
    digest = digest_of(IMAGE.manifest)
    await visitor.press(f"act.containers.0.image.pin.{digest}")
    assert visitor.fields["containers.0.image"] == f"{image}@{digest}"
    html = await ask_with_script(visitor, "containers.0.image.look")
    assert "Image found." in html and "Pin to digest" not in html
    for act in ("pin.sha256:1", "pin.", "port.0", "port.99999", "port.x", "port.1/http", "other"):
        await visitor.press(f"act.containers.0.image.{act}")
        assert visitor.status == 200
        assert visitor.fields["containers.0.image"] == f"{image}@{digest}"
        assert "containers.0.ports.2.containerPort" not in visitor.fields


async def test_tags_are_offered_while_the_name_is_typed(
    desk: Desk, password_registry: RealRegistry, allow: Allow
) -> None:
    address = password_registry.address
    allow(address)
    secret = pull_secret(desk, address)
    visitor = await containers_of(desk, "web")
    await visitor.press("go.settings")
    await visitor.press("act.imagePullSecrets.add")
    await visitor.press("go.containers", imagePullSecrets__0__name=secret)
    asked, typed = "containers.0.image.tags", "containers__0__image"
    for start, tags in (
        ("", []),
        (":", ["2.18.4", "2.18.3", "latest"]),
        (":2.18.4", ["2.18.4"]),
        (":none", []),
    ):
        html = await ask_with_script(visitor, asked, **{typed: f"{address}/{API}{start}"})
        offered = re.findall(r'<option value="([^"]+)">', html)
        assert sorted(offered) == sorted(f"{address}/{API}:{tag}" for tag in tags), start
    for image in ("a b:", ":", "x" * 600 + ":", f"{address}/shop/none:"):
        assert "<option" not in await ask_with_script(visitor, asked, **{typed: image})
    html = await ask_with_script(
        visitor, "containers.0.image.look", **{typed: f"{address}/{API}:9"}
    )
    assert "Tags: " in html and "2.18.4" in html


async def test_an_image_for_other_nodes_is_reported(
    desk: Desk,
    password_registry: RealRegistry,
    allow: Allow,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = password_registry.address
    allow(address)
    secret = pull_secret(desk, address)
    monkeypatch.setattr("console.wizards.images._node_platforms", lambda scope: {"linux/amd64"})
    visitor = await containers_of(desk, f"{address}/shop/arm:1")
    await visitor.press("go.settings")
    await visitor.press("act.imagePullSecrets.add")
    await visitor.press("go.containers", imagePullSecrets__0__name=secret)
    html = text(await ask_with_script(visitor, "containers.0.image.look"))
    assert "it is for linux/arm64, and the nodes are linux/amd64" in html
    many = {"containers__0__image": f"{address}/shop/many:1"}
    html = text(await ask_with_script(visitor, "containers.0.image.look", **many))
    assert "linux/amd64, linux/arm64" in html and "No node can run" not in html


async def test_the_quick_start_asks_the_registry_and_serves_the_port(
    desk: Desk, password_registry: RealRegistry, allow: Allow
) -> None:
    allow(password_registry.address)
    visitor = WizardVisitor(desk.who)
    await visitor.open(f"/clusters/host/new/deployments?namespace={desk.namespace}&step=quick")
    await visitor.press("act.image.look", image=f"{password_registry.address}/{API}:2.18.4")
    assert "requires a user name and password" in visitor.html
    await visitor.press("act.image.port.8080")
    assert visitor.fields["port"] == "8080"
    await visitor.press("go.yaml")
    assert "kind: Service" in visitor.html
