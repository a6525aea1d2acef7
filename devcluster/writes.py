"""How a write or a deletion is made."""

from collections.abc import Callable
from dataclasses import dataclass, field

from devcluster.objects import Obj

Mutation = Callable[[Obj], Obj]
Guard = Callable[[Obj, Obj | None], None]


@dataclass(frozen=True, kw_only=True)
class Write:
    """How a write is made. `guard` may refuse the outcome (new, old) before it is stored.
    `patch`: the text of the patch, if it is one."""

    dry_run: bool = False
    manager: str = ""
    field_validation: str = "Warn"
    subresource: str = ""
    guard: Guard | None = None
    applied: bool = False
    patch: str = ""
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Deletion:
    """How an object is deleted. `grace` in seconds, None for the type's own."""

    uid: str = ""
    resource_version: str = ""
    grace: int | None = None
    policy: str = ""
    dry_run: bool = False
