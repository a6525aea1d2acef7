"""Keys, signing requests and certificates: the common name is the user, organizations are the groups.

https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/
"""

import hashlib
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.conf import settings

from console.kube.identity import Identity


def make_key() -> str:
    """A new private key, PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def make_request(key: str, identity: Identity) -> bytes:
    """A signing request, PEM. Raises ValueError for what is no key."""
    names = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in identity.groups]
    subject = x509.Name([*names, x509.NameAttribute(NameOID.COMMON_NAME, identity.name)])
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    return builder.sign(_private(key), hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def asks_for(request: bytes, key: str, identity: Identity) -> bool:
    """True if the signing request is for this key, this user and exactly these groups."""
    try:
        found = x509.load_pem_x509_csr(request)
        public = _public(_private(key).public_key())
        return _public(found.public_key()) == public and _is(found.subject, identity)
    except (ValueError, TypeError):
        return False


def is_for(certificate: str, key: str, identity: Identity) -> bool:
    """The same of a certificate."""
    try:
        found = x509.load_pem_x509_certificate(certificate.encode())
        public = _public(_private(key).public_key())
        return _public(found.public_key()) == public and _is(found.subject, identity)
    except (ValueError, TypeError):
        return False


def expires(certificate: str) -> datetime:
    """In UTC. Raises ValueError for what is no certificate."""
    return x509.load_pem_x509_certificate(certificate.encode()).not_valid_after_utc


def fingerprint(key: str, identity: Identity) -> str:
    """Of what is asked for: the same key for the same names has the same. Raises ValueError."""
    words = "\0".join((identity.name, *identity.groups)).encode()
    return hashlib.sha256(_public(_private(key).public_key()) + words).hexdigest()[:12]


def _is(subject: x509.Name, identity: Identity) -> bool:
    names = [one.value for one in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    groups = [one.value for one in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    rest = len(list(subject)) - len(names) - len(groups)
    return not rest and names == [identity.name] and sorted(groups) == sorted(identity.groups)


def _private(key: str) -> ec.EllipticCurvePrivateKey:
    found = serialization.load_pem_private_key(key.encode(), None)
    if not isinstance(found, ec.EllipticCurvePrivateKey):
        raise ValueError("not a key of an elliptic curve")
    return found


def _public(key: object) -> bytes:
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise ValueError("not a key of an elliptic curve")
    return key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )


# How long certificates last. A certificate cannot be taken back, so that is not long.


def lifetime() -> timedelta:
    return timedelta(hours=settings.KUBECONFIG_HOURS)


def renew_before() -> timedelta:
    """Three days, as KubeSphere has it, and a third of the time at most."""
    return min(timedelta(days=3), lifetime() / 3)
