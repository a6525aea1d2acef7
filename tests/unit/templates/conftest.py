"""Template rendering without a cluster and without collected static files."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils.translation import gettext_lazy
from pytest_django import Settings

from console.ui.lists.rows import ActionBar

SINCE = datetime(2026, 11, 21, 10, 12, 41, tzinfo=UTC)


@pytest.fixture(autouse=True)
def plain_static(settings: Settings) -> None:
    """Serve static files by their plain names, without a manifest."""
    storage = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": storage}}


class Thing(SimpleNamespace):
    """A context object with identity equality, because cached renderings must be hashable."""

    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__


def a_cell(column: str, template: str, value: object, **other: Any) -> Thing:
    kept = {"align": "start", "priority": 2, **other}
    return Thing(column=column, template=f"ui/cells/{template}.html", value=value, **kept)


def a_row(text: str = "cart-6b7d9f-l8vnz") -> Thing:
    """Return a row with every kind of cell. `text` is used wherever cluster data can occur."""
    status = Thing(severity="error", word="Crash loop", reason=text)
    delete = Thing(
        label="Delete",
        danger=True,
        icon="trash-2",
        has_confirmation=True,
        dock="",
        places={"row", "header"},
    )
    menu: Any = (Thing(action=delete, url="/delete"),)
    return Thing(
        id="pods-shop_2fcart",
        key=f"shop/{text}",
        name=text,
        namespace=text,
        stem=text,
        suffix=text,
        severity="error",
        status_key="error:Crash loop",
        signature="5ae1",
        rendered={},
        cells=(
            a_cell("name", "name", text),
            a_cell("namespace", "text", text),
            a_cell("status", "status", status),
            a_cell("restarts", "number", 12840, align="end"),
            a_cell("node", "link", Thing(text=text, url="/nodes/n1")),
            a_cell("age", "age", SINCE, align="end"),
        ),
        uid=text,
        selectable=True,
        menu=menu,
        actions=ActionBar(others=menu),
    )


def a_table(text: str = "cart-6b7d9f-l8vnz", **changed: Any) -> Thing:
    """Return a list of one row. `text` is used as in `a_row` and in every filter."""
    kind = Thing(plural="pods", segment="pods", title="Pods", singular=gettext_lazy("pod"))
    tally = Thing(
        severity="error", label="Failing", count=1, url="/l?status=error", active=True,
        remove_url="/l", share=100.0,
    )  # fmt: skip
    filters = Thing(
        action="/l", q=text, covers=text, hidden=(("sort", text),), statuses=("error",), namespaces=(),
        chips=(Thing(label=f"label {text}", remove_url="/l?q=a"),),
        clear_url="/l", namespace=text, errors=(),
    )  # fmt: skip
    picker = Thing(
        action="/l", hidden=(("q", text),), name="name", default_url=f"/l?q={text}",
        choices=(Thing(id=text, label=text, shown=True),),
    )  # fmt: skip
    pager = Thing(
        first=1, last=1, total=2, page=1, pages=2, limit=1, limits=((20, "/l?limit=20", False),),
        prev_url=None, next_url="/l?page=2",
    )  # fmt: skip
    header = Thing(
        id="name", label="Name", align="start", priority=1, sort_url="/l?sort=name",
        aria_sort="ascending",
    )  # fmt: skip
    table = {
        "kind": kind, "columns": (header,), "rows": (a_row(text),), "total": 1,
        "resource_version": "88213", "etag": "e1", "url": "/l?q=a", "tally": (tally,),
        "filters": filters, "picker": picker, "pager": pager, "state": None,
        "freshness": Thing(state="live", since=None, problem=""),
    }  # fmt: skip
    return Thing(**{**table, **changed})
