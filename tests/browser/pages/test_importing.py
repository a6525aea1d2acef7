"""Creating objects from YAML in a real browser, from a list or from dropped files."""

import re
from base64 import b64encode

import pytest
from playwright.sync_api import Page, expect

from console.ui.editing.imports import MOST
from tests.browser.console import Console, sign_in

DROP = """([files, selector]) => {
    const dataTransfer = new DataTransfer();
    for (const [name, held] of files) {
        const bytes = Uint8Array.from(atob(held), (one) => one.charCodeAt(0));
        dataTransfer.items.add(new File([bytes], name));
    }
    const target = document.querySelector(selector);
    const over = new DragEvent("dragover", { dataTransfer, bubbles: true, cancelable: true });
    const drop = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
    target.dispatchEvent(over);
    target.dispatchEvent(drop);
    return over.defaultPrevented && drop.defaultPrevented;
}"""


def text_of(page: Page) -> str:
    return page.locator("textarea[name=text]").input_value()


def drop(page: Page, *files: tuple[str, bytes], on: str = "yaml-editor") -> None:
    given = [(name, b64encode(held).decode()) for name, held in files]
    assert page.evaluate(DROP, [given, on])


@pytest.fixture
def signed_in(console: Console, page: Page) -> Console:
    sign_in(page, console, "")
    return console


# The CI run covers this in tests/browser/repairs/test_everyday.py, including undo.
@pytest.mark.deep
def test_an_object_is_created_from_its_list(signed_in: Console, page: Page) -> None:
    signed_in.kubectl("delete", "configmap", "example", "--ignore-not-found")
    page.goto(f"{signed_in.url}/clusters/host/configmaps?namespace=default")
    page.get_by_role("link", name="Create", exact=True).click()
    page.wait_for_url(re.compile("/import"))
    assert "kind: ConfigMap\nmetadata:\n  name: example\n  namespace: default" in text_of(page)
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_text("Can be created: 1")).to_be_visible()
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("link", name="default/example").click()
    page.wait_for_url(f"{signed_in.url}/clusters/host/projects/default/configmaps/example")
    signed_in.kubectl("delete", "configmap", "example")


def test_dropped_files_are_added(signed_in: Console, page: Page) -> None:
    """Each file is appended to the text as a document. Unreadable files are reported."""
    page.goto(f"{signed_in.url}/clusters/host/import")
    content = page.locator("yaml-editor .cm-content")
    content.click()
    page.keyboard.insert_text("# typed")
    drop(page, ("a.yaml", b"kind: A\r\n"), ("b.yaml", b"kind: B\n"))
    state = page.locator("[data-drop-state]")
    expect(state).to_have_text("Added a.yaml. Added b.yaml.")
    assert text_of(page) == "# typed\n---\nkind: A\n---\nkind: B\n"
    expect(content).to_contain_text("kind: B")
    drop(page, ("c.bin", b"\xff\xfe"), ("d.yaml", b"#" * (MOST + 1)), on="h1")
    expect(state).to_have_text("c.bin is not a UTF-8 text file. d.yaml is too large.")
    assert text_of(page).endswith("kind: B\n")
    # The file input accepts files too.
    field = [[["f.yaml", b64encode(b"kind: F").decode()]], "input[type=file]"]
    assert not page.evaluate(DROP, field)
    page.get_by_role("button", name="Plain text").click()
    drop(page, ("e.yaml", b"kind: E"), on="textarea[name=text]")
    expect(state).to_have_text("Added e.yaml.")
    assert text_of(page).endswith("kind: B\n---\nkind: E")


def test_pasted_documents_are_added(signed_in: Console, page: Page) -> None:
    page.goto(f"{signed_in.url}/clusters/host/import")
    content = page.locator("yaml-editor .cm-content")
    content.click()
    content.evaluate(
        """(target) => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", "kind: A\\n---\\nkind: B\\n");
            const options = { clipboardData, bubbles: true, cancelable: true };
            target.dispatchEvent(new ClipboardEvent("paste", options));
        }"""
    )
    expect(content).to_contain_text("kind: B")
    assert text_of(page) == "kind: A\n---\nkind: B\n"
