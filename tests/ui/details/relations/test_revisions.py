"""Revisions of workloads and their differences."""

import re
from typing import Any

import pytest

from console.kube import gvr as types
from console.kube.gvr import GVR, Key
from console.ui.details.relations.revisions import LONGEST, TooLong, template_lines
from console.ui.editing.diff import diff_lines
from tests.kinds.world import POLYGLOT
from tests.ui.details.relations.differences import changed_lines
from tests.ui.details.relations.shop import (
    World,
    drawn,
    everything,
    named,
    panel,
    replica_set,
    spec,
    subject_of,
    template,
    world,
)
from tests.ui.support import FakeAccess, bob

WEB = Key("shop", "web")


def shown(
    informers: World,
    gvr: GVR = types.DEPLOYMENTS,
    *,
    since: str = "",
    to: str = "",
    access: FakeAccess | None = None,
) -> str:
    query = {"from": since, "to": to}
    return drawn(subject_of(informers, gvr, WEB, access, query), panel(gvr, "revisions"))


def three() -> World:
    objects = everything()
    objects[types.REPLICA_SETS].append(replica_set(3, replicas=1))
    return world(objects)


def test_newest_revision_is_first_and_compared_with_its_predecessor() -> None:
    html = shown(three())
    assert re.findall(r'<a class="link" href="[^"]*">(\d)</a>', html) == ["3", "2", "1"]
    assert "release 2" in html and "shop/web:1" in html
    assert ("-", "image: shop/web:2") in changed_lines(html)
    assert ("+", "image: shop/web:3") in changed_lines(html)


def test_any_two_revisions_can_be_compared() -> None:
    html = shown(three(), since="3", to="1")
    assert {("-", "image: shop/web:3"), ("+", "image: shop/web:1")} == set(changed_lines(html))
    assert '<option value="3" selected>' in html


@pytest.mark.parametrize("asked", ["", "x", "-1", "9" * 40, "٣", "99", "<b>"])
def test_invalid_revision_numbers_are_ignored(asked: str) -> None:
    assert changed_lines(shown(three(), since=asked, to=asked)) == changed_lines(shown(three()))


def test_identical_revisions_are_reported() -> None:
    assert "The pod templates are identical." in shown(three(), since="2", to="2")


def test_rollback_is_offered_to_permitted_users() -> None:
    html = shown(three()), shown(three(), access=bob())
    assert ["/actions/rollback" in one for one in html] == [True, False]


def test_single_revision_is_not_compared() -> None:
    objects = everything()
    objects[types.REPLICA_SETS] = [replica_set(1)]
    html = shown(world(objects))
    assert "release 1" in html and "<form" not in html


@pytest.mark.parametrize(
    ("gvr", "kind"), [(types.STATEFUL_SETS, "StatefulSet"), (types.DAEMON_SETS, "DaemonSet")]
)
def test_controller_revisions_are_shown_for_other_workloads(gvr: GVR, kind: str) -> None:
    kept = [
        {
            **named(f"web-{number}", owner=(kind, "web")),
            "revision": number,
            "data": {"spec": {"template": {"$patch": "replace", **template(f"shop/web:{number}")}}},
        }
        for number in (1, 2)
    ]
    foreign = {**named("web-9", "team-b", (kind, "web")), "revision": 9}
    foreign["metadata"]["ownerReferences"][0]["uid"] = "uid-shop-web"
    own = {**named("web"), "spec": {"template": template()}}
    html = shown(world({gvr: [own], types.CONTROLLER_REVISIONS: [*kept, foreign]}), gvr)
    assert {("-", "image: shop/web:1"), ("+", "image: shop/web:2")} == set(changed_lines(html))
    assert "$patch" not in html and ">9<" not in html


def test_missing_revisions_are_reported() -> None:
    objects = everything()
    objects[types.REPLICA_SETS] = []
    assert "No revisions found." in shown(world(objects))


def test_unsynced_revisions_are_reported_as_loading() -> None:
    informers = world(everything())
    own = {types.DEPLOYMENTS: informers[types.DEPLOYMENTS]}
    assert "still loading" in shown(own)


@pytest.mark.parametrize(
    "strange",
    [{}, {"spec": None}, {"spec": {"template": None}}, {"spec": {"template": {"metadata": None}}},
     {"spec": {"template": {"spec": {"containers": [None]}}}}],
    ids=str,
)  # fmt: skip
def test_malformed_revision_is_handled(strange: dict[str, Any]) -> None:
    own = {**named("web"), "spec": {"template": template()}}
    kept = [
        {**named(f"web-{number}", owner=("DaemonSet", "web")), "revision": number, "data": strange}
        for number in (1, 2)
    ]
    informers = world({types.DAEMON_SETS: [own], types.CONTROLLER_REVISIONS: kept})
    assert "Revision" in shown(informers, types.DAEMON_SETS)


def test_hostile_text_is_escaped_and_visible() -> None:
    objects = everything()
    worst = replica_set(3)
    worst["spec"]["template"]["spec"]["containers"][0]["command"] = [POLYGLOT, "\u202e"]
    worst["metadata"]["annotations"]["kubernetes.io/change-cause"] = POLYGLOT
    objects[types.REPLICA_SETS].append(worst)
    html = shown(world(objects))
    assert "<img" not in html and "\u202e" not in html and "⟨U+202E⟩" in html


def test_revision_labels_are_excluded_from_the_comparison() -> None:
    first, second = template(), template()
    first["metadata"]["labels"]["pod-template-hash"] = "1"
    second["metadata"]["labels"]["pod-template-hash"] = "2"
    assert diff_lines(template_lines(first), template_lines(second)) == []


def test_line_numbers_and_gaps_are_correct() -> None:
    before = [f"line {number}" for number in range(1, 41)]
    after = [*before[:4], "new", *before[4:29], "other", *before[30:]]
    found = diff_lines(before, after)
    assert [(c.before, c.after, c.text) for c in found if c.sign == "+"] == [
        (None, 5, "new"),
        (None, 31, "other"),
    ]
    assert [(c.before, c.after, c.text) for c in found if c.sign == "-"] == [(30, None, "line 30")]
    assert [c.sign for c in found].count("…") == 1
    assert all(
        before[c.before - 1] == after[(c.after or 0) - 1] for c in found if c.before and not c.sign
    )


def test_very_long_templates_are_not_compared() -> None:
    long = {"spec": {"containers": [spec()["containers"][0] for _ in range(LONGEST)]}}
    with pytest.raises(TooLong):
        template_lines(long)
    objects = everything()
    objects[types.REPLICA_SETS][1]["spec"]["template"] = long
    assert "too long to compare" in shown(world(objects))
