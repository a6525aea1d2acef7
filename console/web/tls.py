"""Second port of the web server, with TLS, which serves only the gateway (`console.gateway`)."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from OpenSSL.crypto import X509, PKey
from twisted.internet.ssl import CertificateOptions


@dataclass(frozen=True, slots=True)
class TlsPort:
    """`listening` is called with the port's number, which is any free port if `port` is 0."""

    port: int
    options: CertificateOptions
    listening: Callable[[int], None]


def tls_options(
    certificate: Path, key: Path, client_authority: Path | None = None
) -> CertificateOptions:
    """Return the settings for PEM files: a certificate with its chain, its key, and the
    authority of client certificates. Without an authority, clients can't use certificates. Raise
    OSError or ValueError.
    """
    own, *chain = (X509.from_cryptography(one) for one in _certificates(certificate))
    found = serialization.load_pem_private_key(key.read_bytes(), None)
    authorities = _certificates(client_authority) if client_authority is not None else []
    return CertificateOptions(
        privateKey=PKey.from_cryptography_key(found),  # type: ignore[arg-type]
        certificate=own,
        extraCertChain=chain,
        verify=bool(authorities),
        caCerts=[X509.from_cryptography(one) for one in authorities] or None,
        requireCertificate=False,
    )


def _certificates(path: Path) -> list[x509.Certificate]:
    return x509.load_pem_x509_certificates(path.read_bytes())
