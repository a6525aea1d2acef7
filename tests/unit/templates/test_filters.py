"""Ages and counts as displayed without scripts."""

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.utils import translation

from console.templatetags.quarterdeck import age, exact, in_english, iso, opening, thousands
from tests.unit.templates.conftest import SINCE
from tests.unit.templates.files import STATIC


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-5, "0s"), (0, "0s"), (59, "59s"), (60, "1m"), (3599, "59m"), (3600, "1h"),
        (86_399, "23h"), (86_400, "1d"), (365 * 86_400 - 1, "364d"), (365 * 86_400, "1y"),
        (3 * 365 * 86_400, "3y"),
    ],
)  # fmt: skip
def test_age_is_shown_in_its_largest_unit(seconds: int, shown: str) -> None:
    assert age(SINCE, SINCE + timedelta(seconds=seconds)) == shown


def test_chinese_age_contains_a_space() -> None:
    with translation.override("zh-hans"):
        assert age(SINCE, SINCE + timedelta(minutes=12)) == "12 分钟"


def test_missing_age_is_a_dash() -> None:
    assert age(None) == "—"


def test_times_are_formatted_in_the_same_way_in_every_language() -> None:
    for lang in ("en", "zh-hans"):
        with translation.override(lang):
            assert iso(SINCE) == "2026-11-21T10:12:41+00:00"
            assert exact(SINCE) == "2026-11-21 10:12:41 UTC"
            assert exact(datetime(9, 1, 2, 3, 4, 5, tzinfo=UTC)) == "0009-01-02 03:04:05 UTC"
    elsewhere = SINCE.astimezone(timezone(timedelta(hours=8)))
    assert (iso(elsewhere), exact(elsewhere)) == (iso(SINCE), exact(SINCE))
    assert (iso(None), exact(None)) == ("", "")


def test_script_uses_the_same_units() -> None:
    script = (STATIC / "js" / "ages.js").read_text()
    assert re.search(r"STEPS = \[60, 3600, 86_400, 365 \* 86_400\]", script)


def test_counts_have_thousands_separators_in_every_language() -> None:
    with translation.override("zh-hans"):
        assert thousands(12840) == "12,840"
    assert thousands(0) == "0"
    assert thousands(None) == "?"


def test_first_word_is_capitalized_except_for_proper_names() -> None:
    assert [opening(words) for words in ("pod", "HTTP route", "gRPC route", "")] == [
        *("Pod", "HTTP route", "gRPC route", ""),
    ]


def test_english_kind_is_omitted_if_it_equals_the_title() -> None:
    deployment = translation.gettext_lazy("deployment")
    assert in_english(deployment) == ""
    with translation.override("zh-hans"):
        assert [in_english(deployment), in_english("Certificate")] == ["Deployment", ""]
