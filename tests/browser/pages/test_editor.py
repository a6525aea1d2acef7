"""The YAML editor on a page of its own, with the schema of a custom type from the cluster."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import pytest
from django.template.loader import render_to_string
from django.utils import translation
from playwright.sync_api import Locator, Page, Route, expect

from console.web.middleware import _POLICY
from tests.browser.console import Console, sign_in
from tests.browser.looks import axe
from tests.browser.looks.conftest import with_axe
from tests.contract.crds import definition
from tests.controlplane.waiting import eventually

__all__ = ["with_axe"]

_PART = {
    "type": "object",
    "required": ["zz"],
    "properties": {
        "aa": {"type": "string"},
        "zz": {"type": "boolean", "description": f"The purpose of the token. {chr(0x202E)}<b>"},
    },
}
#: Fields with lists of each type that the editor distinguishes, and with unusual schemas.
_TYPES: dict[str, Any] = {
    "integers": {"type": "integer"},
    "numbers": {"type": "number"},
    "booleans": {"type": "boolean"},
    "texts": {"type": "string"},
    "either": {"format": "int-or-string"},
    "both": {"oneOf": [{"type": "string"}, {"type": "number"}]},
    "choices": {"type": "string", "enum": ["on", "1", "word"]},
    "parts": {"allOf": [{"$ref": "#/components/schemas/x.Part"}], "default": {}},
    "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
    "open": {**_PART, "x-kubernetes-preserve-unknown-fields": True},
}
#: The same schema in the form that kube-apiserver returns.
_SCHEMA = {
    "$ref": "#/components/schemas/x.Odd",
    "components": {
        "schemas": {
            "x.Part": _PART,
            "x.Odd": {
                "type": "object",
                "properties": {
                    "apiVersion": {"type": "string"},
                    "kind": {"type": "string"},
                    "part": {"$ref": "#/components/schemas/x.Part"},
                    **{name: {"type": "array", "items": one} for name, one in _TYPES.items()},
                },
            },
        }
    },
}
#: List items as the console parses them (YAML 1.1): valid and invalid ones.
_FITS = {
    "integers": [
        "0",
        "-1",
        "+12",
        "0x1F",
        "0b101",
        "017",
        "1_000",
        "1:30",
        "~",
        "null",
        '!!int "3"',
        "&a 5",
        "*a",
    ],
    "numbers": ["1.5", ".5", "-1.0e+3", ".inf", ".NaN", "3", "1:30.5"],
    "booleans": ["true", "No", "ON", "off", "yes"],
    "texts": [
        "word",
        '"1"',
        "'true'",
        "0o7",
        "1e3",
        "08",
        "!!str 1",
        "y",
        "|\n  1",
        "a b # c",
        "*a",
    ],
    "either": ["1", "50%"],
    "both": ["1", "1.5", "word"],
    "choices": ['"on"', "'1'", "word", '"\\x77ord"', ">\n  others"],
    "parts": ["{zz: true}", "zz: false\n  aa: a", "<<: *a\n  aa: b", "{zz: , aa: ''}"],
    "counts": ["{a: 1, b: 2}", "{}"],
    "open": ["{zz: true, more: 1}"],
}
_WRONG = {
    "integers": ["word", "1.5", '"1"', "true", "[1]", "{a: 1}", "!!str 1", "0o7", "08"],
    "numbers": ["1e3", "word", "yes"],
    "booleans": ['"true"', "1", "y"],
    "texts": ["1", "1.5", "yes", "{a: 1}"],
    "either": ["1.5", "true"],
    "both": ["true"],
    "choices": ["other", "on", '"off"'],
    "parts": ["{aa: a}", "1"],
    "counts": ["{a: b}"],
    "open": ["{more: 1}"],
}
EVIL = "\u202e<img src=x onerror=alert(1)>"
SMALL = {"width": 390, "height": 844}
_HTML = """<!doctype html><html lang="{lang}" data-theme="{theme}"><head><meta charset="utf-8">
<title>Edit</title><meta name="viewport" content="width=device-width, initial-scale=1">{head}</head>
<body data-live="off"><main id="main" class="main"><h1>Edit</h1>
<form id="form" method="post" action="/edit">{editor}<button class="button">Save</button></form>
</main>{words}</body></html>"""


@dataclass
class Editing:
    """A page at /edit. `posted` holds the manifests that its form submitted."""

    console: Console
    page: Page
    crd: dict[str, Any]
    posted: list[str] = field(default_factory=list)

    @property
    def head(self) -> str:
        return f"apiVersion: {self.crd['spec']['group']}/v1\nkind: Widget\n"

    @property
    def schema_url(self) -> str:
        return f"/clusters/host/openapi/{self.crd['spec']['group']}/v1/Widget"

    @property
    def content(self) -> Locator:
        return self.page.locator("yaml-editor .cm-content")

    @property
    def text(self) -> str:
        return str(self.page.evaluate("document.getElementById('manifest').value"))

    @property
    def offered(self) -> Locator:
        return self.page.locator(".cm-tooltip-autocomplete .cm-completionLabel")

    @property
    def problems(self) -> Locator:
        """Return the messages in the problems panel."""
        return self.page.locator(".cm-panel-lint .cm-diagnosticText")

    def button(self, name: str) -> Locator:
        return self.page.locator(f"[data-editor-act={name}]")

    def field_html(self, text: str, lang: str = "en", **more: Any) -> str:
        context = {
            "id": "manifest", "name": "manifest", "label": "Manifest", "text": text,
            "schema_url": self.schema_url, "problems": (), "readonly": False, "error_id": "",
        }  # fmt: skip
        with translation.override(lang):
            return render_to_string("ui/_editor.html", {**context, **more})

    def open(self, text: str, *, lang: str = "en", theme: str = "light", **more: Any) -> None:
        request = SimpleNamespace(csp_nonce="here")
        scripts = render_to_string("ui/scripts.html", {"request": request})
        # This page has no dock.
        kept = [line for line in scripts.splitlines() if "js/dock" not in line]
        head = render_to_string("ui/_links.html") + "\n".join(kept)
        editor = self.field_html(text, lang, **more)
        words = render_to_string("ui/_words.html")
        html = _HTML.format(lang=lang, theme=theme, head=head, editor=editor, words=words)
        policy = {
            "Content-Security-Policy": _POLICY.format(
                nonce="here", frames="'none'", ancestors="'none'"
            )
        }

        def answer(route: Route) -> None:
            if route.request.method == "POST":
                sent = parse_qs(route.request.post_data or "", keep_blank_values=True)
                self.posted.append(sent["manifest"][0].replace("\r\n", "\n"))
            route.fulfill(body=html, content_type="text/html; charset=utf-8", headers=policy)

        self.page.unroute_all()
        self.page.route(f"{self.console.url}/edit", answer)
        self.page.goto(f"{self.console.url}/edit")
        expect(self.content).to_be_visible()

    def write(self, text: str) -> None:
        """Insert the text at the end without automatic indentation or closing brackets."""
        self.content.focus()
        self.page.keyboard.press("Control+End")
        self.page.keyboard.insert_text(text)

    def choose(self) -> None:
        """Select the first suggestion by click. A key press immediately after opening would insert
        a newline.
        """
        self.offered.first.click()


@pytest.fixture(scope="module")
def crd(shared_console: Console) -> Iterator[dict[str, Any]]:
    made = definition()
    shared_console.kubectl("create", "-f", "-", input=json.dumps(made))
    yield made
    shared_console.kubectl("delete", "crd", made["metadata"]["name"])


@pytest.fixture
def editing(console: Console, page: Page, crd: dict[str, Any]) -> Editing:
    sign_in(page, console, "")
    made = Editing(console, page, crd)
    address = console.url + made.schema_url
    eventually(lambda: page.request.get(address).status == 200, "the schema is published")
    return made


def test_keys_and_values_are_completed(editing: Editing) -> None:
    editing.open(editing.head)
    editing.write("sp")
    expect(editing.offered).to_have_text(["spec"])
    editing.choose()
    # Required keys are inserted too.
    assert editing.text == editing.head + "spec:\n  size: "
    editing.write("3\n  col")
    expect(editing.offered).to_have_text(["color"])
    editing.choose()
    expect(editing.offered).to_have_text(["blue", "red"])
    editing.choose()
    assert editing.text.endswith("  size: 3\n  color: blue")
    editing.write("\n  par")
    editing.choose()
    assert editing.text.endswith("  parts:\n  - name: ")
    editing.write("a\n    ")
    editing.page.keyboard.press("Control+Space")
    # Existing keys are not suggested.
    expect(editing.offered).to_have_text(["count"])


def test_values_are_parsed_as_by_the_console(editing: Editing) -> None:
    page = editing.page
    page.set_viewport_size({"width": 1280, "height": 3000})
    editing.open("")
    page.route("**/openapi/**", lambda route: route.fulfill(json=_SCHEMA))

    def lists(given: dict[str, list[str]]) -> str:
        parts = ["".join(f"- {one}\n" for one in entries) for entries in given.values()]
        both = zip(given, parts, strict=True)
        return editing.head + "".join(f"{name}:\n{part}" for name, part in both)

    editing.write(lists(_WRONG) + "---\n" + lists(_FITS))
    marked = page.locator(".cm-lintRange-error")
    # An error inside a mapping is reported at that position; missing keys are reported for the
    # whole mapping.
    wrong = [one for entries in _WRONG.values() for one in entries]
    seen = [{"{a: b}": "b", "!!str 1": "1"}.get(one, one) for one in wrong]
    expect(marked).to_have_text(seen)


def test_only_valid_suggestions_are_offered(editing: Editing) -> None:
    page = editing.page
    editing.open("")
    page.route("**/openapi/**/Widget", lambda route: route.fulfill(json=_SCHEMA))
    editing.write(f"kind: Other\npart: 1\n---\n{editing.head}pa")
    expect(editing.offered).to_have_text(["part", "parts"])
    editing.choose()
    assert editing.text.endswith("part:\n  zz: ")
    # Required keys come first, with their description.
    editing.write("true\nparts:\n- ")
    page.keyboard.press("Control+Space")
    expect(editing.offered).to_have_text(["zz", "aa"])
    told = page.locator(".cm-completionInfo")
    expect(told).to_have_text("zz  <boolean, required>The purpose of the token. ⟨U+202E⟩<b>")
    page.keyboard.press("Escape")
    # An existing key is only replaced.
    editing.write("z: 1")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("Control+Space")
    expect(editing.offered).to_have_text(["zz"])
    editing.choose()
    assert editing.text.endswith("parts:\n- zz: 1")
    # Values that YAML would parse as another type are quoted.
    editing.write("\nchoices:\n- ")
    page.keyboard.press("Control+Space")
    expect(editing.offered).to_have_text(['"1"', '"on"', "word"])
    page.keyboard.press("Escape")
    editing.write("word\nbooleans:\n- ")
    page.keyboard.press("Control+Space")
    expect(editing.offered).to_have_text(["false", "true"])
    page.keyboard.press("Escape")
    page.locator(".cm-line", has_text="zz: true").get_by_text("zz", exact=True).hover()
    expect(page.locator(".cm-tooltip-hover")).to_contain_text("zz <boolean, required>")


def test_hovering_a_key_shows_its_description(editing: Editing) -> None:
    editing.open(editing.head + "spec:\n  size: 1\n  color: red\n")
    editing.page.get_by_text("color", exact=True).hover()
    told = editing.page.locator(".cm-tooltip-hover")
    expect(told).to_contain_text("color <string>")
    expect(told).to_contain_text("One of: blue, red")
    expect(told).to_contain_text('Default: "blue"')


def test_problems_are_found(editing: Editing) -> None:
    editing.open(
        editing.head + "spec:\n  color: green\n  colour: red\n  notes: {any: thing}\n"
        '  parts:\n  - count: "2"\n    count: 3\n---\n' + editing.head + "spec: 1\n"
    )
    expect(editing.button("problems")).to_have_text("Problems: 7")
    editing.button("problems").click()
    expect(editing.problems).to_have_text(
        [
            "Missing required field “size”.",
            "Expected one of: blue, red",
            "Unknown field “colour”.",
            "Missing required field “name”.",
            "Expected type: integer",
            "Duplicate key “count”.",
            "Expected type: object",
        ]
    )
    editing.content.focus()
    editing.page.keyboard.press("Control+Home")
    editing.page.keyboard.press("F8")
    editing.page.keyboard.insert_text("x")
    assert editing.text.startswith(editing.head + "spec:x\n")
    editing.page.keyboard.press("Control+z")
    assert editing.text.startswith(editing.head + "spec:\n  color: green\n")
    editing.page.keyboard.press("Control+a")
    editing.page.keyboard.insert_text(editing.head + "spec: {size: 1}\n")
    expect(editing.button("problems")).to_be_hidden()
    editing.write("a: [1\nb")
    expect(editing.problems).to_contain_text(["Invalid YAML."])


def test_problems_from_the_server_are_shown(editing: Editing) -> None:
    found = [
        {"line": 4, "column": 3, "text": f"wrong {EVIL}", "severity": "error"},
        {"line": 0, "column": 0, "text": "wrong somewhere", "severity": "warn"},
        {"line": 2, "column": 1, "text": "not so good", "severity": "warn"},
    ]
    text = editing.head + "spec:\n  size: 2\n# " + EVIL
    editing.open(text, problems=found)
    expect(editing.page.locator(".editor-problems")).to_contain_text("wrong ⟨U+202E⟩<img")
    expect(editing.page.locator(".cm-lintRange-error")).to_have_text("size: 2")
    expect(editing.page.locator(".cm-lintRange-warning")).to_have_text("kind: Widget")
    expect(editing.content).to_have_attribute("aria-invalid", "true")
    expect(editing.content).to_contain_text("# ⟨U+202E⟩<img src=x onerror=alert(1)>")
    editing.page.get_by_role("link", name="Line 4").click()
    editing.page.keyboard.insert_text("my")
    assert editing.text == text.replace("  size", "  mysize")
    # The line was changed, so the problem is no longer shown.
    expect(editing.page.locator(".cm-lintRange-error")).to_have_text(re.compile("mysize$"))
    assert editing.page.locator("img[onerror]").count() == 0


def test_the_editor_can_be_used_by_keyboard(editing: Editing) -> None:
    editing.open(editing.head)
    editing.button("plain").focus()
    editing.page.keyboard.press("Tab")
    expect(editing.content).to_be_focused()
    editing.page.keyboard.press("Control+End")
    editing.page.keyboard.type("spec:\n")
    editing.page.keyboard.press("Tab")
    editing.page.keyboard.type("size: 1 ")
    assert editing.text.endswith("spec:\n  size: 1 ")
    # The user's text is kept when the object on the page changes.
    editing.page.evaluate("document.getElementById('manifest').textContent = 'other'")
    # In the editor, letters are not shortcuts of the page.
    editing.page.keyboard.type("?/gp")
    assert editing.page.url.endswith("/edit")
    expect(editing.button("problems")).to_be_visible()
    editing.page.keyboard.press("Escape")
    editing.page.keyboard.press("Tab")
    # The value is not a number, so the next problem exists.
    expect(editing.button("problems")).to_be_focused()
    editing.page.keyboard.press("Tab")
    expect(editing.page.get_by_role("button", name="Save")).to_be_focused()
    with editing.page.expect_response(lambda response: response.request.method == "POST"):
        editing.page.keyboard.press("Enter")
    assert editing.posted == [editing.head + "spec:\n  size: 1 ?/gp"]


def test_the_editor_can_be_switched_to_plain_text(editing: Editing) -> None:
    editing.open(editing.head)
    editing.write("a: 1\n")
    editing.button("plain").focus()
    editing.page.get_by_text("Manifest", exact=True).click()
    expect(editing.content).to_be_focused()
    editing.button("plain").click()
    expect(editing.button("plain")).to_have_attribute("aria-pressed", "true")
    area = editing.page.locator("#manifest")
    expect(area).to_be_focused()
    expect(area).to_have_value(editing.head + "a: 1\n")
    area.fill("kind: Other\n")
    editing.button("plain").click()
    expect(area).to_be_hidden()
    expect(editing.content).to_have_text(re.compile("kind: Other"))


# In the CI run, a changed line is part of the axe check of all overlays.
@pytest.mark.deep
def test_changed_lines_are_marked(editing: Editing) -> None:
    editing.open(editing.head)
    editing.write("spec: {size: 1}")
    editing.button("changes").click()
    expect(editing.button("changes")).to_have_attribute("aria-pressed", "true")
    expect(editing.page.locator(".cm-changedLine")).to_have_text("spec: {size: 1}")
    editing.button("changes").click()
    expect(editing.page.locator(".cm-changedLine")).to_have_count(0)


def test_cursor_and_mode_survive_an_htmx_swap(editing: Editing) -> None:
    editing.open(editing.head)
    editing.content.focus()
    editing.page.keyboard.press("Control+Home")
    editing.page.keyboard.press("End")
    html = editing.field_html(editing.text)
    editing.page.route(f"{editing.console.url}/edit/field", lambda route: route.fulfill(body=html))
    editing.page.evaluate("htmx.ajax('GET', '/edit/field', '.editor')")
    expect(editing.content).to_be_focused()
    editing.page.keyboard.insert_text("beta1")
    assert editing.text.startswith(editing.head.replace("/v1\n", "/v1beta1\n"))


def test_the_editor_is_read_only_without_a_form(editing: Editing) -> None:
    text = editing.head + "spec:\n  size: 1\n"
    editing.open(text, name="", readonly=True)
    editing.content.focus()
    editing.page.keyboard.type("x")
    assert editing.text == text
    expect(editing.content).to_have_attribute("aria-readonly", "true")
    # Each line has an anchor.
    number = editing.page.locator(".cm-lineNumbers .cm-gutterElement").filter(has_text="3")
    number.click()
    editing.page.wait_for_url("**/edit#L3")
    editing.page.reload()
    expect(editing.page.locator(".cm-cursor-primary")).to_be_attached()
    expect(editing.content).to_be_focused()
    chosen = (
        "document.querySelector('yaml-editor').shadowRoot.getSelection().anchorNode.textContent"
    )
    assert editing.page.evaluate(chosen).startswith("spec")
    editing.page.evaluate("document.getElementById('manifest').textContent += '  color: red\\n'")
    expect(editing.content).to_contain_text("color: red")


def test_long_manifests_are_checked_on_request(editing: Editing) -> None:
    one = editing.head + "spec:\n  sizes: 1\n" + "".join(f"# line {n}\n" for n in range(1000))
    editing.open("---\n".join([one] * 40))
    assert len(editing.text) > 400_000
    expect(editing.button("check")).to_be_visible()
    expect(editing.button("problems")).to_be_hidden()
    editing.button("check").click()
    expect(editing.button("problems")).to_have_text("Problems: 80")
    editing.content.focus()
    editing.page.keyboard.insert_text("#")
    expect(editing.button("problems")).to_be_hidden()


# The other theme is covered by the forms with an editor in tests/browser/looks.
@pytest.mark.parametrize(
    ("size", "theme", "lang"),
    [
        pytest.param(None, "light", "en", marks=pytest.mark.deep),
        (SMALL, "dark", "zh-hans"),
    ],
)
def test_the_editor_and_its_overlays_are_accessible(
    editing: Editing, with_axe: None, size: Any, theme: str, lang: str
) -> None:
    page = editing.page
    if size:
        page.set_viewport_size(size)
    found = [{"line": 2, "column": 1, "text": "wrong", "severity": "warn"}]
    text = editing.head + "spec:\n  size: x # why\n  notes: {a: [&b 1, 'c']}\n"
    editing.open(text, theme=theme, lang=lang, problems=found)
    seen: list[str] = []

    def look(what: str, ready: Callable[[], None]) -> None:
        ready()
        seen.extend(f"{what}: {line}" for line in axe.violations(page))
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= page.viewport_size["width"], what  # type: ignore[index]

    expect(editing.page.locator(".cm-lintRange-error")).to_have_count(1)
    editing.button("problems").click()
    expect(editing.problems.first).to_be_visible()
    editing.write("  co")
    look("problems and completion", lambda: expect(editing.offered.first).to_be_visible())
    page.keyboard.press("Escape")
    page.keyboard.press("Control+f")
    expect(page.locator(".cm-search")).to_be_visible()
    find = page.locator("[data-phrase=Find]").text_content() or ""
    expect(page.locator(".cm-search [name=search]")).to_have_attribute("aria-label", find)
    editing.button("changes").click()
    changed = page.locator(".cm-changedLine").first
    look("search and changes", lambda: expect(changed).to_be_visible())
    editing.button("plain").click()
    look("plain", lambda: expect(page.locator("#manifest")).to_be_visible())
    assert seen == []
