"""What a script of the shell is made of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    value: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """`${name}` and its forms: `operator` is `length`, `:-`, `#` and so on."""

    name: str
    operator: str = ""
    word: "Word" = ()
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(…)`."""

    body: "Script"
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`$((…))`."""

    word: "Word"
    quoted: bool = False


Part = Text | Parameter | Substitution | Arithmetic
Word = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Redirection:
    """`number`: of the file descriptor; 12 for both outputs."""

    number: int
    operator: str
    target: Word


@dataclass(frozen=True, slots=True)
class Simple:
    assignments: tuple[tuple[str, Word], ...]
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """`{ …; }`, or `( … )` if it is `apart`."""

    body: "Script"
    apart: bool


@dataclass(frozen=True, slots=True)
class If:
    clauses: "tuple[tuple[Script, Script], ...]"
    otherwise: "Script | None"


@dataclass(frozen=True, slots=True)
class Loop:
    """`until`: as long as the condition does not hold."""

    condition: "Script"
    body: "Script"
    until: bool


@dataclass(frozen=True, slots=True)
class For:
    """`words`: None for the shell's own arguments."""

    name: str
    words: tuple[Word, ...] | None
    body: "Script"


@dataclass(frozen=True, slots=True)
class Command:
    what: Simple | Group | If | Loop | For
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class Pipeline:
    commands: tuple[Command, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class Chain:
    """Pipelines, each with what is in front of it: nothing, `&&` or `||`."""

    pipelines: tuple[tuple[str, Pipeline], ...]
    background: bool
    text: str


@dataclass(frozen=True, slots=True)
class Script:
    chains: tuple[Chain, ...] = ()
