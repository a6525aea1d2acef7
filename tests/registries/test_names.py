"""Names of images, and the credentials of Secrets that apply to them."""

import base64
import json
from typing import Any

import pytest

from console.registries.logins import Login, find_login
from console.registries.references import ImageName, registry_of

DIGEST = f"sha256:{'0123456789abcdef' * 4}"


@pytest.mark.parametrize(
    ("text", "registry", "repository", "version"),
    [
        ("nginx", "docker.io", "library/nginx", "latest"),
        ("nginx:1.27", "docker.io", "library/nginx", "1.27"),
        ("shop/api:2", "docker.io", "shop/api", "2"),
        ("index.docker.io/shop/api", "docker.io", "shop/api", "latest"),
        ("docker.io/nginx", "docker.io", "library/nginx", "latest"),
        ("registry.corp:5000/a/b/c:1", "registry.corp:5000", "a/b/c", "1"),
        ("localhost/web", "localhost", "web", "latest"),
        (f"quay.io/x/y:1@{DIGEST}", "quay.io", "x/y", DIGEST),
        ("[::1]:5000/web", "[::1]:5000", "web", "latest"),
    ],
)
def test_image_names_are_parsed(text: str, registry: str, repository: str, version: str) -> None:
    found = ImageName.parse(text)
    assert found is not None
    assert (found.registry, found.repository, found.version) == (registry, repository, version)
    assert str(found) == text
    assert ImageName.parse(found.pinned(DIGEST)) is not None
    assert found.pinned(DIGEST).endswith(f"@{DIGEST}") and DIGEST not in found.tagged("x")


@pytest.mark.parametrize(
    "text",
    ["", ":", "Nginx", "a b", "nginx:", "nginx@sha256:1", "nginx:a/b", "../x", "a//b", "x" * 600],
)
def test_other_texts_are_no_image_names(text: str) -> None:
    assert ImageName.parse(text) is None


def test_addresses_in_secrets_may_be_urls() -> None:
    assert registry_of("https://index.docker.io/v1/") == "docker.io"
    assert registry_of(" HTTPS://Registry.Corp:5000/v2/ ") == "registry.corp:5000"
    assert registry_of("http://192.168.0.140:5000") == "192.168.0.140:5000"
    for text in ("", "a b", "ann@host", "host:port", "-", "host?x"):
        assert registry_of(text) == ""


def secret(auths: Any, **annotations: str) -> dict[str, Any]:
    config = base64.b64encode(json.dumps({"auths": auths}).encode()).decode()
    metadata = {"name": "pull", "annotations": annotations}
    return {"metadata": metadata, "data": {".dockerconfigjson": config}}


def auth(user: str, password: str) -> dict[str, str]:
    return {"auth": base64.b64encode(f"{user}:{password}".encode()).decode()}


def test_the_most_specific_credentials_of_a_secret_are_used() -> None:
    found = secret(
        {
            "https://registry.corp/v2/": auth("all", "a:b"),
            "registry.corp/shop": auth("shop", "c"),
            "*.lab.corp": {"username": "lab", "password": "d"},
            "https://index.docker.io/v1/": auth("hub", "e"),
            "broken.corp": {"auth": "%%%"},
        }
    )
    for image, user in (
        ("registry.corp/x", "all"),
        ("registry.corp/shop/api", "shop"),
        ("registry.corp/shopping", "all"),
        ("a.lab.corp/x", "lab"),
        ("nginx", "hub"),
        ("a.b.lab.corp/x", None),
        ("broken.corp/x", None),
        ("registry.corp:5000/x", None),
    ):
        name = ImageName.parse(image)
        assert name is not None
        login = find_login(found, name)
        assert (login.user if login is not None else None) == user, image
    name = ImageName.parse("registry.corp/x")
    assert name is not None
    assert find_login(found, name) == Login("all", "a:b", secret="pull")
    insecure = secret(
        {"registry.corp": auth("a", "b")}, **{"secret.kubesphere.io/force-insecure": "true"}
    )
    assert find_login(insecure, name) == Login("a", "b", is_insecure=True, secret="pull")


@pytest.mark.parametrize(
    "data",
    [None, {}, {".dockerconfigjson": "%"}, {".dockerconfigjson": "W10="}, {".dockerconfigjson": 1}],
)
def test_broken_secrets_have_no_credentials(data: Any) -> None:
    name = ImageName.parse("registry.corp/x")
    assert name is not None
    assert find_login({"metadata": {}, "data": data}, name) is None
    assert (
        find_login(secret([]), name) is None
        and find_login(secret({"registry.corp": 1}), name) is None
    )
