"""curl and kubectl with tokens and with downloaded kubeconfigs."""

import json
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest
import yaml

from accounts.kubeconfigs.certificates import make_key
from accounts.kubeconfigs.kubeconfig import signing_request
from console.kube.gvr import CERTIFICATE_SIGNING_REQUESTS, SECRETS, USERS
from console.kube.identity import Identity
from tests.accounts.conftest import PASSWORD
from tests.accounts.kubesphere.objects import CONFIG_MAP, TEAM, Manifest, global_binding, user
from tests.accounts.kubesphere.world import World
from tests.accounts.oauth.clients import SECRET
from tests.controlplane.plugin import report_skipped
from tests.controlplane.waiting import eventually

KAPIS = "/kapis/iam.kubesphere.io/v1alpha2/users/"


def curl(*arguments: str) -> tuple[int, Manifest]:
    program = shutil.which("curl")
    if program is None:
        report_skipped("curl with a token", "there is no curl on this machine")
        pytest.skip("no curl")
    done = subprocess.run(
        [program, "-sS", "-w", "\n%{http_code}", *arguments],
        capture_output=True, text=True, timeout=30, check=True,
    )  # fmt: skip
    body, _, code = done.stdout.rpartition("\n")
    return int(code), json.loads(body)


def signed_in(world: World, name: str) -> Manifest:
    status, body = curl(
        f"{world.url}/oauth/token", "-u", f"kubesphere:{SECRET}", "-d", "grant_type=password",
        "-d", f"username={name}", "--data-urlencode", f"password={PASSWORD}",
    )  # fmt: skip
    assert status == 200, body
    return body


def token(world: World, name: str) -> str:
    return str(signed_in(world, name)["access_token"])


def lifetime(world: World, name: str) -> int:
    return int(signed_in(world, name)["expires_in"])


def test_the_token_lifetime_of_the_kubesphere_config_map_is_used(world: World) -> None:
    """The file defines clients, but no lifetime."""
    assert lifetime(world, "jane") == 7200
    namespace: Manifest = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "kubesphere-system"},
    }
    world.kubectl("apply", "-f", "-", input=yaml.safe_dump_all([namespace, CONFIG_MAP]))
    eventually(lambda: lifetime(world, "jane") == 5400, "what the ConfigMap says", timeout=30)
    world.kubectl("delete", "configmap", "kubesphere-config", "-n", "kubesphere-system")
    eventually(lambda: lifetime(world, "jane") == 7200, "the end of it", timeout=30)


def kubectl(world: World, user: Manifest, *arguments: str) -> "subprocess.CompletedProcess[str]":
    config = json.loads(world.cluster.kubeconfig.read_text())
    config["users"][0]["user"] = user
    path = world.folder / "somebody.kubeconfig"
    path.write_text(json.dumps(config))
    return world.cluster.kubectl(*arguments, kubeconfig=path)


def whoami(done: "subprocess.CompletedProcess[str]") -> tuple[str, set[str]]:
    assert done.returncode == 0, done.stderr
    info = json.loads(done.stdout)["status"]["userInfo"]
    return info["username"], set(info.get("groups") or [])


def test_a_token_works_with_curl_and_kubectl(world: World) -> None:
    bearer = token(world, "jane")
    header = f"Authorization: Bearer {bearer}"
    status, found = curl(f"{world.url}{KAPIS}jane", "-H", header)
    assert (status, found["kind"], found["metadata"]["name"]) == (200, "User", "jane")
    assert "password" not in found["spec"]
    assert found["status"]["state"] == "Active"
    annotations = found["metadata"]["annotations"]
    assert annotations["iam.kubesphere.io/globalrole"] == "platform-regular"
    assert curl(f"{world.url}{KAPIS}pat", "-H", header)[0] == 403
    assert curl(f"{world.url}{KAPIS}jane")[0] == 401
    assert curl(f"{world.url}/kapis/clusters/host{KAPIS[6:]}jane", "-H", header)[0] == 200

    done = kubectl(world, {"token": bearer}, "auth", "whoami", "-o", "json")
    assert whoami(done) == ("jane", {TEAM, "system:authenticated"})
    done = kubectl(world, {"token": bearer}, "get", "configmaps", "-n", "shop")
    assert done.returncode == 0, done.stderr
    done = kubectl(world, {"token": bearer}, "get", "secrets", "-n", "kube-system")
    assert "Forbidden" in done.stderr
    assert 'User "jane"' in done.stderr


def download(world: World, name: str, folder: Path) -> Path:
    path = folder / f"{name}.kubeconfig"
    path.write_text(world.visitor(name).kubeconfig())
    return path


def test_a_downloaded_kubeconfig_works_with_kubectl(world: World, tmp_path: Path) -> None:
    path = download(world, "jane", tmp_path)
    config = yaml.safe_load(path.read_text())
    assert config["current-context"] == "jane@local"
    done = world.cluster.kubectl("auth", "whoami", "-o", "json", kubeconfig=path)
    assert whoami(done) == ("jane", {TEAM, "system:authenticated"})
    done = world.cluster.kubectl("get", "pods", "-n", "shop", kubeconfig=path)
    assert done.returncode == 0, done.stderr
    done = world.cluster.kubectl("get", "nodes", kubeconfig=path)
    assert "Forbidden" in done.stderr

    # Later downloads return the same certificate once the groups are cached everywhere, and no
    # signing request remains.
    def is_the_last() -> bool:
        last, again = (download(world, "jane", tmp_path).read_text() for _ in range(2))
        return last == again

    eventually(is_the_last, "one kubeconfig that stays")
    label = "kubesphere.io/username=jane"
    assert world.listed(CERTIFICATE_SIGNING_REQUESTS, label) == []
    secret = world.get(SECRETS, "kubeconfig-jane", "quarterdeck-kubeconfigs")
    assert secret["data"]["sealed-pending.key"] == ""


def test_changed_group_membership_issues_a_new_certificate(world: World, tmp_path: Path) -> None:
    download(world, "pat", tmp_path)
    binding = {
        "apiVersion": "iam.kubesphere.io/v1alpha2",
        "kind": "GroupBinding",
        "metadata": {
            "name": "pat-in-team",
            "labels": {"kubesphere.io/workspace": "demo"},
        },
        "groupRef": {"apiGroup": "iam.kubesphere.io", "kind": "Group", "name": TEAM},
        "users": ["pat"],
    }
    world.put(binding)

    def groups() -> set[str]:
        path = download(world, "pat", tmp_path)
        done = world.cluster.kubectl("auth", "whoami", "-o", "json", kubeconfig=path)
        return whoami(done)[1] - {"system:authenticated"}

    eventually(lambda: groups() == {TEAM}, "pat is in the group")
    assert world.get(USERS, "pat")["spec"]["groups"] == [TEAM]
    world.kubectl("delete", "groupbindings.iam.kubesphere.io", "pat-in-team", "--timeout=30s")
    eventually(lambda: groups() == set(), "pat has left")
    assert not world.get(USERS, "pat")["spec"].get("groups")


def does(world: World, kubeconfig: Path, *asked: str) -> bool:
    done = world.cluster.kubectl(*asked, kubeconfig=kubeconfig)
    assert done.returncode == 0 or "Forbidden" in done.stderr, done.stderr
    return done.returncode == 0


def agrees(world: World, kubeconfig: Path, asked: tuple[str, ...], answer: bool) -> bool:
    return does(world, kubeconfig, *asked) is answer


def comes_to(world: World, kubeconfig: Path, answer: bool) -> None:
    """Wait until kube-apiserver allows, or denies, everything that the user's roles grant: one
    platform role and one project role.
    """
    asked = (("get", "users.iam.kubesphere.io"), ("get", "pods", "-n", "shop"))
    for one in asked:
        eventually(partial(agrees, world, kubeconfig, one, answer), f"{one}: {answer}")


def test_the_certificate_of_a_disabled_user_has_no_permissions(
    world: World, tmp_path: Path
) -> None:
    """The certificate still authenticates, because Kubernetes can't revoke certificates."""
    path = download(world, "pat", tmp_path)
    comes_to(world, path, True)
    admin, page = world.visitor("admin"), "/access/accounts/users/pat"
    uid = world.get(USERS, "pat")["metadata"]["uid"]
    actions = "/clusters/host/users.iam.kubesphere.io/pat/actions"
    assert admin.post(page, f"{actions}/disable", uid=uid)[0] == 200
    try:
        comes_to(world, path, False)
        done = world.cluster.kubectl("auth", "whoami", "-o", "json", kubeconfig=path)
        assert whoami(done)[0] == "pat"
        kept = (SECRETS, "kubeconfig-pat", "quarterdeck-kubeconfigs")
        eventually(lambda: not world.get(*kept), "no more can be downloaded")
    finally:
        assert admin.post(page, f"{actions}/enable", uid=uid)[0] == 200
    comes_to(world, path, True)


def test_the_certificate_of_a_deleted_user_has_no_permissions(world: World, tmp_path: Path) -> None:
    """Manually created bindings are deleted with the user."""
    made = user("robin")
    del made["metadata"]["finalizers"]
    world.put(made, global_binding("robin-people", "people-managers", "User robin"))
    world.kubectl("create", "rolebinding", "robin", "-n", "shop", "--role=viewer", "--user=robin")
    path = download(world, "robin", tmp_path)
    comes_to(world, path, True)
    world.kubectl("delete", "users.iam.kubesphere.io", "robin", "--timeout=60s")
    comes_to(world, path, False)


def test_forged_signing_requests_are_deleted(world: World) -> None:
    """Even with the console's labels, regardless of the requester."""
    forged = signing_request(make_key(), Identity("jane", ("admins",)))
    world.put(forged)
    name = forged["metadata"]["name"]
    eventually(lambda: not world.get(CERTIFICATE_SIGNING_REQUESTS, name), "it is taken away")
