"""What kube-apiserver refused, in plain words."""

from django.utils.translation import gettext as _

from console.kube.errors import ApiError, Conflict, Forbidden, NotFound, Unavailable
from console.ui.text import visible
from console.ui.words import spoken


def refusal(error: ApiError, *, gone: str = "", changed: str = "") -> str:
    """What happened, then kube-apiserver's own sentence. `gone` and `changed`: the words for what is no
    user."""
    return f"{_plain(error, gone, changed)} {visible(spoken(error.message))}"


def _plain(error: ApiError, gone: str, changed: str) -> str:
    if isinstance(error, Forbidden):
        return _("The cluster did not allow it.")
    if isinstance(error, NotFound):
        return gone or _("There is no such user any more.")
    if isinstance(error, Conflict):
        return changed or _("Somebody else changed the user in the meantime. Try again.")
    if isinstance(error, Unavailable):
        return _("The cluster did not answer, so it may or may not be done.")
    return _("The cluster refused.")
