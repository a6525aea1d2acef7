"""Cached fragments are shared only between equal permissions and languages, and show current ages."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.template import Context, Template, TemplateSyntaxError
from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.safestring import mark_safe
from django.utils.translation import override

from console.kube.gvr import PODS
from console.kube.informer import Informer
from console.kube.status import Severity
from console.templatetags.symbols import MARKS
from console.ui.core.lru_cache import WeightedLruCache
from console.ui.fragments import cached_fragments, placeholders
from console.ui.fragments.cached_fragments import actions_html, part_html, rows_html
from console.ui.lists.rows import ActionBar, ListRow
from console.ui.lists.selection import ListQuery
from console.ui.lists.table import build_table
from console.ui.navigation.level import Level
from console.ui.navigation.nav import LevelProblems
from console.ui.navigation.page_frame import LevelSwitcher
from tests.support.informers import bring, preloaded
from tests.ui.pod_lists import spec_of
from tests.ui.support import FakeAccess, admin, bob, pod, small_world

LANGUAGES = ("en", "zh-hans")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Clear the cache and record the templates rendered from now on."""
    found: list[str] = []

    def noted(template: str, values: dict[str, Any]) -> str:
        found.append(template)
        return render_to_string(template, values)

    monkeypatch.setattr(cached_fragments, "render_to_string", noted)
    cached_fragments.part_cache.clear()
    return found


def rows_of(informer: Informer[Any], access: FakeAccess) -> tuple[ListRow, ...]:
    return build_table(ListQuery.of(spec_of("sort=name"), access), informer).rows


def anew(row: ListRow, lang: str) -> str:
    """Render the row with its template, without the cache."""
    with override(lang):
        return render_to_string("ui/_row.html", {"row": row})


class Clock:
    """Replacement of `datetime` where ages are computed."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)

    def now(self, zone: object) -> datetime:
        return self.moment


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(placeholders, "datetime", clock)
    return clock


@pytest.mark.usefixtures("clock")
def test_cached_row_equals_its_rendered_template() -> None:
    informer = preloaded(PODS, small_world())
    for access in (admin(), bob(), FakeAccess("x", delete_in={"shop"})):
        for _ in range(2):
            for lang in LANGUAGES:
                shown = rows_of(informer, access)
                assert [rows_html([row], lang) for row in shown] == [
                    anew(row, lang) for row in shown
                ]
                assert rows_html(shown, lang) == "".join(anew(row, lang) for row in shown)


def test_row_is_rendered_once_for_equal_permissions(drawn: list[str]) -> None:
    informer = preloaded(PODS, small_world())
    first = [rows_html([row], "en") for row in rows_of(informer, admin())]
    assert drawn.count("ui/_row.html") == 6
    assert [
        rows_html([row], "en") for row in rows_of(informer, FakeAccess("other", get_in=None))
    ] == first
    assert drawn.count("ui/_row.html") == 6
    bring(informer, pod("web-1", "shop", restarts=9))
    again = [rows_html([row], "en") for row in rows_of(informer, admin())]
    assert drawn.count("ui/_row.html") == 7
    assert len(set(again) - set(first)) == 1


def test_row_menu_depends_on_the_permissions() -> None:
    informer = preloaded(PODS, small_world())
    viewers = (admin(), bob(), FakeAccess("x", delete_in={"shop"}), bob(), admin())
    for access in viewers:
        for row in rows_of(informer, access):
            may = access.can("delete", PODS, namespace=row.namespace, name=row.name)
            assert ("/delete" in rows_html([row], "en")) is may
            assert bool(row.menu) is may


def test_actions_are_rendered_once_for_all_objects_with_the_same_actions(
    drawn: list[str],
) -> None:
    for access in (admin(), bob(), admin()):
        informer = preloaded(PODS, small_world())
        rows = rows_of(informer, access)
        for row in rows:
            html = rows_html([row], "en")
            assert f'id="menu-{row.id}"' in html or not row.menu
            assert all(f'"{escape(item.url)}"' in html for item in row.actions.others)
            others = [one.name for one in rows if one.name not in row.name]
            assert not [name for name in others if f"Actions for {name}" in html]
    different = {tuple(item.action for item in row.menu) for row in rows}
    assert drawn.count("ui/_row_actions.html") <= len(different) + 1


def test_texts_of_an_object_are_escaped_in_shared_actions() -> None:
    item = rows_of(preloaded(PODS, small_world()), admin())[0].menu[0]
    bar = ActionBar(others=(replace(item, url='/"><b>'),))
    texts = {"name": "<i>", "uid": "<u>", "row": '"r', "key": "&"}
    html = actions_html("ui/_row_actions.html", bar, **texts)
    assert not [text for text in ('"><b>', "<i>", "<u>", '"r"', '"&"') if text in html]
    assert "Actions for &lt;i&gt;" in html


def test_projects_in_the_header_are_rendered_once_for_all_pages(drawn: list[str]) -> None:
    names, problems = ("a", "a&b", "shop"), LevelProblems()
    tag = Template("{% load quarterdeck %}{% places 'project' names scope current=current %}")
    for current in (*names, ""):
        scope = LevelSwitcher(Level("project", "host", namespace=current), problems=problems)
        html = tag.render(Context({"names": names, "scope": scope, "current": current}))
        found = re.findall(r'data-place="([^"]*)" aria-current="true"', html)
        assert found == ([escape(current)] if current else [])
    assert drawn.count("ui/_places.html") == 1


def test_row_is_cached_per_language() -> None:
    informer = preloaded(PODS, small_world())
    for lang in ("en", "zh-hans", "en", "zh-hans"):
        # Regardless of the language active when the row was created or sent.
        for active in LANGUAGES:
            with override(active):
                html = "".join(rows_html([row], lang) for row in rows_of(informer, admin()))
            assert (">Crash loop<" in html) is (lang == "en")
            assert (">Delete<" in html) is (lang == "en")


def test_ages_are_current_in_cached_rows(drawn: list[str], clock: Clock) -> None:
    created = clock.moment
    informer = preloaded(PODS, [pod("web", created=created.isoformat())])
    for seconds, shown in ((8, "8s"), (61, "1m"), (7200, "2h")):
        clock.moment = created + timedelta(seconds=seconds)
        assert f">{shown}</time>" in rows_html(rows_of(informer, admin())[:1], "en")
    assert drawn.count("ui/_row.html") == 1


def test_fragment_is_rendered_once_per_values_and_language(drawn: list[str]) -> None:
    mark = (("severity", "ok"),)
    with override("en"):
        html = part_html("ui/_mark.html", mark)
        assert part_html("ui/_mark.html", mark) == html
        assert MARKS[Severity.OK] in html
        warns = part_html("ui/_mark.html", (("severity", "warn"),))
        assert MARKS[Severity.WARN] in warns and MARKS[Severity.OK] not in warns
        assert {*MARKS} == {*Severity}
        assert "Move to the next or previous row" in part_html("ui/_help.html", ())
    with override("zh-hans"):
        assert "Move to the next or previous row" not in part_html("ui/_help.html", ())
    assert drawn.count("ui/_mark.html") == 2
    assert drawn.count("ui/_help.html") == 2


def test_safe_and_plain_strings_are_cached_separately() -> None:
    """They are equal and have the same hash, but only one of them needs escaping."""
    name = "<b>"
    with override("en"):
        trusted = part_html("ui/_mark.html", (("severity", mark_safe(name)),))  # noqa: S308
        assert "<b>" in trusted
        assert "<b>" not in part_html("ui/_mark.html", (("severity", name),))


def test_tag_renders_like_an_include() -> None:
    context = Context({"it": "ok", "other": "unseen"})
    part = Template('{% load quarterdeck %}{% part "ui/_mark.html" severity=it %}')
    include = Template('{% include "ui/_mark.html" with severity=it only %}')
    assert part.render(context) == include.render(context)


@pytest.mark.parametrize("tag", ["part", "part name", 'part "ui/_mark.html" severity', 'part "x'])
def test_invalid_tag_does_not_compile(tag: str) -> None:
    with pytest.raises(TemplateSyntaxError):
        Template(f"{{% load quarterdeck %}}{{% {tag} %}}")


class Request:
    """The attributes of a request that the page context reads."""

    csp_nonce = ""
    get_full_path = "/clusters/host/pods?q=<b>"


def page(token: str, nonce: str) -> str:
    request = Request()
    request.csp_nonce = nonce
    source = (
        '{% load quarterdeck %}{% part "ui/scripts.html" %}'
        '{% part "ui/account_menu.html" account="ada" theme="dark" %}'
    )
    return Template(source).render(Context({"csrf_token": token, "request": request}))


def test_request_data_is_not_shared_between_requests(drawn: list[str]) -> None:
    with override("en"):
        first, second = page("token-1", "nonce-1"), page("token-2", "nonce-2")
    assert drawn.count("ui/account_menu.html") == drawn.count("ui/scripts.html") == 1
    assert first.count('value="token-1"') == second.count('value="token-2"') == 3
    assert first.count('nonce="nonce-1"') == second.count('nonce="nonce-2"') > 5
    assert first.replace("-1", "-2") == second
    assert "gap-" not in first


def test_request_data_is_escaped() -> None:
    with override("en"):
        assert 'value="/clusters/host/pods?q=&lt;b&gt;"' in page("t", "n")


def test_page_without_request_data_leaves_placeholders_empty() -> None:
    with override("en"):
        html = Template('{% load quarterdeck %}{% part "ui/scripts.html" %}').render(Context())
    assert 'nonce=""' in html
    assert "gap-" not in html


@pytest.mark.parametrize("tag", ["given", "given a b"])
def test_placeholder_names_are_unique(tag: str) -> None:
    with pytest.raises(TemplateSyntaxError):
        Template(f"{{% load quarterdeck %}}{{% {tag} %}}")


def test_lru_cache_is_limited_by_weight() -> None:
    kept: WeightedLruCache[int, str] = WeightedLruCache(100, len)
    for number in range(50):
        assert kept.get(number, lambda: "x" * 30) == "x" * 30
        assert kept.get(0, lambda: "y" * 30)[0] == "x", "what is asked for stays"
    assert (len(kept), kept.weight) == (3, 90)
    # An entry heavier than the limit is computed each time and not cached.
    assert len(kept.get(99, lambda: "z" * 101)) == 101
    assert (len(kept), kept.weight) == (0, 0)


def test_fragments_may_render_nested_fragments() -> None:
    kept: WeightedLruCache[str, str] = WeightedLruCache(100, len)
    assert kept.get("a", lambda: kept.get("b", lambda: "b") + "a") == "ba"


def test_the_weight_of_a_fragment_counts_wide_characters_and_the_texts_in_its_values() -> None:
    for text, size in (("x" * 10_000, 10_000), ("x" * 9_999 + "\U0001f600", 40_000)):
        fragment = cached_fragments.CachedFragment((text,), ())
        assert cached_fragments._weight(fragment) >= 2 * size
