"""Invalid RoleBases are ignored and logged once."""

from typing import Any, cast

import pytest

from console.kube.controller import NotSynced
from console.kube.errors import Forbidden
from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS, ROLE_BASES
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from console.kube.runtime import Runtime
from tests.rbac.objects import rule
from tests.support.informers import bring, preloaded
from tests.support.staticruntime import StaticRuntime
from workspaces.role_bases import DEFAULT_RULES, RoleBases

READ = rule("get", "pods", "core")
SCOPE = {"scope.kubesphere.io/namespace": ""}
#: Invalid values of `role`, which the API does not validate.
ROLES: list[Any] = [
    None, 3, [], "Role", {}, {"kind": 3, "metadata": 4}, {"kind": "Role"},
    {"kind": "Role", "metadata": []}, {"kind": "Role", "metadata": {"name": ["viewer"]}},
]  # fmt: skip
RULES: list[Any] = [
    3, "get", {}, [None], ["get"], [[]], [{}], [{"verbs": "get"}], [{**READ, "verbs": []}],
    [{**READ, "apiGroups": []}], [{**READ, "resources": None}], [{**READ, "verbs": [1]}],
    [{**READ, "nonResourceURLs": ["/healthz"]}], [READ, {"verbs": ["get"]}],
]  # fmt: skip


def base(name: str, role: Any, version: str = "1") -> dict[str, Any]:
    meta = {"name": name, "uid": f"uid-{name}", "resourceVersion": version, "labels": SCOPE}
    return {"metadata": meta, "role": role}


def viewer(rules: Any) -> dict[str, Any]:
    return {"kind": "Role", "metadata": {"name": "viewer"}, "rules": rules}


def looking(informer: Informer[Any]) -> RoleBases:
    definitions = Informer(CUSTOM_RESOURCE_DEFINITIONS, DECODERS[CUSTOM_RESOURCE_DEFINITIONS])
    found = {ROLE_BASES: informer, CUSTOM_RESOURCE_DEFINITIONS: definitions}
    return RoleBases(cast(Runtime, StaticRuntime(found)))


@pytest.mark.parametrize("role", [*ROLES, *map(viewer, RULES)])
def test_invalid_role_bases_are_ignored(role: Any, caplog: pytest.LogCaptureFixture) -> None:
    good = base("good", {**viewer([READ]), "metadata": {"name": "operator"}})
    informer = preloaded(ROLE_BASES, [base("bad", role), good])
    bases = looking(informer)
    for version in ("2", "3"):
        found = bases.rules()
        assert found.projects == {**DEFAULT_RULES.projects, "operator": [READ]}
        assert found.workspaces == DEFAULT_RULES.workspaces
        # Another object changed.
        bring(informer, {**good, "metadata": {**good["metadata"], "resourceVersion": version}})
    assert caplog.text.count("Ignoring RoleBase 'bad'") == 1


def test_the_first_valid_role_base_by_name_counts() -> None:
    found = [
        base("a", viewer([{}])),
        base("b", viewer([READ])),
        base("c", viewer([])),
        base("d", {**viewer([READ]), "kind": "WorkspaceRole"}),
    ]
    bases = looking(preloaded(ROLE_BASES, found)).rules()
    assert bases.projects["viewer"] == bases.workspaces["viewer"] == [READ]


class _Refused(Informer[Any]):
    refusal = Forbidden(403, "no")


def test_rules_are_unavailable_until_role_bases_are_synced() -> None:
    informer: Informer[Any] = Informer(ROLE_BASES, DECODERS[ROLE_BASES])
    with pytest.raises(NotSynced):
        looking(informer).rules()


def test_the_default_rules_are_used_if_role_bases_cannot_be_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bases = looking(_Refused(ROLE_BASES, DECODERS[ROLE_BASES]))
    assert bases.rules() is bases.rules() is DEFAULT_RULES
    assert caplog.text.count("no permission to read RoleBases") == 1
