"""Certificate authority of one control plane."""

import ipaddress
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

__all__ = ["Authority", "KeyPair", "write_private_key"]

_LIFETIME = timedelta(days=2)
# Clocks of containers and hosts can differ by seconds.
_CLOCK_SKEW = timedelta(minutes=5)


class KeyPair(NamedTuple):
    """Certificate and key files in PEM format."""

    certificate: Path
    key: Path


class Authority:
    """Certificate authority for server and client certificates. Its own certificate is
    `certificate`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "controlplane-test-ca")])
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.key = folder / "ca.key"
        _write_key(self.key, self._key)
        builder = _certificate(self._name, self._name, self._key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        builder = builder.add_extension(_key_usage(signs_certificates=True), True)
        self.certificate = self._sign(builder, "ca")

    def server(self, name: str, *, hosts: Sequence[str], addresses: Sequence[str]) -> KeyPair:
        """Issue a server certificate for these host names and IP addresses."""
        alternatives: list[x509.GeneralName] = [x509.DNSName(host) for host in hosts]
        alternatives += [x509.IPAddress(ipaddress.ip_address(one)) for one in addresses]
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        extension = x509.SubjectAlternativeName(alternatives)
        return self._issue(name, subject, ExtendedKeyUsageOID.SERVER_AUTH, extension)

    def client(self, file_name: str, user: str, groups: Sequence[str] = ()) -> KeyPair:
        """Issue a client certificate. Kubernetes uses CN as the username and each O as a group."""
        attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        attributes.append(x509.NameAttribute(NameOID.COMMON_NAME, user))
        return self._issue(file_name, x509.Name(attributes), ExtendedKeyUsageOID.CLIENT_AUTH)

    def _issue(
        self,
        name: str,
        subject: x509.Name,
        usage: x509.ObjectIdentifier,
        *extensions: x509.ExtensionType,
    ) -> KeyPair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _certificate(subject, self._name, key.public_key())
        builder = builder.add_extension(_key_usage(signs_certificates=False), True)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), False)
        for extension in extensions:
            builder = builder.add_extension(extension, False)
        key_file = self._folder / f"{name}.key"
        _write_key(key_file, key)
        return KeyPair(self._sign(builder, name), key_file)

    def _sign(self, builder: x509.CertificateBuilder, name: str) -> Path:
        # Python 3.13 and later reject certificates without an authority key identifier.
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        certificate = builder.add_extension(authority, False).sign(self._key, hashes.SHA256())
        path = self._folder / f"{name}.crt"
        path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        return path


def write_private_key(path: Path) -> None:
    """Create a private key, such as the signing key of service account tokens."""
    _write_key(path, ec.generate_private_key(ec.SECP256R1()))


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(
        issuer_name=issuer,
        subject_name=subject,
        public_key=key,
        serial_number=x509.random_serial_number(),
        not_valid_before=now - _CLOCK_SKEW,
        not_valid_after=now + _LIFETIME,
    )
    return builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key), False)


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
