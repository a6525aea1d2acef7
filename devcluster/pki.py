"""The cluster's certificate authority, server certificate and client certificates."""

import ipaddress
import os
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFETIME = timedelta(days=3650)


def write_private(path: Path, data: bytes) -> None:
    """Write a file atomically. The file is readable only by its owner from the moment it is
    created.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    temporary.replace(path)


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its private key in PEM format."""

    certificate: bytes
    key: bytes


class Authority:
    """Certificate authority stored in `folder`, created on first use."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder
        self.certificate_file = folder / "ca.crt"
        key_file = folder / "ca.key"
        if not (key_file.exists() and self.certificate_file.exists()):
            self._make(key_file)
        key = serialization.load_pem_private_key(key_file.read_bytes(), None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError(f"{key_file} is not an elliptic curve key")
        self._key = key
        self._certificate = x509.load_pem_x509_certificate(self.pem)

    @property
    def pem(self) -> bytes:
        return self.certificate_file.read_bytes()

    def _make(self, key_file: Path) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name("devcluster", ())
        builder = (
            _builder(name, name, key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs=True), critical=True)
        )
        write_private(key_file, _pem(key))
        certificate = builder.sign(key, hashes.SHA256())
        write_private(self.certificate_file, certificate.public_bytes(serialization.Encoding.PEM))

    def issue_client(self, user: str, groups: Sequence[str]) -> KeyPair:
        """Issue a client certificate for `user` with `groups`."""
        return self._issue(user, groups, ExtendedKeyUsageOID.CLIENT_AUTH, None)

    def sign(self, request: bytes, lifetime: timedelta) -> bytes:
        """Return a client certificate for a certificate signing request. Both are in PEM format.

        Raise ValueError if the request is malformed, its signature is invalid or it has no
        elliptic curve key.
        """
        asked = x509.load_pem_x509_csr(request)
        key = asked.public_key()
        if not isinstance(key, ec.EllipticCurvePublicKey) or not asked.is_signature_valid:
            raise ValueError("the request has an invalid signature or no elliptic curve key")
        builder = _builder(asked.subject, self._certificate.subject, key, lifetime)
        return self._signed(builder, ExtendedKeyUsageOID.CLIENT_AUTH, None)

    def issue_server(self) -> KeyPair:
        """Issue a server certificate for the loopback names and addresses."""
        loopback = (ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("::1"))
        names: list[x509.GeneralName] = [x509.DNSName("localhost"), x509.DNSName("kubernetes")]
        names += [x509.IPAddress(address) for address in loopback]
        alternative = x509.SubjectAlternativeName(names)
        return self._issue("kube-apiserver", (), ExtendedKeyUsageOID.SERVER_AUTH, alternative)

    def _issue(
        self,
        name: str,
        groups: Sequence[str],
        purpose: x509.ObjectIdentifier,
        names: x509.SubjectAlternativeName | None,
    ) -> KeyPair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_name(name, groups), self._certificate.subject, key.public_key())
        return KeyPair(self._signed(builder, purpose, names), _pem(key))

    def _signed(
        self,
        builder: x509.CertificateBuilder,
        purpose: x509.ObjectIdentifier,
        names: x509.SubjectAlternativeName | None,
    ) -> bytes:
        builder = (
            builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()),
                critical=False,
            )
        )
        if names:
            builder = builder.add_extension(names, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        return certificate.public_bytes(serialization.Encoding.PEM)

    def server_context(self) -> ssl.SSLContext:
        """Return the TLS context of the server. Client certificates of this authority are optional."""
        pair = self.issue_server()
        certificate, key = self.folder / "server.crt", self.folder / "server.key"
        write_private(certificate, pair.certificate)
        write_private(key, pair.key)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=self.certificate_file)
        context.load_cert_chain(certificate, key)
        context.verify_mode = ssl.CERT_OPTIONAL
        context.set_alpn_protocols(["http/1.1"])
        return context


def _name(common: str, organizations: Sequence[str]) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, text) for text in organizations]
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    lifetime: timedelta = _LIFETIME,
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        # Like kube-controller-manager.
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + lifetime)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
