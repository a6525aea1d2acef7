"""A User as KubeSphere's API returns it."""

from accounts.users.states import APPLIED_ANNOTATION
from console.kube.apply import Manifest
from console.kube.gvr import GLOBAL_ROLE_BINDINGS
from console.kube.host_runtime import get_runtime
from console.kube.indexes import indexes_of
from rbac.levels import subjects_in

#: Annotation added to the response, never stored.
GLOBAL_ROLE = "iam.kubesphere.io/globalrole"


def without_secrets(user: Manifest) -> Manifest:
    """Return a User without its password, also in kubectl's last-applied annotation, and with the
    annotation of its platform role.
    """
    meta = dict(user["metadata"])
    annotations = dict(meta.pop("annotations", None) or {})
    annotations.pop(APPLIED_ANNOTATION, None)
    role = global_role(meta["name"])
    if role:
        annotations[GLOBAL_ROLE] = role
    if annotations:
        meta["annotations"] = annotations
    spec = {name: value for name, value in (user.get("spec") or {}).items() if name != "password"}
    return {**user, "metadata": meta, "spec": spec}


def global_role(name: str) -> str:
    """Return the role of the user's first global role binding in alphabetical order, or ""."""
    store = get_runtime().informer(GLOBAL_ROLE_BINDINGS).store
    found = indexes_of(store).by(subjects_in).get(f"User {name}")
    return min(((one.key.name, one.projection.role) for one in found), default=("", ""))[1]
