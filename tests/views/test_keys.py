"""The form for the data keys of a ConfigMap: any content and permissions."""

from collections.abc import Iterator
from typing import Any, cast

import pytest

from console.actions.data_keys.form import MOST, MOST_NEW
from console.kube.gvr import CONFIG_MAPS
from console.kube.informer import Informer
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.rbac.fakes import FakeConsole
from tests.support.forms import fields_of
from tests.support.informers import bring, preloaded
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.views.conftest import ClientAs

PATH = "/clusters/host/projects/shop/configmaps/settings/actions/keys"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def runtime() -> Iterator[StaticRuntime]:
    informers: dict[Any, Informer[Any]] = {CONFIG_MAPS: preloaded(CONFIG_MAPS, [])}
    found = StaticRuntime(informers, user_client=lambda identity: cast(Any, found.console))
    found.console = FakeConsole(informers)
    set_host_cluster(found)
    yield found
    unset_host_cluster()


def holds(runtime: StaticRuntime, **content: Any) -> None:
    """Store the data in the cluster; the cache only knows that the object exists."""
    about = {"name": "settings", "namespace": "shop", "uid": "u-1", "resourceVersion": "5"}
    item = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": about}
    bring(runtime.informer(CONFIG_MAPS), item)
    runtime.console.objects[CONFIG_MAPS, "shop/settings"] = {**item, **content}


def held(runtime: StaticRuntime) -> Any:
    return runtime.console.of(CONFIG_MAPS)["shop/settings"].get("data")


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"data": None, "binaryData": None},
        {"data": ["a"], "binaryData": "b"},
        {"data": {"a": 1, "b": None, "c": {"d": []}}},
        {"binaryData": {"a": "no base64!", "b": 7, "c": "\u6c49"}},
        {"data": {"": "no name", "a/b": "no key", "<script>alert(1)</script>": "x"}},
        {"data": {"a": "\ud7ff\u202e\u0000"}, "binaryData": {"a": "AA=="}},
    ],
)
async def test_any_content_can_be_extended_by_a_key(
    client_as: ClientAs, runtime: StaticRuntime, content: dict[str, Any]
) -> None:
    holds(runtime, **content)
    client = client_as("admin")
    answer = await client.get(PATH)
    page = await text_of(answer)
    assert answer.status_code == 200 and "<script>alert" not in page
    sent = {**fields_of(page), "new-key-0": "added", "new-value-0": "x"}
    answer = await client.post(PATH, sent)
    assert answer.status_code == 302, await text_of(answer)
    assert held(runtime)["added"] == "x"


@pytest.mark.parametrize(
    "text", ["</textarea><script>alert(1)</script>", "\n\nbegins", " a\n\n", "{{ x }}", '"&amp;"']
)
async def test_text_round_trips_unchanged(
    client_as: ClientAs, runtime: StaticRuntime, text: str
) -> None:
    holds(runtime, data={"a": text})
    client = client_as("admin")
    page = await text_of(await client.get(PATH))
    sent = fields_of(page)
    assert sent["value-0"] == text and "<script>alert" not in page
    as_sent = {name: value.replace("\n", "\r\n") for name, value in sent.items()}
    answer = await client.post(PATH, as_sent)
    assert answer.status_code == 400 and "No changes were made." in await text_of(answer)


async def test_text_that_browsers_would_alter_is_not_editable(
    client_as: ClientAs, runtime: StaticRuntime
) -> None:
    holds(runtime, data={"a": "one\r\ntwo"})
    page = await text_of(await client_as("admin").get(PATH))
    assert "value-0" not in fields_of(page)
    assert "The value contains invisible characters. Upload a file to replace the value." in page


async def test_number_of_keys_is_limited(client_as: ClientAs, runtime: StaticRuntime) -> None:
    client = client_as("admin")
    holds(runtime, data={f"k{n:03}": str(n) for n in range(MOST)})
    sent = fields_of(await text_of(await client.get(PATH)))
    sent |= {f"new-key-{n}": f"new-{n}" for n in range(MOST_NEW)}
    assert (await client.post(PATH, sent)).status_code == 302
    assert len(held(runtime)) == MOST + MOST_NEW
    answer = await client.get(PATH)
    assert answer.status_code == 409
    assert (
        f"This object has more than {MOST} keys. Edit the object as YAML instead."
        in await text_of(answer)
    )


async def test_denied_user_gets_the_same_response_for_existing_and_missing_objects(
    client_as: ClientAs, runtime: StaticRuntime
) -> None:
    holds(runtime, data={"a": "canary"})
    for who in ("alice", "bob", "charlie"):
        client = client_as(who)
        for method in (client.get, client.post):
            answers = [await method(path) for path in (PATH, PATH.replace("settings", "nothing"))]
            texts = [await text_of(answer) for answer in answers]
            assert [answer.status_code for answer in answers] == [403, 403]
            assert not any("canary" in text for text in texts)
    answer = await client_as("").get(PATH)
    assert answer.status_code == 302 and "login" in answer["Location"]
    assert held(runtime) == {"a": "canary"}


async def test_incomplete_form_changes_nothing(client_as: ClientAs, runtime: StaticRuntime) -> None:
    holds(runtime, data={"a": "1"})
    client = client_as("admin")
    sent = fields_of(await text_of(await client.get(PATH)))
    for part in ("uid", "was"):
        wrong = {name: value for name, value in sent.items() if name != part}
        answer = await client.post(PATH, {**wrong, "value-0": "2"})
        assert answer.status_code == 400, part
        assert "The form is incomplete. Reload the page." in await text_of(answer)
    assert held(runtime) == {"a": "1"}
