"""Configuration of htmx, and restrictions on scripts."""

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


def test_htmx_evaluates_no_code_and_keeps_no_history() -> None:
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


def test_htmx_supports_every_setting() -> None:
    """htmx silently ignores misspelled settings."""
    library = (STATIC / "vendor" / "htmx" / "htmx.min.js").read_text()
    for name in htmx_settings():
        assert re.search(rf"\b{name}\b", library), name


def test_refusals_are_swapped_and_failures_are_not() -> None:
    rules = htmx_settings()["responseHandling"]
    assert isinstance(rules, list)

    def swaps(status: str) -> bool:
        return next(bool(r["swap"]) for r in rules if re.fullmatch(r["code"], status))

    shown = {status: swaps(status) for status in ("200", "204", "400", "403", "404", "500", "503")}
    assert shown == {
        "200": True, "204": False, "400": True, "403": True, "404": True, "500": False, "503": False,
    }  # fmt: skip


def test_scripts_write_no_markup_and_evaluate_no_code() -> None:
    """The only `innerHTML` is that of a detached template, whose content neither runs nor loads."""
    text = scripts()
    runs = r"\beval\(|new Function|document\.write|srcdoc|createContextualFragment"
    assert not re.search(rf"{runs}|insertAdjacentHTML|setHTML|outerHTML\s*\+?=", text)
    assert re.findall(r"(\w+)\.innerHTML\s*\+?=", text) == ["frame"]


def test_scripts_contain_no_visible_texts() -> None:
    """Texts come from the page in the user's language. Names of keys and states are single words."""
    code = re.sub(r"^\s*(//|/?\*).*$|\s// .*$", "", scripts(), flags=re.MULTILINE)
    assert not re.findall(r"""["'`>]([A-Z]\w+ [\w ]*)""", code)


def test_each_text_used_by_scripts_is_in_the_page() -> None:
    said = set(re.findall(r'\bword\("(\w+)"', scripts()))
    given = set(re.findall(r'data-word="(\w+)"', source("ui/_words.html")))
    # Referenced by a variable: the states of the connection chip, the two counts of the pill.
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


def test_each_phrase_of_the_editor_is_in_its_template() -> None:
    """The console's own phrases by name, those of CodeMirror by their English text."""
    given = set(re.findall(r'data-phrase="([^"]+)"', source("ui/_editor_phrases.html")))
    own = set(re.findall(r'(?:\bsay\("|#say\("|\breport\([^"]*, ")(\w+)"', scripts()))
    library = (STATIC / "vendor" / "codemirror" / "codemirror.js").read_text()
    assert own <= given
    assert {phrase for phrase in given - own if f'"{phrase}"' not in library} == set()


def test_each_phrase_of_codemirror_is_translated() -> None:
    """All phrases of the bundled modules, whether or not a page uses them."""
    given = set(re.findall(r'data-phrase="([^"]+)"', source("ui/_editor_phrases.html")))
    library = (STATIC / "vendor" / "codemirror" / "codemirror.js").read_text()
    shorter = re.findall(r"function ([\w$]+)\(\w,\w\){return \w\.state\.phrase\(\w\)}", library)
    calls = "|".join([r"\.phrase\(", *(rf"\b{re.escape(name)}\(\w," for name in shorter)])
    asked = re.findall(rf'(?:{calls})[^"()]*("[^()]*")', library)
    said = {phrase for found in asked for phrase in re.findall(r'"([^"]+)"', found)}
    assert {"Find", "Fold line", "current match"} <= said, "they are found"
    # Buttons of the merge view, which is not used, and a label replaced by the code point.
    assert said - given == {"Accept", "Reject", "Control character"}


def test_scripts_are_loaded_in_dependency_order() -> None:
    order = re.findall(r'static "([^"]+)"', source("ui/scripts.html"))
    assert [path.rpartition("/")[2] for path in order] == [
        "dockearly.js", "htmx.min.js", "hx-ws.min.js", "idiomorph.min.js",
        "page.js", "ages.js", "columns.js", "rows.js", "live.js", "bulk.js",
        "peek.js", "keys.js",
        "palette.js", "dock.js", "rail.js", "editor.js",
    ]  # fmt: skip
    assert all((STATIC / path).is_file() for path in order)
