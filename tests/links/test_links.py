"""Crawl all links that are shown to a user and check that each leads to a page."""

from collections.abc import Iterator

import aiohttp
import pytest

from tests.links.crawl import Link, Person, links_of, parts_of
from tests.support.demo import PASSWORD, demonstrated
from tests.support.depth import DEEP

pytestmark = pytest.mark.timeout(3_600 if DEEP else 300)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with demonstrated(tmp_path_factory.mktemp("demo")) as url:
        yield url


# An administrator, two users with a workspace, and a user without permissions.
@pytest.mark.parametrize(
    ("name", "pages"), [("admin", 250), ("alice", 100), ("bob", 100), ("charlie", 8)]
)
async def test_every_link_leads_to_a_page(demo: str, name: str, pages: int) -> None:
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(demo, cookie_jar=jar, headers={"Origin": demo}) as session:
        person = Person(name, session, whole=DEEP)
        await person.sign_in(PASSWORD)
        await person.walk("/")
    assert person.dead == []
    assert person.visited >= pages


def test_links_come_from_anchors_forms_and_htmx() -> None:
    html = """<a class="x" href="/a?b=1&amp;c=2#d">A</a><a href="#top">B</a><a href="https://example.org">C</a>
    <form action="/s"><input type="hidden" name="q" value="x y"><input type="checkbox" name="n"></form>
    <form method="post" action="/p"></form><div hx-get="/part"></div><a href="next">D</a>"""
    assert list(links_of(html, "/here/there")) == [
        Link("/a?b=1&c=2"),
        Link("/s?q=x+y"),
        Link("/part", part=True),
        Link("/here/next"),
    ]


def test_equivalent_pages_count_as_one() -> None:
    web, db = "/clusters/host/projects/shop/pods/web", "/clusters/host/projects/data/pods/db"
    assert parts_of(web, whole=False) == parts_of(db, whole=False)
    assert parts_of(web, whole=True) != parts_of(db, whole=True)
    assert parts_of("/clusters/host/pods", whole=False) != parts_of(
        "/clusters/host/nodes", whole=False
    )
    pods, nodes = f"{web}/events", "/clusters/host/nodes/one/events"
    assert parts_of(pods, whole=False) != parts_of(nodes, whole=False)
    assert parts_of(pods, whole=False, part=True) == parts_of(nodes, whole=False, part=True)
