"""Options of writes and deletions."""

from collections.abc import Callable
from dataclasses import dataclass, field

from devcluster.objects import Obj

Mutation = Callable[[Obj], Obj]
Guard = Callable[[Obj, Obj | None], None]


@dataclass(frozen=True, kw_only=True)
class Write:
    """Options of a write.

    `guard` is called with the new and old object before the write and can raise an error.
    `patch` is the text of the patch, if the write is one.
    """

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
    """Options of a deletion. `grace` is in seconds; None uses the default of the type."""

    uid: str = ""
    resource_version: str = ""
    grace: int | None = None
    policy: str = ""
    dry_run: bool = False
