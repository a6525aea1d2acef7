"""Every state of an object has the severity that its list shows, on each part of its page."""

import re

import pytest

from console.kube.status import Severity
from console.ui.core.kind import ResourceKind
from tests.kinds.list_requests import addresses, entries_of
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.views.conftest import ClientAs

_STATE = re.compile(
    r'class="status" data-severity="(\w*)">(?:<svg.*?</svg>)?\s*<span class="word">([^<]*)<',
    re.DOTALL,
)
_CAUSE = re.compile(r'class="cause" data-severity="(\w*)"')
#: Panels that explain an object by the state of other objects.
_OTHER_OBJECTS = ("services", "deployments", "statefulsets", "daemonsets")


@pytest.mark.django_db(transaction=True)
async def test_page_shows_each_state_with_the_severity_of_the_list(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime
) -> None:
    for entry in entries_of(runtime, kind):
        status = kind.status(entry)
        if status is None or not status.reason:
            continue
        html = await text_of(await client_as("admin").get(addresses(kind, entry.key)[0]))
        own = {
            severity
            for panel in re.findall(r'id="panel-conditions".*?</table>', html, re.DOTALL)
            for severity, _word in _STATE.findall(panel)
        }
        bad = {one for one in own if one in (Severity.ERROR, Severity.WARN)}
        if status.severity not in (Severity.OK, Severity.DONE):
            worse = {one for one in bad if Severity(one).rank < status.severity.rank}
            assert worse == set(), entry.key
        if kind.segment not in _OTHER_OBJECTS:
            assert set(_CAUSE.findall(html)) <= {status.severity.value}, entry.key
