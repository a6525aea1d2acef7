"""Messages shown instead of the rows of an empty list."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from console.ui.core.kind import ResourceKind
from console.ui.core.permissions import Denied
from console.ui.core.text import escape_invisible
from console.ui.core.words import translate_message
from console.ui.lists.viewspec import ViewSpec

#: kube-apiserver's message for an unknown type (k8s.io/apimachinery/pkg/api/errors,
#: NewGenericServerResponse).
NO_SUCH_TYPE = "the server could not find the requested resource"


@dataclass(frozen=True, slots=True)
class EmptyState:
    """A message instead of rows.

    `kind` is first-use, no-match, beyond, bad-input, denied, loading or failed. `action_url` is
    "" if the user can only wait or ask an administrator. `reason` is the message from the
    cluster.
    """

    kind: str
    title: str
    text: str
    action_url: str = ""
    action_label: str = ""
    reason: str = ""


def denied_text(denied: Denied, nouns: str | Promise) -> str:
    """Return a message for the missing permission. It contains only names from the request."""
    # The namespace comes from a URL, which an attacker may have crafted.
    namespace = escape_invisible(denied.namespace)
    words = {"nouns": escape_invisible(str(nouns)), "verb": denied.verb, "namespace": namespace}
    if denied.subresource:
        words["subresource"] = denied.subresource
        if denied.namespace:
            text = _(
                "You don't have permission to %(verb)s %(subresource)s of %(nouns)s in project "
                "%(namespace)s."
            )
            return text % words
        return _("You don't have permission to %(verb)s %(subresource)s of %(nouns)s.") % words
    if denied.verb == "list" and denied.namespace:
        return _("You don't have permission to list %(nouns)s in project %(namespace)s.") % words
    if denied.verb == "list":
        return _("You don't have permission to list %(nouns)s.") % words
    if denied.verb == "delete" and denied.namespace:
        return _("You don't have permission to delete %(nouns)s in project %(namespace)s.") % words
    if denied.verb == "create" and denied.namespace:
        return _("You don't have permission to create %(nouns)s in project %(namespace)s.") % words
    return _("You don't have permission to %(verb)s %(nouns)s.") % words


def denied_block(denied: Denied, kind: ResourceKind) -> EmptyState:
    return EmptyState("denied", _("Permission denied"), denied_text(denied, kind.nouns))


def bad_input_block(spec: ViewSpec) -> EmptyState:
    text = " ".join(f"{error.field}: {error.message}" for error in spec.errors)
    return EmptyState(
        "bad-input",
        _("Invalid URL parameters"),
        text,
        spec.cleared().url,
        _("Show all %(nouns)s") % {"nouns": spec.kind.nouns},
    )


def loading_block(kind: ResourceKind, problem: str, *, refused: bool = False) -> EmptyState:
    """Return the message for a list that is not loaded.

    `refused` is True if the console's own identity can't list the kind, regardless of the
    viewer's permissions.
    """
    reason = translate_message(problem)
    if refused:
        title = _("The console does not have permission to list %(nouns)s") % {"nouns": kind.nouns}
        text = _(
            "Your own permissions are not the cause. The cluster denied the request of the "
            "console's service account."
        )
        return EmptyState("loading", title, text, reason=reason)
    if problem == NO_SUCH_TYPE:
        title = _("This cluster has no %(nouns)s") % {"nouns": kind.nouns}
        text = _(
            "This resource type is not installed in the cluster. The list appears as soon as the "
            "type is installed."
        )
        return EmptyState("loading", title, text, reason=reason)
    title = _("Loading %(nouns)s") % {"nouns": kind.nouns}
    text = _("Loading. The list appears as soon as the cluster responds.")
    return EmptyState("loading", title, text, reason=reason)


def page_out_of_range_block(spec: ViewSpec, pages: int) -> EmptyState:
    return EmptyState(
        "beyond",
        _("Page %(page)s does not exist") % {"page": spec.page},
        _("The last page is page %(pages)s.") % {"pages": pages},
        spec.with_page(pages).url,
        _("Go to page %(pages)s") % {"pages": pages},
    )


def empty_block(spec: ViewSpec, unknown: tuple[str, ...], create_url: str) -> EmptyState:
    """Return the message for an empty list.

    `unknown` contains the requested namespaces that don't exist. `create_url` is the page that
    creates an object, or "" if the viewer can't create one.
    """
    nouns = spec.kind.nouns
    show_all = _("Show all %(nouns)s") % {"nouns": nouns}
    if unknown:
        title = _("Project %(name)s not found") % {"name": ", ".join(unknown)}
        text = _("Check the name, or show all projects.")
        return EmptyState("no-match", title, text, spec.with_values("namespace", ()).url, show_all)
    if any(param != "namespace" for param, _texts in spec.values):
        title = _("No %(nouns)s found") % {"nouns": nouns}
        text = _("No results match these filters.")
        return EmptyState("no-match", title, text, spec.cleared().url, show_all)
    text = _("New objects appear here as soon as they are created.")
    url, label = create_url, _("Create %(singular)s") % {"singular": spec.kind.singular}
    if not spec.namespaces:
        title = _("No %(nouns)s yet") % {"nouns": nouns}
        return EmptyState("first-use", title, text, url, label if url else "")
    words = {"nouns": nouns, "projects": ", ".join(spec.namespaces)}
    title = _("No %(nouns)s in %(projects)s yet") % words
    if not url:
        url, label = spec.cleared().url, show_all
    return EmptyState("first-use", title, text, url, label)
