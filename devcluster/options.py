"""Parsing and validation of the query parameters of lists, watches and writes.

Rules: https://kubernetes.io/docs/reference/using-api/api-concepts/.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from console.kube.selectors import (
    FieldSelector,
    LabelSelector,
    SelectorError,
    parse_fields,
    parse_labels,
)
from devcluster.errors import (
    Cause,
    StatusError,
    bad_request,
    expired,
    forbidden_value,
    invalid,
    unsupported,
)
from devcluster.objects import Obj, encode
from devcluster.resources import ResourceType
from devcluster.store import Record

_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})


class _Token(msgspec.Struct):
    """Content of a `continue` token: the first key of the next page and the list's resourceVersion."""

    v: str
    rv: int
    start: str


def continue_token(resource_version: int, start: str) -> str:
    """Return a `continue` token. A `resource_version` of -1 continues with the current,
    inconsistent state.
    """
    data = encode(_Token("meta.k8s.io/v1", resource_version, start))
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def read_token(text: str) -> tuple[int, str]:
    """Return the resourceVersion and the first key of the next page. Raise a 400 error for an
    invalid token.
    """
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        token = msgspec.json.decode(data, type=_Token)
    except (binascii.Error, msgspec.DecodeError, ValueError) as error:
        raise bad_request(f"continue key is not valid: {error}") from error
    return token.rv, token.start


@dataclass(frozen=True, slots=True)
class Selection:
    """Label and field selectors of a list or watch."""

    labels: LabelSelector
    fields: FieldSelector

    def __bool__(self) -> bool:
        return bool(self.labels) or bool(self.fields)

    def matches(self, record: Record) -> bool:
        return self.labels.matches(record.labels) and self.fields.matches(record.field)


@dataclass(frozen=True, kw_only=True, slots=True)
class ListOptions:
    """Options of a list or watch request.

    `resource_version` is None if not specified. `match` is `Exact`, `NotOlderThan` or empty.
    """

    selection: Selection
    limit: int
    token: str
    resource_version: int | None
    match: str
    timeout: float
    bookmarks: bool
    initial_events: bool | None


def read_selection(declared: ResourceType, query: Mapping[str, str]) -> Selection:
    labels, fields = query.get("labelSelector", ""), query.get("fieldSelector", "")
    try:
        selection = Selection(parse_labels(labels), parse_fields(fields))
    except SelectorError as error:
        raise bad_request(f"unable to parse requirement: {error}") from error
    known = {"metadata.name", "metadata.namespace", *declared.fields}
    for requirement in selection.fields.requirements:
        if requirement.path not in known:
            version = declared.group_version(declared.versions[0].name)
            raise bad_request(
                f'Unable to find "{version}, Resource={declared.plural}" that match label selector '
                f'"{labels}", field selector "{fields}": field label not supported: '
                f"{requirement.path}"
            )
    return selection


def read_list_options(
    declared: ResourceType, query: Mapping[str, str], *, watch: bool
) -> ListOptions:
    """Parse the list options. Raise a 400 error for malformed values and 422 for invalid
    combinations.
    """
    rv = query.get("resourceVersion", "")
    if rv and not rv.isdigit():
        raise bad_request(
            f'invalid resource version: strconv.ParseUint: parsing "{rv}": invalid syntax'
        )
    if query.get("continue") and rv not in ("", "0"):
        raise bad_request("specifying resource version is not allowed when using continue")
    initial = query.get("sendInitialEvents")
    options = ListOptions(
        selection=read_selection(declared, query),
        limit=number(query, "limit") or 0,
        token=query.get("continue", ""),
        resource_version=int(rv) if rv else None,
        match=query.get("resourceVersionMatch", ""),
        timeout=float(number(query, "timeoutSeconds") or 0),
        bookmarks=is_true(query, "allowWatchBookmarks"),
        initial_events=None if initial is None else is_true(query, "sendInitialEvents"),
    )
    causes = _watch_causes(options) if watch else _list_causes(options)
    if causes:
        raise invalid("meta.k8s.io", "ListOptions", "", causes)
    return options


def is_true(query: Mapping[str, str], name: str) -> bool:
    return query.get(name, "") in _TRUE


def number(query: Mapping[str, str], name: str) -> int | None:
    """Return an integer parameter, or None if it is missing. Raise a 400 error if it is malformed."""
    text = query.get(name, "")
    try:
        return int(text) if text else None
    except ValueError as error:
        why = f'strconv.ParseInt: parsing "{text}": invalid syntax'
        raise bad_request(why) from error


def _list_causes(options: ListOptions) -> list[Cause]:
    causes = []
    if options.initial_events is not None:
        causes.append(
            forbidden_value("sendInitialEvents", "sendInitialEvents is forbidden for list")
        )
    if not options.match:
        return causes
    place = "resourceVersionMatch"
    if options.token:
        causes.append(forbidden_value(place, f"{place} is forbidden when continue is provided"))
    if options.resource_version is None:
        causes.append(
            forbidden_value(place, f"{place} is forbidden unless resourceVersion is provided")
        )
    if options.match not in ("Exact", "NotOlderThan"):
        causes.append(unsupported(place, options.match, ("Exact", "NotOlderThan", "")))
    if options.match == "Exact" and options.resource_version == 0:
        why = f'{place} "exact" is forbidden for resourceVersion "0"'
        causes.append(forbidden_value(place, why))
    return causes


def _watch_causes(options: ListOptions) -> list[Cause]:
    causes = []
    place = "resourceVersionMatch"
    if options.initial_events is not None and options.match != "NotOlderThan":
        why = f"sendInitialEvents requires setting {place} to NotOlderThan"
        causes.append(forbidden_value(place, why))
    if options.match:
        if options.initial_events is None:
            why = f"{place} is forbidden for watch unless sendInitialEvents is provided"
            causes.append(forbidden_value(place, why))
        if options.match != "NotOlderThan":
            causes.append(unsupported(place, options.match, ("NotOlderThan",)))
        if options.token:
            causes.append(forbidden_value(place, f"{place} is forbidden when continue is provided"))
    return causes


def field_validation(query: Mapping[str, str]) -> str:
    validation = query.get("fieldValidation", "") or "Warn"
    if validation not in ("Strict", "Warn", "Ignore"):
        cause = unsupported("fieldValidation", validation, ("", "Ignore", "Warn", "Strict"))
        raise invalid("meta.k8s.io", "CreateOptions", "", [cause])
    return validation


def is_dry_run(value: str) -> bool:
    if value in ("", "All"):
        return value == "All"
    raise invalid(
        "meta.k8s.io", "CreateOptions", "", [unsupported("dryRun", f"[{value}]", ("All",))]
    )


def expired_page(start: str) -> StatusError:
    """Return a 410 error for an expired page, with a token that continues the list inconsistently."""
    return expired(
        "The provided continue parameter is too old to display a consistent list result. You can "
        "start a new list without the continue parameter, or use the continue token in this "
        "response to retrieve the remainder of the results. Continuing with the provided token "
        "results in an inconsistent list - objects that were created, modified, or deleted between "
        "the time the first chunk was returned and now may show up in the list.",
        continue_token=continue_token(-1, start),
    )


def list_metadata(resource_version: int, token: str, remaining: int | None) -> Obj:
    found: Obj = {"resourceVersion": str(resource_version)}
    if token:
        found["continue"] = token
        if remaining is not None:
            found["remainingItemCount"] = remaining
    return found
