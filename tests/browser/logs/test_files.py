"""Files of a container in a browser."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.logs.conftest import StartPod


@pytest.fixture
def folder(start: StartPod) -> str:
    """Return the URL of a folder in a running container."""
    return start("keeps-files").partition("/log")[0] + "/files?path=/tmp"


def test_file_is_uploaded_with_progress_and_downloaded(
    page: Page, folder: str, tmp_path: Path
) -> None:
    content = bytes(range(256)) * 2000
    file = tmp_path / "large.bin"
    file.write_bytes(content)
    page.goto(folder)
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    link = page.get_by_role("link", name="Download large.bin")
    expect(link).to_be_visible()
    with page.expect_download() as download:
        link.click()
    assert download.value.path().read_bytes() == content
    assert download.value.suggested_filename == "large.bin"
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("[data-upload-state]")).to_contain_text("large.bin already exists.")
    expect(page.get_by_role("button", name="Upload")).to_be_enabled()
    page.get_by_label("Replace an existing file").check()
    with page.expect_navigation():
        page.get_by_role("button", name="Upload").click()
    expect(link).to_be_visible()


def test_canceled_upload_is_reported(page: Page, folder: str, tmp_path: Path) -> None:
    file = tmp_path / "canceled.bin"
    file.write_bytes(b"x" * 300_000)
    # The console never confirms the data.
    page.route_web_socket(re.compile("/files"), lambda socket: None)
    page.goto(folder)
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    page.get_by_role("button", name="Cancel upload").click()
    expect(page.locator("[data-upload-state]")).to_have_text("Upload canceled.")
    expect(page.get_by_role("progressbar")).to_be_hidden()


def test_folders_are_opened_by_links(page: Page, folder: str) -> None:
    page.goto(folder)
    page.get_by_role("navigation", name="Path").get_by_role("link", name="/", exact=True).click()
    page.get_by_role("link", name="etc/").click()
    expect(page.get_by_label("Path").and_(page.get_by_role("textbox"))).to_have_value("/etc")
    expect(page.get_by_role("row").filter(has_text="hostname")).to_contain_text("-rw-r--r--")
