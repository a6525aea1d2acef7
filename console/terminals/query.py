"""Parse the query string of a terminal: container, shell, or attach."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict

from console.logs.query import MAX_NAME, read_choice, read_switch, read_text
from console.ui.core.actions import Permission
from console.ui.core.container_actions import ATTACH, EXEC

#: Allowed shells; by default, the best available one is used. The list is fixed because any site
#: can link to this URL, and opening it runs the command.
SHELLS = ("bash", "ash", "sh", "zsh")
#: Starts the best shell that the container has.
_BEST = (
    'TERM=xterm-256color; export TERM; exec "$(command -v bash || command -v ash || command -v sh)"'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalQuery:
    """`container`: "" for the default container. `shell`: one of `SHELLS`, "" for the best
    available one. `attach`: attach to the container's main process.
    """

    container: str = ""
    shell: str = ""
    attach: bool = False

    @property
    def rights(self) -> tuple[Permission, ...]:
        return ATTACH if self.attach else EXEC

    @property
    def subresource(self) -> str:
        return "attach" if self.attach else "exec"

    @property
    def command(self) -> tuple[str, ...]:
        """The command to run, empty for attach."""
        if self.attach:
            return ()
        return (self.shell,) if self.shell else ("sh", "-c", _BEST)

    def encoded(self) -> str:
        given = {
            "container": self.container,
            "shell": self.shell,
            "attach": "1" if self.attach else "",
        }
        return urlencode({name: value for name, value in given.items() if value})


def read_query(params: QueryDict) -> TerminalQuery:
    """Parse `params`. Raise `BadQuery` for invalid values."""
    return TerminalQuery(
        container=read_text(params, "container", MAX_NAME),
        shell=read_choice(params, "shell", SHELLS),
        attach=read_switch(params, "attach"),
    )
