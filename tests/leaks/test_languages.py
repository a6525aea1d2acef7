"""Cached parts of pages that are shared by users with the same permissions are rendered in each
user's language.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable

import pytest

from console.ui.core.kind import ResourceKind
from console.ui.core.links import detail_url, list_url
from rbac.process_clusters import set_host_cluster
from tests.kinds.untranslated_text import english_in
from tests.leaks.view_urls import sampled_view_urls
from tests.leaks.world import ADMIN, Clusters, first_tab, key_of, visible
from tests.support.packages import PACKAGES
from tests.support.responses import text_of
from tests.support.translations import HAN
from tests.views.conftest import ClientAs

pytestmark = pytest.mark.django_db(transaction=True)


def keep_nothing() -> None:
    """Clear all caches, as in a new process."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in PACKAGES:
            for found in vars(module).values():
                if hasattr(found, "cache_clear"):
                    found.cache_clear()


async def mixed(client_as: ClientAs, urls: Iterable[str]) -> dict[str, list[str]]:
    """Return texts in the wrong language after a page was rendered in the other language first."""
    english, chinese = client_as(ADMIN), client_as(ADMIN, **{"Accept-Language": "zh-hans"})
    found = {}
    for url in urls:
        keep_nothing()
        own = await text_of(await english.get(url))
        keep_nothing()
        first = english_in(await text_of(await chinese.get(url)))
        between = await text_of(await english.get(url))
        again = english_in(await text_of(await chinese.get(url)))
        # Values from the cluster can be in any language and are the same in both.
        signs = Counter(re.findall(HAN, between)) - Counter(re.findall(HAN, own))
        found[url] = [*signs, *(Counter(again) - Counter(first))]
    return {url: texts for url, texts in found.items() if texts}


async def test_cached_pages_of_a_kind_use_the_users_language(
    clusters: Clusters, client_as: ClientAs, kind: ResourceKind
) -> None:
    set_host_cluster(clusters.runtime(False))
    key = key_of(visible(kind))
    detail = detail_url("host", kind.segment, key, first_tab(kind, key))
    assert await mixed(client_as, (list_url("host", kind.segment), detail)) == {}


async def test_other_cached_pages_use_the_users_language(
    clusters: Clusters, client_as: ClientAs
) -> None:
    set_host_cluster(clusters.runtime(False))
    assert await mixed(client_as, sampled_view_urls(ADMIN)) == {}
