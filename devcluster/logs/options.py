"""Parsing and validation of log request parameters, as in kube-apiserver.

https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#get-read-log-of-the-specified-pod
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from devcluster.errors import Cause, bad_request, forbidden_value, invalid, invalid_value
from devcluster.objects import parse_time
from devcluster.options import is_true, number

_FRACTION = re.compile(r"\.\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """Options of a log request.

    `since` is in nanoseconds since 1970, `since_seconds` is relative to now, `limit` is in
    bytes.
    """

    container: str
    follow: bool
    previous: bool
    timestamps: bool
    since: int | None
    since_seconds: int | None
    tail: int | None
    limit: int | None


def read_log_options(name: str, query: Mapping[str, str]) -> LogOptions:
    """Parse the log options of the pod `name`. Raise a 400 error for malformed values and 422 for
    invalid ones.
    """
    options = LogOptions(
        container=query.get("container", ""),
        follow=is_true(query, "follow"),
        previous=is_true(query, "previous"),
        timestamps=is_true(query, "timestamps"),
        since=_moment(query.get("sinceTime", "")),
        since_seconds=number(query, "sinceSeconds"),
        tail=number(query, "tailLines"),
        limit=number(query, "limitBytes"),
    )
    causes: list[Cause] = []
    if options.tail is not None and options.tail < 0:
        causes.append(
            invalid_value("tailLines", options.tail, "must be greater than or equal to 0")
        )
    if options.limit is not None and options.limit < 1:
        causes.append(invalid_value("limitBytes", options.limit, "must be greater than 0"))
    if options.since_seconds is not None and options.since is not None:
        why = "at most one of `sinceTime` or `sinceSeconds` may be specified"
        causes.append(forbidden_value("", why))
    elif options.since_seconds is not None and options.since_seconds < 1:
        causes.append(
            invalid_value("sinceSeconds", options.since_seconds, "must be greater than 0")
        )
    if "stream" in query:
        causes.append(forbidden_value("stream", "may not be specified"))
    if causes:
        raise invalid("", "PodLogOptions", name, causes)
    return options


def _moment(text: str) -> int | None:
    if not text:
        return None
    try:
        whole = parse_time(_FRACTION.sub("", text))
        if whole.tzinfo is None:
            raise ValueError(text)
    except ValueError as error:
        why = f'parsing time "{text}" as "2006-01-02T15:04:05Z07:00": cannot parse it'
        raise bad_request(why) from error
    # kube-apiserver passes on whole seconds only.
    return nanoseconds(whole)


def nanoseconds(moment: datetime) -> int:
    """Return a time in whole seconds as nanoseconds since 1970."""
    return int(moment.timestamp()) * 1_000_000_000
