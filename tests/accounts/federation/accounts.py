"""Accounts that are linked to a provider, and the accounts of all sessions."""

from typing import Any

from django.contrib.sessions.models import Session

from tests.rbac.objects import user


def linked(name: str, subject: str, provider: str = "hub", **more: Any) -> dict[str, Any]:
    labels = {
        "iam.kubesphere.io/identify-provider": provider,
        "iam.kubesphere.io/origin-uid": subject,
    }
    return user(name, labels=labels, **more)


async def accounts_in() -> list[str]:
    """Return the accounts of all sessions, sorted."""
    return sorted([row.get_decoded()["account"] async for row in Session.objects.all()])
