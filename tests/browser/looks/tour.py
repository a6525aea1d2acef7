"""Find all pages of the sample data by following the console's own links."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from playwright.sync_api import Page

from tests.browser.looks.axe import SORT

HOST = "/clusters/host"

#: Pages that are not linked from the menu or from a first row.
OTHERS = (
    "/search",
    "/search?q=cart",
    "/search?q=nothing-is-called-this",
    "/views",
    "/account",
    "/account/second-factor",
    "/access/rights",
    "/access/rights/alice",
    "/access/rights/alice?verb=get&resource=pods&namespace=checkout",
    "/access/who-may?verb=get&resource=pods&namespace=checkout",
    "/access/roles?level=workspace",
    "/access/roles?level=cluster",
    "/access/roles?level=project",
    "/access/roles/global/platform-regular",
    "/access/roles/workspace/shop-viewer",
    "/access/roles/new/global",
    "/access/roles/new/workspace?workspace=shop",
    "/workspaces/-/new",
    "/workspaces/shop/projects/-/new",
    "/workspaces/shop/projects/checkout/quota",
    "/workspaces/shop/members/invite",
    "/workspaces/shop/members/invite?q=a",
    "/access/accounts/users/alice",
    "/access/view-as/users/alice",
    "/clusters/host/users.iam.kubesphere.io/alice/actions/profile",
    "/clusters/host/users.iam.kubesphere.io/alice/actions/password",
    f"{HOST}/import",
    f"{HOST}/import?kind=deployments&namespace=checkout",
    f"{HOST}/new",
    f"{HOST}/new/networkpolicies?namespace=checkout",
    f"{HOST}/new/configmaps?namespace=checkout",
    f"{HOST}/projects/checkout/secrets/registry/actions/keys",
    f"{HOST}/projects/checkout/pods/no-such-pod",
    f"{HOST}/projects/kube-system/pods/etcd-control-1/log?timestamps=1&q=took&context=2",
    f"{HOST}/projects/web/deployments/storefront/log?timestamps=1&wrap=1&tail=100",
    f"{HOST}/pods?q=nothing-is-called-this",
    f"{HOST}/pods?namespace=checkout&status=ok",
    f"{HOST}/pods?q=etcd&label=tier%3D{63 * 'w'}&columns=name,node,label:tier",
    f"{HOST}/projects/web/deployments/image-resizer/revisions?from=1&to=2",
    f"{HOST}/poddisruptionbudgets?namespace=checkout",
    f"{HOST}/no-such-kind",
    f"{HOST}/pods?sort=no-such-column",
)
#: One page of each level.
LEVELS = ("/dashboard", HOST, "/workspaces/shop", f"{HOST}/projects/checkout")
#: Confirmation pages besides those of a pod.
QUESTIONS = (f"{HOST}/workspacetemplates.tenant.kubesphere.io/shop/actions/delete",)
#: For these kinds every tab is checked, for other kinds only the first tab: the tabs of all kinds
#: use the same panels.
TABBED = ("pods", "deployments", "nodes", "services", "secrets", "customresourcedefinitions")

_READING = f"({(Path(__file__).parent / 'reading.js').read_text()})({SORT})"


class Read(TypedDict):
    """The content of a page: targets of links by category, texts, and the sorts of elements.
    `texts` excludes everything from the cluster; `words` excludes its sentences.
    """

    rail: list[str]
    kinds: list[str]
    rows: list[str]
    tabs: list[str]
    acts: list[str]
    risky: list[str]
    texts: list[str]
    words: list[str]
    sorts: list[str]


@dataclass(frozen=True)
class Tour:
    """URLs, each once.

    `firsts`: for each list with rows, the page of its first object. `confirmations` and `forms`:
    pages of actions linked from there, one per action; `confirmations` are those of destructive
    actions. `read`: the content of each page.
    """

    overviews: Sequence[str]
    lists: Sequence[str]
    firsts: Mapping[str, str]
    tabs: Sequence[str]
    confirmations: Sequence[str]
    forms: Sequence[str]
    read: Mapping[str, Read]

    @property
    def details(self) -> list[str]:
        """Return the first tabs, one for each kind."""
        return [*self.firsts.values()]

    @property
    def everything(self) -> list[str]:
        found = (
            *self.overviews,
            *self.lists,
            *self.details,
            *self.tabs,
            *self.confirmations,
            *self.forms,
            *OTHERS,
        )
        return list(dict.fromkeys(found))


def tour(page: Page) -> Tour:
    """Return the tour, read by a signed-in page that shows any page of the console."""

    known: dict[str, Read] = {}

    def read(path: str) -> Read:
        if path not in known:
            known[path] = page.evaluate(_READING, path)
        return known[path]

    lists = read(f"{HOST}/resources")["kinds"]
    rails = (path for level in LEVELS for path in read(level)["rail"])
    overviews = [path for path in rails if path.partition("?")[0] not in lists]
    firsts: dict[str, str] = {}
    tabs: list[str] = []
    confirmations: dict[str, str] = {}
    forms: dict[str, str] = {}
    for path in lists:
        rows = read(path)["rows"]
        if not rows:
            continue
        firsts[path] = rows[0]
        first = read(rows[0])
        segment = path.rpartition("/")[2]
        tabs += first["tabs"] if segment in TABBED else []
        for act in first["acts"]:
            those = confirmations if act in first["risky"] else forms
            those.setdefault(act.rpartition("/")[2], act)
    ends = [*confirmations.values(), *QUESTIONS]
    found = Tour(overviews, lists, firsts, tabs, ends, sorted(forms.values()), known)
    for path in found.everything:
        read(path)
    return found
