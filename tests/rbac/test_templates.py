"""Role templates, from the console's catalogue and from the cluster, and roles that aggregate them."""

import json
from typing import Any

from console.kube.gvr import CLUSTER_ROLES, GLOBAL_ROLES, ROLES, WORKSPACE_ROLES
from rbac.catalogue import CATALOGUE, READ
from rbac.levels import Level, RoleScope
from rbac.rules import parse_rules, rules_to_json
from rbac.templates import (
    rules_beyond_templates,
    rules_of,
    template_names,
    templates_for,
    with_dependencies,
)
from tests.rbac.objects import Manifest, global_role, native_role, rule, workspace_role
from tests.support.informers import preloaded
from tests.support.staticruntime import StaticRuntime

VIEW, MANAGE = "role-template-view-nodes", "role-template-manage-nodes"
CLUSTER = RoleScope(Level.CLUSTER)


def world(**given: list[Manifest]) -> StaticRuntime:
    types = {"roles": ROLES, "cluster": CLUSTER_ROLES, "platform": GLOBAL_ROLES}
    types["workspace"] = WORKSPACE_ROLES
    return StaticRuntime({gvr: preloaded(gvr, given.get(name, [])) for name, gvr in types.items()})


def template(role: Manifest, label: str = "true", **notes: Any) -> Manifest:
    role["metadata"].setdefault("labels", {})["iam.kubesphere.io/role-template"] = label
    role["metadata"]["annotations"] = {f"iam.kubesphere.io/{k}": v for k, v in notes.items()}
    return role


def test_the_catalogue_has_rules_at_every_level_without_wildcard_verbs() -> None:
    assert {one.level for one in CATALOGUE} == set(Level)
    names = [(one.level, one.name) for one in CATALOGUE]
    assert len(names) == len(set(names))
    for one in CATALOGUE:
        assert one.rules, one.name
        known = templates_for(world(), RoleScope(one.level))
        assert set(one.needs) <= set(known), one.name
        for found in one.rules:
            # The verb `*` would include `escalate`, `bind` and `impersonate`.
            assert "*" not in found.verbs and "" not in found.resources, one.name
        if "-view-" in one.name:
            assert {verb for found in one.rules for verb in found.verbs} == set(READ), one.name


def test_templates_of_the_cluster_replace_the_catalogue() -> None:
    theirs = template(native_role(VIEW, rule("get", "nodes")))
    empty = template(native_role(MANAGE))
    further = template(
        native_role("ours-only", rule("get", "x")), module="Mine", dependencies=json.dumps([VIEW])
    )
    known = templates_for(world(cluster=[theirs, empty, further]), CLUSTER)
    assert known[VIEW].rules == parse_rules([rule("get", "nodes")])
    assert known[MANAGE].rules, "KubeSphere's have none"
    assert (known["ours-only"].module, known["ours-only"].needs) == ("Mine", (VIEW,))


def test_hidden_templates_and_templates_of_other_scopes_are_not_offered() -> None:
    hidden = template(global_role("role-template-x", rule("get", "x")), "false")
    owned = template(workspace_role("role-template-y", "shop", rule("get", "y")))
    there = template(native_role("role-template-z", rule("get", "z"), namespace="web"))
    found = world(platform=[hidden], workspace=[owned], roles=[there])
    assert "role-template-x" not in templates_for(found, RoleScope(Level.GLOBAL))
    assert "role-template-y" not in templates_for(found, RoleScope(Level.WORKSPACE, "shop"))
    assert "role-template-z" in templates_for(found, RoleScope(Level.PROJECT, "", "web"))
    assert "role-template-z" not in templates_for(found, RoleScope(Level.PROJECT, "", "other"))


def test_cyclic_template_dependencies_are_resolved() -> None:
    one = template(native_role("one", rule("get", "a")), dependencies='["two", "nobody"]')
    two = template(native_role("two", rule("get", "b")), dependencies='["one"]')
    known = templates_for(world(cluster=[one, two]), CLUSTER)
    assert with_dependencies(["one"], known) == ("one", "two")
    assert with_dependencies([MANAGE, "nonsense"], known) == (VIEW, MANAGE)


def test_rules_outside_the_templates_are_separated() -> None:
    known = templates_for(world(), CLUSTER)
    own = parse_rules([rule("get", "gizmos", "example.com")])
    rules = rules_of((VIEW, MANAGE), known) + own
    assert rules_beyond_templates(rules, (VIEW, MANAGE, "gone"), known) == own
    assert parse_rules(rules_to_json(rules)) == rules


def test_malformed_aggregation_annotations_are_ignored() -> None:
    for text in ("", "x", "{}", "[[]]", "[1, null]", "[" * 100_000, '"a"'):
        assert template_names({"iam.kubesphere.io/aggregation-roles": text}) == ()
    names = template_names({"iam.kubesphere.io/aggregation-roles": '["a", "b", "a"]'})
    assert names == ("a", "b")
