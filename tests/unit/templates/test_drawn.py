"""Rendered templates: hooks for scripts, fragments, escaping, and error pages without context."""

import re
from types import SimpleNamespace

import pytest
from django.template.loader import render_to_string
from django.utils import translation

from console.ui.navigation.nav import LevelProblems
from tests.support.html import Elements
from tests.unit.templates.conftest import SINCE, a_row, a_table

POLYGLOT = (
    """"'><script>alert(1)</script><img src=x onerror=alert(1) hx-get=/x>"""
    "{{ 70007|add:70007 }}</td>&amp;"
)


def draw(name: str, **context: object) -> str:
    return render_to_string(name, context)


@pytest.mark.parametrize(
    ("name", "context", "root"),
    [
        ("ui/_row.html", {"row": a_row()}, ("tr", "pods-shop_2fcart")),
        ("ui/_summary.html", {"table": a_table()}, ("div", "summary")),
        ("ui/_pager.html", {"table": a_table()}, ("nav", "pager")),
        ("ui/_results.html", {"table": a_table()}, ("section", "results")),
        (
            "ui/_freshness.html",
            {"live": SimpleNamespace(state="stale", since=SINCE, problem="")},
            ("div", "freshness"),
        ),
    ],
)
def test_frame_has_one_root_element_with_its_id(
    name: str, context: dict[str, object], root: tuple[str, str]
) -> None:
    assert Elements(draw(name, **context)).roots() == [root]


@pytest.mark.parametrize("part", ["_summary", "_pager"])
def test_results_contain_each_part_as_sent_by_the_websocket(part: str) -> None:
    def squeezed(html: str) -> str:
        return re.sub(r"\s+", " ", html).strip()

    results = squeezed(draw("ui/_results.html", table=a_table()))
    assert squeezed(draw(f"ui/{part}.html", table=a_table())) in results
    assert squeezed(draw("ui/_row.html", row=a_row())) in results


def test_table_and_rows_have_the_hooks_for_scripts() -> None:
    found = Elements(draw("ui/_results.html", table=a_table())).found
    table = next(attributes for _, tag, attributes in found if tag == "table")
    hooks = {name: value for name, value in table.items() if name.startswith("data-")}
    assert hooks == {
        "data-resource": "pods", "data-total": "1", "data-rv": "88213", "data-etag": "e1",
        "data-url": "/l?q=a", "data-chosen": None, "data-short": None,
    }  # fmt: skip
    row = next(
        attributes for _, tag, attributes in found if tag == "tr" and "data-key" in attributes
    )
    assert row["id"] == "pods-shop_2fcart"
    assert row["data-key"] == "shop/cart-6b7d9f-l8vnz"
    assert (row["data-severity"], row["data-v"]) == ("error", "5ae1")


def test_empty_list_keeps_its_table_for_later_rows() -> None:
    state = SimpleNamespace(
        kind="no-match", title="No pods match", text="None.", action_url="/l", action_label="All"
    )
    found = Elements(draw("ui/_results.html", table=a_table(rows=(), state=state))).found
    table = next(attributes for _, tag, attributes in found if tag == "table")
    assert "hidden" in table
    assert table["data-url"] == "/l?q=a"


@pytest.mark.parametrize(
    ("name", "context"),
    [
        ("ui/_results.html", {"table": a_table(POLYGLOT)}),
        ("ui/_row.html", {"row": a_row(POLYGLOT)}),
        ("ui/_scope.html", {"scope": SimpleNamespace(
            cluster="host", segment="pods", namespaces=(POLYGLOT,), namespace=POLYGLOT,
            problems=LevelProblems())}),
        ("ui/_freshness.html", {"live": SimpleNamespace(state="stale", since=None, problem=POLYGLOT)}),
        ("ui/_banner.html", {"live": SimpleNamespace(state="stale", since=None, problem=POLYGLOT)}),
        ("errors/page.html", {"title": POLYGLOT, "text": POLYGLOT, "request_id": POLYGLOT}),
    ],
)  # fmt: skip
def test_cluster_data_is_escaped(name: str, context: dict[str, object]) -> None:
    html = draw(name, **context)
    found = Elements(html).found
    assert not [tag for _, tag, _ in found if tag in {"script", "img"}]
    assert not [a for _, _, attributes in found for a in attributes if a.startswith("on")]
    assert "/x" not in {attributes.get("hx-get") for _, _, attributes in found}
    assert "140014" not in html
    assert "alert(1)" in html


def test_htmx_is_disabled_in_rows() -> None:
    """Rows contain only cluster data and plain links, so htmx need not process them."""
    found = Elements(draw("ui/_results.html", table=a_table())).found
    body = next(attributes for _, tag, attributes in found if tag == "tbody")
    assert "hx-disable" in body
    row = Elements(draw("ui/_row.html", row=a_row())).found
    assert not [a for _, _, attributes in row for a in attributes if a.startswith("hx-")]


@pytest.mark.parametrize("code", [400, 403, 404, 500, 503])
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_error_pages_render_without_context(code: int, language: str) -> None:
    with translation.override(language):
        html = draw("errors/page.html", code=code)
    found = Elements(html).found
    page = next(attributes for _, tag, attributes in found if tag == "html")
    assert page["lang"] == {"en": "en", "zh-hans": "zh-Hans"}[language]
    assert page["data-theme"] == "auto"
    assert len([tag for _, tag, _ in found if tag == "h1"]) == 1
    assert not [tag for _, tag, _ in found if tag == "script"]
    assert bool(re.search("[\u4e00-\u9fff]", html)) is (language == "zh-hans")


def test_title_contains_the_number_of_failing_objects() -> None:
    html = draw("ui/_summary.html", table=a_table())
    assert 'data-title="1 ◆ Pods · cart-6b7d9f-l8vnz"' in html


def test_chinese_headings_contain_the_english_kind_once() -> None:
    with translation.override("zh-hans"):
        assert '<span class="kind" lang="en">Pod</span>' in draw(
            "ui/_summary.html", table=a_table()
        )
    assert "kind" not in draw("ui/_summary.html", table=a_table())
