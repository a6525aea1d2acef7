"""Parse a permission check from a form: verb, resource, namespace and name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from django.http import QueryDict
from django.utils.translation import gettext as _

from console.kube.gvr import GVR
from console.kube.names import is_dns_label
from console.ui.core.kind import Scope
from console.ui.core.registry import kinds
from rbac.rules import AccessQuestion

VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
MAX_TEXT = 253
_VERB = re.compile(r"[a-z*]{1,63}(:[a-z-]{1,63})*")
_RESOURCE = re.compile(r"[a-z0-9*]([-a-z0-9.*]*[a-z0-9*])?(/[a-z0-9*]+)?")


@dataclass(frozen=True, slots=True)
class PermissionCheck:
    """A permission check as entered. `question` is None if the form is empty or invalid; `problem`
    is the error message. `known` is True if the console has pages for the resource.
    """

    verb: str = "get"
    resource: str = ""
    namespace: str = ""
    name: str = ""
    question: AccessQuestion | None = None
    problem: str = ""
    known: bool = False


def read_question(given: QueryDict) -> PermissionCheck:
    """Parse the form fields. `resource` is written like `pods`, `pods/log`, `deployments.apps` or
    `deployments.apps/scale`.
    """
    verb, resource, namespace, name = (
        given.get(field, "").strip()[: MAX_TEXT + 1]
        for field in ("verb", "resource", "namespace", "name")
    )
    asked = PermissionCheck(verb or "get", resource, namespace, name)
    if not resource:
        return asked
    problem = _problem(asked)
    if problem:
        return replace(asked, problem=problem)
    qualified, _slash, subresource = resource.partition("/")
    group, plural, namespaced = _type_of(qualified)
    where = "" if namespaced is False else namespace
    question = AccessQuestion(asked.verb, group, plural, subresource, where, name)
    return replace(asked, question=question, known=namespaced is not None)


def known_resources() -> Iterator[str]:
    """Yield suggestions for the resource field: the types that the console has pages for."""
    yield from sorted(kind.gvr.qualified for kind in kinds)


def _type_of(qualified: str) -> tuple[str, str, bool | None]:
    """Return the group and plural, and True if the type is namespaced, or None if the type is
    unknown. A plural without a group is matched by name, native Kubernetes types first.
    """
    plural, _dot, group = qualified.partition(".")
    found = [kind for kind in kinds if kind.gvr.resource == plural]
    exact = [kind for kind in found if kind.gvr.group == group]
    kind = next(iter(exact or ([] if group else found)), None)
    if kind is None:
        return group, plural, None
    gvr: GVR = kind.gvr
    return gvr.group, plural, kind.scope is Scope.NAMESPACED or plural == "namespaces"


def _problem(asked: PermissionCheck) -> str:
    if not _VERB.fullmatch(asked.verb):
        return _("Enter a valid verb, such as get, list or delete.")
    if not _RESOURCE.fullmatch(asked.resource):
        return _("Enter a valid resource, such as pods, deployments.apps or pods/log.")
    if asked.namespace and not is_dns_label(asked.namespace):
        return _("Enter a valid project name, or leave the field empty.")
    if max(len(asked.namespace), len(asked.name)) > MAX_TEXT:
        return _("Names can have at most %(max)s characters.") % {"max": MAX_TEXT}
    return ""
