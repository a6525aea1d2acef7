"""Messages shown instead of the rows of an empty list."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from console.kube.gvr import Key
from console.ui.core.kind import ResourceKind
from console.ui.core.links import started_url
from console.ui.core.permissions import Denied
from console.ui.core.text import escape_invisible, space_mixed_scripts
from console.ui.core.words import translate_message
from console.ui.lists.viewspec import ViewSpec


@dataclass(frozen=True, slots=True)
class EmptyState:
    """A message instead of rows.

    `kind` is first-use, no-match, beyond, bad-input, denied, loading, not-installed or failed.
    `action_url` is "" if the user can only wait or ask an administrator. `reason` is the message
    from the cluster. `examples` are titles and URLs of examples to create.
    """

    kind: str
    title: str
    text: str
    action_url: str = ""
    action_label: str = ""
    reason: str = ""
    examples: tuple[tuple[str | Promise, str], ...] = ()


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


def missing_text(kind: ResourceKind, key: Key, cut: int | None = None) -> str:
    """Return a message for an object that does not exist. `cut` is the number of objects read from
    a truncated list, or None.
    """
    words = {"kind": kind.singular, "key": escape_invisible(str(key)), "count": cut}
    if cut is None:
        return space_mixed_scripts(_("No %(kind)s %(key)s found.") % words)
    text = _("Could not find %(kind)s %(key)s among the %(count)s loaded objects.")
    return space_mixed_scripts(text % words)


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
    title = _("Loading %(nouns)s") % {"nouns": kind.nouns}
    text = _("Loading. The list appears as soon as the cluster responds.")
    return EmptyState("loading", title, text, reason=reason)


def not_installed_text(kind: ResourceKind) -> str:
    words = {"nouns": kind.nouns, "type": kind.gvr.qualified}
    return _("The type %(type)s (%(nouns)s) is not installed on this cluster.") % words


def not_installed_block(kind: ResourceKind) -> EmptyState:
    """Return the message for a list of a type that the cluster does not serve."""
    text = _("The list appears here as soon as the type is installed.")
    return EmptyState(
        "not-installed",
        _("Not installed on this cluster"),
        f"{not_installed_text(kind)} {text}",
    )


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
    show_all = space_mixed_scripts(_("Show all %(nouns)s") % {"nouns": nouns})
    if unknown:
        title = _("Project %(name)s not found") % {"name": ", ".join(unknown)}
        text = _("Check the name, or show all projects.")
        return EmptyState("no-match", title, text, spec.with_values("namespace", ()).url, show_all)
    if any(param != "namespace" for param, _texts in spec.values):
        title = space_mixed_scripts(_("No %(nouns)s found") % {"nouns": nouns})
        text = _("No results match these filters.")
        return EmptyState("no-match", title, text, spec.cleared().url, show_all)
    text = _("New objects appear here as soon as they are created.")
    url, label = (
        create_url,
        space_mixed_scripts(_("Create %(singular)s") % {"singular": spec.kind.singular}),
    )
    examples = tuple(
        (one.title, started_url(url, example=one.id)) for one in spec.kind.examples if url
    )
    if not spec.namespaces:
        title = space_mixed_scripts(_("No %(nouns)s yet") % {"nouns": nouns})
        return EmptyState("first-use", title, text, url, label if url else "", examples=examples)
    words = {"nouns": nouns, "projects": ", ".join(spec.namespaces)}
    title = space_mixed_scripts(_("No %(nouns)s in %(projects)s yet") % words)
    if not url:
        url, label = spec.cleared().url, show_all
    return EmptyState("first-use", title, text, url, label, examples=examples)
