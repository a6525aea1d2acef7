"""What somebody who repairs things does in the console, by the pages alone."""

import re
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from tests.browser.console import live, offered
from tests.browser.tasks.conftest import Person
from tests.browser.tasks.test_by_keyboard import tab_to

#: Whether the focus is in the page's content, in its editor, behind an element.
_INSIDE = "document.activeElement.closest('#main') !== null"
_EDITING = "document.activeElement.localName === 'yaml-editor'"
_BEHIND = """element => {
    const { activeElement } = document;
    return Boolean(activeElement.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_PRECEDING);
}"""


@dataclass
class Operator:
    """With a finger on a phone, elsewhere by keyboard alone."""

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
        """The object's page, and live."""
        self.go(f"projects/{namespace}/{kind}/{name}")

    def go(self, path: str) -> None:
        self.page.goto(f"{self.person.console.url}/clusters/host/{path}")
        live(self.page)

    def reach(self, wanted: Locator, ring: Locator | None = None) -> None:
        """Gives it the focus as somebody does who has no pointer: past the menu at once, then by Tab, or
        back by Shift and Tab. `ring`: as `tab_to` has it."""
        # The page that has it is there.
        expect(wanted).to_be_visible()
        if not self.page.evaluate(_INSIDE):
            self.page.keyboard.press("Tab")
            expect(self.page.locator(".skip")).to_be_focused()
            self.page.keyboard.press("Enter")
        if self.page.evaluate(_EDITING):
            # The first takes back what is offered meanwhile, the second makes Tab lead out.
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
        """Opens the page of an action, or of the YAML, from the head of the object's page."""
        path = "/edit" if action == "edit" else f"/actions/{action}"
        self.press(offered(self.page, f"a[href$='{path}']", self.press))
        self.page.wait_for_url(re.compile(re.escape(path)))

    def confirm(self) -> None:
        """Does what the action's page asks about, once it was reviewed where that is asked for."""
        review = self.page.locator("form.confirm button[value=review]")
        if review.count():
            self.press(review)
            self.page.locator("form.confirm button[value=save]").wait_for()
        deed = "button[type=submit]:not([value=review], [value=edit])"
        self.press(self.page.locator(f"form.confirm {deed}"))
        expect(self.page.locator(".detail-head")).to_be_visible()

    def refused(self) -> None:
        """The same, when something is wrong with what was filled in."""
        self.page.locator("form.confirm button[type=submit]").click()
        expect(self.page.locator("form.confirm .refusal")).to_be_visible()

    @property
    def editor(self) -> Locator:
        return self.page.locator("yaml-editor .cm-content")

    def enter(self) -> None:
        """Into the editor."""
        if self.touches:
            self.editor.focus()
        else:
            self.reach(self.editor, ring=self.page.locator("yaml-editor .cm-editor"))

    def find(self, *texts: str) -> None:
        """Selects the last of these by keyboard, each looked for from the one before on."""
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
        """The workload gets well while one looks: nobody loads its page again."""
        expect(self.state).to_have_attribute("data-severity", "ok", timeout=60_000)

    def picture(self, task: str) -> None:
        assert self.page.evaluate("document.documentElement.scrollWidth") <= self.person.look.width
        self.person.picture(task)
