"""How long certificates last. A certificate cannot be taken back, so that is not long."""

from datetime import timedelta

from django.conf import settings


def lifetime() -> timedelta:
    return timedelta(hours=settings.KUBECONFIG_HOURS)


def renew_before() -> timedelta:
    """Three days, as KubeSphere has it, and a third of the time at most."""
    return min(timedelta(days=3), lifetime() / 3)
