"""Fields of wizards in a browser."""

from playwright.sync_api import Page

NEW = "/clusters/host/new/deployments?namespace=default"


def field(page: Page, name: str) -> str:
    """Return the selector of a field."""
    return f'[name="{name}"]'
