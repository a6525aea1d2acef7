"""Roles and bindings of one test."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.contract.client import Client, Obj
from tests.contract.objects import RBAC, path, unique
from tests.contract.tidy import Scrap
from tests.controlplane.waiting import eventually

GROUP = "rbac.authorization.k8s.io"
VERSION = f"{GROUP}/v1"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


def rule(verbs: str, resources: str, group: str = "", names: str = "") -> Obj:
    """Words are separated by spaces; `group` is one."""
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
    """Gives rights as the administrator; those over the whole cluster end with the test."""

    scrap: Scrap
    namespace: str

    @property
    def admin(self) -> Client:
        return self.scrap.admin

    def cluster_role(self, *rules: Obj, **more: object) -> str:
        name = unique("contract")
        body = {"metadata": {"name": name}, "rules": list(rules), **more}
        self.scrap.create(f"{RBAC}/clusterroles", body)
        return name

    def everywhere(self, subject: Obj, *rules: Obj) -> None:
        """The rules, in all namespaces and beyond."""
        self.bind_everywhere(subject, self.cluster_role(*rules))

    def bind_everywhere(self, subject: Obj, role: str) -> None:
        body = {
            "metadata": {"name": unique("contract")},
            "roleRef": role_ref("ClusterRole", role),
            "subjects": [subject],
        }
        self.scrap.create(f"{RBAC}/clusterrolebindings", body)

    def here(self, subject: Obj, *rules: Obj) -> None:
        """The rules, in the namespace."""
        name = unique("contract")
        where = path(self.namespace, "roles", group=VERSION)
        self.admin.post(where, {"metadata": {"name": name}, "rules": list(rules)}).ok()
        self.bind_here(subject, role_ref("Role", name))

    def bind_here(self, subject: Obj, ref: Obj) -> str:
        name = unique("contract")
        body = {"metadata": {"name": name}, "roleRef": ref, "subjects": [subject]}
        self.admin.post(path(self.namespace, "rolebindings", group=VERSION), body).ok()
        return name

    def wait(self, who: str, groups: Sequence[str] = (), **attributes: str) -> None:
        """Until the server has taken notice that this is allowed; it may take a moment."""
        eventually(lambda: review(self.admin, who, groups, **attributes), f"{who} may {attributes}")


def review(admin: Client, who: str, groups: Sequence[str] = (), **attributes: str) -> bool:
    """Whether the user may, as the server says; `path` asks for no resource but for a path."""
    kind = "nonResourceAttributes" if "path" in attributes else "resourceAttributes"
    body = {"spec": {"user": who, "groups": list(groups), kind: attributes}}
    return bool(admin.post(REVIEWS, body).ok()["status"]["allowed"])
