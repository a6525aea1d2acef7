"""Actions of a user who repairs objects through the console's pages only."""

import re
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from tests.browser.console import action_path, live, offered
from tests.browser.keyboard import tab_to
from tests.browser.tasks.conftest import Person

#: Return whether the focus is in the page's content, whether it is in the editor, and whether it is
#: behind an element.
_INSIDE = "document.activeElement.closest('#main') !== null"
_EDITING = "document.activeElement.localName === 'yaml-editor'"
_BEHIND = """element => {
    const { activeElement } = document;
    return Boolean(activeElement.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_PRECEDING);
}"""


@dataclass
class Operator:
    """A user who works by touch on a phone, and by keyboard only elsewhere."""

    person: Person

    @property
    def page(self) -> Page:
        return self.person.page

    @property
    def touches(self) -> bool:
        return self.person.look.phone

    def kubectl(self, *arguments: str) -> str:
        return self.person.console.kubectl(*arguments)

    def open(self, namespace: str, kind: str, name: str) -> None:
        """Open the object's page and wait until it is live."""
        self.go(f"projects/{namespace}/{kind}/{name}")

    def go(self, path: str) -> None:
        self.page.goto(f"{self.person.console.url}/clusters/host/{path}")
        live(self.page)

    def reach(self, wanted: Locator, ring: Locator | None = None) -> None:
        """Focus the element as a keyboard user would: skip the menu, then press Tab or Shift+Tab.
        `ring` is passed to `tab_to`.
        """
        # Wait for the page that contains the element.
        expect(wanted).to_be_visible()
        if not self.page.evaluate(_INSIDE):
            self.page.keyboard.press("Tab")
            expect(self.page.locator(".skip")).to_be_focused()
            self.page.keyboard.press("Enter")
        if self.page.evaluate(_EDITING):
            # The first Escape closes suggestions, the second one lets Tab leave the editor.
            self.page.keyboard.press("Escape")
            self.page.keyboard.press("Escape")
        back = wanted.evaluate(_BEHIND)
        tab_to(self.page, wanted, by="Shift+Tab" if back else "Tab", ring=ring)

    def press(self, wanted: Locator) -> None:
        if self.touches:
            wanted.click()
        else:
            self.reach(wanted)
            self.page.keyboard.press("Enter")

    def tick(self, box: Locator) -> None:
        if self.touches:
            box.check()
        else:
            self.reach(box)
            self.page.keyboard.press("Space")
        expect(box).to_be_checked()

    def fill(self, field: Locator, text: str) -> None:
        if self.touches:
            field.fill(text)
        else:
            self.reach(field)
            self.page.keyboard.press("Control+a")
            self.page.keyboard.insert_text(text)

    def act(self, action: str) -> None:
        """Open the page of an action, or of the YAML editor, from the header of the object's page."""
        path = action_path(action)
        self.press(offered(self.page, f"a[href$='{path}']", self.press))
        self.page.wait_for_url(re.compile(re.escape(path)))

    def confirm(self) -> None:
        """Submit the action's form."""
        self.press(self.page.locator("form.confirm button[type=submit]:not([value=edit])"))
        expect(self.page.locator(".detail-head")).to_be_visible()

    def next(self) -> None:
        """Press the ink button of a form with steps."""
        self.press(self.page.locator("form#draft .foot button[value=next]"))

    def refused(self) -> None:
        """Submit the action's form and expect a validation error."""
        self.page.locator("form.confirm button[type=submit]").click()
        expect(self.page.locator("form.confirm .refusal")).to_be_visible()

    @property
    def editor(self) -> Locator:
        return self.page.locator("yaml-editor .cm-content")

    def enter(self) -> None:
        """Focus the editor."""
        if self.touches:
            self.editor.focus()
        else:
            self.reach(self.editor, ring=self.page.locator("yaml-editor .cm-editor"))

    def find(self, *texts: str) -> None:
        """Search for these texts one after another by keyboard and select the last one."""
        self.enter()
        for text in texts:
            self.page.keyboard.press("Control+f")
            self.page.keyboard.type(text)
            self.page.keyboard.press("Enter")
            self.page.keyboard.press("Escape")

    def replace(self, *texts: str, by: str) -> None:
        self.find(*texts)
        self.page.keyboard.insert_text(by)

    def review(self) -> None:
        self.press(self.page.locator("button[name=step][value=review]"))
        expect(self.page.locator(".diff")).to_be_visible()

    def save(self) -> None:
        self.press(self.page.locator("button[name=step][value=save]"))
        expect(self.page.locator(".detail-head")).to_be_visible()

    @property
    def state(self) -> Locator:
        return self.page.locator(".detail-head .status")

    def runs(self) -> None:
        """Wait until the workload is healthy, without reloading its page."""
        expect(self.state).to_have_attribute("data-severity", "ok", timeout=60_000)

    def picture(self, task: str) -> None:
        assert self.page.evaluate("document.documentElement.scrollWidth") <= self.person.look.width
        self.person.picture(task)
