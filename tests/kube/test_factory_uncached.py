"""Secret values never reach a store."""

import base64
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.kube.factory import NeverCached, UnknownKind
from console.kube.gvr import GVR, PODS, SECRETS, Key
from console.kube.informer import Informer
from console.kube.uncached import MOST_KEYS, UNCACHED, SecretMeta, redact_secret
from tests.kube.fakes import raw
from tests.support.informers import preloaded
from tests.support.staticruntime import StaticRuntime

CANARY = "hunter2-canary"
HIDDEN = base64.b64encode(CANARY.encode()).decode()


def secret(**fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": "s",
            "namespace": "team",
            "uid": "u",
            "resourceVersion": "7",
            "creationTimestamp": "2026-11-20T10:00:00Z",
            "labels": {"app": "web"},
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": json.dumps({"data": HIDDEN}),
                "note": CANARY,
            },
            "managedFields": [{"fieldsV1": {"f:data": {}}}],
        },
        "type": "Opaque",
        "data": {"password": HIDDEN, "user": HIDDEN},
        **fields,
    }


def held(item: dict[str, Any]) -> Informer[Any]:
    private = UNCACHED[SECRETS]
    informer: Informer[Any] = Informer(SECRETS, private.decode)
    informer.replace([private.redact(raw(item))], "7")
    return informer


def test_metadata_type_and_number_of_keys_are_kept() -> None:
    entry = held(secret(immutable=True)).store.get(Key("team", "s"))
    assert entry is not None
    found: SecretMeta = entry.projection
    assert (found.type, found.keys, found.immutable) == ("Opaque", 2, True)
    assert found.size == 2 * len(CANARY)
    assert found.sizes == (("password", len(CANARY)), ("user", len(CANARY)))
    assert (found.labels, found.uid) == ({"app": "web"}, "u")
    assert found.created is not None
    assert entry.resource_version == "7"


def test_values_and_annotations_are_not_kept() -> None:
    entry = held(secret()).store.get(Key("team", "s"))
    assert entry is not None
    text = json.dumps(entry.original()) + repr(entry.projection)
    for word in (CANARY, HIDDEN, "annotations", "managedFields", "f:data"):
        assert word not in text


def test_number_of_kept_keys_is_limited() -> None:
    names = [f"key-{number:03}" for number in range(MOST_KEYS + 1)]
    entry = held(secret(data=dict.fromkeys(names, HIDDEN))).store.get(Key("team", "s"))
    assert entry is not None
    assert [name for name, _size in entry.projection.sizes] == names[:MOST_KEYS]
    assert entry.projection.keys == len(names)


@given(st.dictionaries(st.text(), st.text() | st.none() | st.integers() | st.lists(st.text())))
def test_unknown_fields_are_dropped(fields: dict[str, Any]) -> None:
    known = {"metadata": secret()["metadata"], "type": "Opaque"}
    unknown = {f"x{name}": [value, CANARY] for name, value in fields.items()}
    text = bytes(redact_secret(raw({**unknown, **known})))
    assert CANARY.encode() not in text


@pytest.mark.parametrize("wrong", [{"data": "text"}, {"data": [CANARY]}, {"type": 7}])
def test_object_that_is_no_secret_is_skipped_with_its_version(wrong: dict[str, Any]) -> None:
    redacted = redact_secret(raw(secret(**wrong)))
    assert bytes(redacted) == b'{"metadata":{"resourceVersion":"7"}}'
    informer = held(secret(**wrong))
    assert (len(informer.store), informer.store.undecodable) == (0, 1)


def test_truncated_object_is_refused() -> None:
    with pytest.raises(msgspec.DecodeError):
        redact_secret(msgspec.Raw(b'{"metadata":{"name":"s"'))


def test_secrets_have_no_informer() -> None:
    runtime = StaticRuntime({PODS: preloaded(PODS)})
    with pytest.raises(NeverCached):
        runtime.informer(SECRETS)
    with pytest.raises(UnknownKind):
        runtime.informer(GVR("", "v1", "secrets"))
