"""`quarterdeck readerrole`: write the reader's ClusterRole to `manifests/`. Run it after adding a
kind.
"""

from typing import Any

from django.core.management import BaseCommand

from accounts.bootstrap import MANIFESTS
from console.kube.readerrole import reader_role


class Command(BaseCommand):
    help = "Update manifests/reader.yaml, the ClusterRole of the shared cache."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        (MANIFESTS / "reader.yaml").write_text(reader_role(), encoding="utf-8")
