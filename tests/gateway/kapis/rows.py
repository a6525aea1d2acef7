"""Requests of KubeSphere 3.4's console, with the status and the shape of the response. Each row begins
with the section of KubeSphere's semantics that describes the response.
"""

from tests.gateway.kapis.shapes import (
    Shape,
    array,
    fields,
    none,
    objects,
    of_kind,
    old_objects,
    some,
    status,
)

IAM, TENANT = "/kapis/iam.kubesphere.io/v1alpha2", "/kapis/tenant.kubesphere.io/v1alpha2"
NEW_TENANT = "/kapis/tenant.kubesphere.io/v1alpha3"
OLD, NEW = "/kapis/resources.kubesphere.io/v1alpha2", "/kapis/resources.kubesphere.io/v1alpha3"
CONFIG = "/kapis/config.kubesphere.io/v1alpha2"
SHOP = "/workspaces/shop"
PAYMENTS = "/namespaces/payments"
TEMPLATES = "labelSelector=iam.kubesphere.io/role-template=true"

NAMESPACED = (
    "configmaps", "cronjobs", "daemonsets", "deployments", "horizontalpodautoscalers", "ingresses",
    "jobs", "networkpolicies", "persistentvolumeclaims", "pods", "replicasets", "resourcequotas",
    "rolebindings", "roles", "secrets", "serviceaccounts", "services", "statefulsets",
    "volumesnapshots",
)  # fmt: skip
CLUSTER = (
    "clusterrolebindings", "clusterroles", "clusters", "customresourcedefinitions",
    "globalrolebindings", "globalroles", "groupbindings", "groups", "loginrecords", "namespaces",
    "nodes", "persistentvolumes", "storageclasses", "users", "volumesnapshotclasses",
    "volumesnapshotcontents", "workspacerolebindings", "workspaceroles", "workspaces",
    "workspacetemplates",
)  # fmt: skip
UNAVAILABLE = (
    "alerting.kubesphere.io/v2beta1/globalrulegroups", "cluster.kubesphere.io/v1alpha1/clusters",
    "devops.kubesphere.io/v1alpha3/workspaces/shop/devops", "edgeruntime.kubesphere.io/v1alpha1/nodes",
    "gateway.kubesphere.io/v1alpha1/namespaces/payments/gateways",
    "gitops.kubesphere.io/v1alpha1/namespaces/payments/applications",
    "metering.kubesphere.io/v1alpha1/cluster", "monitoring.kubesphere.io/v1alpha3/cluster",
    "network.kubesphere.io/v1alpha2/namespaces/payments/topology",
    "notification.kubesphere.io/v2beta2/configs", "openpitrix.io/v1/apps",
    "servicemesh.kubesphere.io/v1alpha2/namespaces/payments/graph",
    "terminal.kubesphere.io/v1alpha2/namespaces/payments/pods/payments-db-0/exec",
    "tenant.kubesphere.io/v1alpha2/logs", "tenant.kubesphere.io/v1alpha2/workspaces/shop/devops",
    "resources.kubesphere.io/v1alpha2/users/admin/kubectl",
    "resources.kubesphere.io/v1alpha2/namespaces/payments/router",
)  # fmt: skip

Row = tuple[str, str, int, Shape]
READS: list[Row] = [
    # Lists of every type
    *(("5.2", f"{NEW}{PAYMENTS}/{one}?page=1&limit=10", 200, objects) for one in NAMESPACED),
    *(("5.2", f"{NEW}/{one}?limit=10&sortBy=createTime", 200, objects) for one in CLUSTER),
    # The list contract
    ("5.2", f"{NEW}/pods", 200, some),
    ("5.2", f"{NEW}/pods?limit=-1", 200, some),
    ("5.2", f"{NEW}/pods?page=2&limit=5&sortBy=name&ascending=true", 200, some),
    ("5.2", f"{NEW}/pods?page=9999&limit=10", 200, objects),
    ("5.2", f"{NEW}/pods?sortBy=updateTime&limit=3", 200, some),
    ("5.2", f"{NEW}/pods?name=payments&limit=3", 200, some),
    ("5.2", f"{NEW}/pods?names=payments-db-0,payments-db-1", 200, some),
    ("5.2", f"{NEW}/pods?alias=nothing", 200, none),
    ("5.2", f"{NEW}/pods?uid=nothing", 200, none),
    ("5.2", f"{NEW}/pods?namespace=payments&limit=3", 200, some),
    ("5.2", f"{NEW}/pods?status=Running&limit=3", 200, some),
    ("5.2", f"{NEW}/pods?status=Completed&limit=3", 200, some),
    ("5.2", f"{NEW}/pods?nodeName=worker-1&limit=3", 200, objects),
    ("5.2", f"{NEW}/pods?pvcName=data-payments-db-0", 200, some),
    ("5.2", f"{NEW}/pods?labelSelector=app.kubernetes.io/name%3Dpayments-db", 200, some),
    ("5.2", f"{NEW}/pods?label=app.kubernetes.io/name%3Dpayments-db", 200, some),
    ("5.2", f"{NEW}/pods?fieldSelector=spec.nodeName!%3Dx&limit=1", 200, some),
    ("5.2", f"{NEW}/pods?ownerKind=StatefulSet&limit=1", 200, some),
    ("5.2", f"{NEW}/pods?ownerReference=nothing", 200, none),
    ("5.2", f"{NEW}/pods?unknown=filter", 200, none),
    ("5.2", f"{NEW}/deployments?status=running&limit=3", 200, some),
    ("5.2", f"{NEW}/deployments?status=stopped", 200, objects),
    ("5.2", f"{NEW}/deployments?status=updating", 200, some),
    ("5.2", f"{NEW}/jobs?status=completed", 200, some),
    ("5.2", f"{NEW}/secrets?fieldSelector=type%3Dkubernetes.io/tls", 200, some),
    ("5.2", f"{NEW}/persistentvolumeclaims?status=bound&storageClassName=standard", 200, objects),
    ("5.2", f"{NEW}/globalroles?annotation=kubesphere.io/creator", 200, objects),
    ("5.2", f"{NEW}/namespaces?labelSelector=kubesphere.io/workspace%3Dshop", 200, some),
    ("5.2", f"{NEW}/nodes?ascending=true", 200, some),
    ("5.2", f"{NEW}/pods?page=0", 400, status(400)),
    ("5.2", f"{NEW}/pods?limit=many", 400, status(400)),
    ("5.2", f"{NEW}/pods?ascending=maybe", 400, status(400)),
    ("5.2", f"{NEW}/pods?labelSelector=((", 400, status(400)),
    # Objects
    ("5.3", f"{NEW}{PAYMENTS}/statefulsets/payments-db", 200, of_kind("StatefulSet")),
    ("5.3", f"{NEW}{PAYMENTS}/pods/payments-db-0", 200, of_kind("Pod")),
    ("5.3", f"{NEW}/nodes/control-1", 200, of_kind("Node")),
    ("5.3", f"{NEW}/namespaces/payments", 200, of_kind("Namespace")),
    ("5.3", f"{NEW}/workspaces/shop", 200, of_kind("Workspace")),
    ("5.3", f"{NEW}/clusters/host", 200, of_kind("Cluster")),
    ("5.3", f"{NEW}{PAYMENTS}/pods/nothing", 404, status(404)),
    ("5.3", f"{NEW}/nothings", 404, status(404)),
    ("5.3", f"{NEW}{PAYMENTS}/nodes", 404, status(404)),
    # The same below a cluster
    ("2.2", f"/kapis/clusters/host{NEW[6:]}/pods?limit=1", 200, some),
    ("2.2", f"/clusters/host{NEW}/pods?limit=1", 200, some),
    ("2.2", f"/kapis/clusters/nowhere{NEW[6:]}/pods", 404, status(404)),
    # Components
    ("5.3", f"{NEW}/components", 200, array),
    ("5.3", f"{NEW}/componenthealth", 200, fields("kubesphereStatus", "nodeStatus")),
    ("5.3", f"{OLD}/components", 200, array),
    ("5.3", f"{OLD}/componenthealth", 200, fields("kubesphereStatus", "nodeStatus")),
    # v1alpha2
    (
        "5.2",
        f"{OLD}/pods?paging=limit%3D3,page%3D2&orderBy=createTime&reverse=true",
        200,
        old_objects,
    ),
    ("5.2", f"{OLD}/cronjobs?limit=3&page=1", 200, old_objects),
    ("5.2", f"{OLD}/storageclasses", 200, old_objects),
    ("5.2", f"{OLD}/hpa?start=0&limit=5", 200, old_objects),
    ("5.2", f"{OLD}{PAYMENTS}/persistentvolumeclaims?conditions=name~data", 200, old_objects),
    (
        "5.2",
        f"{OLD}{PAYMENTS}/pods?conditions=name%3Dpayments-db-0|payments-db-1",
        200,
        old_objects,
    ),
    ("5.2", f"{OLD}/pods?conditions=malformed", 400, status(400)),
    ("5.3", f"{OLD}/quotas", 200, fields("data")),
    ("5.3", f"{OLD}{PAYMENTS}/quotas", 200, fields("namespace", "data")),
    ("5.3", f"{OLD}/abnormalworkloads", 200, fields("data")),
    ("5.3", f"{OLD}{PAYMENTS}/abnormalworkloads", 200, fields("data")),
    (
        "5.3",
        f"{OLD}{PAYMENTS}/statefulsets/payments-db/revisions/1",
        200,
        of_kind("ControllerRevision"),
    ),
    ("5.3", f"{OLD}{PAYMENTS}/deployments/fraud-scorer/revisions/1", 200, of_kind("ReplicaSet")),
    # Users
    ("5.3", f"{IAM}/users?limit=10", 200, some),
    ("5.2", f"{IAM}/users?email=admin@quarterdeck.local", 200, some),
    ("5.2", f"{IAM}/users?globalrole=platform-admin", 200, some),
    ("5.2", f"{IAM}/users?ingroup=nothing", 200, none),
    ("5.2", f"{IAM}/users?notingroup=nothing", 200, some),
    ("5.3", f"{IAM}/users/admin", 200, of_kind("User")),
    ("5.3", f"{IAM}/users/alice", 200, of_kind("User")),
    ("5.3", f"{IAM}/users/nobody", 404, status(404)),
    ("5.3", f"{IAM}/users/admin/loginrecords?limit=10", 200, objects),
    # Roles and templates
    ("2.1", f"{IAM}/users/admin/globalroles", 200, array),
    ("2.1", f"{IAM}/clustermembers/admin/clusterroles", 200, array),
    ("2.1", f"{IAM}{SHOP}/workspacemembers/alice/workspaceroles", 200, array),
    ("2.1", f"{IAM}{PAYMENTS}/members/alice/roles", 200, array),
    ("2.1", f"{IAM}/globalroles?annotation=kubesphere.io/creator", 200, objects),
    ("2.1", f"{IAM}/globalroles?{TEMPLATES}", 200, some),
    ("2.1", f"{IAM}/clusterroles?{TEMPLATES}", 200, some),
    ("2.1", f"{IAM}{SHOP}/workspaceroles?{TEMPLATES}", 200, some),
    ("2.1", f"{IAM}{PAYMENTS}/roles?{TEMPLATES}", 200, some),
    ("5.3", f"{IAM}/globalroles/platform-admin", 200, of_kind("GlobalRole")),
    ("5.3", f"{IAM}/clusterroles?limit=3", 200, some),
    ("5.3", f"{IAM}{SHOP}/workspaceroles", 200, some),
    ("5.3", f"{IAM}{SHOP}/workspaceroles/shop-admin", 200, of_kind("WorkspaceRole")),
    ("5.3", f"{IAM}{PAYMENTS}/roles", 200, some),
    ("5.3", f"{IAM}{PAYMENTS}/roles/nothing", 404, status(404)),
    # Members and departments
    ("5.3", f"{IAM}/clustermembers", 200, objects),
    ("5.3", f"{IAM}{SHOP}/workspacemembers", 200, some),
    ("5.3", f"{IAM}{SHOP}/workspacemembers/alice", 200, of_kind("User")),
    ("5.3", f"{IAM}{SHOP}/workspacemembers/nobody", 404, status(404)),
    ("5.3", f"{IAM}{PAYMENTS}/members", 200, objects),
    ("5.3", f"{IAM}{SHOP}/groups", 200, objects),
    ("5.3", f"{IAM}{SHOP}/groupbindings", 200, objects),
    ("5.3", f"{IAM}{SHOP}/workspacerolebindings", 200, some),
    ("5.3", f"{IAM}{SHOP}/rolebindings", 200, some),
    # Workspaces
    ("3", f"{NEW_TENANT}/workspacetemplates?limit=10", 200, some),
    ("3", f"{NEW_TENANT}/workspacetemplates/shop", 200, of_kind("WorkspaceTemplate")),
    ("3", f"{NEW_TENANT}/workspaces", 200, some),
    ("3", f"{NEW_TENANT}/workspaces/shop", 200, of_kind("Workspace")),
    ("3", f"{NEW_TENANT}/workspaces/nothing", 404, status(404)),
    ("3", f"{TENANT}/workspaces", 200, some),
    ("3", f"{TENANT}/workspaces/shop", 200, of_kind("WorkspaceTemplate")),
    ("3", f"{TENANT}/clusters?labelSelector=cluster-role.kubesphere.io/host", 200, some),
    ("3", f"{TENANT}{SHOP}/clusters", 200, some),
    ("3", f"{TENANT}/namespaces?limit=3", 200, some),
    ("3", f"{TENANT}{SHOP}/namespaces?labelSelector=kubefed.io/managed!%3Dtrue", 200, some),
    ("3", f"{TENANT}{SHOP}/namespaces/payments", 200, of_kind("Namespace")),
    ("3", f"{TENANT}{SHOP}/namespaces/kube-system", 404, status(404)),
    ("3", f"{TENANT}{SHOP}/workspacemembers/alice/namespaces", 200, some),
    ("3", f"{TENANT}{SHOP}/resourcequotas/shop", 200, of_kind("ResourceQuota")),
    # Configuration
    ("5.1", f"{CONFIG}/configs/configz", 200, fields("devops", "multicluster", "terminal")),
    ("1.7", f"{CONFIG}/configs/oauth", 200, fields("identityProviders")),
    ("5.3", f"{CONFIG}/configs/gpu/kinds", 200, array),
    ("5.3", "/kapis/version", 200, fields("gitVersion", "kubernetes")),
    ("5.3", "/kapis/clusters/host/version", 200, fields("gitVersion", "kubernetes")),
    # Custom resources without routes
    ("5.1", "/kapis/iam.kubesphere.io/v1alpha2/globalrolebindings", 200, some),
    ("5.1", "/kapis/iam.kubesphere.io/v1alpha2/rolebases", 200, objects),
    ("5.1", "/kapis/tenant.kubesphere.io/v1alpha1/workspaces/shop", 200, of_kind("Workspace")),
    # Paths of Kubernetes
    ("7", "/apis/iam.kubesphere.io/v1alpha2/users", 200, fields("items", "kind")),
    ("7", "/api/v1/nodes", 200, fields("items", "kind")),
    *(("5.3", f"/kapis/{one}", 404, status(404)) for one in UNAVAILABLE),
]
