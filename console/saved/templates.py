"""Create, find, rename and delete the templates of workspaces. Synchronous: don't call these
functions on the event loop. The caller checks permissions.
"""

import zlib
from collections.abc import Collection
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.utils import timezone

from console.encryption import DecryptionError, decrypt, encrypt
from console.saved.models import SavedTemplate
from console.saved.service import NameTaken

#: Maximum templates of a workspace, and characters of the manifests of a template.
MAX_TEMPLATES, MAX_LENGTH = 100, 256 * 1024
_PURPOSE = "templates"


class TooManyTemplates(Exception):
    """The workspace already has `MAX_TEMPLATES` templates."""


class TemplateTooLong(Exception):
    """The manifests have more than `MAX_LENGTH` characters."""


@dataclass(frozen=True, slots=True)
class TemplateText:
    """Name and text of a template."""

    name: str
    description: str


def templates_of(workspaces: Collection[str]) -> list[SavedTemplate]:
    """Return the templates of workspaces, given by UID, without their content."""
    return [*SavedTemplate.objects.filter(workspace__in=workspaces).defer("content")]


def find_template(number: int, workspaces: Collection[str]) -> SavedTemplate | None:
    """Return a template if it belongs to one of the workspaces."""
    return SavedTemplate.objects.filter(pk=number, workspace__in=workspaces).first()


def content_of(template: SavedTemplate) -> str:
    """Return the manifests as YAML documents, or "" if they were encrypted with another
    `SECRET_KEY`.
    """
    try:
        return zlib.decompress(decrypt(template.content, _PURPOSE)).decode()
    except (DecryptionError, zlib.error):
        return ""


@transaction.atomic
def save_template(workspace: str, author: str, kind: str, text: TemplateText, content: str) -> None:
    """Save a new template. Raise `NameTaken`, `TooManyTemplates` or `TemplateTooLong`."""
    if len(content) > MAX_LENGTH:
        raise TemplateTooLong
    if SavedTemplate.objects.filter(workspace=workspace).count() >= MAX_TEMPLATES:
        raise TooManyTemplates
    sealed = encrypt(zlib.compress(content.encode()), _PURPOSE)
    try:
        with transaction.atomic():
            SavedTemplate.objects.create(
                workspace=workspace,
                kind=kind,
                author=author,
                content=sealed,
                saved=timezone.now(),
                name=text.name,
                description=text.description,
            )
    except IntegrityError as error:
        raise NameTaken from error


def change_template(workspace: str, number: int, text: TemplateText) -> bool:
    """Change name and description. Return False if the template doesn't exist. Raise `NameTaken`."""
    found = SavedTemplate.objects.filter(workspace=workspace, pk=number)
    try:
        with transaction.atomic():
            return found.update(name=text.name, description=text.description) == 1
    except IntegrityError as error:
        raise NameTaken from error


def delete_template(workspace: str, number: int) -> bool:
    """Delete a template. Return False if it doesn't exist."""
    return SavedTemplate.objects.filter(workspace=workspace, pk=number).delete()[0] == 1
