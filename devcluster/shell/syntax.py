"""Syntax tree of shell scripts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    value: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter expansion `${name}`. `operator` is `length`, `:-`, `#` and so on."""

    name: str
    operator: str = ""
    word: "Word" = ()
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Substitution:
    """Command substitution `$(…)`."""

    body: "Script"
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Arithmetic expansion `$((…))`."""

    word: "Word"
    quoted: bool = False


Part = Text | Parameter | Substitution | Arithmetic
Word = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Redirection:
    """A redirection. `number` is the file descriptor, or 12 for stdout and stderr."""

    number: int
    operator: str
    target: Word


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    assignments: tuple[tuple[str, Word], ...]
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A group `{ …; }`, or a subshell `( … )` if `apart` is set."""

    body: "Script"
    apart: bool


@dataclass(frozen=True, slots=True)
class If:
    clauses: "tuple[tuple[Script, Script], ...]"
    otherwise: "Script | None"


@dataclass(frozen=True, slots=True)
class Loop:
    """A `while` loop, or an `until` loop if `until` is set."""

    condition: "Script"
    body: "Script"
    until: bool


@dataclass(frozen=True, slots=True)
class For:
    """A `for` loop. `words` is None if it iterates over the positional parameters."""

    name: str
    words: tuple[Word, ...] | None
    body: "Script"


@dataclass(frozen=True, slots=True)
class Command:
    what: SimpleCommand | Group | If | Loop | For
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class Pipeline:
    commands: tuple[Command, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class Chain:
    """Pipelines with their preceding operators (empty, `&&` or `||`)."""

    pipelines: tuple[tuple[str, Pipeline], ...]
    background: bool
    text: str


@dataclass(frozen=True, slots=True)
class Script:
    chains: tuple[Chain, ...] = ()
