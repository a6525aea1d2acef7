"""Base of the pages whose text is saved as a draft (static/js/draft.js): the YAML editor and Create
from YAML.

The form contains all state, so it works in several tabs, without JavaScript, and after signing in
again. Each request first saves the text as a draft, so that no input is lost if the request fails.
"""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from asgiref.sync import sync_to_async
from django.http import HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.utils.translation import gettext as _

from console.drafts import store as drafts
from console.ui.core.access import Access
from console.ui.core.requests import ConsoleRequest
from console.ui.core.statuses import status_response
from console.ui.core.text import escape_invisible
from console.views.errors import incomplete_form

#: Maximum characters of the reason for a proposed change.
MAX_PROPOSAL = 512
#: Pattern of ids of drafts in addresses.
DRAFT_ID = re.compile(r"[0-9a-f]{16}")
_VERSION = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftPage(ABC):
    """Request to a page with a draft.

    - `text`: edited text.
    - `base`: text when the page was opened.
    - `version`: draft version the page was loaded with, 0 for none.
    - `kept`: loaded draft.
    - `other`: draft that is not loaded.
    - `proposal`: why an API client proposes the change, or "".
    """

    #: Values of `step` besides `discard`, which deletes the draft.
    steps: ClassVar[frozenset[str]]
    #: Maximum characters of a text that is saved as a draft.
    max_length: ClassVar[int]
    request: ConsoleRequest
    access: Access
    text: str = ""
    base: str = ""
    version: int = 0
    kept: drafts.StoredDraft | None = None
    other: drafts.StoredDraft | None = None
    proposal: str = ""

    @property
    def start_url(self) -> str:
        """The page without a draft."""
        return self.url

    @property
    @abstractmethod
    def url(self) -> str: ...

    @property
    @abstractmethod
    def draft(self) -> drafts.DraftKey: ...

    @property
    def fits(self) -> bool:
        return max(len(self.text), len(self.base)) <= self.max_length

    @abstractmethod
    def content(self) -> drafts.DraftContent | None:
        """Return the draft to save, or None for a text that is not worth saving."""

    @abstractmethod
    def submitted(self) -> Self | None:
        """Return the request with the submitted form, or None if the form is invalid."""

    @abstractmethod
    async def open(self) -> HttpResponse:
        """Show the page."""

    @abstractmethod
    async def run(self, step: str) -> HttpResponseBase:
        """Run a step of `steps`."""

    async def respond(self) -> HttpResponseBase:
        """Show the page, or save the submitted text as a draft and run the submitted step."""
        response = await (self._post() if self.request.method == "POST" else self.open())
        response["Cache-Control"] = "no-store"
        return response

    async def _post(self) -> HttpResponseBase:
        step = self.request.POST.get("step", "")
        if step == "discard":
            await self.delete_draft()
            return HttpResponseRedirect(self.start_url)
        sent = self.submitted() if step in self.steps else None
        if sent is None:
            return incomplete_form(self.request)
        return await (await sent.keep()).run(step)

    async def respond_to_script(self) -> HttpResponse:
        """Save the submitted text as a draft and return the draft's new version."""
        sent = self.submitted()
        return await sent.save_for_script() if sent is not None else incomplete_form(self.request)

    async def save_for_script(self) -> HttpResponse:
        """Save the text as a draft and return the draft's new version."""
        if not self.fits:
            return incomplete_form(self.request)
        try:
            sent = await self.save()
        except drafts.TooManyDrafts:
            return status_response(409, too_many_drafts_text())
        except drafts.DraftConflict:
            return status_response(409, newer_draft_text())
        return HttpResponse(status=204, headers={"X-Draft-Version": str(sent.version)})

    async def save(self) -> Self:
        """Save the draft and return `self` with the new draft version. Raise `DraftConflict`."""
        content = self.content() if self.fits else None
        if content is None:
            return self
        version = await sync_to_async(drafts.store_draft)(self.draft, content, self.version)
        return replace(self, version=version)

    async def keep(self) -> Self:
        """Save the draft. If another window has saved a newer one, return `self` with that draft."""
        try:
            return await self.save()
        except drafts.DraftConflict:
            return replace(self, other=await self.find_draft())

    async def find_draft(self) -> drafts.StoredDraft | None:
        return await sync_to_async(drafts.find)(self.draft)

    async def delete_draft(self) -> None:
        await sync_to_async(drafts.delete_draft)(self.draft)


def submitted_version(request: ConsoleRequest) -> int | None:
    """Return the draft version the page was loaded with, 0 for none. Return None if the value is
    invalid.
    """
    version = request.POST.get("version", "0")
    return int(version) if _VERSION.fullmatch(version) else None


def submitted_proposal(request: ConsoleRequest) -> str:
    """Return why an API client proposes the change, in one line, or ""."""
    return escape_invisible(" ".join(request.POST.get("proposal", "")[:MAX_PROPOSAL].split()))


def too_many_drafts_text() -> str:
    return _("The user has too many drafts. Some must be applied or discarded first.")


def newer_draft_text() -> str:
    return _("Draft not saved: another window has a newer draft.")
