"""URLs of workspaces and projects."""

import pytest
from django.urls import resolve, reverse


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/workspaces/new", "workspace"),
        ("/workspaces/new/projects/new", "workspace_project"),
        (reverse("workspace_new"), "workspace_new"),
        (reverse("workspace_project_new", args=("new",)), "workspace_project_new"),
    ],
)
def test_creation_pages_do_not_hide_objects_called_new(path: str, name: str) -> None:
    assert resolve(path).url_name == name
