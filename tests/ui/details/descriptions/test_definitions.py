"""The page of a CustomResourceDefinition."""

from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS
from tests.ui.details.descriptions.described import described, objects

FOUND = objects("""
metadata: {name: pipes.example.org}
spec:
  group: example.org
  names: {plural: pipes, singular: pipe, kind: Pipe, listKind: PipeList, categories: [all, water]}
status: {storedVersions: [v1beta1, v1]}
""")["pipes.example.org"]


def test_page_of_a_definition_shows_its_names_and_stored_versions() -> None:
    text = described(CUSTOM_RESOURCE_DEFINITIONS, FOUND)
    assert text.startswith("Plural name pipes Singular name pipe Kind of lists PipeList")
    assert "Categories all water Stored versions v1beta1 v1" in text
