"""What keeps a terminal from being opened, and how it ended, in words."""

from django.utils.translation import gettext as _

from console.kube.errors import ApiError, BadRequest, NotFound, Unavailable
from console.terminals.command import Ending
from console.terminals.terminal import Terminal
from console.ui.text import visible
from console.views import problems


def why(error: ApiError | None) -> str:
    """None: nobody knows."""
    if isinstance(error, NotFound):
        return _("The pod is gone.")
    if isinstance(error, BadRequest):
        return visible(error.message)
    if error is None or isinstance(error, Unavailable):
        return _("The connection to the container was lost. What ran in it may go on.")
    if error.code >= 500:
        # The cluster's own words have the address of the node.
        return _("The node of the pod does not answer, or the container does not run any more.")
    return problems.words(error)


def ended(terminal: Terminal, ending: Ending) -> str:
    shell = terminal.owner.query.shell
    if ending.missing:
        if shell:
            return _("There is no %(shell)s in this container.") % {"shell": shell}
        return _("There is no shell in this container.")
    if ending.code is None:
        words = {"message": visible(ending.message)}
        return _("The container did not start it: %(message)s") % words
    if terminal.owner.query.attach:
        return _("The container has ended, or let go of this terminal.")
    return _("The shell has ended with exit code %(code)s.") % {"code": ending.code}
