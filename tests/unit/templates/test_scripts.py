"""Settings of htmx, and what the scripts may not do."""

import json
import re

from django.template.loader import render_to_string

from tests.unit.templates.files import STATIC, scripts, source


def htmx_settings() -> dict[str, object]:
    html = render_to_string("ui/scripts.html")
    found = re.search(r"<meta name=\"htmx-config\" content='([^']*)'>", html)
    assert found is not None
    settings = json.loads(found.group(1))
    assert isinstance(settings, dict)
    return settings


def test_htmx_evaluates_nothing_and_keeps_nothing() -> None:
    wanted = {
        "allowEval": False,
        "allowScriptTags": False,
        "selfRequestsOnly": True,
        "historyCacheSize": 0,
        "historyRestoreAsHxRequest": False,
        "includeIndicatorStyles": False,
    }
    settings = htmx_settings()
    assert {name: settings.get(name) for name in wanted} == wanted
    assert "inlineScriptNonce" not in settings


def test_htmx_knows_every_setting() -> None:
    """A setting with a wrong name would be taken without a word."""
    library = (STATIC / "vendor" / "htmx" / "htmx.min.js").read_text()
    for name in htmx_settings():
        assert re.search(rf"\b{name}\b", library), name


def test_refusals_are_shown_and_failures_are_not_swapped() -> None:
    rules = htmx_settings()["responseHandling"]
    assert isinstance(rules, list)

    def swaps(status: str) -> bool:
        return next(bool(r["swap"]) for r in rules if re.fullmatch(r["code"], status))

    shown = {status: swaps(status) for status in ("200", "204", "400", "403", "404", "500", "503")}
    assert shown == {
        "200": True, "204": False, "400": True, "403": True, "404": True, "500": False, "503": False,
    }  # fmt: skip


def test_scripts_write_no_markup_and_evaluate_nothing() -> None:
    """The one `innerHTML` is of a detached template, whose content neither runs nor loads."""
    text = scripts()
    runs = r"\beval\(|new Function|document\.write|srcdoc|createContextualFragment"
    assert not re.search(rf"{runs}|insertAdjacentHTML|setHTML|outerHTML\s*\+?=", text)
    assert re.findall(r"(\w+)\.innerHTML\s*\+?=", text) == ["frame"]


def test_scripts_have_no_words_of_their_own() -> None:
    """Words come from the page, in its reader's language; names of keys and states are one word."""
    code = re.sub(r"^\s*(//|/?\*).*$|\s// .*$", "", scripts(), flags=re.MULTILINE)
    assert not re.findall(r"""["'`>]([A-Z]\w+ [\w ]*)""", code)


def test_each_word_that_scripts_say_is_in_the_page() -> None:
    said = set(re.findall(r'\bword\("(\w+)"', scripts()))
    given = set(re.findall(r'data-word="(\w+)"', source("ui/_words.html")))
    # Named by a variable: the states of the chip, the two counts of the pill.
    assert said <= given
    assert given - said == {
        "live",
        "stale",
        "off",
        "paused",
        "added",
        "removed",
        "matching",
        "chosen",
    }


def test_each_phrase_that_the_editor_says_is_in_its_part() -> None:
    """Its own by names; CodeMirror's by what they are in English."""
    given = set(re.findall(r'data-phrase="([^"]+)"', source("ui/_editor_phrases.html")))
    own = set(re.findall(r'(?:\bsay\("|#say\("|\breport\([^"]*, ")(\w+)"', scripts()))
    library = (STATIC / "vendor" / "codemirror" / "codemirror.js").read_text()
    assert own <= given
    assert {phrase for phrase in given - own if f'"{phrase}"' not in library} == set()


def test_codemirror_says_nothing_in_english_alone() -> None:
    """Whatever its parts say when they are built in, whether or not a page of a test opens them."""
    given = set(re.findall(r'data-phrase="([^"]+)"', source("ui/_editor_phrases.html")))
    library = (STATIC / "vendor" / "codemirror" / "codemirror.js").read_text()
    shorter = re.findall(r"function ([\w$]+)\(\w,\w\){return \w\.state\.phrase\(\w\)}", library)
    calls = "|".join([r"\.phrase\(", *(rf"\b{re.escape(name)}\(\w," for name in shorter)])
    asked = re.findall(rf'(?:{calls})[^"()]*("[^()]*")', library)
    said = {phrase for found in asked for phrase in re.findall(r'"([^"]+)"', found)}
    assert {"Find", "Fold line", "current match"} <= said, "they are found"
    # Of the buttons of a merge, which there are none of, and of what is written as its code point.
    assert said - given == {"Accept", "Reject", "Control character"}


def test_scripts_run_in_the_order_of_what_they_need() -> None:
    order = re.findall(r'static "([^"]+)"', source("ui/scripts.html"))
    assert [path.rpartition("/")[2] for path in order] == [
        "dockearly.js", "htmx.min.js", "hx-ws.min.js", "idiomorph.min.js",
        "page.js", "ages.js", "columns.js", "rows.js", "live.js", "bulk.js",
        "keys.js",
        "palette.js", "dock.js", "rail.js", "editor.js",
    ]  # fmt: skip
    assert all((STATIC / path).is_file() for path in order)
