"""Every action of every kind on an object of that kind: who sees it, who is refused, and that
nothing changes. The effects of the actions are tested in their own modules and in
test_as_kubectl.
"""

from collections.abc import Iterator
from random import Random

import pytest
from pytest_django import Settings

from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS, Key
from console.kube.runtime import Runtime
from console.ui.core.actions import Action, Link
from console.ui.core.kind import ResourceKind, Scope
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client
from tests.contract.cluster import Cluster
from tests.contract.comparison import comparable
from tests.contract.grants import rule
from tests.contract.kind_objects import BUILT_IN, bases, create
from tests.contract.pages import Page, Person, console_on, known, person, refused_to_strangers
from tests.support.depth import SEED, some
from tests.support.responses import text_of
from tests.views.conftest import _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def runtime(cluster: Cluster, _snapshots: None, _workspaces: None) -> Iterator[Runtime]:
    followed = [kind.gvr for kind in BUILT_IN if not kind.private]
    with console_on(cluster, [CUSTOM_RESOURCE_DEFINITIONS, *followed]) as found:
        yield found


@pytest.fixture
def editor(
    monkeypatch: pytest.MonkeyPatch, runtime: Runtime, cleanup: Cleanup, namespace: str
) -> Person:
    return person(monkeypatch, cleanup, namespace, rule("*", "*", "*"))


@pytest.fixture(autouse=True)
def _node_shells(settings: Settings, namespace: str) -> None:
    settings.NODE_SHELL_NAMESPACE = namespace


def tried(kind: ResourceKind) -> list[Action]:
    """Return the actions to test for this kind. The CI run tests each action on four kinds."""

    def having(name: str) -> list[str]:
        return [one.segment for one in BUILT_IN if name in one.actions_by_name]

    found = kind.actions_by_name.items()
    return [action for name, action in found if kind.segment in some(name, having(name), 4)]


@pytest.mark.parametrize(
    "kind", [one for one in BUILT_IN if tried(one)], ids=lambda kind: str(kind.segment)
)
async def test_actions_are_offered_and_refused_to_users_without_permission(
    admin: Client,
    runtime: Runtime,
    cleanup: Cleanup,
    namespace: str,
    editor: Person,
    kind: ResourceKind,
) -> None:
    where = namespace if kind.scope is Scope.NAMESPACED else ""
    collection = kind.gvr.path(where)
    rng = Random(f"{SEED} {kind.segment}")  # noqa: S311
    made = create(admin, cleanup, collection, bases(kind), rng, where)
    name = made["metadata"]["name"]
    if not kind.private:
        known(runtime, kind.gvr, made)
    for action in tried(kind):
        page = editor.on(action.name, str(kind.segment), made)
        before = comparable(admin.get(f"{collection}/{name}").ok(), name)
        if isinstance(action, Link):
            answer = await page.client().get(page.url)
            assert answer.status_code == 302 and answer["Location"], action
            continue
        await asks(page, action, kind, Key(where, name))
        await refused_to_strangers(page, "")
        if action.requires_uid:
            other = Page(page.who, page.url, "another")
            assert (await other.status())["code"] in (400, 404, 409, 422), action
        assert comparable(admin.get(f"{collection}/{name}").ok(), name) == before, action


async def asks(page: Page, action: Action, kind: ResourceKind, key: Key) -> None:
    """Check that the object's page offers the action or explains why it is unavailable."""
    answer = await page.client().get(page.url)
    text = await text_of(answer)
    if not action.has_confirmation:
        assert answer.status_code == 405, action
        return
    assert answer.status_code in (200, 409), (action, text)
    if answer.status_code == 200:
        assert page.uid in text and str(action.button(kind)) in text, action
        offered = await page.is_offered(str(kind.segment), key)
        assert offered or "header" not in action.places, action
