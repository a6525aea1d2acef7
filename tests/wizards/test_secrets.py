"""The wizard of Secrets checks certificates and keys, and is only for new objects."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from console.kinds.secrets import SecretKind
from console.kube.gvr import SERVICE_ACCOUNTS, Key
from console.ui.core.actions import EditForm
from console.ui.wizard.wizard import WizardDraft
from console.wizards.secrets import SECRET
from tests.support.wizard_forms import EXISTING, filled_in, offline, step_html
from tests.wizards.cached_objects import CachedObject


def certificate(days: int = 9) -> tuple[str, str]:
    """Return a certificate for shop.example.com that expires in `days`, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "shop.example.com")])
    until = datetime.now(UTC) + timedelta(days=days)
    names = x509.SubjectAlternativeName([x509.DNSName("shop.example.com")])
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(until - timedelta(days=30)).not_valid_after(until)
    signed = made.add_extension(names, critical=False).sign(key, SHA256())
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return signed.public_bytes(Encoding.PEM).decode(), private.decode()


def new_secret(kind: str, **values: str) -> WizardDraft:
    """Return a draft of this type with values of its fields."""
    draft = WizardDraft.of(SECRET, EXISTING, [])
    filled_in(draft, kind=kind)
    filled_in(draft, **{f"kind.{kind}.{name}": value for name, value in values.items()})
    return draft


def problems(draft: WizardDraft) -> list[str]:
    return [str(error) for _field, error in draft.errors(SECRET.steps[0])]


def test_a_certificate_and_its_key_are_accepted() -> None:
    text, key = certificate()
    draft = new_secret("tls", certificate=text, key=key)
    assert draft.main["type"] == "kubernetes.io/tls"
    assert draft.main["stringData"] == {"tls.crt": text, "tls.key": key}
    assert problems(draft) == []


@pytest.mark.parametrize(
    ("days", "words"),
    [(90, "For shop.example.com. Valid until "), (9, "Expires in 8 days, on "), (-1, "For ")],
)
def test_the_expiry_of_a_certificate_is_shown(days: int, words: str) -> None:
    text, key = certificate(days)
    draft = new_secret("tls", certificate=text, key=key)
    html = step_html(draft, SECRET.steps[0])
    assert f">{words}" in html


def test_a_registry_is_added_to_the_default_service_account() -> None:
    account = {
        "metadata": {"name": "default", "namespace": "shop", "labels": {"a": "b"}, "uid": "1"},
        "imagePullSecrets": [{"name": "mirror"}],
        "automountServiceAccountToken": False,
    }
    entry = CachedObject(Key("shop", "default"), manifest=account)
    draft = WizardDraft.of(SECRET, offline(objects={SERVICE_ACCOUNTS: (entry,)}), [])
    filled_in(draft, kind="registry", name="hub")
    assert draft.changed_objects == frozenset()
    filled_in(draft, **{"kind.registry.account": "on"})
    assert draft.changed_objects == {("ServiceAccount", "default")}
    filled_in(draft, name="quay")
    assert draft.documents["account"] == {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        **account,
        "metadata": {"name": "default", "namespace": "shop", "labels": {"a": "b"}},
        "imagePullSecrets": [{"name": "mirror"}, {"name": "quay"}],
    }
    assert draft.yaml_only() == []
    filled_in(draft, kind="opaque")
    assert [one["kind"] for one in draft.manifests] == ["Secret"]
    unseen = WizardDraft.of(SECRET, offline(), [])
    filled_in(unseen, kind="registry")
    assert "all pods of this project" not in step_html(unseen, SECRET.steps[0])


def test_an_expired_certificate_is_reported() -> None:
    text, key = certificate(days=-1)
    [problem] = problems(new_secret("tls", certificate=text, key=key))
    assert problem.startswith("The certificate expired on ")


def test_a_key_of_another_certificate_is_reported() -> None:
    draft = new_secret("tls", certificate=certificate()[0], key=certificate()[1])
    assert problems(draft) == ["The key does not belong to the certificate."]


def test_certificates_that_are_no_chain_are_reported() -> None:
    text, key = certificate()
    other = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Other")])
    made = x509.CertificateBuilder(
        other,
        other,
        (signer := ec.generate_private_key(ec.SECP256R1())).public_key(),
        x509.random_serial_number(),
        datetime.now(UTC),
        datetime.now(UTC) + timedelta(days=1),
    ).sign(signer, SHA256())
    chain = text + made.public_bytes(Encoding.PEM).decode()
    [problem] = problems(new_secret("tls", certificate=chain, key=key))
    assert problem.startswith("The certificates are no chain")


def test_a_text_that_is_no_certificate_is_reported() -> None:
    assert len(problems(new_secret("tls", certificate="x", key="y"))) == 2


def test_a_registry_gets_its_encoded_credentials() -> None:
    row = "auths.0"
    draft = new_secret(
        "registry",
        **{f"{row}.key": "registry.example.com", f"{row}.username": "bot", f"{row}.password": "s3"},
    )
    held = json.loads(draft.main["stringData"][".dockerconfigjson"])
    assert held == {
        "auths": {"registry.example.com": {"username": "bot", "password": "s3", "auth": "Ym90OnMz"}}
    }
    assert problems(draft) == []


def test_values_of_another_type_return_with_the_type() -> None:
    draft = new_secret("opaque", **{"stringData.0.key": "token", "stringData.0.value": "abc"})
    filled_in(draft, kind="tls")
    filled_in(draft, kind__tls__certificate="x")
    assert draft.main["stringData"] == {"tls.crt": "x"}
    filled_in(draft, kind="opaque")
    assert draft.main["stringData"] == {"token": "abc"} and draft.main["type"] == "Opaque"
    filled_in(draft, kind="tls")
    assert draft.main["stringData"] == {"tls.crt": "x"}
    assert "token" not in draft.text


def test_existing_secrets_are_not_edited_with_the_wizard() -> None:
    assert SecretKind.wizard is SECRET
    assert not any(isinstance(one, EditForm) for one in SecretKind().every_action)
