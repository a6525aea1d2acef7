"""The editor of manifests in a browser."""

from playwright.sync_api import Page


def edit(page: Page, old: str, new: str) -> None:
    """Change the text as a user would, also if the editor covers the text area."""
    page.locator("textarea[name=text]").evaluate(
        """(area, [old, next]) => {
            area.value = area.value.replace(old, next);
            area.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        [old, new],
    )
