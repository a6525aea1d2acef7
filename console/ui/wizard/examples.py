"""Example manifests from which a new object can start."""

from dataclasses import dataclass
from pathlib import Path
from secrets import token_urlsafe
from string import Template
from typing import Any

from console.ui.editing.yaml_text import Document, read_documents
from console.ui.wizard.fields import Text


@dataclass(frozen=True, kw_only=True)
class Example:
    """Manifests in a file of YAML documents, without namespaces.

    The file contains `${name}` for the name of the objects, which is `id` or, if that is taken, a
    similar one, and `${password}` for a password that is generated for each draft.
    """

    id: str
    title: Text
    hint: Text
    path: Path

    def manifests(self, name: str) -> list[dict[str, Any]]:
        """Return the manifests with this name. The first one is the main object."""
        text = Template(self.path.read_text("utf-8"))
        filled = text.safe_substitute(name=name, password=token_urlsafe(18))
        return [one.value for one in read_documents(filled) if isinstance(one, Document)]
