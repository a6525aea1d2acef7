"""The page of a pod's log, and its text download."""

import re
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest

from console.audit.models import AuditRecord
from console.kube.gvr import PODS, Key
from console.logs.sources import LINES_BEFORE
from console.ui.core.links import log_url
from devcluster.controllers.behaviour import ANNOTATION
from devcluster.logs.runs import RATE_ANNOTATION, TEXT_ANNOTATION
from tests.controlplane.waiting import eventually
from tests.devcluster.conftest import Api
from tests.hostile.texts import TEXTS
from tests.logs.conftest import POD_PATH, World
from tests.logs.pages import admin, get, shown, written
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs
from tests.views.viewers import VIEWERS

pytestmark = pytest.mark.django_db(transaction=True)


async def test_page_shows_the_last_lines(world: World) -> None:
    path = world.start(world.pod("many", **{RATE_ANNOTATION: "5000"}))
    eventually(lambda: written(world.api, "many") > 1500, "many lines")
    assert len(shown(await get(path))) == 500
    assert len(shown(await get(f"{path}?tail=100"))) == 100
    html = await get(f"{path}?tail=100&timestamps=1&wrap=1")
    times = re.findall(r'<a class="log-time" href="\S+?#(\S+?)"', html)
    assert len(times) == 100 and {len(time) for time in times} == {30}
    assert "data-wrap" in html and "log-time" not in await get(path)


async def test_text_download_equals_the_log_in_the_cluster(world: World) -> None:
    path = world.start(world.pod("text", **{TEXT_ANNOTATION: "one\n\x1b[31mtwo\x1b[0m\nthree"}))
    eventually(lambda: written(world.api, "text") == 3, "all is written")
    answer = await admin.get(f"{path}?format=text")
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="text.log"'
    assert await text_of(answer) == "one\n\x1b[31mtwo\x1b[0m\nthree\n"
    assert await get(f"{path}?format=text&q=T&tail=2") == "\x1b[31mtwo\x1b[0m\nthree\n"
    stamped = (await get(f"{path}?format=text&timestamps=1&q=one")).split(" ", 1)
    assert (len(stamped[0]), stamped[1]) == (30, "one\n")
    assert await get(f"{path}?format=text&tail=all&q=e&context=1") == await get(
        f"{path}?format=text&tail=all"
    )


async def test_everything_is_downloaded_regardless_of_filters(world: World) -> None:
    path = world.start(world.pod("all", "a", "b", **{TEXT_ANNOTATION: "one\n\ntwo"}))
    eventually(lambda: written(world.api, "all/log?container=b&x=") == 3, "all is written")
    html = await get(f"{path}?container=a&q=two&tail=1&level=error&since=5m&context=2")
    shown, everything = re.findall(r'href="(\?[^"]*format=text[^"]*)" download>', html)
    assert await get(path + unescape(everything)) == "one\n\ntwo\n"
    assert "q=two" in shown and "Download shown" in html and "Download everything" in html
    html = await get(f"{path}?container=*&q=two")
    everything = re.findall(r'href="(\?[^"]*format=text[^"]*)" download>', html)[1]
    lines = [f"[pod/all/{name}] {text}\n" for name in "ab" for text in ("one", "", "two")]
    assert await get(path + unescape(everything)) == "".join(lines)


async def test_long_line_links_to_the_whole_line(world: World) -> None:
    """The filtered download cuts lines later than the page, and says so."""
    long = "<b>" + "x" * 200_000
    path = world.start(world.pod("long", **{TEXT_ANNOTATION: f"a\n{long}\nb"}))
    eventually(lambda: written(world.api, "long") == 3, "all is written")
    html = await get(f"{path}?tail=100&wrap=1")
    assert "Line is cut: 183,619 more bytes" in html
    [link] = re.findall(r'href="(\?[^"]*line=[^"]*)" download>Download line', html)
    assert await get(path + unescape(link)) == long + "\n"
    assert await get(f"{path}?format=text&q=x") == long + "\n"
    assert await get(f"{path}?format=text") == f"a\n{long}\nb\n"
    gone = "2026-01-01T00:00:00.000000000Z"
    assert "no longer contains" in await get(f"{path}?format=text&line={gone}", 404)
    await get(f"{path}?format=text&line=tomorrow", 400)


async def test_matches_of_the_search_are_highlighted(world: World) -> None:
    text = "<i>\x1b[31mError\x1b[0m one\n10%\r50%\rno error"
    path = world.start(world.pod("hits", **{TEXT_ANNOTATION: text}))
    eventually(lambda: written(world.api, "hits") == 4, "all is written")
    html = await get(f"{path}?q=ERROR")
    found = re.findall(r'<span class="log-text">(.*?)</span></li>', html)
    assert found == [
        '&lt;i&gt;<mark class="sgr-red">Error</mark> one',
        "no <mark>error</mark>",
    ]
    assert "<mark" not in await get(path)
    assert shown(await get(f"{path}?q=50%25")) == []


async def test_search_and_level_filter_the_lines(world: World) -> None:
    text = "level=info a\nlevel=error b\n  at c\nlevel=warn d"
    path = world.start(world.pod("levels", **{TEXT_ANNOTATION: text}))
    eventually(lambda: written(world.api, "levels") == 4, "all is written")
    assert shown(await get(f"{path}?level=error")) == ["level=error b", "  at c"]
    assert shown(await get(f"{path}?level=warn"))[-1] == "level=warn d"
    html = await get(f"{path}?q=LEVEL=WARN&context=1")
    assert shown(html) == ["  at c", "level=warn d"]
    assert (html.count("data-found"), html.count("log-gap")) == (1, 1)
    assert "No matches found in 4 log lines." in await get(f"{path}?q=nothing")


async def test_download_is_hidden_until_lines_arrive(world: World) -> None:
    key = Key("default", "unborn")
    world.api.post(POD_PATH, world.pod(key.name, **{ANNOTATION: "pull-fails"}))
    known = world.runtime.informer(PODS).store
    eventually(lambda: known.get(key) is not None, "the console knows it")
    path = log_url("host", "pods", key).partition("?")[0]
    html = await get(path)
    downloads = re.findall(r'<a class="button" href="[^"]*format=text[^"]*" download([^>]*)>', html)
    assert downloads == [" hidden data-log-later"] * 2
    await get(f"{path}?format=text", 400)
    started = await get(world.start(world.pod("born", **{TEXT_ANNOTATION: "hello"})))
    assert "data-log-later" not in started and started.count(" download>") == 2


async def test_containers_are_selected_or_merged(world: World) -> None:
    pod = world.pod("pair", "app", "proxy", **{TEXT_ANNOTATION: "hello"})
    path = world.start(pod)
    html = await get(path)
    assert '<option value="app" selected>' in html and '<option value="*">' in html
    eventually(lambda: written(world.api, "pair/log?container=proxy&x=") == 1, "it is written")
    every = await get(f"{path}?container=*")
    assert re.findall(r'"log-source">(\w+)<', every) == ["app", "proxy"]
    assert sorted((await get(f"{path}?container=*&format=text")).splitlines()) == [
        "[app] hello",
        "[proxy] hello",
    ]
    assert "No container zz found in the pod." in await get(f"{path}?container=zz", 400)


async def test_crash_cause_is_in_the_log_of_the_previous_run(world: World) -> None:
    pod = world.pod("crash", "side", "app", **{ANNOTATION: "crash error panic: no tariffs"})
    path = world.start(pod)
    eventually(lambda: crashed(world.api), "it has crashed")

    async def opened() -> list[str]:
        return shown(await get(path))

    # The crashed container is selected by default, regardless of the order of containers.
    lines = await opened()
    assert "panic: no tariffs" in lines
    assert "panic: no tariffs" in shown(await get(f"{path}?previous=1&container=side"))
    fresh = await get(f"{path}?previous=1&container=app")
    assert "previous terminated container" in fresh and shown(fresh) == []
    # The download of both containers reports the missing log of the other one.
    first, *whole = (await get(f"{path}?previous=1&container=*&format=text")).splitlines()
    assert first.startswith("# app: previous terminated container") and "# " not in whole[0]
    assert "panic: no tariffs" in whole


def crashed(api: Api) -> Any:
    statuses = api.get("/api/v1/namespaces/default/pods/crash")["status"]["containerStatuses"]
    return statuses[0].get("lastState")


async def test_hostile_lines_are_escaped(world: World) -> None:
    lines = [text.replace("\n", " ").replace("\r", " ") for text in TEXTS if text.strip()]
    path = world.start(world.pod("evil", **{TEXT_ANNOTATION: "\n".join(lines)}))
    eventually(lambda: written(world.api, "evil") >= len(lines), "all is written")
    html = await get(f"{path}?timestamps=1")
    for forbidden in ("<zqx", "<script>alert", "onerror=alert(1)>", "<iframe", "\u202e", "\x1b"):
        assert forbidden not in html
    assert "&lt;zqx-node&gt;" in html
    assert "⟨U+202E⟩" in html
    assert 'class="sgr-red"' in html


@pytest.mark.parametrize(
    "query", ["tail=0", "since=then", "level=loud", "format=xml", "q=" + "x" * 999]
)
async def test_invalid_parameters_are_refused(world: World, query: str) -> None:
    path = world.start(world.pod(f"bad-{abs(hash(query)) % 10**8}"))
    await get(f"{path}?{query}", 400)


async def test_denied_user_is_refused_without_a_request_to_the_cluster(world: World) -> None:
    path = world.start(world.pod("secret"))
    mark = world.cluster.audit.mark()
    for query in ("", "?format=text"):
        answer = await ClientAs()("charlie").get(f"{path}{query}")
        assert answer.status_code == 403
        gone = await ClientAs()("charlie").get(f"{path.replace('secret', 'nothing')}{query}")
        assert gone.status_code == 403
    assert world.asked(mark) == []


async def test_cluster_refusal_is_passed_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The console believes that editor has the permission."""
    monkeypatch.setitem(VIEWERS, "editor", lambda: FakeAccess("editor", get_in=None))
    path = world.start(world.pod("other"))
    answer = await ClientAs()("editor").get(f"{path}?format=text")
    assert (answer.status_code, answer.json()["reason"]) == (403, "Forbidden")
    page = await ClientAs()("editor").get(path)
    assert "Permission denied by the cluster" in await text_of(page)


async def test_missing_pod_returns_404(world: World) -> None:
    path = world.start(world.pod("here"))
    await get(path.replace("here", "nowhere"), 404)
    await get(path.replace("/pods/", "/configmaps/"), 404)


async def test_each_read_is_recorded_in_the_audit_trail(world: World) -> None:
    path = world.start(world.pod("trail"))
    mark = world.cluster.audit.mark()
    await get(path)
    await get(f"{path}?format=text")
    records = [one async for one in AuditRecord.objects.order_by("pk")]
    found = [(one.actor, one.verb, one.subresource, one.name, one.code) for one in records]
    assert found == [("admin", "get", "log", "trail", 200)] * 2
    assert [one.audit_id for one in world.asked(mark)] == [one.audit_id for one in records]
    assert {one.user for one in world.asked(mark)} == {"admin"}


async def test_pod_page_links_to_its_log(world: World) -> None:
    path = world.start(world.pod("linked"))
    detail = path.removesuffix("/log")
    assert f'href="{path}?timestamps=1#end"' in await get(detail)
    answer = await admin.get(f"{detail}/actions/log")
    assert answer.status_code == 302 and answer["Location"].startswith(path)


async def test_link_to_a_line_shows_it_with_surrounding_lines(world: World) -> None:
    path = world.start(world.pod("moment", **{RATE_ANNOTATION: "2000"}))
    eventually(lambda: written(world.api, "moment") > 6000, "many lines")
    whole = stamps(world.api, "moment")
    at = whole[3000]
    html = await get(f"{path}?timestamps=1&q=level=info&tail=100&at={at}")
    found = re.findall(r'<li class="log-line"[^>]*id="(\S+?)"', html)
    assert sum(stamp < at for stamp in found) == LINES_BEFORE
    assert sum(stamp >= at for stamp in found) == 100
    assert all("level=info" in line for line in shown(html))
    assert "data-log-url" not in html and "Back to the newest lines" in html
    # The link of any line leads to it, with the same filter.
    link = unescape(re.findall(r'<a class="log-time" href="(\S+?)"', html)[0])
    assert "q=level%3Dinfo" in link and link.endswith(f"at={quote(found[0])}#{found[0]}")
    assert await get(path + link.partition("#")[0]) != ""
    text = await get(f"{path}?timestamps=1&q=level=info&tail=100&at={at}&format=text")
    assert [line[:30] for line in text.splitlines()] == found


def stamps(api: Api, name: str) -> list[str]:
    path = f"/api/v1/namespaces/default/pods/{name}/log?timestamps=true"
    with api.open("GET", path) as response:
        return [line[:30].decode() for line in response.read().splitlines()]


@pytest.mark.parametrize("at", ["now", "2026-11-24", "2026-99-24T10:00:00.000000000Z"])
async def test_invalid_timestamp_is_refused(world: World, at: str) -> None:
    await get(f"/clusters/host/projects/default/pods/any/log?at={at}", 400)


async def test_dock_page_contains_only_the_log_and_starts_the_stream(world: World) -> None:
    path = world.start(world.pod("docked", **{TEXT_ANNOTATION: "hello"}))
    eventually(lambda: written(world.api, "docked") == 1, "it is written")
    mark = world.cluster.audit.mark()
    html = await get(f"{path}?timestamps=1&frame=dock")
    assert world.asked(mark) == [] and shown(html) == []
    for other in ("topbar", "rail-link", 'id="dock"', "No log lines found."):
        assert other not in html
    assert 'data-dock-kind="log" data-dock-name="docked · app"' in html
    # Forms of the log stay in the frame; all other links open outside of it.
    assert '<input type="hidden" name="frame" value="dock">' in html and 'target="_self"' in html
    assert '<base target="_top">' in html
    assert '<base target="_top">' not in await get(path)
    # Without following, the page contains the lines.
    whole = await get(f"{path}?at={stamps(world.api, 'docked')[0]}&frame=dock")
    assert shown(whole) == ["hello"]


@pytest.mark.parametrize("frame", ["", "other", "dock&frame=dock"])
async def test_unknown_frame_is_refused(world: World, frame: str) -> None:
    path = world.start(world.pod(f"framed-{abs(hash(frame)) % 10**8}"))
    await get(f"{path}?frame={frame}", 400)


async def test_error_in_the_dock_contains_only_the_message(world: World) -> None:
    path = world.start(world.pod("refused"))
    for pod, who, status in (("refused", "charlie", 403), ("nowhere", "admin", 404)):
        answer = await ClientAs()(who).get(f"{path.replace('refused', pod)}?frame=dock")
        html = await text_of(answer)
        assert answer.status_code == status
        assert "topbar" not in html and '<base target="_top">' in html
