"""Ages and counts, as a browser without scripts shows them."""

import re
from datetime import timedelta

import pytest
from django.utils import translation

from console.templatetags.quarterdeck import age, in_english, opening, thousands
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
def test_an_age_is_its_largest_unit(seconds: int, shown: str) -> None:
    assert age(SINCE, SINCE + timedelta(seconds=seconds)) == shown


def test_an_age_in_chinese_has_spaces() -> None:
    with translation.override("zh-hans"):
        assert age(SINCE, SINCE + timedelta(minutes=12)) == "12 分钟"


def test_no_age_is_a_dash() -> None:
    assert age(None) == "—"


def test_the_script_counts_in_the_same_steps() -> None:
    script = (STATIC / "js" / "ages.js").read_text()
    assert re.search(r"STEPS = \[60, 3600, 86_400, 365 \* 86_400\]", script)


def test_counts_have_commas_in_every_language() -> None:
    with translation.override("zh-hans"):
        assert thousands(12840) == "12,840"
    assert thousands(0) == "0"
    assert thousands(None) == "?"


def test_a_line_opens_with_a_capital_but_for_names_that_have_their_own() -> None:
    assert [opening(words) for words in ("pod", "HTTP route", "gRPC route", "")] == [
        *("Pod", "HTTP route", "gRPC route", ""),
    ]


def test_what_is_the_same_in_english_is_not_said_twice() -> None:
    deployment = translation.gettext_lazy("deployment")
    assert in_english(deployment) == ""
    with translation.override("zh-hans"):
        assert [in_english(deployment), in_english("Certificate")] == ["Deployment", ""]
