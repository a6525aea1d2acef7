"""The components of the API server without its HTTP layer, connected in one object."""

from pathlib import Path

from devcluster.aggregation import Aggregation
from devcluster.audit import RequestLog
from devcluster.authn import TokenFile, UserInfo, split_service_account
from devcluster.bootstrap import NAMESPACES, cluster_role_bindings, cluster_roles
from devcluster.builtins import builtin_types
from devcluster.crud import Objects
from devcluster.custom_types import CustomTypes
from devcluster.database import Database
from devcluster.handlers import Handlers
from devcluster.metrics import Metrics
from devcluster.objects import Obj, meta
from devcluster.patching import Patches
from devcluster.rbac import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, Rbac
from devcluster.releases import Release
from devcluster.resources import Registry, ResourceType
from devcluster.reviews import Reviews
from devcluster.store import Store, key_of
from devcluster.subresources import Subresources
from devcluster.write_options import Write


class Cluster:
    """The API server's components. Create and use it on the event loop's thread only, except
    `audit`.
    """

    def __init__(
        self,
        database: Database,
        token_file: Path,
        audit: RequestLog,
        release: Release = Release(),  # noqa: B008  immutable
    ) -> None:
        self.audit = audit
        self.release = release
        self.registry = Registry(release.types(builtin_types()))
        self.store = Store(database, self._selectable_fields)
        self.custom_types = CustomTypes(self.store, self.registry)
        self.rbac = Rbac(self.store)
        self.tokens = TokenFile(token_file)
        self.objects = Objects(self.store, self.registry, self.custom_types)
        self.aggregation = Aggregation(self.objects)
        self.handlers = Handlers(self.objects, self.rbac)
        self.patches = Patches(self.handlers)
        self.subresources = Subresources(self.handlers, self.patches, self.tokens)
        self.metrics = Metrics(self.objects)
        self.reviews = Reviews(self.rbac, self.find_token)
        self._bootstrap()

    def _selectable_fields(self, collection: str) -> tuple[str, ...]:
        """Return the selectable fields of a collection.

        Return an empty tuple if the collection is opened before its custom type is registered.
        """
        fields = [name for one in self.registry if one.storage == collection for name in one.fields]
        return tuple(dict.fromkeys(fields))

    def _bootstrap(self) -> None:
        """Create missing default objects."""
        for name in NAMESPACES:
            self.ensure("namespaces", {"metadata": {"name": name}})
        for role in cluster_roles():
            self.ensure(CLUSTER_ROLES, role)
        for binding in cluster_role_bindings():
            self.ensure(CLUSTER_ROLE_BINDINGS, binding)
        service = {
            "metadata": {
                "name": "kubernetes",
                "namespace": "default",
                "labels": {"component": "apiserver", "provider": "kubernetes"},
            },
            "spec": {
                "clusterIP": "10.96.0.1",
                "ports": [{"name": "https", "port": 443, "targetPort": 6443}],
            },
        }
        self.ensure("services", service)

    def find_token(self, token: str) -> UserInfo | None:
        """Return the user of a bearer token, or None. A service account's token is valid only while
        the service account exists.
        """
        user = self.tokens.find(token)
        account = split_service_account(user.name) if user else None
        if user and account and user.uid:
            record = self.store.find("serviceaccounts", key_of(*account))
            return user if record and record.uid == user.uid else None
        return user

    def ensure(self, qualified: str, obj: Obj) -> bool:
        """Create the object unless an object with its name exists. Return True if the object was
        created.
        """
        declared: ResourceType = self.registry.get(qualified)
        about = meta(obj)
        namespace = about.get("namespace", "")
        if self.store.find(declared.storage, key_of(namespace, about["name"])):
            return False
        version = declared.versions[0].name
        self.objects.create(declared, version, namespace, obj, Write())
        return True
