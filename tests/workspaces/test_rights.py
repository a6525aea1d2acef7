"""Nobody hands on more than they hold."""

import pytest

from console.kube.gvr import NAMESPACES
from rbac.rules import parse_rules
from tests.rbac.objects import Manifest, rule
from tests.ui.support import bob
from workspaces.rights import MEMBERS, WorkspaceRights


def holder(*rules: Manifest, platform: bool = False) -> WorkspaceRights:
    return WorkspaceRights(bob(), "acme", parse_rules([*rules]), platform)


@pytest.mark.parametrize(
    ("held", "given", "covered"),
    [
        (rule("*", "*", "*"), rule("*", "*", "*"), True),
        (rule("get list watch", "*", "*"), rule("get", "pods"), True),
        (rule("get list watch", "*", "*"), rule("*", "*", "*"), False),
        (rule("get", "pods"), rule("get", "pods/log"), False),
        (rule("get", "pods pods/log"), rule("get", "pods/log"), True),
        (rule("get", "pods"), rule("get", "pods", names="one"), True),
        (rule("get", "pods", names="one"), rule("get", "pods"), False),
        (rule("get", "pods", names="one"), rule("get", "pods", names="two"), False),
        (rule("get", "pods", names="one two"), rule("get", "pods", names="two"), True),
        (rule("create", "namespaces"), rule("create", "namespaces", "*"), False),
        (rule("get", "*/log", "*"), rule("get", "pods/log"), True),
        (rule("get", "*", "apps"), rule("get", "*", "core"), False),
    ],
)
def test_what_is_held_covers_what_is_given(held: Manifest, given: Manifest, covered: bool) -> None:
    assert holder(held).holds(parse_rules([given])) is covered


def test_several_rules_cover_one_together() -> None:
    mine = holder(rule("get", "pods"), rule("list", "pods"))
    assert mine.holds(parse_rules([rule("get list", "pods")]))
    assert not mine.holds(parse_rules([rule("get list watch", "pods")]))


def test_nothing_is_held_by_everybody_and_everything_by_the_platform() -> None:
    assert holder().holds(())
    assert not holder().holds(parse_rules([rule("get", "pods")]))
    assert holder(platform=True).holds(parse_rules([rule("*", "*", "*")]))


def test_use_cases_ask_for_kubespheres_words() -> None:
    provisioner = holder(rule("create", "namespaces devops", "*"))
    assert provisioner.may("create", NAMESPACES)
    assert not provisioner.may("create", MEMBERS)
    viewer = holder(rule("get list watch", "*", "*"))
    assert viewer.may("list", MEMBERS)
    assert not any(viewer.may(verb, MEMBERS) for verb in ("create", "update", "delete"))
