"""Objects that the console installs into a cluster."""

from typing import Any

import bcrypt
import pytest

from accounts.bootstrap import bootstrap, manifests
from console.kube.errors import NotFound
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CUSTOM_RESOURCE_DEFINITIONS,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    GVR,
    SECRETS,
    SERVICE_ACCOUNTS,
    USERS,
)
from tests.accounts.conftest import PASSWORD
from tests.rbac.fakes import FakeConsole, Manifest
from tests.rbac.objects import user

SERVED = {"status": {"conditions": [{"type": "Established", "status": "True"}]}}


class FakeCluster(FakeConsole):
    """In-memory cluster that serves a new type from the second read on."""

    def __init__(self) -> None:
        super().__init__({})
        self.looks = 0

    async def get(
        self, gvr: GVR, *, namespace: str = "", name: str, audit_id: str = ""
    ) -> Manifest:
        found = await super().get(gvr, namespace=namespace, name=name, audit_id=audit_id)
        if gvr == CUSTOM_RESOURCE_DEFINITIONS:
            self.looks += 1
            return {**found, **SERVED} if self.looks > 4 else found
        return found


def by_name(file: str, kind: str) -> dict[str, Any]:
    return {m["metadata"]["name"]: m for m in manifests(file) if m["kind"] == kind}


async def test_bootstrap_creates_crds_identities_roles_and_an_administrator() -> None:
    cluster = FakeCluster()
    await bootstrap(cluster, admin_password=PASSWORD)
    assert set(cluster.of(CUSTOM_RESOURCE_DEFINITIONS)) == {
        "users.iam.kubesphere.io",
        "globalroles.iam.kubesphere.io",
        "globalrolebindings.iam.kubesphere.io",
        "workspaceroles.iam.kubesphere.io",
        "workspacerolebindings.iam.kubesphere.io",
        "workspaces.tenant.kubesphere.io",
        "loginrecords.iam.kubesphere.io",
        "rolebases.iam.kubesphere.io",
        "groups.iam.kubesphere.io",
        "groupbindings.iam.kubesphere.io",
        "workspacetemplates.tenant.kubesphere.io",
        "resourcequotas.quota.kubesphere.io",
    }
    names = {"quarterdeck-reader", "quarterdeck-writer", "quarterdeck-console"}
    accounts = {place.rpartition("/")[2] for place in cluster.of(SERVICE_ACCOUNTS)}
    assert accounts == {*names, "quarterdeck-issuer"}
    assert cluster.of(SECRETS) == {}
    known = {*names, "quarterdeck-reader-custom"}
    assert set(cluster.of(CLUSTER_ROLES)) == {*known, "cluster-viewer"}
    native = "quarterdeck:globalrolebinding:admin-platform-admin"
    assert set(cluster.of(CLUSTER_ROLE_BINDINGS)) == {*known, native}
    assert cluster.of(CLUSTER_ROLE_BINDINGS)[native]["roleRef"]["name"] == "cluster-admin"
    assert "platform-admin" in cluster.of(GLOBAL_ROLES)
    hashed = cluster.of(USERS)["admin"]["spec"]["password"]
    assert bcrypt.checkpw(PASSWORD.encode(), hashed.encode())
    granted = cluster.of(GLOBAL_ROLE_BINDINGS)["admin-platform-admin"]
    assert granted["roleRef"]["name"] == "platform-admin"
    assert [subject["name"] for subject in granted["subjects"]] == ["admin"]
    assert PASSWORD not in str(cluster.objects)


async def test_a_second_bootstrap_changes_nothing() -> None:
    cluster = FakeCluster()
    await bootstrap(cluster, admin_password=PASSWORD)
    before, version = dict(cluster.objects), cluster.version
    await bootstrap(cluster, admin_password="An0ther-password")
    assert cluster.objects == before
    assert cluster.version == version


async def test_without_a_password_no_administrator_is_created() -> None:
    cluster = FakeCluster()
    await bootstrap(cluster, admin_password=None)
    assert "platform-admin" in cluster.of(GLOBAL_ROLES)
    assert (cluster.of(USERS), cluster.of(GLOBAL_ROLE_BINDINGS)) == ({}, {})


async def test_an_existing_user_admin_gets_no_permissions() -> None:
    cluster = FakeCluster()
    cluster.put(USERS, user("admin", password="x"))
    await bootstrap(cluster, admin_password=PASSWORD)
    assert cluster.of(USERS)["admin"]["spec"]["password"] == "x"
    assert cluster.of(GLOBAL_ROLE_BINDINGS) == {}
    assert "quarterdeck:globalrolebinding:admin-platform-admin" not in cluster.of(
        CLUSTER_ROLE_BINDINGS
    )


async def test_bootstrap_works_without_admission_policies() -> None:
    class Old(FakeCluster):
        async def apply(self, gvr: GVR, body: Manifest, *, audit_id: str = "") -> Manifest:
            if gvr.resource.startswith("validatingadmission"):
                raise NotFound(404, "the server could not find the requested resource")
            return await super().apply(gvr, body)

    cluster = Old()
    await bootstrap(cluster, admin_password=PASSWORD)
    assert "admin" in cluster.of(USERS)


async def test_existing_crds_and_roles_stay_unchanged() -> None:
    cluster = FakeCluster()
    theirs = {"metadata": {"name": "users.iam.kubesphere.io", "resourceVersion": "1"}, "spec": "x"}
    role = {"metadata": {"name": "platform-admin", "resourceVersion": "1"}, "rules": []}
    cluster.put(CUSTOM_RESOURCE_DEFINITIONS, theirs)
    cluster.put(GLOBAL_ROLES, role)
    await bootstrap(cluster, admin_password=PASSWORD)
    assert cluster.of(CUSTOM_RESOURCE_DEFINITIONS)["users.iam.kubesphere.io"]["spec"] == "x"
    assert cluster.of(GLOBAL_ROLES)["platform-admin"]["rules"] == []


async def test_an_invalid_password_is_refused_before_any_write() -> None:
    cluster = FakeCluster()
    with pytest.raises(ValueError, match="8 to 64"):
        await bootstrap(cluster, admin_password="short")
    assert cluster.calls == []


# Identities.


def rules(name: str, file: str = "identities.yaml") -> list[Manifest]:
    found: list[Manifest] = by_name(file, "ClusterRole")[name]["rules"]
    return found


def test_the_reader_may_only_list_and_watch_without_secrets() -> None:
    for rule in rules("quarterdeck-reader", "reader.yaml"):
        if "nonResourceURLs" in rule:
            discovery = ["/api", "/api/*", "/apis", "/apis/*"]
            urls = [*discovery, "/livez", "/readyz", "/version"]
            assert rule == {"nonResourceURLs": urls, "verbs": ["get"]}
            continue
        measured = rule["apiGroups"] == ["metrics.k8s.io"]
        assert rule["verbs"] == (["list"] if measured else ["list", "watch"])
        assert "secrets" not in rule["resources"]
        assert not any("*" in name or "/" in name for name in rule["resources"])
        assert "*" not in rule["apiGroups"]


def test_the_writer_may_only_impersonate() -> None:
    assert rules("quarterdeck-writer") == [
        {
            "apiGroups": [""],
            "resources": ["groups", "serviceaccounts", "users"],
            "verbs": ["impersonate"],
        }
    ]


def test_the_console_role_has_exactly_these_rules() -> None:
    assert rules("quarterdeck-console") == [
        {
            "apiGroups": ["iam.kubesphere.io"],
            "resources": ["users", "users/status"],
            "verbs": ["create", "get", "patch", "update"],
        },
        {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "resourceNames": ["kubesphere-config"],
            "verbs": ["get"],
        },
        {
            "apiGroups": ["iam.kubesphere.io"],
            "resources": ["loginrecords"],
            "verbs": ["create", "delete"],
        },
        {
            "apiGroups": ["iam.kubesphere.io"],
            "resources": ["globalroles", "workspaceroles"],
            "verbs": ["create", "delete", "get", "update"],
        },
        {
            "apiGroups": ["iam.kubesphere.io"],
            "resources": ["globalrolebindings", "workspacerolebindings"],
            "verbs": ["create", "delete", "get", "patch", "update"],
        },
        {
            "apiGroups": ["iam.kubesphere.io"],
            "resources": ["groupbindings", "groups"],
            "verbs": ["create", "delete", "get", "patch", "update"],
        },
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]},
        {
            "apiGroups": ["certificates.k8s.io"],
            "resources": ["certificatesigningrequests"],
            "verbs": ["create", "delete", "get"],
        },
        {
            "apiGroups": ["certificates.k8s.io"],
            "resources": ["certificatesigningrequests/approval"],
            "verbs": ["patch"],
        },
        {
            "apiGroups": ["certificates.k8s.io"],
            "resources": ["signers"],
            "resourceNames": ["kubernetes.io/kube-apiserver-client"],
            "verbs": ["approve"],
        },
        {
            "apiGroups": ["rbac.authorization.k8s.io"],
            "resources": ["clusterrolebindings", "rolebindings"],
            "verbs": ["create", "delete", "get", "patch", "update"],
        },
        {
            "apiGroups": ["rbac.authorization.k8s.io"],
            "resources": ["clusterroles", "roles"],
            "verbs": ["bind", "create", "delete", "escalate", "get", "update"],
        },
        {
            "apiGroups": ["coordination.k8s.io"],
            "resources": ["leases"],
            "resourceNames": ["ks-controller-manager-leader-election"],
            "verbs": ["get"],
        },
        {
            "apiGroups": [""],
            "resources": ["configmaps", "endpoints"],
            "resourceNames": ["ks-controller-manager-leader-election"],
            "verbs": ["get"],
        },
        {
            "apiGroups": ["tenant.kubesphere.io"],
            "resources": ["workspaces"],
            "verbs": ["create", "delete", "get", "patch"],
        },
        {
            "apiGroups": ["tenant.kubesphere.io"],
            "resources": ["workspacetemplates"],
            "verbs": ["get", "patch"],
        },
        {
            "apiGroups": [""],
            "resources": ["namespaces"],
            "verbs": ["create", "delete", "get", "patch", "update"],
        },
        {
            "apiGroups": [""],
            "resources": ["limitranges", "resourcequotas"],
            "verbs": ["create", "delete", "get", "update"],
        },
        {
            "apiGroups": ["networking.k8s.io"],
            "resources": ["networkpolicies"],
            "verbs": ["create", "delete", "get", "update"],
        },
        {
            "apiGroups": ["quota.kubesphere.io"],
            "resources": ["resourcequotas"],
            "verbs": ["delete", "get"],
        },
        {
            "apiGroups": ["quota.kubesphere.io"],
            "resources": ["resourcequotas/status"],
            "verbs": ["patch"],
        },
    ]


def test_the_console_reads_secrets_only_in_the_kubeconfig_namespace() -> None:
    roles = by_name("identities.yaml", "Role")
    places = {name: role["metadata"]["namespace"] for name, role in roles.items()}
    secrets = [
        name
        for name, role in roles.items()
        if any("secrets" in rule["resources"] for rule in role["rules"])
    ]
    assert [places[name] for name in secrets] == ["quarterdeck-kubeconfigs"]
    bindings = by_name("identities.yaml", "RoleBinding")
    assert bindings.keys() == roles.keys()
    for name, binding in bindings.items():
        assert binding["roleRef"]["name"] == name
        assert binding["metadata"]["namespace"] == places[name]
        account = name if name == "quarterdeck-issuer" else "quarterdeck-console"
        assert [one["name"] for one in binding["subjects"]] == [account]


def test_the_issuer_requests_tokens_of_the_console_identities_only() -> None:
    (rule,) = by_name("identities.yaml", "Role")["quarterdeck-issuer"]["rules"]
    accounts = by_name("identities.yaml", "ServiceAccount").keys()
    assert set(rule.pop("resourceNames")) == accounts
    assert rule == {"apiGroups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"]}


def test_the_console_may_only_delete_pods_in_the_node_shell_namespace() -> None:
    [(name, role)] = by_name("node-shells.yaml", "Role").items()
    assert role["rules"] == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["delete"]}]
    [binding] = by_name("node-shells.yaml", "RoleBinding").values()
    assert binding["roleRef"]["name"] == name
    assert [one["name"] for one in binding["subjects"]] == ["quarterdeck-console"]
    places = {one["metadata"]["namespace"] for one in (role, binding)}
    assert places == by_name("node-shells.yaml", "Namespace").keys()


def test_each_identity_is_bound_only_to_its_role() -> None:
    for name, binding in by_name("identities.yaml", "ClusterRoleBinding").items():
        assert binding["roleRef"]["name"] == name
        account = name.removesuffix("-custom")
        assert [(s["kind"], s["name"], s["namespace"]) for s in binding["subjects"]] == [
            ("ServiceAccount", account, "quarterdeck-system")
        ]


def test_the_reader_role_for_custom_resources_is_aggregated() -> None:
    role = by_name("identities.yaml", "ClusterRole")["quarterdeck-reader-custom"]
    assert "rules" not in role
    selectors = role["aggregationRule"]["clusterRoleSelectors"]
    assert selectors == [{"matchLabels": {"quarterdeck.io/aggregate-to-reader": "true"}}]


def test_all_manifests_have_the_managed_by_label() -> None:
    for file in (
        "admission.yaml",
        "crds.yaml",
        "identities.yaml",
        "node-shells.yaml",
        "reader.yaml",
        "roles.yaml",
    ):
        for manifest in manifests(file):
            assert manifest["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "quarterdeck"
