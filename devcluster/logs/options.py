"""What is asked of a log, checked as kube-apiserver checks it.

https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#get-read-log-of-the-specified-pod
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from devcluster.objects import parse_time
from devcluster.options import is_true, number
from devcluster.statuses import Cause, bad_request, invalid, not_allowed, wrong

_FRACTION = re.compile(r"\.\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """`since`: a moment in nanoseconds since 1970; `since_seconds` before now. `limit` is in bytes."""

    container: str
    follow: bool
    previous: bool
    timestamps: bool
    since: int | None
    since_seconds: int | None
    tail: int | None
    limit: int | None


def read_log_options(name: str, query: Mapping[str, str]) -> LogOptions:
    """400 for what cannot be read, 422 for what cannot be meant. `name`: of the pod."""
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
        causes.append(wrong("tailLines", options.tail, "must be greater than or equal to 0"))
    if options.limit is not None and options.limit < 1:
        causes.append(wrong("limitBytes", options.limit, "must be greater than 0"))
    if options.since_seconds is not None and options.since is not None:
        why = "at most one of `sinceTime` or `sinceSeconds` may be specified"
        causes.append(not_allowed("", why))
    elif options.since_seconds is not None and options.since_seconds < 1:
        causes.append(wrong("sinceSeconds", options.since_seconds, "must be greater than 0"))
    if "stream" in query:
        causes.append(not_allowed("stream", "may not be specified"))
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
    # kube-apiserver hands on whole seconds alone.
    return nanoseconds(whole)


def nanoseconds(moment: datetime) -> int:
    """Of a moment in whole seconds."""
    return int(moment.timestamp()) * 1_000_000_000
