"""KubeSphere's URL segments that differ from the names of kinds and tabs in the console.

A segment maps to the segment of a kind, or to "" for the overview of its cluster or project.
Kinds that the cluster doesn't have also redirect to the overview.
"""

from collections.abc import Mapping
from types import MappingProxyType

from console.kube import gvr
from console.ui.core.kind import segment_of

SegmentMap = Mapping[str, str]

_ANYWHERE = {
    "base-info": "",
    "log-collections": "",
    "volume-snapshots": segment_of(gvr.VOLUME_SNAPSHOTS),
    "volumes": segment_of(gvr.PERSISTENT_VOLUME_CLAIMS),
}

#: `/clusters/{cluster}/{word}`
OF_CLUSTER: SegmentMap = MappingProxyType(
    {
        **_ANYWHERE,
        "alert-rules": "clusterrulegroups.alerting.kubesphere.io",
        "alerts": "",
        "components": "",
        "custom-monitoring": "clusterdashboards.monitoring.kubesphere.io",
        "customresources": segment_of(gvr.CUSTOM_RESOURCE_DEFINITIONS),
        "edgenodes": segment_of(gvr.NODES),
        "gateways": "gateways.gateway.kubesphere.io",
        "ippools": "ippools.network.kubesphere.io",
        "kubeConfig": "",
        "members": segment_of(gvr.CLUSTER_ROLE_BINDINGS),
        "monitor-cluster": "",
        "monitor-resource": "",
        "overview": "",
        "pv": segment_of(gvr.PERSISTENT_VOLUMES),
        "visibility": "",
        "volume-snapshot-classes": segment_of(gvr.VOLUME_SNAPSHOT_CLASSES),
        "volume-snapshot-content": segment_of(gvr.VOLUME_SNAPSHOT_CONTENTS),
    }
)

#: `…/projects/{project}/{word}`
OF_PROJECT: SegmentMap = MappingProxyType(
    {
        **_ANYWHERE,
        "alert-rules": "rulegroups.alerting.kubesphere.io",
        "alerts": "",
        "applications": "applications.app.k8s.io",
        "custom-monitoring": "dashboards.monitoring.kubesphere.io",
        "gateway": "",
        "gateways": "",
        "grayrelease": "strategies.servicemesh.kubesphere.io",
        "members": segment_of(gvr.ROLE_BINDINGS),
        "overview": "",
        "quota": segment_of(gvr.RESOURCE_QUOTAS),
        "quotas": segment_of(gvr.RESOURCE_QUOTAS),
        "s2ibuilders": "s2ibuilders.devops.kubesphere.io",
    }
)

#: `…/devops/{project}/{word}`
OF_DEVOPS: SegmentMap = MappingProxyType(
    {
        "base-info": "",
        "cd": "applications.gitops.kubesphere.io",
        "code-repo": "gitrepositories.devops.kubesphere.io",
        "credentials": segment_of(gvr.SECRETS),
        "members": segment_of(gvr.ROLE_BINDINGS),
        "overview": "",
        "pipelines": "pipelines.devops.kubesphere.io",
    }
)

#: Segments shown on the workspace's page of a project, which only exists on the host cluster.
OF_WORKSPACE_PROJECT = frozenset({"base-info", "members", "quota", "quotas"})

#: `/workspaces/{workspace}/{word}`: names of URL patterns.
OF_WORKSPACE: SegmentMap = MappingProxyType(
    {
        "apps": "workspace",
        "base-info": "workspace_settings",
        "devops": "workspace",
        "federatedprojects": "workspace_projects",
        "groups": "workspace_departments",
        "overview": "workspace",
        "repos": "workspace",
    }
)

#: Tabs of an object; "" is the first tab.
TABS: SegmentMap = MappingProxyType(
    {
        "data": "",
        "env": "",
        "metadata": "",
        "monitors": "",
        "pods": "",
        "resource-status": "",
        "revision-control": "revisions",
        "running-status": "",
        "schedule": "",
    }
)

#: Top-level pages without an equivalent, redirected to the start page.
UNSUPPORTED = (
    "404",
    "apps",
    "apps-manage",
    "auditingsearch",
    "bill",
    "eventsearch",
    "logquery",
    "settings",
    "support",
)
