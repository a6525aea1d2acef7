"""Approving and denying CertificateSigningRequests."""

import html
from collections.abc import Iterator

import pytest

from console.actions.certificates import certificate_names
from console.kube.gvr import CERTIFICATE_SIGNING_REQUESTS, GVR, Key
from console.kube.runtime import Runtime
from tests.contract.cleanup import Cleanup
from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.grants import rule
from tests.contract.objects import unique
from tests.contract.pages import (
    Page,
    Person,
    console_on,
    known,
    person,
    recorded,
    refused_to_strangers,
)
from tests.contract.signing_requests import SIGNER, signing_request_spec
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs, _site
from tests.views.viewers import VIEWERS

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)
GROUP, SEGMENT = CERTIFICATE_SIGNING_REQUESTS.group, "certificatesigningrequests"
REQUESTS = f"/apis/{GROUP}/v1/{SEGMENT}"


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [CERTIFICATE_SIGNING_REQUESTS]) as found:
        yield found


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup, namespace: str) -> Person:
    return person(
        monkeypatch,
        cleanup,
        namespace,
        rule("get", SEGMENT, GROUP),
        rule("update", f"{SEGMENT}/approval", GROUP),
        rule("approve", "signers", GROUP),
    )


def _request(cleanup: Cleanup, runtime: Runtime) -> Obj:
    made = cleanup.create(
        REQUESTS, {"metadata": {"name": unique("csr")}, "spec": signing_request_spec()}
    )
    known(runtime, CERTIFICATE_SIGNING_REQUESTS, made)
    return made


def _verdicts(admin: Client, made: Obj) -> list[str]:
    found = admin.get(f"{REQUESTS}/{made['metadata']['name']}").ok()
    return [one["type"] for one in found["status"].get("conditions") or ()]


async def test_a_certificate_request_is_shown_and_approved(
    admin: Client, cleanup: Cleanup, runtime: Runtime, editor: Person
) -> None:
    made = _request(cleanup, runtime)
    name = made["metadata"]["name"]
    approve, deny = editor.on("approve", SEGMENT, made), editor.on("deny", SEGMENT, made)
    assert await approve.is_offered(SEGMENT, Key("", name))
    asked = await approve.asks()
    for said in (
        made["spec"]["username"],
        "client auth",
        SIGNER,
        "CN=mallory",
        "O=system:masters",
        "shop.example.com",
        f"kubectl certificate approve {name}",
    ):
        assert said in asked, said
    await approve.does()
    assert _verdicts(admin, made) == ["Approved"]
    assert await recorded() == [(editor.name, "update", "approval", name, 200)]
    known(runtime, CERTIFICATE_SIGNING_REQUESTS, admin.get(f"{REQUESTS}/{name}").ok())
    said = html.unescape(await deny.refuses(409))
    assert "The current state of the object doesn't allow this action." in said
    assert (await approve.status())["code"] == 409


async def test_a_certificate_request_is_denied(
    admin: Client, cleanup: Cleanup, runtime: Runtime, editor: Person
) -> None:
    made = _request(cleanup, runtime)
    page = editor.on("deny", SEGMENT, made)
    assert "kubectl certificate deny" in await page.asks()
    assert (await page.status())["status"] == "Success"
    assert _verdicts(admin, made) == ["Denied"]
    assert await recorded() == [(editor.name, "update", "denial", made["metadata"]["name"], 200)]


async def test_approving_keeps_existing_conditions(
    admin: Client, cleanup: Cleanup, runtime: Runtime, editor: Person
) -> None:
    made = _request(cleanup, runtime)
    checked = {"type": "Checked", "status": "True", "reason": "ByScanner"}
    status = f"{REQUESTS}/{made['metadata']['name']}/status"
    admin.patch(status, {"status": {"conditions": [checked]}}, MERGE_PATCH).ok()
    await editor.on("approve", SEGMENT, made).does()
    assert _verdicts(admin, made) == ["Checked", "Approved"]


async def test_approval_has_no_bulk_action_and_checks_the_uid(
    admin: Client, cleanup: Cleanup, runtime: Runtime, editor: Person
) -> None:
    made = _request(cleanup, runtime)
    target = f"{made['metadata']['uid']} {made['metadata']['name']}"
    answer = await ClientAs()(editor.name).post(
        f"/bulk/host/{SEGMENT}/approve", {"targets": target}
    )
    assert answer.status_code == 404
    page = editor.on("approve", SEGMENT, made)
    said = await Page(page.who, page.url, "another").refuses(409)
    assert "replaced by another object with the same name" in said
    assert _verdicts(admin, made) == []
    assert [one[-1] for one in await recorded()] == [409]


class _ForNoSigner(FakeAccess):
    def can(self, verb: str, gvr: GVR, **about: str) -> bool:
        return verb != "approve" and super().can(verb, gvr, **about)


async def test_users_without_permission_for_the_signer_are_refused_before_the_form(
    monkeypatch: pytest.MonkeyPatch,
    admin: Client,
    cleanup: Cleanup,
    runtime: Runtime,
    editor: Person,
) -> None:
    made = _request(cleanup, runtime)
    monkeypatch.setitem(VIEWERS, editor.name, lambda: _ForNoSigner(editor.name, get_in=None))
    page = editor.on("approve", SEGMENT, made)
    answer = await page.client().get(page.url)
    assert answer.status_code == 403 and "signers" in await text_of(answer)
    assert (await page.status())["code"] == 403
    assert _verdicts(admin, made) == [] and await recorded() == []


@pytest.mark.parametrize("request_", [None, "", "%", "AAAA", "YQ==", 7, "é"])
def test_an_unreadable_certificate_request_is_reported(request_: object) -> None:
    assert [value for _label, value in certificate_names(request_)] == ["could not be decoded"]


async def test_users_without_permission_cannot_approve(
    monkeypatch: pytest.MonkeyPatch,
    admin: Client,
    cleanup: Cleanup,
    runtime: Runtime,
    namespace: str,
) -> None:
    """Includes a user who can approve requests, but not for this signer."""
    made = _request(cleanup, runtime)
    eve = person(
        monkeypatch,
        cleanup,
        namespace,
        rule("get", SEGMENT, GROUP),
        rule("update", f"{SEGMENT}/approval", GROUP),
    )
    for action in ("approve", "deny"):
        page = eve.on(action, SEGMENT, made)
        await refused_to_strangers(page, "certificate requests")
        assert "Permission denied by the cluster." in await page.refuses(403)
        assert (await page.status())["code"] == 403
    assert _verdicts(admin, made) == []


def test_an_approved_request_cannot_be_denied(
    admin: Client, cleanup: Cleanup, runtime: Runtime
) -> None:
    made = _request(cleanup, runtime)
    at = f"{REQUESTS}/{made['metadata']['name']}"
    for kind, code in (("Approved", 200), ("Denied", 422)):
        found = admin.get(at).ok()
        verdict = {"type": kind, "status": "True", "reason": "Test", "message": "test"}
        conditions = [*(found["status"].get("conditions") or ()), verdict]
        found["status"]["conditions"] = conditions
        assert admin.put(f"{at}/approval", found).status == code
    found["status"]["conditions"] = []
    assert admin.put(f"{at}/approval", found).status == 422
    assert _verdicts(admin, made) == ["Approved"]
