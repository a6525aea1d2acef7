"""CRDs, identities and controllers with a real kube-apiserver."""

import asyncio
import json
from collections.abc import Coroutine, Iterator
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import bcrypt
import pytest
from django.core.management import CommandError, call_command
from kubernetes.config import incluster_config

from accounts.bootstrap import bootstrap
from accounts.federation.linking import (
    NameOrEmailTaken,
    create_linked_user,
    linked_user,
    wait_for_bindings,
)
from accounts.providers import options
from accounts.providers.base import Person
from accounts.users.reconciler import UserReconciler
from console.kube import controller
from console.kube import credentials as credentials_module
from console.kube import tokens as tokens_module
from console.kube.clients import ConsoleClient, ReaderClient, UserClient
from console.kube.credentials import Credentials
from console.kube.errors import ApiError, Forbidden, Invalid, Unavailable
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CONFIG_MAPS,
    GLOBAL_ROLE_BINDINGS,
    GVR,
    PODS,
    ROLE_BINDINGS,
    USERS,
    Key,
)
from console.kube.identity import Identity
from console.kube.kubeconfig import ROLES, replace_token, write_console_kubeconfig
from console.kube.runtime import Runtime
from console.kube.tokens import claims_of
from console.kube.transport import Transport
from console.management.commands.install import install_into
from rbac.controllers import FACTORIES
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.accounts.conftest import PASSWORD
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.waiting import eventually
from tests.kube.fakes import FakeTime
from tests.rbac.objects import binding, native_binding, native_role, rule, user

SECRETS = GVR("", "v1", "secrets")
PROJECTED = "quarterdeck:globalrolebinding:admin-platform-admin"


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane) -> ControlPlane:
    return control_plane


@pytest.fixture(scope="module")
def kubeconfig(cluster: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The console's kubeconfig, after running bootstrap twice."""
    transport = Transport(Credentials("admin", str(cluster.kubeconfig)))

    async def prepare() -> dict[str, str]:
        client = ConsoleClient(transport)
        await bootstrap(client, admin_password=PASSWORD)
        tokens = await install_into(client, admin_password=PASSWORD)
        await transport.close()
        return tokens

    path = tmp_path_factory.mktemp("console") / "kubeconfig"
    write_console_kubeconfig(path, cluster.url, Path(cluster.ca_file), asyncio.run(prepare()))
    return path


@pytest.fixture
def pod(
    cluster: ControlPlane, kubeconfig: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The token file of a pod with the service account of the issuer."""
    token, authority = tmp_path / "token", tmp_path / "ca.crt"
    [user] = json.loads(kubeconfig.read_bytes())["users"]
    token.write_text(user["user"]["token"])
    authority.write_bytes(Path(cluster.ca_file).read_bytes())
    address = urlsplit(cluster.url)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(incluster_config.SERVICE_HOST_ENV_NAME, str(address.hostname))
    monkeypatch.setenv(incluster_config.SERVICE_PORT_ENV_NAME, str(address.port))
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(authority))
    return token


@pytest.fixture(scope="module")
def runtime(kubeconfig: Path) -> Iterator[Runtime]:
    """Run the controllers with the identities from the manifests."""
    runtime = Runtime(kubeconfig=str(kubeconfig))
    runtime.start()
    for factory in (UserReconciler, *FACTORIES):
        runtime.spawn(controller.run(runtime, factory(runtime)))
    yield runtime
    runtime.stop()


async def code_of(call: Any) -> int:
    try:
        await call
    except ApiError as error:
        return error.code
    return 200


def kubectl(cluster: ControlPlane, *arguments: str, input: str | None = None) -> str:
    done = cluster.kubectl(*arguments, input=input)
    assert done.returncode == 0, done.stderr
    return done.stdout


def get(cluster: ControlPlane, *what: str) -> dict[str, Any]:
    return dict(json.loads(kubectl(cluster, "get", *what, "-o", "json")))


def put(cluster: ControlPlane, item: dict[str, Any]) -> None:
    """Apply a manifest without server-side fields."""
    kubectl(cluster, "apply", "-f", "-", input=json.dumps(written(item)))


# Installation.


def test_an_administrator_can_be_created_with_kubectl(
    cluster: ControlPlane, runtime: Runtime
) -> None:
    printed, shown = StringIO(), StringIO()
    call_command("administrator", name="first", stdout=printed, stderr=shown)
    kubectl(cluster, "create", "-f", "-", input=printed.getvalue())
    password = shown.getvalue().split()[3]
    assert password not in printed.getvalue()
    hashed = get(cluster, "users.iam.kubesphere.io", "first")["spec"]["password"]
    assert bcrypt.checkpw(password.encode(), hashed.encode())
    native = "quarterdeck:globalrolebinding:first-platform-admin"
    eventually(
        lambda: cluster.kubectl("get", "clusterrolebinding", native).returncode == 0,
        "the controllers create the native binding",
    )
    with pytest.raises(CommandError, match="No-name"):
        call_command("administrator", name="No-name")


def test_a_pod_of_an_administrator_installs_without_a_kubeconfig(
    cluster: ControlPlane, kubeconfig: Path, pod: Path
) -> None:
    kubectl(cluster, "create", "serviceaccount", "installer")
    subject = "--serviceaccount=default:installer"
    kubectl(
        cluster, "create", "clusterrolebinding", "installer", "--clusterrole=cluster-admin", subject
    )
    pod.write_text(kubectl(cluster, "create", "token", "installer").strip())
    kubectl(cluster, "delete", "clusterrole", "quarterdeck-reader")
    call_command("install", in_cluster=True)
    assert get(cluster, "clusterrole", "quarterdeck-reader")["rules"]


def test_install_needs_a_kubeconfig_and_a_path_or_neither(tmp_path: Path) -> None:
    for given in ({"in_cluster": True, "out": tmp_path}, {"kubeconfig": tmp_path}):
        with pytest.raises(CommandError, match="together"):
            call_command("install", **given)


# Identities.


async def test_the_reader_lists_types_without_secrets_and_cannot_write(
    runtime: Runtime, kubeconfig: Path
) -> None:
    transport = Transport(Credentials("reader", str(kubeconfig)))
    reader, anything = ReaderClient(transport), ConsoleClient(transport)
    for gvr in (PODS, USERS, GLOBAL_ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS):
        assert b"items" in await reader.latest(gvr, "")
    await reader.ready()
    assert await code_of(reader.latest(SECRETS, "")) == 403
    assert await code_of(anything.get(USERS, name="admin")) == 403
    assert await code_of(anything.create(PODS, {}, namespace="default")) == 403
    assert await code_of(anything.delete(USERS, name="admin")) == 403
    assert await code_of(UserClient(transport, Identity("admin")).get(USERS, name="admin")) == 403
    await transport.close()


async def test_the_writer_has_no_permissions_without_impersonation(kubeconfig: Path) -> None:
    transport = Transport(Credentials("writer", str(kubeconfig)))
    writer = ConsoleClient(transport)
    assert await code_of(ReaderClient(transport).latest(PODS, "")) == 403
    assert await code_of(writer.get(USERS, name="admin")) == 403
    assert await code_of(writer.create(PODS, {}, namespace="default")) == 403
    alice = UserClient(transport, Identity("alice"))
    assert await code_of(alice.get(USERS, name="admin")) == 403
    await transport.close()


async def test_the_console_cannot_extend_its_permissions(
    cluster: ControlPlane, kubeconfig: Path
) -> None:
    transport = Transport(Credentials("console", str(kubeconfig)))
    console = ConsoleClient(transport)
    await policies_are_in_force(console)
    ours, itself = "quarterdeck:globalrolebinding:grab", "quarterdeck-console"
    for item in (
        *(native_binding(f"grab-{role}", role, "User bob") for role in ("admin", "cluster-admin")),
        native_binding("quarterdeck:x", "cluster-admin", "User bob"),
        *(native_binding(ours, role, "User bob") for role in ("edit", "quarterdeck-writer")),
        native_binding(ours, "cluster-admin", f"ServiceAccount quarterdeck-system/{itself}"),
        native_binding(ours, "cluster-admin", "Group system:serviceaccounts"),
        native_binding(
            ours, "cluster-admin", f"User system:serviceaccount:quarterdeck-system:{itself}"
        ),
    ):
        with pytest.raises(Forbidden):
            await console.create(CLUSTER_ROLE_BINDINGS, written(item))
    item = native_binding(ours, "cluster-admin", "User bob", namespace="default")
    with pytest.raises(Forbidden):
        await console.create(ROLE_BINDINGS, written(item), namespace="default")
    with pytest.raises(Forbidden):
        await console.create(CLUSTER_ROLES, written(native_role("grab", rule("*", "*", "*"))))
    role = get(cluster, "clusterrole", itself)
    with pytest.raises(Forbidden):
        await console.replace(CLUSTER_ROLES, {**role, "rules": [rule("*", "*", "*")]}, name=itself)
    assert await code_of(console.delete(CLUSTER_ROLES, name="cluster-admin")) == 403
    assert await code_of(console.delete(CLUSTER_ROLE_BINDINGS, name="cluster-admin")) == 403
    assert await code_of(console.get(SECRETS, namespace="quarterdeck-system", name="x")) == 403
    assert await code_of(console.get(CONFIG_MAPS, namespace="default", name="x")) == 403
    assert await code_of(console.delete(USERS, name="admin")) == 403
    await transport.close()


async def test_the_console_may_remove_subjects_from_bindings_but_not_add_any(
    cluster: ControlPlane, kubeconfig: Path
) -> None:
    transport = Transport(Credentials("console", str(kubeconfig)))
    console = ConsoleClient(transport)
    await policies_are_in_force(console)
    machine = "ServiceAccount default/builder"
    of_two = native_binding("of-two", "cluster-admin", "User una", "User vic", machine)
    of_one = native_binding("of-one", "view", "User una")
    put(cluster, of_two)
    put(cluster, of_one)
    subjects = of_two["subjects"]
    una, vic, builder = subjects
    eve = {**una, "name": "eve"}
    kubernetes = {**una, "name": "system:admin"}
    for refused in ([*subjects, eve], [eve, vic, builder], [una, vic], [], [kubernetes, *subjects]):
        code = await code_of(
            console.patch(
                CLUSTER_ROLE_BINDINGS, {"metadata": {}, "subjects": refused}, name="of-two"
            )
        )
        assert code == 403, refused
    other = {"metadata": {}, "roleRef": {**of_two["roleRef"], "name": "quarterdeck-writer"}}
    assert await code_of(console.patch(CLUSTER_ROLE_BINDINGS, other, name="of-two")) in (403, 422)
    assert await code_of(console.delete(CLUSTER_ROLE_BINDINGS, name="of-two")) == 403
    left = {"metadata": {}, "subjects": [vic, builder]}
    assert await code_of(console.patch(CLUSTER_ROLE_BINDINGS, left, name="of-two")) == 200
    assert await code_of(console.delete(CLUSTER_ROLE_BINDINGS, name="of-one")) == 200
    kubectl(cluster, "delete", "clusterrolebinding", "of-two")
    await transport.close()


def written(item: dict[str, Any]) -> dict[str, Any]:
    """Return the object without server-side fields."""
    meta = {k: v for k, v in item["metadata"].items() if k not in ("uid", "resourceVersion")}
    return {**item, "metadata": meta}


# Tokens.


def test_no_secret_contains_a_token(cluster: ControlPlane, kubeconfig: Path) -> None:
    """Otherwise a user who may read all Secrets could act as the writer, and impersonate any user."""
    secrets = json.loads(kubectl(cluster, "get", "secrets", "-A", "-o", "json"))["items"]
    assert not [one for one in secrets if one["metadata"]["namespace"] == "quarterdeck-system"]
    assert "kubernetes.io/service-account-token" not in {one["type"] for one in secrets}


@pytest.mark.parametrize("role", ROLES)
def test_tokens_expire_within_an_hour(kubeconfig: Path, role: str) -> None:
    credentials = Credentials(role, str(kubeconfig))
    found = claims_of(str(credentials.authorization()).removeprefix("Bearer "))
    assert found.subject == f"system:serviceaccount:quarterdeck-system:quarterdeck-{role}"
    assert 0 < found.lifetime <= 3600 and credentials.uses_requested_tokens


@pytest.mark.parametrize("role", ROLES)
def test_tokens_are_requested_with_the_token_of_the_pod(
    cluster: ControlPlane, pod: Path, role: str
) -> None:
    """Without a kubeconfig: with a token file and the two variables that the kubelet sets."""
    credentials = Credentials(role)
    found = claims_of(str(credentials.authorization()).removeprefix("Bearer "))
    assert found.subject == f"system:serviceaccount:quarterdeck-system:quarterdeck-{role}"
    assert credentials.host == cluster.url and credentials.uses_requested_tokens


def test_an_unreadable_token_of_the_pod_is_a_clear_error(pod: Path) -> None:
    credentials = Credentials("reader")
    pod.write_text("")
    with pytest.raises(Unavailable):
        credentials.authorization()


async def test_the_issuer_may_only_request_tokens_of_the_identities(kubeconfig: Path) -> None:
    transport = Transport(Credentials("issuer", str(kubeconfig)))
    issuer = ConsoleClient(transport)

    def asked(name: str) -> Coroutine[Any, Any, str]:
        return issuer.request_token(namespace="quarterdeck-system", name=name, seconds=600)

    for role in (*ROLES, "issuer"):
        assert await asked(f"quarterdeck-{role}")
    assert await code_of(asked("default")) == 403
    assert await code_of(ReaderClient(transport).latest(PODS, "")) == 403
    assert await code_of(issuer.get(SECRETS, namespace="quarterdeck-system", name="x")) == 403
    assert await code_of(UserClient(transport, Identity("admin")).get(USERS, name="admin")) == 403
    await transport.close()


def test_the_kubeconfig_is_renewed_after_half_of_its_lifetime(
    kubeconfig: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kubeconfig"
    path.write_bytes(kubeconfig.read_bytes())
    before = path.read_text()
    assert Credentials("reader", str(path)).authorization()
    assert path.read_text() == before
    monkeypatch.setattr(credentials_module, "time", FakeTime(16 * 24 * 3600))
    assert Credentials("reader", str(path)).authorization()
    assert path.read_text() != before and path.stat().st_mode & 0o777 == 0o600
    assert Credentials("writer", str(path)).authorization()


def test_the_last_token_is_used_while_the_kubeconfig_is_unreadable(
    kubeconfig: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kubeconfig"
    path.write_bytes(kubeconfig.read_bytes())
    credentials = Credentials("reader", str(path))
    first = credentials.authorization()
    path.write_bytes(kubeconfig.read_bytes()[:300])
    clock = FakeTime(3000)
    monkeypatch.setattr(tokens_module, "time", clock)
    assert credentials.authorization() == first
    clock.ahead += 1000
    with pytest.raises(Unavailable):
        credentials.authorization()
    path.write_bytes(kubeconfig.read_bytes())
    clock.ahead += 3
    assert credentials.authorization() != first


def test_other_kubeconfig_entries_and_symlinks_do_not_prevent_renewal(
    kubeconfig: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written_once, link = tmp_path / "written", tmp_path / "kubeconfig"
    config = json.loads(kubeconfig.read_bytes())
    config["users"].append({"name": "odd", "user": None})
    written_once.write_text(json.dumps(config))
    link.symlink_to(written_once)
    monkeypatch.setattr(credentials_module, "time", FakeTime(16 * 24 * 3600))
    assert Credentials("reader", str(link)).authorization()
    assert json.loads(written_once.read_bytes())["users"] != config["users"] and link.is_symlink()
    assert not replace_token(written_once, "another", "new")


async def test_a_refused_token_is_requested_again(
    cluster: ControlPlane, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Example: the service account was deleted and recreated by `install`."""
    monkeypatch.setattr(credentials_module, "RELOAD_INTERVAL", 0.0)
    transport = Transport(Credentials("reader", str(kubeconfig)))
    reader = ReaderClient(transport)
    await reader.latest(PODS, "")
    account = ("serviceaccount", "quarterdeck-reader", "-n", "quarterdeck-system")
    made = written(get(cluster, *account))
    kubectl(cluster, "delete", *account)
    put(cluster, made)
    async with asyncio.timeout(30):
        while await code_of(transport.request("GET", "/api/v1/pods?limit=1")) != 200:
            await asyncio.sleep(0.1)
    await transport.close()


async def test_cluster_editors_cannot_use_the_console_identities(
    cluster: ControlPlane, kubeconfig: Path
) -> None:
    role = native_role("editor", rule("*", "pods secrets serviceaccounts/token pods/exec", "core"))
    put(cluster, role)
    put(cluster, native_binding("eddy", "editor", "User eddy"))
    transport = Transport(Credentials("writer", str(kubeconfig)))
    eddy, admin = (UserClient(transport, Identity(name)) for name in ("eddy", "admin"))

    async def tried(who: UserClient, gvr: GVR, body: dict[str, Any]) -> int:
        place = "quarterdeck-system"
        return await code_of(who.create(gvr, body, namespace=place, dry_run=True))

    grab: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/service-account-token",
        "metadata": {
            "name": "grab",
            "annotations": {"kubernetes.io/service-account.name": "quarterdeck-writer"},
        },
    }
    # kube-apiserver applies a new admission policy within seconds.
    async with asyncio.timeout(30):
        while await tried(eddy, SECRETS, grab) != 403:
            await asyncio.sleep(0.2)
    assert await tried(admin, SECRETS, grab) == 403
    plain = {**grab, "type": "Opaque"}
    assert await tried(eddy, SECRETS, plain) == 200
    container = {"name": "a", "image": "a"}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "grab"},
        "spec": {"serviceAccountName": "quarterdeck-issuer", "containers": [container]},
    }
    assert await tried(eddy, PODS, pod) == 403
    assert await tried(admin, PODS, pod) == 200
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    path = "/api/v1/namespaces/quarterdeck-system/serviceaccounts/quarterdeck-writer/token"
    for who, code in (("eddy", 403), ("admin", 200)):
        asked = transport.request(
            "POST",
            path,
            headers=[*Identity(who).headers(), ("Content-Type", "application/json")],
            body=json.dumps(request).encode(),
        )
        assert await code_of(asked) == code
    await transport.close()


async def policies_are_in_force(console: ConsoleClient) -> None:
    """Wait for the admission policies, which kube-apiserver applies within seconds."""
    async with asyncio.timeout(30):
        while True:
            try:
                item = written(native_binding("probe", "cluster-admin"))
                await console.create(CLUSTER_ROLE_BINDINGS, item)
                await console.delete(CLUSTER_ROLE_BINDINGS, name="probe")
            except Forbidden:
                return


# Projection.


async def test_kubernetes_authorizes_a_platform_administrator(
    cluster: ControlPlane, runtime: Runtime
) -> None:
    eventually(
        lambda: runtime.informer(CLUSTER_ROLE_BINDINGS).store.get(Key("", PROJECTED)),
        "the projection of the first administrator",
    )
    client = runtime.as_user(Identity("admin"))
    assert (await client.get(USERS, name="admin"))["metadata"]["name"] == "admin"
    assert await code_of(runtime.as_user(Identity("alice")).get(USERS, name="admin")) == 403
    await runtime.close_connections()


def test_the_projection_is_updated_reverted_and_deleted(
    cluster: ControlPlane, runtime: Runtime
) -> None:
    name = "quarterdeck:globalrolebinding:ops"

    def subjects() -> list[str]:
        found = kubectl(
            cluster, "get", "clusterrolebinding", name, "--ignore-not-found", "-o", "json"
        )
        items = json.loads(found or "{}").get("subjects", [])
        return [subject["name"] for subject in items]

    source = binding("ops", ("User", "editor"), ("Group", "system:masters"))
    put(cluster, source)
    eventually(lambda: subjects() == ["editor"], "it follows the source")
    found = get(cluster, "clusterrolebinding", name)
    assert found["metadata"]["ownerReferences"][0]["name"] == "ops"
    kubectl(cluster, "delete", "clusterrolebinding", name)
    eventually(lambda: subjects() == ["editor"], "it comes back")
    mallory = json.dumps({"subjects": [{"kind": "User", "name": "mallory"}]})
    kubectl(cluster, "patch", "clusterrolebinding", name, "--type=merge", "-p", mallory)
    eventually(lambda: subjects() == ["editor"], "it is repaired")
    kubectl(cluster, "delete", "globalrolebindings.iam.kubesphere.io", "ops")
    eventually(lambda: subjects() == [], "it goes with the source")
    reasons = {
        event["reason"]
        for event in get(cluster, "events", "-n", "default")["items"]
        if event["involvedObject"]["name"] == "ops"
    }
    assert reasons >= {"Synced", "SubjectsRefused"}


# Users.


def state_of(cluster: ControlPlane, name: str) -> str:
    return str(get(cluster, "users.iam.kubesphere.io", name).get("status", {}).get("state", ""))


def test_a_plain_password_becomes_a_hash(cluster: ControlPlane, runtime: Runtime) -> None:
    put(cluster, user("paula", password=PASSWORD, state=None))
    eventually(lambda: state_of(cluster, "paula") == "Active", "paula is active")
    text = kubectl(
        cluster, "get", "users.iam.kubesphere.io", "paula", "-o", "yaml", "--show-managed-fields"
    )
    assert PASSWORD not in text
    hashed = get(cluster, "users.iam.kubesphere.io", "paula")["spec"]["password"]
    assert bcrypt.checkpw(PASSWORD.encode(), hashed.encode())

    def reasons() -> set[str]:
        events = get(cluster, "events", "-n", "default")["items"]
        return {e["reason"] for e in events if e["involvedObject"]["name"] == "paula"}

    eventually(lambda: reasons() == {"PasswordHashed", "Synced"}, "its events")


def test_users_of_a_kubesphere_cluster_can_be_applied(
    cluster: ControlPlane, runtime: Runtime
) -> None:
    hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()
    moved = user(
        "moved",
        password="$2a$" + hashed[4:],
        state="Disabled",
        annotations={
            "iam.kubesphere.io/last-password-change-time": "2023-05-01T08:00:00Z",
            "iam.kubesphere.io/uninitialized": "true",
            "iam.kubesphere.io/granted-clusters": "host,edge",
        },
        labels={"kubefed.io/managed": "false"},
        finalizers=["finalizers.kubesphere.io/users"],
    )
    moved["spec"] |= {"lang": "zh", "description": "x", "displayName": "y", "groups": ["g"]}
    moved["status"] |= {
        "lastLoginTime": "2023-06-01T08:00:00Z",
        "lastTransitionTime": "2023-05-01T08:00:00Z",
        "reason": "left",
    }
    put(cluster, moved)
    again = {**moved, "metadata": {**moved["metadata"], "name": "moved-too"}}
    again["status"] = {"lastLoginTime": "2023-06-01T08:00:00Z"}
    put(cluster, again)
    eventually(lambda: state_of(cluster, "moved-too") == "Active", "a hash is enough")
    found = get(cluster, "users.iam.kubesphere.io", "moved")
    assert found["spec"] == moved["spec"]
    assert found["status"] == moved["status"]


async def test_a_user_without_an_email_address_is_refused_with_a_clear_message(
    cluster: ControlPlane, kubeconfig: Path
) -> None:
    transport = Transport(Credentials("admin", str(cluster.kubeconfig)))
    admin = ConsoleClient(transport)
    item = {
        "apiVersion": "iam.kubesphere.io/v1alpha2",
        "kind": "User",
        "metadata": {"name": "nomail"},
        "spec": {"password": PASSWORD},
    }
    with pytest.raises(Invalid) as refused:
        await admin.create(USERS, item)
    assert "spec.email: Required value" in refused.value.message
    empty = await admin.create(USERS, {**item, "spec": {"email": ""}})
    assert empty["spec"]["email"] == ""
    for password in ("short1A", "alllowercase1", "NoDigitsHere", "Aa1" + "x" * 62):
        with pytest.raises(Invalid):
            bad = {"email": "", "password": password}
            await admin.create(USERS, {**item, "metadata": {"name": "bad"}, "spec": bad})
    await transport.close()


def test_a_password_refused_only_by_the_console_is_reported(
    cluster: ControlPlane, runtime: Runtime
) -> None:
    long = "Aa1" + "\u00e9" * 40
    put(cluster, user("umlaut", password=long, state=None))

    def warned() -> list[str]:
        events = get(cluster, "events", "-n", "default")["items"]
        return [e["reason"] for e in events if e["involvedObject"]["name"] == "umlaut"]

    eventually(lambda: warned() == ["PasswordRefused"], "the warning")
    assert state_of(cluster, "umlaut") == ""


def test_a_type_with_a_status_subresource_works_as_well(
    cluster: ControlPlane, runtime: Runtime
) -> None:
    crd = ("customresourcedefinition", "users.iam.kubesphere.io")
    change = [{"op": "add", "path": "/spec/versions/0/subresources", "value": {"status": {}}}]
    kubectl(cluster, "patch", *crd, "--type=json", "-p", json.dumps(change))

    def takes_no_status() -> bool:
        kubectl(cluster, "delete", "users.iam.kubesphere.io", "probe", "--ignore-not-found")
        put(cluster, user("probe", state="Probed", labels={"kubefed.io/managed": "true"}))
        return state_of(cluster, "probe") == ""

    try:
        eventually(takes_no_status, "the subresource is served")
        put(cluster, user("sub", password=PASSWORD, state=None))
        eventually(lambda: state_of(cluster, "sub") == "Active", "a state by the subresource")
    finally:
        undo = [{"op": "remove", "path": "/spec/versions/0/subresources"}]
        kubectl(cluster, "patch", *crd, "--type=json", "-p", json.dumps(undo))
    # kube-apiserver reloads the type and closes existing watches. Later tests need synced caches.
    eventually(lambda: not takes_no_status(), "the subresource is gone")
    put(cluster, user("after", password=PASSWORD, state=None))
    eventually(lambda: state_of(cluster, "after") == "Active", "the cache follows")


# Users of identity providers.


@pytest.fixture
def current(runtime: Runtime) -> Iterator[Runtime]:
    set_host_cluster(runtime)
    options.clear_cache()
    yield runtime
    unset_host_cluster()
    options.clear_cache()


async def test_a_user_of_a_provider_is_created_with_the_console_identity(
    cluster: ControlPlane, current: Runtime
) -> None:
    assert await current.wait_synced(USERS, timeout=20)
    await wait_for_bindings()
    made = await create_linked_user("company", Person("cn|jane"), "jane", "jane@example.com")
    assert linked_user("company", "cn|jane") == made
    eventually(lambda: state_of(cluster, "jane") == "Active", "jane is active")
    for name, email in (("jane", "x@example.com"), ("x", "jane@example.com")):
        with pytest.raises(NameOrEmailTaken):
            await create_linked_user("company", Person("other"), name, email)
    # This name is used by the certificate of the cluster's administrator, not by a User.
    kubectl(cluster, "create", "clusterrolebinding", "old", "--clusterrole=view", "--user=ghost")
    eventually(lambda: current.informer(CLUSTER_ROLE_BINDINGS).store.get(Key("", "old")), "it")
    with pytest.raises(NameOrEmailTaken):
        await create_linked_user("company", Person("other"), "ghost", "ghost@example.com")
    await current.close_connections()


async def test_providers_are_read_from_the_kubesphere_config_map(
    cluster: ControlPlane, current: Runtime
) -> None:
    assert await options.read_current_providers() == options.ProviderCatalog()
    kubectl(cluster, "create", "namespace", "kubesphere-system")
    listed = [{"name": "hub", "type": "GitHubIdentityProvider",
               "provider": {"clientID": "x", "clientSecret": "y"}}]  # fmt: skip
    text = json.dumps({"authentication": {"oauthOptions": {"identityProviders": listed}}})
    kubectl(
        cluster, "create", "configmap", "kubesphere-config", "-n", "kubesphere-system",
        f"--from-literal=kubesphere.yaml={text}",
    )  # fmt: skip
    options.clear_cache()
    assert list((await options.read_current_providers()).entries) == ["hub"]
    await current.close_connections()
