"""Each action that shows a kubectl command has the same effect as that command. The console changes
one object, the command changes an identical one, and the results are compared.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from console.kube import gvr as types
from console.kube.runtime import Runtime
from console.ui.core.actions import Action, EditSection
from console.ui.core.registry import kinds
from tests.contract.action_cases import CASES, LABELLED, Case, collection, make, sent
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster, Kubectl
from tests.contract.comparison import comparable
from tests.contract.grants import rule
from tests.contract.pages import Page, Person, console_on, kubectl_line, person
from tests.support.depth import fewer
from tests.support.responses import text_of
from tests.views.conftest import _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)
#: Actions that need special objects. They are compared in other modules.
ELSEWHERE = {
    "form": "test_wizards: the editor reviews and saves the change",
    "rollback": "test_workloads: needs an earlier revision",
    "rerun": "test_workloads: kubectl has no such command",
    "keys": "test_data_keys: the command for a Secret omits its values",
    "expand": "test_storage: needs a claim with a volume",
    "snapshot": "test_storage: needs a claim with a volume",
    "clone": "test_storage: needs a claim with a volume",
    "volume": "test_storage: needs a snapshot that is ready",
    "drain": "test_drain: evicts pods until the node is empty",
    "default-registry": "test_registries: changes the service account that all pods of a project share",
    "role": "test_service_accounts: needs a role of the project and existing bindings",
    "debug": "test_debugging: kubectl waits until the container runs",
    "shell": "test_node_shells: creates a pod in a separate namespace",
    "edit": "test_edit: kubectl opens an editor",
    "log": "test_logs: changes nothing",
    "terminal": "tests/terminals: changes nothing",
    "open-port": "tests/proxying/test_panel: changes nothing",
}


LABELLED["metadata"]["labels"] = {"a": "0", "gone": "yes"}
#: Cases that run the same code as the case of another kind. They are tested only in the full run.
AGAIN = {
    *("statefulsets-scale", "statefulsets-restart", "statefulsets-autoscale"),
    *("cronjobs-suspend", "cronjobs-resume"),
}


@pytest.fixture(scope="module")
def runtime(cluster: Cluster, _workspaces: None) -> Iterator[Runtime]:
    followed = {case.gvr for case in CASES}
    with console_on(cluster, [*followed, types.REPLICA_SETS]) as found:
        yield found


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup, namespace: str) -> Person:
    return person(monkeypatch, cleanup, namespace, rule("*", "*", "*"))


async def done(page: Page, case: Case, made: Obj) -> None:
    """Submit the action. Retry on a conflict, because controllers of the real cluster taint a node
    without kubelet.
    """
    for _time in range(10):
        data = {**sent(case, made, await page.asks()), "uid": page.uid}
        answer = await page.client().post(page.url, data)
        if answer.status_code != 409:
            break
    assert answer.status_code == 302, await text_of(answer)


async def line_of(page: Page, fields: Mapping[str, str]) -> str:
    """Return the kubectl command that the page shows for this input, before the action runs."""
    answer = await page.client().post(page.url, {**fields, "step": "edit", "uid": page.uid})
    assert answer.status_code == 200, answer.content
    return kubectl_line(answer.content.decode())


def outcome(admin: Client, case: Case, made: Obj, namespace: str) -> Any:
    name = made["metadata"]["name"]
    where = collection(case.makes or case.gvr, namespace)
    answer = admin.get(f"{where}/{case.called.replace('NAME', name)}")
    return comparable(None if answer.status == 404 else answer.ok(), name)


@pytest.mark.parametrize("case", fewer(CASES, *(c for c in CASES if str(c) not in AGAIN)), ids=str)
async def test_an_action_has_the_same_effect_as_its_kubectl_command(
    runtime: Runtime,
    cleanup: Cleanup,
    editor: Person,
    kubectl: Kubectl,
    namespace: str,
    case: Case,
) -> None:
    segment = case.kind.segment
    one, other = (make(runtime, cleanup, case.gvr, case.body, namespace) for _ in range(2))
    before = outcome(cleanup.admin, case, one, namespace)
    assert before == outcome(cleanup.admin, case, other, namespace)
    page, its_page = (editor.on(case.action, segment, made) for made in (one, other))
    filled = sent(case, other, await its_page.asks())
    line = await line_of(its_page, filled)
    assert outcome(cleanup.admin, case, other, namespace) == before
    await done(page, case, one)
    kubectl.line(line)
    found = [outcome(cleanup.admin, case, made, namespace) for made in (one, other)]
    assert found[0] == found[1], line
    assert found[0] != before, line


def test_every_action_with_a_kubectl_command_is_covered() -> None:
    told = {
        action.name
        for kind in kinds
        for action in kind.actions_by_name.values()
        if type(action).command is not Action.command and not isinstance(action, EditSection)
    }
    assert told - ELSEWHERE.keys() == {case.action for case in CASES}
