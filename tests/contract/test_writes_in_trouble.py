"""Actions and edits while kube-apiserver is unreachable, slow, overloaded, or returns malformed
responses: the user's input is kept, the outcome is reported, and nothing is done twice. Runs on
the real cluster behind the fault-injecting proxy.
"""

import html
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from console.kube.gvr import CONFIG_MAPS, Key
from console.kube.kubeconfig import ROLES, write_console_kubeconfig
from console.kube.runtime import Runtime
from console.ui.core.links import edit_url
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster, Real
from tests.contract.edit_forms import Form, form_of
from tests.contract.grants import Grants, rule
from tests.contract.objects import config_map, path, unique
from tests.contract.pages import Person, console_on, known, person, recorded
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.proxy import CuttingProxy, RecordedRequest, ScriptedResponse, refusal
from tests.controlplane.waiting import eventually
from tests.kube.clusters import live
from tests.support.forms import form_data
from tests.support.responses import text_of
from tests.views.conftest import ClientAs, _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)

UNSURE = "The cluster did not respond. The change may or may not have been applied."
SURE = "The cluster did not respond. No changes were made."
WEBHOOK = "failed calling webhook “policy.example.com”: context deadline exceeded"


@pytest.fixture(scope="package")
def cluster(real_cluster: Cluster) -> Cluster:
    """Return the real cluster, because the embedded one cannot run behind the proxy."""
    return real_cluster


@pytest.fixture(scope="module")
def proxy(control_plane: ControlPlane) -> Iterator[CuttingProxy]:
    with CuttingProxy(control_plane) as found:
        yield found


@pytest.fixture(scope="module")
def runtime(
    proxy: CuttingProxy,
    control_plane: ControlPlane,
    admin: Client,
    namespace: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Runtime]:
    """The console uses a token, because client certificates don't pass through the proxy."""
    through = Real(control_plane, tmp_path_factory.mktemp("through"))
    through.kubeconfig = through.home / "kubeconfig"
    account, name = path(namespace, "serviceaccounts"), unique("console")
    admin.post(account, {"metadata": {"name": name}}).ok()
    token = admin.post(f"{account}/{name}/token", {"spec": {}}).ok()["status"]["token"]
    tokens = dict.fromkeys(ROLES, token)
    write_console_kubeconfig(through.kubeconfig, proxy.url, control_plane.ca_file, tokens)
    with ExitStack() as stack:
        subject = {"kind": "ServiceAccount", "name": name, "namespace": namespace}
        Grants(Cleanup(admin, stack), namespace).bind_everywhere(subject, "cluster-admin")
        with console_on(through, [CONFIG_MAPS]) as found:
            yield found


@pytest.fixture(autouse=True)
def _healed(proxy: CuttingProxy, runtime: Runtime) -> Iterator[None]:
    yield
    proxy.heal()
    eventually(lambda: live(runtime.informer(CONFIG_MAPS)), "the console follows again", timeout=30)


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup, namespace: str) -> Person:
    return person(monkeypatch, cleanup, namespace, rule("get list patch", "configmaps"))


@pytest.fixture
def made(admin: Client, runtime: Runtime, namespace: str) -> Obj:
    found: Obj = admin.post(path(namespace, "configmaps"), config_map(unique("s"), k="v")).ok()
    known(runtime, CONFIG_MAPS, found)
    return found


def patched(answer: ScriptedResponse) -> Callable[[RecordedRequest], ScriptedResponse | None]:
    """Return this response to every write request."""
    return lambda seen: answer if seen.method == "PATCH" and "dryRun" not in seen.query else None


def away(proxy: CuttingProxy) -> None:
    proxy.refuse()
    proxy.reset()


def says(answer: ScriptedResponse) -> Callable[[CuttingProxy], None]:
    return lambda proxy: proxy.answer(patched(answer))


#: The fault, the status code of the page, and the text it contains.
TROUBLES = {
    "away": (away, 503, UNSURE),
    "slow": (lambda proxy: proxy.swallow(), 503, UNSURE),
    "no JSON": (says(ScriptedResponse(200, b"<html>proxy</html>")), 502, "is not an object"),
    "empty": (says(ScriptedResponse(200, b"")), 502, "is not an object"),
    "busy": (says(refusal(429, "TooManyRequests", retry_after=7)), 429, "Try again in 7 seconds."),
    "broken": (says(refusal(500, "InternalError", "etcd is full")), 502, "etcd is full"),
    "too late": (says(refusal(504, "Timeout", "took too long")), 504, UNSURE),
    "webhook": (says(refusal(500, "InternalError", WEBHOOK)), 502, WEBHOOK),
}


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_a_failed_action_is_reported_and_can_be_retried(
    proxy: CuttingProxy, admin: Client, made: Obj, editor: Person, trouble: str
) -> None:
    begin, code, said = TROUBLES[trouble]
    page = editor.on("labels", "configmaps", made)
    typed = {**form_data(await page.asks()), "labels": "kept=yes"}
    begin(proxy)
    text = html.unescape(await page.refuses(code, **typed))
    # In these cases reading the object already failed.
    assert (SURE if trouble in ("away", "slow") else said) in text and "kept=yes" in text
    assert labels_of(admin, made) == {}
    proxy.heal()
    await page.does(**typed)
    assert labels_of(admin, made) == {"kept": "yes"}
    # Each attempt has an audit record with its outcome.
    outcomes = [record[-1] for record in await recorded()]
    assert outcomes[-1] == 200 and len(outcomes) == 2 and outcomes[0] is not None


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_the_editor_keeps_the_users_text(
    proxy: CuttingProxy, admin: Client, made: Obj, editor: Person, trouble: str
) -> None:
    begin, code, said = TROUBLES[trouble]
    url = edit_url("host", "configmaps", Key(made["metadata"]["namespace"], name_of(made)))
    client = ClientAs()(editor.name)

    async def sent(form: Form, step: str) -> Form:
        answer = await client.post(url, {**form.fields, "step": step})
        return form_of(answer.status_code, await text_of(answer))

    opened = form_of(200, await text_of(await client.get(url)))
    text = opened.text.replace("k: v", "k: typed")
    reviewed = await sent(opened.with_text(text), "review")
    assert reviewed.status == 200, reviewed.html
    begin(proxy)
    refused = await sent(reviewed, "save")
    assert refused.status == code and refused.text == text
    assert said in html.unescape(refused.html)
    assert data_of(admin, made) == {"k": "v"}
    proxy.heal()
    again = await sent(refused, "review")
    assert (await sent(again, "save")).status == 302
    assert data_of(admin, made) == {"k": "typed"}


async def test_a_write_with_a_lost_response_is_not_repeated(
    proxy: CuttingProxy, admin: Client, made: Obj, editor: Person
) -> None:
    page = editor.on("labels", "configmaps", made)
    typed = {**form_data(await page.asks()), "labels": "kept=yes"}

    def lost(seen: RecordedRequest) -> None:
        if seen.method == "PATCH":
            proxy.cut(after=1)

    proxy.answer(lost)
    text = html.unescape(await page.refuses(503, **typed))
    assert UNSURE in text and "kept=yes" in text
    proxy.heal()
    eventually(lambda: labels_of(admin, made) == {"kept": "yes"}, "it was done")
    version = now(admin, made)["metadata"]["resourceVersion"]
    await page.does(**typed)
    assert labels_of(admin, made) == {"kept": "yes"}
    assert now(admin, made)["metadata"]["resourceVersion"] == version


def name_of(made: Obj) -> str:
    return str(made["metadata"]["name"])


def now(admin: Client, made: Obj) -> Any:
    return admin.get(path(made["metadata"]["namespace"], "configmaps", name_of(made))).ok()


def labels_of(admin: Client, made: Obj) -> Any:
    return now(admin, made)["metadata"].get("labels", {})


def data_of(admin: Client, made: Obj) -> Any:
    return now(admin, made)["data"]
