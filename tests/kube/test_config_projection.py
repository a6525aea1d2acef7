"""ConfigMaps without their values, and ServiceAccounts."""

from typing import Any

import msgspec

from console.kube.gvr import CONFIG_MAPS, SERVICE_ACCOUNTS
from tests.kube.projecting import projected

CANARY = "s3cr3t-canary"


def test_size_counts_bytes_of_text_and_base64() -> None:
    found = projected(
        CONFIG_MAPS,
        data={"b.conf": "größe", "a.conf": ""},
        binaryData={"c.bin": "AAEC", "d.bin": "AA=="},
        immutable=True,
    )
    assert found.keys == ("a.conf", "b.conf", "c.bin", "d.bin")
    assert found.size == len("größe".encode()) + 3 + 1
    assert found.immutable


def test_values_of_a_config_map_are_not_kept() -> None:
    applied = {"kubectl.kubernetes.io/last-applied-configuration": f'{{"data":{{"k":"{CANARY}"}}}}'}
    found = projected(CONFIG_MAPS, {"annotations": applied}, data={"k": CANARY})
    assert CANARY not in repr(msgspec.structs.asdict(found))
    assert found.size == len(CANARY)


def test_config_map_without_data_is_accepted() -> None:
    items: list[dict[str, Any]] = [{"data": None}, {"data": {}}, {}]
    for item in items:
        found = projected(CONFIG_MAPS, **item)
        assert (found.keys, found.size, found.immutable) == ((), 0, False)


def test_names_of_an_accounts_secrets_are_kept() -> None:
    found = projected(
        SERVICE_ACCOUNTS,
        {"annotations": {"iam.kubesphere.io/role": "viewer"}},
        secrets=[{"name": "token-1"}, {}],
        imagePullSecrets=[{"name": "registry"}],
        automountServiceAccountToken=False,
    )
    assert (found.secrets, found.pull_secrets) == (("token-1",), ("registry",))
    assert (found.automount, found.role) == (False, "viewer")
    assert projected(SERVICE_ACCOUNTS, secrets=None).automount is None
