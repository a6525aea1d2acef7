"""OAuth clients of the tests, with their credentials."""

import base64
import json
from typing import Any

SECRET = "s-0123456789-abcdefghij"
CALLBACK = "https://app.example.com/callback"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

CLIENTS: list[dict[str, Any]] = [
    {
        "name": "kubesphere",
        "secret": SECRET,
        "grantMethod": "auto",
        "redirectURIs": [CALLBACK, "https://app.example.com/with?query=1"],
        "postLogoutRedirectURIs": ["https://app.example.com/bye"],
    },
    {
        "name": "other",
        "secret": "other-" + SECRET,
        "redirectURIs": ["https://other.example.com/cb"],
    },
    {
        "name": "cli",
        "public": True,
        "grantMethod": "auto",
        "redirectURIs": ["http://127.0.0.1:8400/cb"],
    },
    {
        "name": "basic",
        "secret": "basic-" + SECRET,
        "grantMethod": "auto",
        "respondWithChallenges": True,
        "redirectURIs": ["https://basic.example.com/cb"],
    },
    {
        "name": "denied",
        "secret": "denied-" + SECRET,
        "grantMethod": "deny",
        "redirectURIs": [CALLBACK],
    },
    {
        "name": "no-code",
        "secret": "none-" + SECRET,
        "grantTypes": ["refresh_token"],
        "redirectURIs": [CALLBACK],
    },
    {"name": "kube-apiserver", "secret": "kube-" + SECRET, "grantTypes": [], "reviewTokens": True},
]
PKCE = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}


def basic(name: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{secret}".encode()).decode()


def claims_of(token: str, part: int = 1) -> dict[str, Any]:
    """Return the claims of a token without verifying it."""
    text = token.split(".")[part]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return found
