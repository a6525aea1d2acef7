"""`manage.py readerrole`: writes the reader's ClusterRole into `manifests/`, after a kind was added."""

from typing import Any

from django.core.management import BaseCommand

from accounts.bootstrap import MANIFESTS
from console.kube.readerrole import reader_role


class Command(BaseCommand):
    help = "Write manifests/reader.yaml anew, which says what the shared cache may follow."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        (MANIFESTS / "reader.yaml").write_text(reader_role(), encoding="utf-8")
