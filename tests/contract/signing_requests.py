"""Requests for certificates."""

import base64

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.contract.client import Obj

SIGNER = "example.com/by-hand"


def signing_request_spec() -> Obj:
    """Return the spec of a request that contains suspicious names."""
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:masters"),
            x509.NameAttribute(NameOID.COMMON_NAME, "mallory"),
        ]
    )
    others = x509.SubjectAlternativeName([x509.DNSName("shop.example.com")])
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    signed = builder.add_extension(others, critical=False).sign(
        ec.generate_private_key(ec.SECP256R1()), hashes.SHA256()
    )
    return {
        "request": base64.b64encode(signed.public_bytes(serialization.Encoding.PEM)).decode(),
        "signerName": SIGNER,
        "usages": ["digital signature", "client auth"],
    }
