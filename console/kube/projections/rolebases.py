"""RoleBases: KubeSphere's templates for the initial roles of new workspaces and projects."""

from typing import Any

from console.kube.gvr import ROLE_BASES
from console.kube.projections.common import Decoders, Object, Projection, basics, decoder

#: A RoleBase with this label is for projects.
PROJECT_SCOPE = "scope.kubesphere.io/namespace"


class RoleBase(Projection, frozen=True):
    """A RoleBase.

    `role_kind` is Role for projects and WorkspaceRole for workspaces. `role` is the name of the
    role and `rules` the number of its rules. The content is not validated by the server;
    malformed values are "" and 0.
    """

    role_kind: str
    role: str
    rules: int
    for_projects: bool


class _RoleBase(Object):
    role: Any = None


def _role_base(item: _RoleBase) -> RoleBase:
    role = item.role if isinstance(item.role, dict) else {}
    metadata = role.get("metadata")
    rules = role.get("rules")
    return RoleBase(
        **basics(item.metadata),
        role_kind=_text(role.get("kind")),
        role=_text(metadata.get("name") if isinstance(metadata, dict) else None),
        rules=len(rules) if isinstance(rules, list) else 0,
        for_projects=PROJECT_SCOPE in (item.metadata.labels or {}),
    )


def _text(found: object) -> str:
    return found if isinstance(found, str) else ""


DECODERS: Decoders = {ROLE_BASES: decoder(_RoleBase, _role_base)}
