"""Keeping drafts: one for each account and object. Synchronous: call it off the loop.

Promises: nobody reads another account's; a text never takes the place of one that its page has not seen;
what was sealed with another `SECRET_KEY` counts as no draft.
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

#: Drafts of one account: the oldest makes room.
MOST = 50
#: After which nobody comes back to one.
KEPT = timedelta(days=30)
#: Stands for the kind of what is to be created: no kind is called so.
NEW = "import"
_PURPOSE = "drafts"


@dataclass(frozen=True, slots=True)
class Place:
    """Whose draft it is, and of which object; of none for what is to be created (`NEW`)."""

    account: str
    cluster: str
    kind: str
    namespace: str
    name: str


class Content(msgspec.Struct, frozen=True):
    """`text`: what was typed. `base`: what it was made of; `uid`: of that object. `project`: for objects
    that are to be created and name none."""

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
    """There is a text that the page has not seen."""


def find(place: Place) -> Kept | None:
    row = _rows(place).filter(updated__gt=timezone.now() - KEPT).first()
    if row is None:
        return None
    try:
        packed = unseal(row.content, _PURPOSE)
        content = msgspec.json.decode(zlib.decompress(packed), type=Content)
    except (NotOurs, zlib.error, msgspec.DecodeError):
        log.warning("Draft %s was made with another SECRET_KEY", row.pk)
        return None
    return Kept(content, row.version, row.updated)


def keep(place: Place, content: Content, version: int) -> int:
    """The version that it is now. `version`: that of the text that the page began with, 0 for none.
    Raises `Newer`."""
    now = timezone.now()
    # Two texts of a megabyte, mostly the same. The lowest level takes less time than sealing them whole.
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
    """Those of somebody who is there no more, before the name is free for somebody else."""
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
