"""Parameters of lists in KubeSphere's two contracts.

v1alpha3, which the iam and tenant groups also use: `page` (1), `limit` (-1: all), `sortBy`
(`creationTimestamp`), `ascending` (false), and every other parameter is a filter. v1alpha2:
`conditions=name=web,status~run`, `paging=limit=10,page=1`, `orderBy` and `reverse`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _

from console.gateway.errors import Refusal
from console.gateway.kapis.call import Call
from console.gateway.kapis.routes import QueryParameter

#: Maximum digits of a number, filters of a list, and characters of a value.
_MAX_DIGITS, _MAX_FILTERS, _MAX_VALUE = 9, 30, 1000
ALL = -1
NEWEST = "creationTimestamp"

_PAGING = (
    QueryParameter("page", "Number of the page, from 1.", "integer"),
    QueryParameter("limit", "Objects per page. -1, the default, returns all.", "integer"),
)
#: Parameters of the contract of v1alpha3.
LIST_PARAMETERS = (
    *_PAGING,
    QueryParameter("sortBy", "creationTimestamp (default), createTime, name or updateTime."),
    QueryParameter("ascending", "Sort in ascending order.", "boolean"),
    QueryParameter("name", "Part of the name."),
    QueryParameter("names", "Names, separated by commas."),
    QueryParameter("alias", "Part of the alias."),
    QueryParameter("uid", "UID of the object."),
    QueryParameter("namespace", "Name of the namespace."),
    QueryParameter("labelSelector", "Label selector. The parameter label is the same."),
    QueryParameter("annotation", "Selector for annotations, in the form of a label selector."),
    QueryParameter(
        "fieldSelector", "Fields of the object, such as type=Opaque or status.phase!=Bound."
    ),
    QueryParameter("ownerReference", "UID of an owner."),
    QueryParameter("ownerKind", "Kind of an owner."),
    QueryParameter("status", "Status of the object. The values depend on the resource."),
)
#: Parameters of the contract of v1alpha2.
OLD_LIST_PARAMETERS = (
    QueryParameter("conditions", "Filters: name=web,status~run. ~ matches a part of the value."),
    QueryParameter("paging", "limit=10,page=1. The parameters limit and page are the same."),
    *_PAGING,
    QueryParameter("orderBy", "createTime (default) or name."),
    QueryParameter("reverse", "Sort in descending order.", "boolean"),
)


@dataclass(frozen=True, slots=True)
class ListRequest:
    """The parameters of a list. `limit` is `ALL` for all objects. `filters` contains pairs of name and
    value, `labels` a label selector or "".
    """

    page: int = 1
    limit: int = ALL
    sort_by: str = NEWEST
    ascending: bool = False
    filters: tuple[tuple[str, str], ...] = ()
    labels: str = ""

    @property
    def part(self) -> slice:
        """The slice of the sorted objects."""
        if self.limit == ALL:
            return slice(None)
        start = (self.page - 1) * self.limit
        return slice(start, start + self.limit)

    def filter(self, name: str) -> str:
        return next((value for one, value in self.filters if one == name), "")

    def without(self, *names: str) -> "ListRequest":
        """Return the request without the filters of these names."""
        kept = tuple(one for one in self.filters if one[0] not in names)
        return ListRequest(self.page, self.limit, self.sort_by, self.ascending, kept, self.labels)


_RESERVED = frozenset({"page", "limit", "sortBy", "ascending", "labelSelector", "label"})


def read_list(call: Call) -> ListRequest:
    """Return the parameters of a list in the contract of v1alpha3. Raise `Refusal`."""
    given = [(name, value) for name in call.params for value in call.params[name]]
    filters = [(name, value) for name, value in given if name not in _RESERVED]
    _check(filters)
    labels = [value for name, value in given if name in ("labelSelector", "label") and value]
    return ListRequest(
        _number("page", call.param("page"), 1),
        _number("limit", call.param("limit"), ALL),
        call.param("sortBy") or NEWEST,
        _switch("ascending", call.param("ascending")),
        tuple(one for one in filters if one[1]),
        ",".join(labels),
    )


def read_old_list(call: Call) -> ListRequest:
    """Return the parameters of a list in the contract of v1alpha2. Raise `Refusal`."""
    paging = dict(_pairs("paging", call.param("paging")))
    conditions = list(_pairs("conditions", call.param("conditions")))
    _check(conditions)
    page, limit = (call.param(name) or paging.get(name, "") for name in ("page", "limit"))
    count = _number("limit", limit, ALL)
    number = _number("page", page, 1)
    start = call.param("start")
    if start and count != ALL:
        number = _number("start", start, 1, least=0) // count + 1
    order = call.param("orderBy") or "createTime"
    labels = ",".join(value for name, value in conditions if name == "label" and value)
    return ListRequest(
        number,
        count,
        order,
        not _switch("reverse", call.param("reverse")) and "reverse" in call.params,
        tuple(one for one in conditions if one[0] != "label"),
        labels,
    )


def _pairs(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of `a=b,c~d`. `~` matches a part of the value. For `name`, `=` names whole
    objects, separated by `|`.
    """
    for part in text.split(",") if text else ():
        at = min((part.find(mark) for mark in "=~" if mark in part), default=-1)
        if at < 1:
            raise Refusal(400, _("The parameter %(name)s is malformed.") % {"name": name})
        key, value = part[:at].strip(), part[at + 1 :].strip()
        if key == "name" and part[at] == "=":
            key, value = "names", value.replace("|", ",")
        yield key, value


def _check(filters: list[tuple[str, str]]) -> None:
    if len(filters) > _MAX_FILTERS:
        raise Refusal(400, _("The list has too many filters."))
    for name, value in filters:
        if len(value) > _MAX_VALUE or "\0" in value:
            text = _("The value of the filter %(name)s is too long or malformed.")
            raise Refusal(400, text % {"name": name[:60]})


def _number(name: str, text: str, default: int, *, least: int = 1) -> int:
    if not text:
        return default
    if text == str(ALL) and default == ALL:
        return ALL
    digits = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
    if not digits or int(text) < least:
        text = _("The parameter %(name)s must be a whole number of at least %(least)s.")
        raise Refusal(400, text % {"name": name, "least": least})
    return int(text)


def _switch(name: str, text: str) -> bool:
    if text.lower() not in ("", "true", "false"):
        raise Refusal(400, _("The parameter %(name)s must be true or false.") % {"name": name})
    return text.lower() == "true"
