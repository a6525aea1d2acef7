"""The column selection in the URL of a list: on the page, on the websocket and in exports."""

from typing import Any

import pytest
from django.http import QueryDict
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from console.kube.gvr import PODS
from console.kube.informer import Informer
from console.ui.core.manifests import LAST_APPLIED
from console.ui.lists.column_selection import MOST_LABELS
from console.ui.lists.export import export_item
from console.ui.lists.list_forms import column_picker, filter_form
from console.ui.lists.rows import RowBuilder
from console.ui.lists.selection import ListQuery
from console.ui.lists.table import row_of
from console.ui.lists.viewspec import ViewSpec
from tests.support.informers import bring, preloaded
from tests.ui.pod_lists import spec_of, table
from tests.ui.support import admin, pod, small_world

USUAL = ("name", "namespace", "status", "ready", "restarts", "node", "ip", "age")
#: Includes columns that exist only if usage is measured.
WHOLE = (*USUAL[:5], "cpu_used", "memory_used", *USUAL[5:])


def ids(query: str) -> tuple[str, ...]:
    spec = spec_of(query)
    assert spec.errors == ()
    return tuple(column.id for column in spec.shown(metered=False))


@pytest.mark.parametrize(
    ("query", "shown", "canonical"),
    [
        ("", USUAL, ""),
        ("columns=", USUAL, ""),
        ("columns=" + ",".join(WHOLE), USUAL, ""),
        ("columns=" + ",".join(USUAL), USUAL, "columns=" + ",".join(USUAL)),
        ("columns=age,name", ("age", "name"), "columns=age,name"),
        ("columns=age", ("name", "age"), "columns=name,age"),
        ("columns=name&columns=age", ("name", "age"), "columns=name,age"),
        ("columns=name,age,name,", ("name", "age"), "columns=name,age"),
        ("columns=name,label:app", ("name", "label:app"), "columns=name,label%3Aapp"),
        (
            "columns=annotation:a.b/N",
            ("name", "annotation:a.b/N"),
            "columns=name,annotation%3Aa.b%2FN",
        ),
        ("columns=label:+a.b/c-d", ("name", "label:a.b/c-d"), "columns=name,label%3Aa.b%2Fc-d"),
    ],
)
def test_columns_are_selected_by_the_url(
    query: str, shown: tuple[str, ...], canonical: str
) -> None:
    assert ids(query) == shown
    assert spec_of(query).query == canonical
    assert spec_of(canonical) == spec_of(query)


@pytest.mark.parametrize(
    "text",
    [
        "annotation:", "annotation:a b", f"annotation:{LAST_APPLIED}",
        "nothing", "label:", "label:!app", "label:a=b", "label:(", "labels", "x" * 2000, "a\x00",
        ",".join(f"label:k{number}" for number in range(MOST_LABELS + 1)),
    ],
)  # fmt: skip
def test_unknown_column_is_reported(text: str) -> None:
    query = QueryDict(mutable=True)
    query["columns"] = text
    spec = ViewSpec.parse(spec_of("").kind, query, cluster="host")
    assert [error.field for error in spec.errors] == ["columns"]
    assert spec.columns == ()


@given(st.lists(st.text(max_size=60), max_size=20))
def test_any_text_is_parsed_or_refused(texts: list[str]) -> None:
    query = QueryDict(mutable=True)
    query.setlist("columns", texts)
    spec = ViewSpec.parse(spec_of("").kind, query, cluster="host")
    if not spec.errors:
        assert spec_of(spec.query).columns == spec.columns


def test_rows_and_headers_have_the_selected_columns() -> None:
    found = table("columns=label:app,age&q=web-2")
    assert [head.id for head in found.columns] == ["name", "label:app", "age"]
    [row] = found.rows
    assert [cell.column for cell in row.cells] == ["name", "label:app", "age"]
    assert row.cells[1].value == "web"
    assert found.columns[1].sort_url is None
    assert (found.columns[2].sort_url or "").endswith("columns=name,label%3Aapp,age&sort=age")


def test_annotation_columns_show_the_value_of_the_object() -> None:
    noted = pod("noted")
    noted["metadata"]["annotations"] = {"note": "a\u202eb"}
    found = table("columns=annotation:note", objects=[noted, pod("web-1")])
    assert [row.cells[1].value for row in found.rows] == ["a⟨U+202E⟩b", ""]


def test_rows_are_cached_per_column_selection() -> None:
    """Pages and websockets share rows only for equal column selections."""
    informer: Informer[Any] = preloaded(PODS, small_world())
    entry = next(iter(informer.store.snapshot().entries.values()))
    usual, few = spec_of(""), spec_of("columns=name,age")
    rows = [RowBuilder(usual.kind, admin(), spec.columns).row(entry) for spec in (usual, few)]
    assert [len(row.cells) for row in rows] == [8, 2]
    assert rows[0].signature != rows[1].signature
    found = row_of(ListQuery.of(few, admin()), entry.key, informer)
    assert found is rows[1]


def test_change_of_a_hidden_column_does_not_change_the_row() -> None:
    informer: Informer[Any] = preloaded(PODS, small_world())
    few, key = spec_of("columns=name,label:app"), next(iter(informer.store.snapshot().entries))
    before = row_of(ListQuery.of(few, admin()), key, informer)
    changed = {**informer.store.get(key).original()}  # type: ignore[union-attr]
    changed["metadata"]["resourceVersion"] = "999999999"
    changed["status"]["podIP"] = "10.9.9.9"
    bring(informer, changed)
    after = row_of(ListQuery.of(few, admin()), key, informer)
    assert before is not None
    assert after is not None
    assert after is not before
    assert after.signature == before.signature


def test_exports_have_the_selected_columns() -> None:
    informer: Informer[Any] = preloaded(PODS, small_world())
    entry = next(iter(informer.store.snapshot().entries.values()))
    spec = spec_of("columns=name,label:tier")
    found = export_item(spec.kind, spec.shown(metered=False), entry)
    assert found["label:tier"] == "front"
    assert "node" not in found
    assert {"namespace", "name", "status", "labels"} <= set(found)


def test_filters_sorts_and_pages_keep_the_selection() -> None:
    found = table("columns=name,age&sort=age&limit=2&status=error")
    links = [
        *(head.sort_url for head in found.columns), *(item.url for item in found.tally),
        found.all_url, *(choice.url for choice in found.pager.limits),
    ]  # fmt: skip
    assert all("columns=name,age" in (link or "") for link in links)
    assert ("columns", "name,age") in found.filters.hidden


def test_column_form_offers_all_columns_and_keeps_other_parameters() -> None:
    picker = column_picker(spec_of("columns=name,age,label:app&q=web&status=error&page=3"))
    assert picker.hidden == (("q", "web"), ("status", "error"))
    assert picker.default_url == "/clusters/host/pods?q=web&status=error"
    offered = {choice.id: choice.shown for choice in picker.choices}
    assert set(offered) == {*WHOLE, "label:app"} - {"name"}
    assert {name for name, shown in offered.items() if shown} == {"age", "label:app"}
    assert column_picker(spec_of("q=web")).default_url is None


def test_cached_form_is_kept_per_language() -> None:
    """The first request must not determine the language of later ones."""
    spec, said = spec_of("label=app%3Dweb"), []
    for lang in ("en", "zh-hans"):
        with override(lang):
            form = filter_form(spec, frozenset())
            said.append((form.covers, form.chips[0].label))
    [one, other] = said
    assert one[0] != other[0] and one[1] != other[1]
