"""URL patterns of KubeSphere's pages.

`IN_CLUSTERS` must precede the cluster overview, which accepts any cluster name, and the generic
resource pages, which accept any segment as a kind; none of its segments is a kind of the console.
`urlpatterns` must follow all other patterns.
"""

import re

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from console.kube.gvr import NAMESPACES, NODES, SERVICES
from console.kube.names import is_dns_label
from console.pages.kubesphere import segments
from console.pages.kubesphere.views import (
    container_terminal,
    default_cluster,
    kind_page,
    member_page,
    redirect_same_args,
    workspace_page,
)
from console.ui.core.clusters import clusters
from console.ui.core.kind import segment_of


class _Label(StringConverter):
    """DNS label: name of a workspace or project."""

    def to_python(self, value: str) -> str:
        if not is_dns_label(value):
            raise ValueError
        return value


class _Name(StringConverter):
    """Name of an object. Includes names of RBAC roles."""

    regex = r"[A-Za-z0-9][-A-Za-z0-9._:]{0,252}"


class _Default(StringConverter):
    """KubeSphere's name of a single cluster, unless a cluster with this name exists."""

    regex = "default"

    def to_python(self, value: str) -> str:
        if clusters.get(value) is not None:
            raise ValueError
        return value


def _one_of(words: segments.SegmentMap) -> type[StringConverter]:
    return type("_OneOf", (StringConverter,), {"regex": "|".join(map(re.escape, words))})


register_converter(_Label, "dns_label")
register_converter(_Name, "object_name")
register_converter(_Default, "default_cluster")
register_converter(_one_of(segments.OF_CLUSTER), "cluster_word")
register_converter(_one_of(segments.OF_PROJECT), "project_word")
register_converter(_one_of(segments.OF_WORKSPACE), "workspace_word")
register_converter(_one_of(segments.TABS), "tab_word")

_CLUSTER = "clusters/<cluster:cluster>"
_PROJECT = f"{_CLUSTER}/projects/<dns_label:namespace>"
_IN_CLUSTER = {"words": segments.OF_CLUSTER}
_IN_PROJECT = {"words": segments.OF_PROJECT}
_COMPONENT = {"words": segments.OF_CLUSTER, "word": segment_of(SERVICES)}
_PROJECTS = {"words": segments.OF_CLUSTER, "word": segment_of(NAMESPACES)}
_APPS = {"words": segments.OF_PROJECT, "word": "applications"}
_NODE = {"words": segments.OF_CLUSTER, "word": segment_of(NODES)}

IN_CLUSTERS = [
    path("clusters/<default_cluster:default>", default_cluster),
    path("clusters/<default_cluster:default>/<path:rest>", default_cluster),
    path(f"{_CLUSTER}/projects", kind_page, _PROJECTS),
    path(f"{_CLUSTER}/<cluster_word:word>", kind_page, _IN_CLUSTER),
    path(f"{_PROJECT}/pods", kind_page, {"words": segments.OF_PROJECT, "word": "pods"}),
    path(f"{_PROJECT}/<project_word:word>", kind_page, _IN_PROJECT),
    path(f"{_PROJECT}/<project_word:word>/<object_name:name>", kind_page, _IN_PROJECT),
    path(f"{_PROJECT}/<project_word:word>/<object_name:name>/<path:rest>", kind_page, _IN_PROJECT),
    path(f"{_PROJECT}/<str:word>/<object_name:name>/<tab_word:rest>", kind_page, _IN_PROJECT),
    path(f"{_CLUSTER}/components/<dns_label:namespace>/<object_name:name>", kind_page, _COMPONENT),
    path(f"{_CLUSTER}/<cluster_word:word>/<object_name:name>", kind_page, _IN_CLUSTER),
    path(f"{_CLUSTER}/<cluster_word:word>/<object_name:name>/<path:rest>", kind_page, _IN_CLUSTER),
    path(f"{_CLUSTER}/<str:word>/<object_name:name>/<tab_word:rest>", kind_page, _IN_CLUSTER),
]

#: URLs within a workspace: a project of a cluster, a multi-cluster project, and a DevOps project.
_OF_WORKSPACE = {
    f"<dns_label:workspace>/{_PROJECT}": segments.OF_PROJECT,
    "<dns_label:workspace>/federatedprojects/<dns_label:namespace>": segments.OF_PROJECT,
    f"<dns_label:workspace>/{_CLUSTER}/devops/<dns_label:namespace>": segments.OF_DEVOPS,
}
_BELOW = (
    "",
    "/<str:word>",
    "/<str:word>/<object_name:name>",
    "/<str:word>/<object_name:name>/<path:rest>",
)

urlpatterns = [
    path(
        "access/accounts/<object_name:name>",
        redirect_same_args,
        {"to": "accounts:administration:show"},
    ),
    path(
        "access/roles/<object_name:name>",
        redirect_same_args,
        {"to": "access:role", "level": "global"},
    ),
    path(
        "workspaces/<dns_label:workspace>/roles/<object_name:name>",
        redirect_same_args,
        {"to": "access:role", "level": "workspace"},
    ),
    path(
        "workspaces/<dns_label:workspace>/roles/<object_name:name>/<path:rest>",
        redirect_same_args,
        {"to": "access:role", "level": "workspace"},
    ),
    path("workspaces/<dns_label:workspace>/members/<object_name:name>", member_page),
    path("workspaces/<dns_label:workspace>/members/<object_name:name>/<path:rest>", member_page),
    path("access/workspaces", redirect_same_args, {"to": "workspace_list"}),
    path("settings/third-login", redirect_same_args, {"to": "accounts:federation:providers"}),
    *(path(word, redirect_same_args, {"to": "home"}) for word in segments.UNSUPPORTED),
    *(
        path(f"{word}/<path:rest>", redirect_same_args, {"to": "home"})
        for word in segments.UNSUPPORTED
    ),
    path("workspaces/<dns_label:workspace>/<workspace_word:word>", workspace_page),
    path("workspaces/<dns_label:workspace>/<workspace_word:word>/<path:rest>", workspace_page),
    path("terminal/kubectl/<cluster:cluster>", kind_page, _IN_CLUSTER),
    path("terminal/nodename/<object_name:name>", kind_page, _NODE),
    path(
        "terminal/cluster/<cluster:cluster>/projects/<dns_label:namespace>/pods/<object_name:name>"
        "/containers/<object_name:container>",
        container_terminal,
    ),
    path("<dns_label:before>/clusters/<default_cluster:default>/<path:rest>", default_cluster),
    # The segment in between is a category of apps, not the name of an object.
    path(f"<dns_label:workspace>/{_PROJECT}/applications/<str:rest>", kind_page, _APPS),
    path(
        f"<dns_label:workspace>/{_PROJECT}/applications/<str:rest>/<object_name:name>",
        kind_page,
        _APPS,
    ),
    *(
        path(f"{project}{below}", kind_page, {"words": words})
        for project, words in _OF_WORKSPACE.items()
        for below in _BELOW
    ),
]
