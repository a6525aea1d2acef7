"""Storage of drafts, one per account and object. Synchronous: don't call these functions on the
event loop.

Guarantees: drafts are only readable by their account. A draft never overwrites a newer version
that the page has not loaded. Drafts encrypted with another `SECRET_KEY` are treated as missing.
"""

import logging
import zlib
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from console.drafts.models import Draft
from console.encryption import DecryptionError, decrypt, encrypt
from console.kube.gvr import column_value

log = logging.getLogger(__name__)

#: Maximum number of drafts per account; the oldest are deleted.
MAX_DRAFTS = 50
#: Number of drafts of an account from which API clients can't propose changes, so that their drafts
#: don't displace the user's drafts.
MAX_WITH_PROPOSALS = 30
#: Lifetime of a draft.
LIFETIME = timedelta(days=30)
#: Kind of drafts for new objects; no kind has this segment. The name is "", or `#` and an id.
NEW = "import"
_PURPOSE = "drafts"


@dataclass(frozen=True, slots=True)
class DraftKey:
    """Account and object of a draft. For new objects, `kind` is `NEW`."""

    account: str
    cluster: str
    kind: str
    namespace: str
    name: str

    def columns(self) -> dict[str, str]:
        """Return the columns that identify the draft."""
        there = {"namespace": column_value(self.namespace), "name": column_value(self.name)}
        return {"account": self.account, "cluster": self.cluster, "kind": self.kind, **there}


class DraftContent(msgspec.Struct, frozen=True):
    """Content of a draft.

    - `text`: edited manifest.
    - `base`: original manifest.
    - `uid`: UID of the object.
    - `project`: namespace for new objects that don't specify one.
    - `title`: name of the new object in a wizard. `step`: step of the wizard. `visited`: submitted
      steps. `inputs`: values that the wizard can't write into the manifest, by step and field.
    - `source`: the object that is copied, as `namespace/name`, if placeholders stand for its values.
      `refused`: values that the cluster refused and the reasons, by step and field.
    - `proposal`: why an API client proposes the change. Untrusted.
    - `made`: the objects that were created, as JSON. The text of a draft is "" when all of its
      objects were created.
    """

    text: str
    base: str = ""
    uid: str = ""
    project: str = ""
    title: str = ""
    step: str = ""
    inputs: dict[str, dict[str, str]] = {}
    visited: list[str] = []
    source: str = ""
    refused: dict[str, dict[str, tuple[str, str]]] = {}
    made: str = ""
    proposal: str = ""


@dataclass(frozen=True, slots=True)
class StoredDraft:
    content: DraftContent
    version: int
    updated: datetime


@dataclass(frozen=True, slots=True)
class DraftEntry:
    """A draft in the list of an account's drafts."""

    number: int
    key: DraftKey
    content: DraftContent
    updated: datetime


class DraftConflict(Exception):
    """A newer version exists that the page has not loaded."""


class TooManyDrafts(DraftConflict):
    """The account has too many drafts for another proposal of an API client."""


def find(place: DraftKey) -> StoredDraft | None:
    row = _rows(place).filter(updated__gt=timezone.now() - LIFETIME).first()
    content = _content(row) if row is not None else None
    return StoredDraft(content, row.version, row.updated) if row and content else None


def drafts_of(account: str) -> list[DraftEntry]:
    """Return the drafts of an account, the latest first, without those whose objects were created."""
    recent = timezone.now() - LIFETIME
    rows = Draft.objects.filter(account=account, updated__gt=recent).order_by("-updated", "-pk")
    found = []
    for row in rows[:MAX_DRAFTS]:
        content = _content(row)
        if content is not None and (content.text or not content.made):
            key = DraftKey(account, row.cluster, row.kind, row.namespace, row.name)
            found.append(DraftEntry(row.pk, key, content, row.updated))
    return found


def delete_draft_of(account: str, number: int) -> bool:
    """Delete a draft of an account. Return False if the account has no such draft."""
    deleted, _types = Draft.objects.filter(account=account, pk=number).delete()
    return bool(deleted)


def _content(row: Draft) -> DraftContent | None:
    try:
        packed = decrypt(row.content, _PURPOSE)
        return msgspec.json.decode(zlib.decompress(packed), type=DraftContent)
    except (DecryptionError, zlib.error, msgspec.DecodeError):
        log.warning("Draft %s was encrypted with another SECRET_KEY or is damaged", row.pk)
        return None


def store_draft(place: DraftKey, content: DraftContent, version: int) -> int:
    """Store a draft and return its new version.

    `version` is the version the page was loaded with, 0 for none. Raise `DraftConflict` if the stored
    version is newer, and `TooManyDrafts` for a new proposal.
    """
    now = timezone.now()
    # Two mostly equal texts of up to a megabyte. The lowest compression level takes less time than
    # encrypting them uncompressed.
    sealed = encrypt(zlib.compress(msgspec.json.encode(content), 1), _PURPOSE)
    rows = _rows(place)
    current = rows.filter(version=version)
    if current.update(content=sealed, version=F("version") + 1, updated=now):
        return version + 1
    newest = Draft.objects.filter(account=place.account).order_by("-updated", "-pk")
    if content.proposal and newest.count() >= MAX_WITH_PROPOSALS:
        raise TooManyDrafts
    try:
        with transaction.atomic():
            Draft.objects.create(
                **place.columns(), content=sealed, version=version + 1, updated=now
            )
    except IntegrityError as error:
        raise DraftConflict from error
    Draft.objects.filter(updated__lte=now - LIFETIME).delete()
    surplus = list(newest.values_list("pk", flat=True)[MAX_DRAFTS:])
    Draft.objects.filter(pk__in=surplus).delete()
    return version + 1


def delete_draft(place: DraftKey) -> None:
    _rows(place).delete()


def delete_all_of(account: str) -> None:
    """Delete the drafts of a deleted account, before its name can be used again."""
    Draft.objects.filter(account=account).delete()


def _rows(place: DraftKey) -> QuerySet[Draft]:
    return Draft.objects.filter(**place.columns())
