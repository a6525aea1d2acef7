"""What somebody who repairs things does in the console, by the pages alone."""

import re
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from tests.browser.console import live
from tests.browser.tasks.conftest import Person


@dataclass
class Operator:
    person: Person

    @property
    def page(self) -> Page:
        return self.person.page

    def kubectl(self, *arguments: str) -> str:
        return self.person.console.kubectl(*arguments)

    def open(self, namespace: str, kind: str, name: str) -> None:
        """The object's page, and live."""
        url = f"{self.person.console.url}/clusters/host/projects/{namespace}/{kind}/{name}"
        self.page.goto(url)
        live(self.page)

    def act(self, action: str) -> None:
        """Opens the page of an action, or of the YAML, from the head of the object's page."""
        path = "/edit" if action == "edit" else f"/actions/{action}"
        self.page.locator(f".detail-head .acts a[href$='{path}']").click()
        self.page.wait_for_url(re.compile(re.escape(path)))

    def confirm(self) -> None:
        """Does what the action's page asks about."""
        self.page.locator("form.confirm button[type=submit]").click()
        expect(self.page.locator(".detail-head")).to_be_visible()

    def refused(self) -> None:
        """The same, when something is wrong with what was filled in."""
        self.page.locator("form.confirm button[type=submit]").click()
        expect(self.page.locator("form.confirm .refusal")).to_be_visible()

    @property
    def editor(self) -> Locator:
        return self.page.locator("yaml-editor .cm-content")

    def find(self, *texts: str) -> None:
        """Selects the last of these by keyboard, each looked for from the one before on."""
        self.editor.focus()
        for text in texts:
            self.page.keyboard.press("Control+f")
            self.page.keyboard.type(text)
            self.page.keyboard.press("Enter")
            self.page.keyboard.press("Escape")

    def replace(self, *texts: str, by: str) -> None:
        self.find(*texts)
        self.page.keyboard.insert_text(by)

    def review(self) -> None:
        self.page.locator("button[name=step][value=review]").click()
        expect(self.page.locator(".diff")).to_be_visible()

    def save(self) -> None:
        self.page.locator("button[name=step][value=save]").click()
        expect(self.page.locator(".detail-head")).to_be_visible()

    @property
    def state(self) -> Locator:
        return self.page.locator(".detail-head .status")

    def runs(self) -> None:
        """The workload gets well while one looks: nobody loads its page again."""
        expect(self.state).to_have_attribute("data-severity", "ok", timeout=60_000)

    def picture(self, task: str) -> None:
        assert self.page.evaluate("document.documentElement.scrollWidth") <= self.person.look.width
        self.person.picture(task)
