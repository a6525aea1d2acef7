"""Names and passwords that the sign-in page must refuse."""

from tests.accounts.conftest import HASH, PASSWORD

LOOK_ALIKES = (
    "Alice",
    "ALICE",
    " alice",
    "alice ",
    "alice\n",
    "al\u0131ce",
    "\uff41lice",
    "alice\u200b",
)
REFUSED = [
    ("alice", "wrong"),
    ("alice", ""),
    ("alice", PASSWORD + " "),
    ("alice", HASH),
    ("nobody", PASSWORD),
    ("nobody@example.com", PASSWORD),
    ("", ""),
    ("", PASSWORD),
    ("@", PASSWORD),
    ("disabled", PASSWORD),
    ("going", PASSWORD),
    ("plain", PASSWORD),
    ("provider", PASSWORD),
    ("provider", ""),
    ("twins@example.com", PASSWORD),
    ("Alice@example.com", PASSWORD),
    ("alice\0", PASSWORD),
    ("alice", "P@88w0rd\0"),
    ("alice", "\U0001f600" * 30),
    ("a" * 254, PASSWORD),
    ("a" * 5000, PASSWORD),
    ("alice", "p" * 5000),
    ("../admin", PASSWORD),
    ("system:admin", PASSWORD),
    *((name, PASSWORD) for name in LOOK_ALIKES),
]
