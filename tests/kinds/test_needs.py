"""Everything that a kind needs in other files; a missing part is reported with the file it belongs
in.
"""

import re
from collections.abc import Iterator

import yaml
from django.utils import translation

from accounts.bootstrap import MANIFESTS, manifests
from console.kube.custom_types import CustomTypes
from console.kube.gvr import BUILT_IN_GROUPS, CUSTOM_RESOURCE_DEFINITIONS, GVR
from console.kube.projections import DECODERS
from console.kube.readerrole import reader_role
from console.kube.scopes import is_namespaced
from console.kube.uncached import UNCACHED
from console.ui.core.kind import ResourceKind, Scope
from devcluster.builtins import builtin_types
from devcluster.sample import addons
from tests.kinds.world import fixture_file
from tests.support.informers import preloaded

READER = (MANIFESTS / "reader.yaml").read_text(encoding="utf-8")

BUILT_IN = {
    GVR(one.group, version.name, one.plural) for one in builtin_types() for version in one.versions
}
DEFINED = {
    GVR(one["spec"]["group"], version["name"], one["spec"]["names"]["plural"])
    for one in (*manifests("crds.yaml"), *addons.definitions())
    for version in one["spec"]["versions"]
}


def missing(kind: ResourceKind) -> Iterator[str]:
    if kind.gvr not in {**DECODERS, **UNCACHED}:
        yield "console/kube/projections: no module declares a decoder for this type"
    if is_namespaced(kind.gvr, CustomTypes(preloaded(CUSTOM_RESOURCE_DEFINITIONS))) is not (
        kind.scope is Scope.NAMESPACED
    ):
        yield "console/kube/scopes.py: the scope differs from the declaration"
    if not kind.private and not _is_listed(kind):
        yield "manifests/reader.yaml: regenerate the file with `manage.py readerrole`"
    if kind.gvr not in BUILT_IN | DEFINED:
        file = "builtins.py" if kind.gvr.group in BUILT_IN_GROUPS else "sample/addons.py"
        yield f"devcluster/{file}: the embedded cluster does not serve this type"
    if not fixture_file(kind).exists():
        yield f"tests/kinds/fixtures: there is no {kind.gvr.resource}.yaml"
    with translation.override("zh-hans"):
        words = {str(word) for word in (kind.title, kind.singular, kind.nouns)}
    if unknown := sorted(word for word in words if not re.search("[\u4e00-\u9fff]", word)):
        yield f"locale/zh_Hans/LC_MESSAGES/django.po: {', '.join(unknown)}; `make messages`"


def _is_listed(kind: ResourceKind) -> bool:
    return any(
        kind.gvr.group in rule.get("apiGroups", ()) and kind.gvr.resource in rule["resources"]
        for rule in yaml.safe_load(READER)["rules"]
    )


def test_kind_has_everything_it_needs(kind: ResourceKind) -> None:
    assert not (found := "\n".join(missing(kind))), found


def test_reader_role_permits_listing_exactly_the_cached_types() -> None:
    assert reader_role() == READER, "write manifests/reader.yaml anew: `manage.py readerrole`"
