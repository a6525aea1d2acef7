"""What an address asks for: which container, and a shell in it or what runs there already."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict

from console.logs.query import MOST_NAME, read_choice, read_switch, read_text
from console.ui.actions import Permission
from console.ui.terminals import ATTACH, EXEC

#: Shells that may be asked for; else the best there is. Nothing else: an address may come from anybody,
#: and opening it runs what it names.
SHELLS = ("bash", "ash", "sh", "zsh")
#: The best shell that a container has, found by its own.
_BEST = (
    'TERM=xterm-256color; export TERM; exec "$(command -v bash || command -v ash || command -v sh)"'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalQuery:
    """`container`: "" for the foremost one. `shell`: one of `SHELLS`, "" for the best. `attach`: to the
    container's own first process."""

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
        """What is run; nothing where that runs already."""
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
    """Raises `BadQuery`."""
    return TerminalQuery(
        container=read_text(params, "container", MOST_NAME),
        shell=read_choice(params, "shell", SHELLS),
        attach=read_switch(params, "attach"),
    )
