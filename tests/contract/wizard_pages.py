"""A user of wizards, without scripts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from django.core.files.uploadedfile import UploadedFile

from tests.contract.import_pages import Desk
from tests.support.responses import text_of
from tests.support.wizard_forms import fields_of
from tests.views.conftest import ClientAs

GROUP = "apps/v1"
_REFRESH = re.compile(r'<meta http-equiv="refresh" content="0; url=([^"]+)">')
_ACTION = re.compile(r'<form (?:id="draft"|class="editing")[^>]* action="([^"]+)"')


@dataclass
class WizardVisitor:
    """Opens a wizard, fills in fields and presses buttons. `html` is the current page."""

    who: str
    html: str = ""
    url: str = ""
    status: int = 0
    visited: list[str] = field(default_factory=list)

    async def open(self, url: str) -> None:
        await self._show(await ClientAs()(self.who).get(url), url)

    async def press(self, button: str, **values: "str | Sequence[UploadedFile[Any]]") -> None:
        """Fill in fields, by name with `__` for dots, and press a button of the form. The value of a
        field for files are the files.
        """
        sent: dict[str, Any] = {**fields_of(self.form).dict(), "step": button}
        for name, value in values.items():
            # A browser also submits the hidden field before the input for files.
            found = value if isinstance(value, str) else ["", *value]
            sent[name.replace("__", ".")] = found
        action = _ACTION.search(self.html)
        assert action is not None, self.html
        await self._show(await ClientAs()(self.who).post(unescape(action[1]), sent), action[1])

    async def _show(self, response: Any, url: str) -> None:
        while response.status_code == 302:
            url = response["Location"]
            response = await ClientAs()(self.who).get(url)
        self.html, self.url, self.status = await text_of(response), url, response.status_code
        self.visited.append(url)
        # The page of an operation that took long leads to its result.
        if (found := _REFRESH.search(self.html)) is not None:
            await self._show(await ClientAs()(self.who).get(unescape(found[1])), unescape(found[1]))

    @property
    def form(self) -> str:
        """The HTML of the draft's form, or of the form that saves it."""
        found = _ACTION.search(self.html)
        return self.html[found.start() :].partition("</form>")[0] if found is not None else ""

    @property
    def main(self) -> str:
        """The page without the menu around it, for messages of assertions."""
        return self.html.partition("<main")[2].partition("</main>")[0]

    @property
    def fields(self) -> dict[str, str]:
        return {name: str(value) for name, value in fields_of(self.form).items()}


async def begin(desk: Desk, name: str) -> WizardVisitor:
    """Fill in the first two steps of a Deployment."""
    visitor = WizardVisitor(desk.who)
    await visitor.open(f"/clusters/host/new/deployments?namespace={desk.namespace}")
    await visitor.press("next", name=name, replicas="2")
    assert "/containers" in visitor.url, visitor.html
    await visitor.press(
        "act.containers.0.ports.add",
        containers__0__image="example/web:1",
        containers__0__name="web",
        **{"containers__0__memory-limit": "128"},
    )
    await visitor.press(
        "next", containers__0__ports__0__name="http", containers__0__ports__0__containerPort="8080"
    )
    assert "/storage" in visitor.url, visitor.html
    return visitor
