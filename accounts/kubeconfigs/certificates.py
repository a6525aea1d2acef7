"""Private keys, certificate signing requests and certificates.

The common name is the user, organizations are the groups.
https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/
"""

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.conf import settings

from console.kube.identity import Identity


def make_key() -> str:
    """Return a new private key in PEM format."""
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def make_request(key: str, identity: Identity) -> bytes:
    """Return a certificate signing request in PEM format. Raise ValueError if the key is invalid."""
    names = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in identity.groups]
    subject = x509.Name([*names, x509.NameAttribute(NameOID.COMMON_NAME, identity.name)])
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    return builder.sign(_private(key), hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def is_request_for(request: bytes, key: str, identity: Identity) -> bool:
    """Return True if the signing request is for this key, this user and exactly these groups."""
    return _is_for(lambda: x509.load_pem_x509_csr(request), key, identity)


def is_certificate_for(certificate: str, key: str, identity: Identity) -> bool:
    """Return True if the certificate is for this key, this user and exactly these groups."""
    return _is_for(lambda: x509.load_pem_x509_certificate(certificate.encode()), key, identity)


def expires(certificate: str) -> datetime:
    """Return the expiry time in UTC. Raise ValueError if the certificate is invalid."""
    return x509.load_pem_x509_certificate(certificate.encode()).not_valid_after_utc


def fingerprint(key: str, identity: Identity) -> str:
    """Return a fingerprint of key and identity. Raise ValueError if the key is invalid."""
    words = "\0".join((identity.name, *identity.groups)).encode()
    return hashlib.sha256(_public(_private(key).public_key()) + words).hexdigest()[:12]


def _is_for(
    load: Callable[[], x509.CertificateSigningRequest | x509.Certificate],
    key: str,
    identity: Identity,
) -> bool:
    try:
        found = load()
        if _public(found.public_key()) != _public(_private(key).public_key()):
            return False
    except (ValueError, TypeError):
        return False
    subject = found.subject
    names = [one.value for one in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    groups = [one.value for one in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    rest = len(list(subject)) - len(names) - len(groups)
    return not rest and names == [identity.name] and sorted(groups) == sorted(identity.groups)


def _private(key: str) -> ec.EllipticCurvePrivateKey:
    found = serialization.load_pem_private_key(key.encode(), None)
    if not isinstance(found, ec.EllipticCurvePrivateKey):
        raise ValueError("not an elliptic curve key")
    return found


def _public(key: object) -> bytes:
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise ValueError("not an elliptic curve key")
    return key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )


# Certificate lifetimes. They are short because a certificate can't be revoked.


def lifetime() -> timedelta:
    return timedelta(hours=settings.KUBECONFIG_HOURS)


def renew_before() -> timedelta:
    """Return the remaining lifetime at which to renew: three days as in KubeSphere, at most a
    third.
    """
    return min(timedelta(days=3), lifetime() / 3)
