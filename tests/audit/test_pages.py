"""Pages of the audit trail: permissions, content, and exports."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from console.kube.gvr import SECRETS
from console.views.audit.manifests import restorable_text
from tests.audit.rows import recorded
from tests.support.responses import stable_html, text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs
from tests.views.viewers import VIEWERS

pytestmark = pytest.mark.django_db(transaction=True)

PLATFORM = "/audit"
SHOP, TEAM_A = (f"/clusters/host/projects/{name}/audit" for name in ("shop", "team-a"))
MANIFEST = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop", "finalizers": ["x"]},
    "spec": {"replicas": 4},
}


def now() -> datetime:
    return datetime.now(UTC) - timedelta(minutes=1)


async def written(name: str, **more: Any) -> Any:
    return await sync_to_async(recorded)(name, time=more.pop("time", now()), **more)


async def shown(client_as: ClientAs, who: str, url: str, status: int = 200) -> str:
    response = await client_as(who).get(url)
    html = await text_of(response)
    assert response.status_code == status, html
    return html


async def test_the_page_lists_records_of_all_places(client_as: ClientAs) -> None:
    await written("web")
    await written("db", gvr=SECRETS, verb="reveal", namespace="pay", code=403, actor="bob")
    html = await shown(client_as, "admin", PLATFORM)
    assert "deleted <b>Deployment web</b>" in html
    assert "was denied: reveal the values of <b>Secret db</b>" in html
    assert "Denied (403)" in html
    assert "2 records" in html


@pytest.mark.parametrize(
    ("who", "url", "status"),
    [
        ("admin", PLATFORM, 200),
        ("bob", PLATFORM, 200),
        ("alice", PLATFORM, 403),
        ("charlie", PLATFORM, 403),
        ("alice", TEAM_A, 200),
        ("alice", SHOP, 403),
        ("", PLATFORM, 302),
    ],
)
async def test_a_page_requires_permission_to_list_every_type(
    client_as: ClientAs, who: str, url: str, status: int
) -> None:
    await shown(client_as, who, url, status)


async def test_a_project_page_has_only_the_records_of_the_project(client_as: ClientAs) -> None:
    await written("mine", namespace="team-a")
    await written("foreign", namespace="shop")
    await written("elsewhere", namespace="team-a", cluster="east")
    for url in (TEAM_A, f"{TEAM_A}?q=", f"{TEAM_A}?q=foreign", f"{TEAM_A}?q=project:shop"):
        html = await shown(client_as, "alice", url)
        assert "Deployment foreign" not in html and "Deployment elsewhere" not in html
    assert "Deployment mine" in await shown(client_as, "alice", TEAM_A)
    for fmt in ("csv", "jsonl"):
        text = await shown(client_as, "alice", f"{TEAM_A}?format={fmt}")
        assert "mine" in text and "foreign" not in text and "elsewhere" not in text


async def test_records_of_an_earlier_project_of_the_name_are_hidden_from_tenants(
    client_as: ClientAs,
) -> None:
    before = datetime(2000, 1, 1, tzinfo=UTC)
    old = await written("old", namespace="team-a", time=before, change=(MANIFEST, None))
    span = "from=1999-12-31T00:00&to=2000-01-02T00:00"
    assert "Deployment old" in await shown(client_as, "admin", f"{PLATFORM}?{span}")
    await shown(client_as, "admin", f"/audit/records/{old.audit_id}")
    assert "Deployment old" not in await shown(client_as, "alice", f"{TEAM_A}?{span}")
    await shown(client_as, "alice", f"/audit/records/{old.audit_id}", 404)
    assert await restorable_text(VIEWERS["alice"](), old.audit_id) is None


async def test_a_record_of_another_project_looks_like_no_record(client_as: ClientAs) -> None:
    mine = await written("mine", namespace="team-a")
    foreign = await written("foreign", namespace="shop")
    await shown(client_as, "alice", f"/audit/records/{mine.audit_id}")
    answers = {
        stable_html(await shown(client_as, "alice", f"/audit/records/{one}", 404)).replace(one, "")
        for one in (foreign.audit_id, "id-nothing")
    }
    assert len(answers) == 1
    await shown(client_as, "charlie", f"/audit/records/{mine.audit_id}", 404)


async def test_changes_are_shown_to_readers_of_the_object(
    client_as: ClientAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = await written("web", change=(MANIFEST, None))
    url = f"/audit/records/{row.audit_id}"
    html = await shown(client_as, "admin", url)
    assert "Last known manifest" in html and "replicas: 4" in html
    assert f"/clusters/host/import?restore={row.audit_id}" in html
    monkeypatch.setitem(VIEWERS, "bob", lambda: FakeAccess("bob", delete_in=(), get_in=()))
    html = await shown(client_as, "bob", url)
    assert "replicas: 4" not in html and "restore" not in html


async def test_the_last_manifest_is_restored_with_create_from_yaml(client_as: ClientAs) -> None:
    row = await written("web", change=(MANIFEST, None))
    html = await shown(client_as, "admin", f"/clusters/host/import?restore={row.audit_id}")
    assert "replicas: 4" in html and "finalizers" not in html
    await shown(client_as, "bob", f"/clusters/host/import?restore={row.audit_id}", 404)
    await shown(client_as, "admin", "/clusters/host/import?restore=nothing", 404)
    changed = await written("web", verb="patch", change=(None, MANIFEST))
    await shown(client_as, "admin", f"/clusters/host/import?restore={changed.audit_id}", 404)


async def test_a_change_shows_its_difference(client_as: ClientAs) -> None:
    after = {**MANIFEST, "spec": {"replicas": 5}}
    row = await written("web", verb="patch", subresource="scale", change=(MANIFEST, after))
    html = await shown(client_as, "admin", f"/audit/records/{row.audit_id}")
    assert "<del>  replicas: 4</del>" in html and "<ins>  replicas: 5</ins>" in html
    assert "41 ms" in html and "not sealed yet" in html


async def test_records_of_controllers_are_hidden_by_default(client_as: ClientAs) -> None:
    await written("by-controller", origin="controller")
    assert "by-controller" not in await shown(client_as, "admin", PLATFORM)
    assert "by-controller" in await shown(client_as, "admin", f"{PLATFORM}?q=")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("q=usr:x", "Unknown field usr"),
        ("range=2y", "This time range is not available."),
        ("from=yesterday", "Enter times such as"),
        ("from=2026-11-22T10:00&to=2026-11-21T10:00", "The end of the time range must be after"),
        (f"q={'x' * 501}", "Use at most 500 characters."),
    ],
)
async def test_invalid_input_is_reported_and_kept(
    client_as: ClientAs, query: str, said: str
) -> None:
    html = await shown(client_as, "admin", f"{PLATFORM}?{query}", 400)
    assert said in html
    await shown(client_as, "admin", f"{PLATFORM}?{query}&format=csv", 400)


async def test_a_csv_export_contains_no_formulas(client_as: ClientAs) -> None:
    await written("=cmd()", actor="@alice")
    text = await shown(client_as, "admin", f"{PLATFORM}?format=csv")
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["name"], row["actor"], row["code"]) == ("'=cmd()", "'@alice", "200")


async def test_an_export_contains_all_records_of_the_range(
    client_as: ClientAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.views.audit.export.CHUNK", 2)
    for number in range(5):
        await written(f"web-{number}")
    await written("old", time=now() - timedelta(days=4))
    text = await shown(client_as, "admin", f"{PLATFORM}?format=jsonl")
    assert [json.loads(line)["name"] for line in text.splitlines()] == [
        f"web-{number}" for number in (4, 3, 2, 1, 0)
    ]


async def test_an_unchanged_page_is_not_sent_again(client_as: ClientAs) -> None:
    await written("web")
    first = await client_as("admin").get(PLATFORM)
    client = client_as("admin", **{"If-None-Match": first["ETag"]})
    assert (await client.get(PLATFORM)).status_code == 304
    await written("web")
    assert (await client.get(PLATFORM)).status_code == 200


async def test_texts_of_records_are_escaped(client_as: ClientAs) -> None:
    await written("<script>", actor="<b>", user_agent='"><i>', code=500)
    html = await shown(client_as, "admin", f"{PLATFORM}?q=%3Cscript")
    assert "<script>" not in html.replace("<script nonce", "") or "&lt;script&gt;" in html
    assert "<b>&lt;" not in html and "<i>" not in html


async def test_the_page_is_rendered_in_chinese(client_as: ClientAs) -> None:
    await written("web")
    response = await client_as("admin", **{"Accept-Language": "zh-hans"}).get(PLATFORM)
    assert "删除了 <b>Deployment web</b>" in await text_of(response)
