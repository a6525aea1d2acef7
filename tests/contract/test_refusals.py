"""Every error response is a Status with code, reason, message, and details."""

import pytest

from tests.contract.client import Answer, Client, Credentials
from tests.contract.cluster import Clients
from tests.contract.objects import NAMESPACES, config_map, path, unique


def check(answer: Answer, code: int, reason: str) -> None:
    status = answer.json
    assert answer.status == code, answer.body
    assert answer.headers["content-type"] == "application/json"
    assert (status["kind"], status["apiVersion"]) == ("Status", "v1")
    assert (status["status"], status["code"], status["reason"]) == ("Failure", code, reason)
    assert status["message"]
    assert status["metadata"] == {}


@pytest.fixture
def where(namespace: str) -> str:
    return path(namespace, "configmaps")


def test_malformed_requests_return_400(admin: Client, where: str) -> None:
    check(admin.post(where, b"{no json"), 400, "BadRequest")
    check(admin.get(where, fieldSelector="spec.nothing=1"), 400, "BadRequest")


def test_invalid_credentials_return_401(clients: Clients, where: str) -> None:
    check(clients.of(Credentials(token="wrong")).get(where), 401, "Unauthorized")


def test_missing_permissions_return_403(clients: Clients, where: str, namespace: str) -> None:
    stranger = clients.user("stranger")
    answer = stranger.get(f"{where}/x")
    check(answer, 403, "Forbidden")
    assert answer.json["details"] == {"name": "x", "kind": "configmaps"}
    assert answer.json["message"] == (
        'configmaps "x" is forbidden: User "stranger" cannot get resource "configmaps"'
        f' in API group "" in the namespace "{namespace}"'
    )
    apps = stranger.get(path(namespace, "deployments", "x", group="apps/v1"))
    assert apps.json["details"] == {"name": "x", "group": "apps", "kind": "deployments"}
    assert apps.json["message"].startswith('deployments.apps "x" is forbidden: User "stranger"')


def test_missing_subresource_permissions_return_403(clients: Clients, namespace: str) -> None:
    answer = clients.user("stranger").get(path(namespace, "pods", "x") + "/log")
    check(answer, 403, "Forbidden")
    assert 'cannot get resource "pods/log" in API group ""' in answer.json["message"]


def test_missing_path_permissions_return_403(clients: Clients) -> None:
    answer = clients.user("stranger").get("/logs/x")
    check(answer, 403, "Forbidden")
    assert answer.json["message"] == 'forbidden: User "stranger" cannot get path "/logs/x"'


def test_permissions_are_checked_before_existence(clients: Clients, where: str) -> None:
    """Unauthorized users cannot find out which objects or types exist."""
    stranger = clients.user("stranger")
    assert stranger.get(f"{where}/absent").status == 403
    assert stranger.get("/apis/example.com/v1/absent").status == 403
    assert stranger.post(where, b"{no json").status == 403


def test_missing_objects_return_404(admin: Client, namespace: str) -> None:
    answer = admin.get(path(namespace, "deployments", "x", group="apps/v1"))
    check(answer, 404, "NotFound")
    assert answer.json["details"] == {"name": "x", "group": "apps", "kind": "deployments"}
    assert answer.json["message"] == 'deployments.apps "x" not found'


def test_missing_types_return_404(admin: Client, namespace: str) -> None:
    answer = admin.get(path(namespace, "absents"))
    check(answer, 404, "NotFound")
    assert answer.json["message"] == "the server could not find the requested resource"
    assert admin.get("/apis/absent.example.com/v1/things").status == 404
    assert admin.get("/absent").status == 404


def test_unsupported_methods_return_405(admin: Client, where: str) -> None:
    check(admin.request("POST", f"{where}/x", {}), 405, "MethodNotAllowed")
    check(admin.delete(NAMESPACES), 405, "MethodNotAllowed")
    check(admin.request("PUT", where, {}), 405, "MethodNotAllowed")


def test_duplicate_names_return_409(admin: Client, where: str) -> None:
    name = unique("twice")
    admin.post(where, config_map(name)).ok()
    check(admin.post(where, config_map(name)), 409, "AlreadyExists")


def test_unsupported_content_types_return_415(admin: Client, where: str) -> None:
    plain = admin.request("POST", where, b"text", content_type="text/plain")
    check(plain, 415, "UnsupportedMediaType")
    check(admin.patch(f"{where}/x", {}, "application/json"), 415, "UnsupportedMediaType")


def test_unsupported_accept_headers_return_406(admin: Client, where: str) -> None:
    check(admin.with_headers(("Accept", "text/html")).get(where), 406, "NotAcceptable")


def test_invalid_objects_return_422(admin: Client, where: str) -> None:
    answer = admin.post(where, config_map("Not-Valid"))
    check(answer, 422, "Invalid")
    details = answer.json["details"]
    assert (details["name"], details["kind"]) == ("Not-Valid", "ConfigMap")
    (cause,) = details["causes"]
    assert (cause["reason"], cause["field"]) == ("FieldValueInvalid", "metadata.name")
    assert cause["message"].startswith('Invalid value: "Not-Valid": ')
    assert answer.json["message"].startswith('ConfigMap "Not-Valid" is invalid: metadata.name: ')


def test_yaml_bodies_are_accepted(admin: Client, where: str) -> None:
    name = unique("yaml")
    text = f"metadata:\n  name: {name}\ndata: {{a: b}}\n".encode()
    answer = admin.request("POST", where, text, content_type="application/yaml")
    assert answer.ok()["data"] == {"a": "b"}


def test_each_request_has_a_unique_audit_id(admin: Client, where: str) -> None:
    first, second = (admin.get(where).headers["audit-id"] for _ in range(2))
    assert first != second
