"""Syntax of the names of Kubernetes objects, labels and API groups.

https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
"""

import re

_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_DNS_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
_SUBDOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_DOTTED = re.compile(r"[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?")
_LABEL_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
#: An `apiVersion`: a version, after the group and a slash unless the group is the core group.
API_VERSION = re.compile(rf"(?:[a-z0-9](?:[a-z0-9.-]{{0,251}}[a-z0-9])?/)?{_DNS_LABEL.pattern}")


def is_dns_label(name: str) -> bool:
    """Return True for a valid name of a namespace or a port (RFC 1123 label)."""
    return _DNS_LABEL.fullmatch(name) is not None


def is_dns_subdomain(name: str, longest: int = 253) -> bool:
    """Return True for a valid object name (RFC 1123 subdomain) of at most `longest` characters."""
    return len(name) <= longest and _SUBDOMAIN.fullmatch(name) is not None


def is_dotted_name(name: str, longest: int = 253) -> bool:
    """Like `is_dns_subdomain`, but dots may be repeated or adjacent to hyphens."""
    return len(name) <= longest and _DOTTED.fullmatch(name) is not None


def is_label_name(text: str) -> bool:
    """Return True for a valid label name without prefix, which is also a valid label value."""
    return _LABEL_NAME.fullmatch(text) is not None


def is_label_value(text: str) -> bool:
    """Return True for a valid label value, which may be empty."""
    return not text or is_label_name(text)
