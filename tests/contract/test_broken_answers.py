"""Malformed responses of kube-apiserver, or of a proxy in front of it, never break an action's
page: the page shows an error message.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from console.kube.runtime import Runtime
from console.kube.transport import ApiResponse, Transport
from tests.contract import section_cases
from tests.contract.action_cases import CASES, Case, make, sent
from tests.contract.cleanup import Cleanup
from tests.contract.cluster import Cluster
from tests.contract.grants import rule
from tests.contract.pages import console_on, person
from tests.contract.section_cases import SectionCase
from tests.contract.wizard_pages import WizardVisitor
from tests.support.depth import some
from tests.views.conftest import _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)
#: One case per action.
ACTIONS = list({(case.action): case for case in CASES}.values())
SECTIONS = list({case.section: case for case in section_cases.CASES}.values())
Mangle = Callable[[bytes], bytes]


def always(body: bytes) -> Mangle:
    return lambda _answer: body


def shaped(**fields: Any) -> Mangle:
    """Replace fields of the object in the response."""

    def mangle(answer: bytes) -> bytes:
        found = msgspec.json.decode(answer, type=dict[str, Any])
        return json.dumps({**found, **fields}).encode()

    return mangle


BROKEN = (
    always(b"<html>Log in here</html>"),
    lambda answer: answer[: len(answer) // 2],
    always(b'{"metadata": {}}'),
    always(b'{"metadata": {"uid": 1, "resourceVersion": [], "labels": "x"}}'),
    shaped(spec="x", status=1, data=[3], rules="y", imagePullSecrets=7),
    shaped(spec=["x"], status=[], data="d", rules={}, imagePullSecrets={}),
    shaped(spec={"template": 1, "containers": 2, "taints": "x", "ports": {}, "replicas": "many"}),
)


@pytest.fixture(scope="module")
def runtime(cluster: Cluster, _workspaces: None) -> Iterator[Runtime]:
    with console_on(cluster, {one.gvr for one in ACTIONS} | {one.gvr for one in SECTIONS}) as found:
        yield found


@pytest.mark.parametrize("case", ACTIONS, ids=str)
async def test_malformed_responses_produce_an_error_message(
    monkeypatch: pytest.MonkeyPatch, runtime: Runtime, cleanup: Cleanup, namespace: str, case: Case
) -> None:
    editor = person(monkeypatch, cleanup, namespace, rule("*", "*", "*"))
    made = make(runtime, cleanup, case.gvr, case.body, namespace)
    page = editor.on(case.action, str(case.kind.segment), made)
    answer = await page.client().get(page.url)
    fields = sent(case, made, answer.content.decode()) if answer.status_code == 200 else {}
    asked = Transport.request
    for number in some(case.action, range(len(BROKEN)), 3):

        async def broken(
            self: Transport, *arguments: Any, _mangle: Mangle = BROKEN[number], **options: Any
        ) -> ApiResponse:
            found = await asked(self, *arguments, **options)
            return msgspec.structs.replace(found, body=_mangle(found.body))

        with monkeypatch.context() as patched:
            patched.setattr(Transport, "request", broken)
            status = await page.status(**fields)
        assert status["code"] != 500, status


@pytest.mark.parametrize("case", SECTIONS, ids=str)
async def test_sections_report_malformed_responses(
    monkeypatch: pytest.MonkeyPatch,
    runtime: Runtime,
    cleanup: Cleanup,
    namespace: str,
    case: SectionCase,
) -> None:
    editor = person(monkeypatch, cleanup, namespace, rule("*", "*", "*"))
    made = make(runtime, cleanup, case.gvr, case.body, namespace)
    page = editor.on(case.section, case.gvr.resource, made)
    visitor = WizardVisitor(editor.name)
    asked = Transport.request
    for mangle in BROKEN:

        async def broken(
            self: Transport, *arguments: Any, _mangle: Mangle = mangle, **options: Any
        ) -> ApiResponse:
            found = await asked(self, *arguments, **options)
            return msgspec.structs.replace(found, body=_mangle(found.body))

        with monkeypatch.context() as patched:
            patched.setattr(Transport, "request", broken)
            await visitor.open(page.url)
            assert visitor.status != 500, visitor.main
        await visitor.open(page.url)
        with monkeypatch.context() as patched:
            patched.setattr(Transport, "request", broken)
            await visitor.press("next")
            assert visitor.status != 500, visitor.main
