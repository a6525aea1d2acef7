"""URLs of the pages of an object lead to this object."""

from collections.abc import Callable
from urllib.parse import quote, unquote

import pytest
from django.urls import resolve

from console.kube.gvr import Key
from console.ui.core.links import (
    action_url,
    detail_url,
    edit_form_url,
    edit_url,
    files_url,
    log_url,
    terminal_url,
)

PAGES: dict[str, Callable[[str, str, Key], str]] = {
    "detail": detail_url,
    "tab": lambda *place: detail_url(*place, "events"),
    "edit": edit_url,
    "form": edit_form_url,
    "step": lambda cluster, segment, key: edit_form_url(cluster, segment, key, "pods"),
    "action": lambda *place: action_url("scale", *place),
}
#: Pages that only objects in projects have.
INSIDE = {"log": log_url, "terminal": terminal_url, "files": files_url}


@pytest.mark.parametrize("page", [*PAGES, *INSIDE])
@pytest.mark.parametrize(
    "key",
    [Key("shop", "edit"), Key("form", "form"), Key("", "actions"), Key("a b", "50%:@é?#&")],
)
def test_url_of_a_page_leads_to_the_object(page: str, key: Key) -> None:
    if page in INSIDE and not key.namespace:
        return
    url = {**PAGES, **INSIDE}[page]("host", "things.example.org", key)
    path = url.partition("#end")[0].partition("?")[0]
    assert path == quote(unquote(path), safe="!$&'()*+,;=/~:@")
    found = resolve(unquote(path)).kwargs
    assert (found["resource"], found["namespace"], found["name"]) == ("things.example.org", *key)
