"""Kubeconfig download. `tests/accounts/kubesphere` uses it with kubectl on a real cluster."""

import base64
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from pytest_django import Settings

from accounts.kubeconfigs.certificates import (
    expires,
    is_certificate_for,
    is_request_for,
    make_key,
    make_request,
)
from accounts.kubeconfigs.kubeconfig import ASKED_ANNOTATION
from accounts.kubeconfigs.storage import KubeconfigStore, StoredKubeconfig
from accounts.myaccount import kubeconfig
from console.audit.models import AuditRecord
from console.kube.compatibility import ServerVersion
from console.kube.errors import Forbidden
from console.kube.gvr import SECRETS, USERS
from console.kube.identity import Identity
from devcluster.pki import Authority
from tests.accounts.conftest import Browser
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "/account/kubeconfig"


@pytest.fixture
async def alice(browser: Browser) -> Browser:
    await browser.login("alice")
    return browser


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubeconfig, "PATIENCE", 0.2)
    monkeypatch.setattr(kubeconfig, "LOOK_EVERY", 0.05)


async def keep(
    runtime: StaticRuntime,
    folder: Path,
    *,
    name: str = "alice",
    groups: tuple[str, ...] = (),
    minutes: int = 7200,
) -> StoredKubeconfig:
    key = make_key()
    request = make_request(key, Identity(name, groups))
    certificate = Authority(folder).sign(request, timedelta(minutes=minutes)).decode()
    kept = StoredKubeconfig("alice", key, certificate)
    await KubeconfigStore(runtime.console).save(kept)
    return kept


async def test_the_kubeconfig_is_downloaded_without_caching(
    alice: Browser, runtime: StaticRuntime, tmp_path: Path, settings: Settings
) -> None:
    settings.KUBECONFIG_SERVER = "https://kubernetes.example.com:6443"
    kept = await keep(runtime, tmp_path)
    answer = await alice.post(PATH)
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("application/yaml")
    assert answer["Content-Disposition"] == 'attachment; filename="kubeconfig-alice.yaml"'
    assert "no-store" in answer["Cache-Control"]
    first = answer.content.decode().partition("\n")[0]
    assert (
        first == f"# The certificate expires on {expires(kept.certificate):%Y-%m-%d %H:%M:%S} UTC."
    )
    config = yaml.safe_load(answer.content)
    (user,), (cluster,) = config["users"], config["clusters"]
    assert base64.b64decode(user["user"]["client-key-data"]).decode() == kept.key
    assert base64.b64decode(user["user"]["client-certificate-data"]).decode() == kept.certificate
    assert cluster["cluster"] == {"server": "https://kubernetes.example.com:6443"}
    assert config["current-context"] == "alice@local"
    row = await AuditRecord.objects.filter(resource="certificatesigningrequests").aget()
    assert (row.actor, row.verb, row.name) == ("alice", "create", "alice")


async def test_page_names_the_signer_if_the_cluster_ignores_the_lifetime(
    alice: Browser, runtime: StaticRuntime
) -> None:
    text = "The cluster's signer determines how long the certificate is valid."
    for minor, shown in ((21, True), (22, False)):
        runtime.served.version = ServerVersion((1, minor), f"v1.{minor}.0")
        assert (text in (await alice.get("/account")).content.decode()) is shown


async def test_keys_in_secrets_are_encrypted_and_bound_to_the_user(
    runtime: StaticRuntime, tmp_path: Path, settings: Settings
) -> None:
    """A user who can write Secrets can't inject a plain key or another user's key."""
    kept, keeper = await keep(runtime, tmp_path), KubeconfigStore(runtime.console)
    await keeper.save(replace(kept, user="bob"))
    [alice, bob] = runtime.console.of(SECRETS).values()
    texts = {name: base64.b64decode(text).decode() for name, text in alice["data"].items()}
    assert "PRIVATE KEY" not in str(texts) and texts["tls.crt"] == kept.certificate
    assert (await keeper.find("alice")).key == kept.key
    plain = base64.b64encode(kept.key.encode()).decode()
    for data in (dict.fromkeys(alice["data"], plain), bob["data"], {}):
        runtime.console.put(SECRETS, {**alice, "data": data})
        assert (await keeper.find("alice")).key == ""
    assert (await keeper.find("bob")).key == kept.key
    settings.SECRET_KEY = "another"  # noqa: S105
    assert (await keeper.find("bob")).key == ""


async def test_the_first_request_is_recorded_for_the_controllers(
    alice: Browser, runtime: StaticRuntime
) -> None:
    answer = await alice.post(PATH)
    assert (answer.status_code, answer["Location"]) == (302, "/account#kubeconfig")
    assert "The certificate is not ready yet" in (await alice.get("/account")).content.decode()
    found = runtime.console.of(USERS)["alice"]["metadata"]["annotations"]
    assert found[ASKED_ANNOTATION] == "true"


@pytest.mark.parametrize(
    "what", [{"name": "admin"}, {"minutes": -1}, {"groups": ("left-meanwhile",)}]
)
async def test_unsuitable_certificates_are_not_returned(
    alice: Browser, runtime: StaticRuntime, tmp_path: Path, what: dict[str, Any]
) -> None:
    await keep(runtime, tmp_path, **what)
    assert (await alice.post(PATH)).status_code == 302


def test_a_certificate_matches_exactly_one_user_and_groups(tmp_path: Path) -> None:
    """A change of group membership requires a new certificate."""
    names, groups = ("ann", "ben"), ((), ("red",), ("blue",), ("red", "blue"))
    people = [Identity(name, found) for name in names for found in groups]
    authority, key, another = Authority(tmp_path), make_key(), make_key()
    for one in people:
        request = make_request(key, one)
        certificate = authority.sign(request, timedelta(hours=1)).decode()
        assert [who for who in people if is_request_for(request, key, who)] == [one]
        assert [who for who in people if is_certificate_for(certificate, key, who)] == [one]
        assert not is_request_for(request, another, one) and not is_certificate_for(
            certificate, another, one
        )


async def test_missing_permissions_of_the_console_are_reported(
    alice: Browser, runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise Forbidden(403, "no")

    monkeypatch.setattr(runtime.console, "get", refuse)
    assert (await alice.post(PATH)).status_code == 302
    assert "Could not create the kubeconfig" in (await alice.get("/account")).content.decode()


async def test_the_download_requires_a_session_and_post(browser: Browser) -> None:
    assert (await browser.post(PATH)).status_code in (302, 401, 403)
    await browser.login("alice")
    assert (await browser.get(PATH)).status_code == 405


@pytest.mark.parametrize(
    ("hours", "text"), [(24, "one day"), (168, "7 days"), (36, "36 hours"), (1, "one hour")]
)
async def test_the_page_shows_the_lifetime(
    alice: Browser, settings: Settings, hours: int, text: str
) -> None:
    assert settings.KUBECONFIG_HOURS == 24
    settings.KUBECONFIG_HOURS = hours
    assert (
        f"The certificate is valid for at most {text}. "
        in (await alice.get("/account")).content.decode()
    )
