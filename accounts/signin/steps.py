"""What a sign-in still owes, as a page: the only one that it can open until then."""

from collections.abc import Mapping
from urllib.parse import urlencode

from django.contrib.sessions.backends.base import SessionBase
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from accounts.signin.next_url import START
from accounts.signin.sessions import Step, examine
from accounts.time import now

#: Names of the pages, and what programs are told.
STEPS: Mapping[Step, tuple[str, str | Promise]] = {
    Step.PASSWORD: ("accounts:choose_password", gettext_lazy("Choose a password first.")),
    Step.FACTOR: ("accounts:second_factor", gettext_lazy("Show your second factor first.")),
}


def step_url(step: Step, next_url: str) -> str:
    """The page of the step, from which one goes on to `next_url`."""
    page = reverse(STEPS[step][0])
    return page if next_url == START else f"{page}?{urlencode({'next': next_url})}"


async def onward(session: SessionBase, next_url: str) -> str:
    """Where a browser goes whose sign-in has just come one step further."""
    found = await examine(session, now(), had_cookie=True)
    return next_url if found.step is None else step_url(found.step, next_url)
