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
from console.kube.gvr import in_column
from console.sealing import NotOurs, seal, unseal

log = logging.getLogger(__name__)

#: Maximum number of drafts per account; the oldest are deleted.
MOST = 50
#: Lifetime of a draft.
KEPT = timedelta(days=30)
#: Kind of drafts for new objects; no kind has this segment.
NEW = "import"
_PURPOSE = "drafts"


@dataclass(frozen=True, slots=True)
class Place:
    """Account and object of a draft. For new objects, `kind` is `NEW`."""

    account: str
    cluster: str
    kind: str
    namespace: str
    name: str


class Content(msgspec.Struct, frozen=True):
    """Content of a draft.

    - `text`: edited manifest.
    - `base`: original manifest.
    - `uid`: UID of the object.
    - `project`: namespace for new objects that don't specify one.
    """

    text: str
    base: str = ""
    uid: str = ""
    project: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    content: Content
    version: int
    updated: datetime


class Newer(Exception):
    """A newer version exists that the page has not loaded."""


def find(place: Place) -> Kept | None:
    row = _rows(place).filter(updated__gt=timezone.now() - KEPT).first()
    if row is None:
        return None
    try:
        packed = unseal(row.content, _PURPOSE)
        content = msgspec.json.decode(zlib.decompress(packed), type=Content)
    except (NotOurs, zlib.error, msgspec.DecodeError):
        log.warning("Draft %s was encrypted with another SECRET_KEY or is damaged", row.pk)
        return None
    return Kept(content, row.version, row.updated)


def keep(place: Place, content: Content, version: int) -> int:
    """Store a draft and return its new version.

    `version` is the version the page was loaded with, 0 for none. Raise `Newer` if the stored
    version is newer.
    """
    now = timezone.now()
    # Two mostly equal texts of up to a megabyte. The lowest compression level takes less time than
    # encrypting them uncompressed.
    sealed = seal(zlib.compress(msgspec.json.encode(content), 1), _PURPOSE)
    rows = _rows(place)
    current = rows.filter(version=version)
    if current.update(content=sealed, version=F("version") + 1, updated=now):
        return version + 1
    try:
        with transaction.atomic():
            Draft.objects.create(
                **_columns(place), content=sealed, version=version + 1, updated=now
            )
    except IntegrityError as error:
        raise Newer from error
    _make_room(place.account, now)
    return version + 1


def forget(place: Place) -> None:
    _rows(place).delete()


def forget_all(account: str) -> None:
    """Delete the drafts of a deleted account, before its name can be used again."""
    Draft.objects.filter(account=account).delete()


def _rows(place: Place) -> QuerySet[Draft]:
    return Draft.objects.filter(**_columns(place))


def _columns(place: Place) -> dict[str, str]:
    return {
        "account": place.account,
        "cluster": place.cluster,
        "kind": place.kind,
        "namespace": in_column(place.namespace),
        "name": in_column(place.name),
    }


def _make_room(account: str, now: datetime) -> None:
    Draft.objects.filter(updated__lte=now - KEPT).delete()
    newest = Draft.objects.filter(account=account).order_by("-updated", "-pk")
    Draft.objects.filter(pk__in=list(newest.values_list("pk", flat=True)[MOST:])).delete()
