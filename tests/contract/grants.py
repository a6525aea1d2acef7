"""Roles and bindings of one test, and groups whose permissions are shared by many tests."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.objects import RBAC, path, unique
from tests.controlplane.waiting import eventually

GROUP = "rbac.authorization.k8s.io"
VERSION = f"{GROUP}/v1"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

#: Shared groups by cluster URL, namespace (empty for the whole cluster), and rules.
_teams: dict[tuple[str, str, str], str] = {}


def rule(verbs: str, resources: str, group: str = "", names: str = "") -> Obj:
    """Return an RBAC rule. Verbs, resources, and names are separated by spaces; `group` is a single
    API group.
    """
    found: Obj = {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split()}
    if names:
        found["resourceNames"] = names.split()
    return found


def user(name: str) -> Obj:
    return {"kind": "User", "name": name, "apiGroup": GROUP}


def group(name: str) -> Obj:
    return {"kind": "Group", "name": name, "apiGroup": GROUP}


def service_account(namespace: str, name: str) -> Obj:
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


def role_ref(kind: str, name: str) -> Obj:
    return {"apiGroup": GROUP, "kind": kind, "name": name}


@dataclass
class Grants:
    """Grant permissions as the administrator. Cluster-wide grants are deleted after the test."""

    cleanup: Cleanup
    namespace: str

    @property
    def admin(self) -> Client:
        return self.cleanup.admin

    def cluster_role(self, *rules: Obj, **more: object) -> str:
        name = unique("contract")
        body = {"metadata": {"name": name}, "rules": list(rules), **more}
        self.cleanup.create(f"{RBAC}/clusterroles", body)
        return name

    def everywhere(self, subject: Obj, *rules: Obj) -> None:
        """Grant the rules in the whole cluster."""
        self.bind_everywhere(subject, self.cluster_role(*rules))

    def bind_everywhere(self, subject: Obj, role: str) -> None:
        body = {
            "metadata": {"name": unique("contract")},
            "roleRef": role_ref("ClusterRole", role),
            "subjects": [subject],
        }
        self.cleanup.create(f"{RBAC}/clusterrolebindings", body)

    def here(self, subject: Obj, *rules: Obj) -> None:
        """Grant the rules in the namespace."""
        name = unique("contract")
        where = path(self.namespace, "roles", group=VERSION)
        self.admin.post(where, {"metadata": {"name": name}, "rules": list(rules)}).ok()
        self.bind_here(subject, role_ref("Role", name))

    def bind_here(self, subject: Obj, ref: Obj) -> str:
        name = unique("contract")
        body = {"metadata": {"name": name}, "roleRef": ref, "subjects": [subject]}
        self.admin.post(path(self.namespace, "rolebindings", group=VERSION), body).ok()
        return name

    def team(self, *rules: Obj, here: bool = False) -> str:
        """Return a group with these permissions, in the whole cluster or in the namespace. A group
        is created once, shared by all tests that need the same rules, and never deleted: to
        create a group, wait for it, and delete it takes seven requests.
        """
        namespace = self.namespace if here else ""
        key = (self.admin.transport.url, namespace, json.dumps(rules))
        if key not in _teams:
            name = unique("team")
            root = f"{RBAC}/namespaces/{namespace}" if here else RBAC
            kind = "Role" if here else "ClusterRole"
            about = {"metadata": {"name": name}}
            self.admin.post(f"{root}/{kind.lower()}s", {**about, "rules": list(rules)}).ok()
            bound = {**about, "roleRef": role_ref(kind, name), "subjects": [group(name)]}
            self.admin.post(f"{root}/{kind.lower()}bindings", bound).ok()
            last = rules[-1]
            resource, _slash, subresource = last["resources"][-1].partition("/")
            attributes = {"verb": last["verbs"][-1], "group": last["apiGroups"][0]}
            attributes |= {"resource": resource, "subresource": subresource, "namespace": namespace}
            self.wait("anybody", [name], **attributes)
            _teams[key] = name
        return _teams[key]

    def wait(self, who: str, groups: Sequence[str] = (), **attributes: str) -> None:
        """Wait until the server allows this. New bindings take effect with a short delay."""
        eventually(lambda: review(self.admin, who, groups, **attributes), f"{who} may {attributes}")


def review(admin: Client, who: str, groups: Sequence[str] = (), **attributes: str) -> bool:
    """Return the server's decision from a SubjectAccessReview. With `path` it is about a
    non-resource URL.
    """
    kind = "nonResourceAttributes" if "path" in attributes else "resourceAttributes"
    body = {"spec": {"user": who, "groups": list(groups), kind: attributes}}
    return bool(admin.post(REVIEWS, body).ok()["status"]["allowed"])
