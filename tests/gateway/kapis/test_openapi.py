"""The OpenAPI document and the page of KubeSphere's API."""

from typing import Any

import pytest

from tests.gateway.demo import Demo

pytestmark = pytest.mark.programs


def _references(found: Any) -> list[str]:
    if isinstance(found, list):
        return [one for value in found for one in _references(value)]
    if not isinstance(found, dict):
        return []
    own = [found["$ref"]] if "$ref" in found else []
    return [*own, *(one for value in found.values() for one in _references(value))]


def test_the_document_is_consistent(demo: Demo) -> None:
    document = demo.send("GET", "/kapis/openapi").object
    assert document["openapi"].startswith("3.0")
    names = []
    for path, operations in document["paths"].items():
        for operation in operations.values():
            names.append(operation["operationId"])
            parameters = [(one["in"], one["name"]) for one in operation["parameters"]]
            assert len(parameters) == len(set(parameters)), path
            declared = {name for where, name in parameters if where == "path"}
            assert declared == {part[1:-1] for part in path.split("/") if part.startswith("{")}
    assert len(names) == len(set(names))
    for reference in set(_references(document)):
        found = document
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]


def test_the_document_names_the_types_of_the_cluster(demo: Demo) -> None:
    document = demo.send("GET", "/kapis/openapi").object
    path = "/kapis/resources.kubesphere.io/v1alpha3/namespaces/{namespace}/{resources}"
    [types] = [
        one["schema"]["enum"]
        for one in document["paths"][path]["get"]["parameters"]
        if one["name"] == "resources"
    ]
    assert {"pods", "deployments"} <= set(types)
    assert "nodes" not in types


def test_the_page_shows_the_addresses_that_contain_a_text(demo: Demo) -> None:
    visitor = demo.visitor("alice")
    status, page = visitor.get("/api-reference?q=workspacemembers")
    assert status == 200
    assert "/workspaces/{workspace}/workspacemembers" in page
    assert "/configs/configz" not in page
