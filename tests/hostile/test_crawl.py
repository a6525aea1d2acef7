"""Text written by tenants is always displayed as text: no page, fragment, or frame interprets it as
HTML.

The test walks through the whole console in a browser, for every registered kind, in both
languages, while the objects change.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from urllib.parse import quote, urldefrag

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright

from console.kube.gvr import CONFIG_MAPS, Key
from console.saved.models import MAX_NAME
from console.ui.core.kind import ResourceKind, Scope
from console.ui.core.links import action_url, detail_url, edit_url, import_url, list_url
from console.ui.core.registry import kinds
from console.ui.details.panels.standard import tabs_of
from rbac.levels import Level
from tests.browser.chromium import FLAGS, PROGRAM
from tests.browser.console import PASSWORD
from tests.hostile.conftest import Site
from tests.hostile.crawl import Visitor, sort_of
from tests.hostile.exports import FORMS
from tests.hostile.texts import NAME, SHORT, TEXTS
from tests.hostile.world import (
    BRIEFLY,
    CHANGING,
    COMING,
    CUSTOM,
    config_map,
    custom_objects,
    held,
    renamed,
    spoiled,
    trap,
    write,
)
from tests.leaks.world import first_tab
from tests.support.addresses import addresses
from tests.support.depth import DEEP, choice, some

#: Number of parallel browser tabs, which mostly wait for frames. At least one per language; each
#: tab fetches and compiles all scripts.
TABS = 4 if DEEP else 2
LANGUAGES = ("en-GB", "zh-CN")
#: User agents of the browsers, which are shown on the account page and in the login history.
AGENTS = [text for text in TEXTS if "<" in text and text.isascii()][:TABS]
PARAMETERS = ("q", "label", "status", "sort", "namespace", "columns", "page")
#: Paths of APIs and tokens, which are not pages.
PROGRAMS = ("/kapis", "/oauth", "/.well-known", "/metrics", "/livez", "/readyz", "/i18n", "/bulk")
#: Pages that must have been visited.
PAGES = (
    "/account",
    "/access/accounts/users/zqx",
    "/access/rights/",
    "/access/roles/global/",
    "/access/roles/cluster/",
    "/access/roles/workspace/",
    "/access/roles/project/shop/",
    "/departments/",
    "/members",
    "/projects/shop",
    "/quota",
    "/settings",
)
#: Kinds for which several rows are selected. The confirmation page shows only their names.
CHOSEN = ("pods", "clusterroles")
SEGMENTS = sorted(kind.segment for kind in kinds)
#: Kinds whose pages are checked during changes: in the CI run a namespaced and a cluster-scoped
#: one. tests/kinds checks for each kind that frames match the page.
FOLLOWED = frozenset(SEGMENTS if DEEP else CHOSEN)
#: Other kinds with one page that is opened and not only fetched, because the scripts are the same
#: for all kinds.
OPENED = frozenset(some("opened", SEGMENTS, 3))
#: Kinds whose pages are checked at all.
READ = frozenset((*FOLLOWED, *OPENED, *some("read", SEGMENTS, 3)))
#: Maximum number of links of one sort to try until one is a page.
TRIED = 1000 if DEEP else 3
VERSION = """([name]) => {
  const rows = [...document.querySelectorAll("tr[data-key]")];
  return rows.find((row) => row.dataset.key.endsWith(name))?.dataset.v;
}"""
HAS_ROW = """([name]) =>
  [...document.querySelectorAll("tr[data-key]")].some((row) => row.dataset.key.endsWith(name))"""
Job = Callable[[Visitor], Awaitable[None]]


def change(
    site: Site, kind: ResourceKind, turn: int, name: str = CHANGING, *, uid: str = ""
) -> None:
    obj = spoiled(kind, name, turn)
    obj["metadata"]["uid"] = uid or obj["metadata"]["uid"]
    # Annotations of some kinds are not displayed.
    obj["metadata"]["labels"] = {"turn": f"turn-{turn}", **obj["metadata"]["labels"]}
    site.cluster.run(lambda cluster: write(cluster, kind.gvr, obj))


def place_of(kind: ResourceKind, name: str) -> Key:
    return Key("shop" if kind.scope is Scope.NAMESPACED else "", name)


def of_kind(site: Site, kind: ResourceKind) -> Job:
    """Visit the list of a kind and the pages of its objects, initially and while they change."""

    async def look(visitor: Visitor) -> None:
        page, key = visitor.page, place_of(kind, CHANGING)
        listed = list_url("host", kind.segment)
        if kind.segment not in FOLLOWED:
            pages = [listed + "?limit=500", detail_url("host", kind.segment, key)]
            opened = some(kind.segment, pages, int(kind.segment in OPENED))
            # tests/kinds checks for each kind that lists and objects are escaped.
            for url in dict.fromkeys((*opened, *some(kind.segment, pages, 1))):
                await (visitor.open if url in opened else visitor.glance)(url)
            await visitor.exports(listed, some(kind.segment, FORMS, 1))
            await of_actions(visitor)
            for tab_id in some(kind.segment, [tab.id for tab in tabs_of(kind)[1:]], 1):
                await visitor.glance(detail_url("host", kind.segment, key, tab_id))
            if DEEP:
                await of_others(visitor)
            else:
                [[known, tab_id]] = some(kind.segment, list(others()), 1)
                await visitor.glance(detail_url("host", kind.segment, known, tab_id))
            return
        await visitor.open(listed + "?limit=500")
        await visitor.wait_for("() => document.body.dataset.live === 'live'")
        # The first change may move the row, and the page then fetches its list. The second change,
        # to an object with another UID that looks the same, arrives as a frame with the row. Then a
        # row is added.
        for uid in ("second", "third"):
            shown = await page.evaluate(VERSION, [CHANGING])
            change(site, kind, BRIEFLY, uid=f"{kind.segment}-{uid}")
            await visitor.wait_for(f"given => ({VERSION})(given) !== given[1]", CHANGING, shown)
        await visitor.look()
        change(site, kind, 3, COMING)
        await visitor.wait_for(HAS_ROW, COMING)
        await visitor.look()
        await visitor.exports(listed)
        if kind.segment in CHOSEN:
            await visitor.choose_all()
        for number, tab in enumerate(tabs_of(kind)):
            first = first_tab(kind, key)
            url = detail_url("host", kind.segment, key, tab.id if number else first)
            if number:
                # The object's URL may redirect to a separate page.
                at = number + 1 + bool(first)
                await page.click(f"#detail nav.tabs a:nth-of-type({at})")
                await page.wait_for_url(visitor.url + url)
            else:
                await visitor.open(url)
            await visitor.look()
            if tab.id == "yaml":
                change(site, kind, 4)
                await visitor.wait_for("() => document.body.innerText.includes('turn-4')")
                await visitor.look()
        await of_others(visitor)

    def others() -> Iterator[tuple[Key, str]]:
        """Yield all tabs of one object, and the first tab of two others in other states."""
        for number, obj in enumerate(list(renamed(kind))[:3]):
            known = Key(obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
            for tab in tabs_of(kind)[: 1 if number else None]:
                yield known, "" if tab is tabs_of(kind)[0] else tab.id

    async def of_actions(visitor: Visitor) -> None:
        """Visit each action that only this kind has for one object, and one common action for the
        worst object.
        """
        names = sorted(kind.actions_by_name)
        own = [action.name for action in kind.actions if action.has_confirmation]
        meta = next(renamed(kind))["metadata"]
        known = Key(meta.get("namespace", ""), meta["name"])
        asked = [(known, name) for name in (names if DEEP else some(kind.segment, own, 2))]
        asked += [(place_of(kind, CHANGING), name) for name in some(kind.segment, names, 1)]
        for key, name in asked:
            await visitor.glance(action_url(name, "host", kind.segment, key))

    async def of_others(visitor: Visitor) -> None:
        await of_actions(visitor)
        for known, tab_id in others():
            await visitor.glance(detail_url("host", kind.segment, known, tab_id))

    return look


def of_customs(site: Site) -> Job:
    async def look(visitor: Visitor) -> None:
        # The kinds differ in their scope: in the CI run the second one is only fetched.
        chosen = CUSTOM if DEEP else CUSTOM[:1]
        for crd in chosen:
            await visitor.open(list_url("host", crd["metadata"]["name"]) + "?limit=500")
            rows = "() => document.querySelectorAll('#results tr[data-key]').length"
            assert await visitor.page.evaluate(rows) > 20
            await visitor.exports(list_url("host", crd["metadata"]["name"]))
            # Wait for the scripts: without them, selecting all rows has no effect.
            await visitor.wait_for("() => document.body.dataset.live === 'live'")
            await visitor.choose_all()
        for crd in CUSTOM[len(chosen) :]:
            await visitor.glance(list_url("host", crd["metadata"]["name"]) + "?limit=500")
        for number, (gvr, obj) in enumerate(list(custom_objects(1))[::5]):
            meta = obj["metadata"]
            key = Key(meta.get("namespace", ""), meta["name"])
            look_at = visitor.glance if number else visitor.open
            tabs = ("", "events", "yaml")
            for tab in some(meta["name"], tabs, 1) if number else tabs:
                await look_at(detail_url("host", gvr.qualified, key, tab))

    return look


def of_editing(site: Site) -> Job:
    """Edit an object while another user changes it, and undo the change."""

    def put(mine: str) -> None:
        site.cluster.run(lambda cluster: write(cluster, CONFIG_MAPS, held(mine)))

    async def look(visitor: Visitor) -> None:
        page = visitor.page
        put("before")
        key = Key("shop", "held")
        await visitor.open(edit_url("host", "configmaps", key))
        await visitor.type_text(lambda text: text.replace("mine: before", 'mine: "<zqx-node>"'))
        await visitor.press("review", ".diff")
        put(SHORT)
        await visitor.press("edit", "yaml-editor")
        await visitor.press("review", ".conflict")
        for side in await page.query_selector_all(".conflict input[value=mine]"):
            await side.check()
        await visitor.press("review", ".diff")
        await visitor.press("save", "#detail")
        await visitor.open(detail_url("host", "configmaps", key, "changes"))
        await page.click("#detail a[href*='undo=']")
        await page.wait_for_selector(".diff")
        await visitor.look()
        await visitor.press("edit", "yaml-editor")
        await visitor.press("review", ".diff")

    return look


def of_import(site: Site) -> Job:
    """Import YAML that a user has received and pasted. One of the objects exists, and is not the
    one that `of_editing` changes at the same time.
    """

    async def look(visitor: Visitor) -> None:
        existing = config_map("existing", {"a": "before"})
        site.cluster.run(lambda cluster: write(cluster, CONFIG_MAPS, existing))
        await visitor.open(import_url("host", "", "shop"))
        wrong = [
            f"apiVersion: v1\nkind: {json.dumps(text)}\nmetadata:\n  name: {json.dumps(text)}\n"
            f"  namespace: {json.dumps(text)}\n  {json.dumps(text)}: 1\n"
            for text in TEXTS
            if text and text.isprintable()
        ]
        await visitor.type_text(lambda _text: "---\n".join(wrong[:20]))
        await visitor.press("review", ".results")
        fine = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {a: %s}\n"
        names = ("imported", "imported-too", "existing")
        texts = [fine % (name, json.dumps(SHORT)) for name in names]
        await visitor.type_text(lambda _text: "---\n".join(texts))
        await visitor.press("review", ".results")
        await visitor.press("create", ".results")
        await visitor.press("review-undo", ".results")
        await visitor.press("undo", ".results")

    return look


async def of_pages(visitor: Visitor) -> None:
    """Visit pages about several kinds, and URLs with parameters from elsewhere."""
    pages = ("/dashboard", "/clusters/host", "/clusters/host/projects/shop", "/access/rights/admin")
    for url in pages:
        assert await visitor.open(url) == 200
    for number, text in enumerate(("zqx", *TEXTS)):
        given = quote(text, safe="")[:1500]
        look_at = visitor.glance if number > 1 else visitor.open
        urls = (
            f"/search?q={given}",
            "/clusters/host/pods?" + "&".join(f"{name}={given}" for name in PARAMETERS),
            f"/clusters/host/projects/{given}/pods/{given}/{given}",
            f"/views?list={quote('/clusters/host/pods?q=')}{given}",
        )
        # The first value finds objects, the second one is a trap.
        for url in some(text, urls, (2, 4, 1)[min(number, 2)]):
            await look_at(url)
    await visitor.page.goto(visitor.url + "/clusters/host/pods")
    await visitor.page.keyboard.press("Control+k")
    await visitor.page.keyboard.type("zqx")
    await visitor.page.wait_for_selector("#palette-found [role=option]")
    await visitor.look()


def all_addresses() -> list[str]:
    """Return the URLs of all views that are not about a single kind, with trap names."""
    named: dict[str, tuple[str, ...]] = {
        "cluster": ("host",),
        "workspace": (trap("acme"),),
        "namespace": ("shop",),
        "user": (trap("alice"),),
        "group": (trap("research-x2x9q"),),
        "level": tuple(level.value for level in Level),
        "name": (CHANGING, trap("alice")),
        "act": ("edit", "delete", "password"),
        "provider": (NAME,),
    }
    leave = {"list", "detail", "delete", "accounts:logout", "cluster_overview", "project_overview"}
    return [url for url in addresses(named, leave) if not url.startswith(PROGRAMS)]


def views_of(url: str) -> set[str]:
    return {view for view, *_more in sort_of(url)}


def is_opened(url: str) -> bool:
    """Return True if a page of a new sort is opened and not only fetched. In the CI run these are a
    quarter of the views and those with their own scripts. Other jobs open lists, objects, the
    editor, imports, and searches.
    """
    view = min(views_of(url), default="")
    return DEEP or view in ("log", "terminal") or choice(f"opened {view}", range(4)) == 0


def of_addresses(urls: list[str], seen: set[object]) -> Job:
    """Visit these URLs. `seen` is shared and holds the sorts of pages that were visited."""

    async def look(visitor: Visitor) -> None:
        for url in urls:
            # Only an existing page uses its templates.
            if await visitor.glance(url) == 200 and sort_of(url) - seen:
                seen.update(sort_of(url))
                if is_opened(url):
                    await visitor.open(url)

    return look


async def of_views(visitor: Visitor) -> None:
    """Save list views with trap names."""
    page, pods = visitor.page, list_url("host", "pods")
    shown = [text.strip()[:MAX_NAME] for text in TEXTS]
    names = [text for text in shown if text and text.isprintable()]
    # Each view is saved with a form and shown in the menu.
    for name in names[:: 3 if DEEP else 15]:
        await page.goto(f"{visitor.url}/views?list={quote(pods + '?status=error', safe='')}")
        await page.fill("#view-name", name)
        await page.click("form.menu-form button[type=submit]")
        await page.wait_for_url("**/pods**")
        await visitor.look()
    await page.click("button[popovertarget=views-menu]")
    await page.wait_for_selector("#views-found a")
    await visitor.look()
    await visitor.open(f"/views?list={quote(pods, safe='')}")


async def of_links(visitor: Visitor, links: set[str], looked_at: Iterable[str]) -> None:
    """Visit one page of each sort that was linked but not visited yet."""
    seen = {part for url in (*looked_at, "/logout") for part in sort_of(url)}
    opened = set[str]().union(*map(views_of, looked_at))
    done, tried = set[str](), Counter[frozenset[tuple[str, str, str]]]()
    # Links that differ only in the fragment lead to the same page.
    while new := sorted({urldefrag(link).url for link in links | visitor.links} - done):
        for link in new:
            path, sort = link.removeprefix(visitor.url), sort_of(link)
            # If one URL returns no page, another one of the same sort may: some names have no page.
            if not sort - seen or tried[sort] == TRIED:
                continue
            tried[sort] += 1
            if await visitor.glance(path) == 200:
                seen |= sort
                # Other tabs and parameters of a view use the same scripts.
                if is_opened(link) and (DEEP or not opened.issuperset(views_of(link))):
                    await visitor.open(path)
                    opened |= views_of(link)
        done |= set(new)


def test_text_of_tenants_is_escaped_on_every_page(site: Site) -> None:
    asyncio.run(crawl(site))


async def crawl(site: Site) -> None:
    jobs: asyncio.Queue[Job] = asyncio.Queue()
    # The longest jobs first.
    for job in (of_pages, of_customs(site), of_editing(site), of_import(site), of_views):
        jobs.put_nowait(job)
    read = [kind for kind in kinds if DEEP or kind.segment in READ]
    for kind in sorted(read, key=lambda kind: kind.segment not in FOLLOWED):
        jobs.put_nowait(of_kind(site, kind))
    urls, seen = all_addresses(), set[object]()
    for start in range(TABS):
        # In the deep run each tab opens all sorts of pages in its language.
        jobs.put_nowait(of_addresses(urls[start::TABS], set() if DEEP else seen))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=PROGRAM, args=FLAGS)
        visitors = []
        for number in range(TABS):
            context = await browser.new_context(
                locale=LANGUAGES[number % len(LANGUAGES)], user_agent=AGENTS[number]
            )
            context.set_default_timeout(60_000)
            visitor = await Visitor.arrive(context, site.url)
            await visitor.sign_in(PASSWORD)
            visitors.append(visitor)
        await asyncio.gather(*(work(visitor, jobs) for visitor in visitors))
        links = {link for visitor in visitors for link in visitor.links}
        there = {
            url: one for one in visitors for url, status in one.answers.items() if status == 200
        }
        looked_at = {url for url, one in there.items() if url in one.opened or not is_opened(url)}
        await of_links(visitors[0], links, looked_at)
        await browser.close()
    problems = [problem for visitor in visitors for problem in visitor.problems]
    assert problems == [], (
        f"{len(problems)} problems\n" + "\n".join(dict.fromkeys(problems))[:20_000]
    )
    assert sum(visitor.rows for visitor in visitors) >= len(FOLLOWED)
    assert sum(visitor.parts for visitor in visitors) >= len(FOLLOWED)
    shown = [
        url for visitor in visitors for url, status in visitor.answers.items() if status == 200
    ]
    assert [part for part in PAGES if not any(part in url for url in shown)] == []
    assert sum(visitor.pages for visitor in visitors) > 10 * len(read)


async def work(visitor: Visitor, jobs: "asyncio.Queue[Job]") -> None:
    while not jobs.empty():
        try:
            await jobs.get_nowait()(visitor)
        except PlaywrightError as error:
            visitor.note(f"cannot go on: {error}")
