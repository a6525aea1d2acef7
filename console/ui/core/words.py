"""Translation of status words and messages from the core, where they are English.

The core and its projections don't use translations, so their texts are listed here for the
message catalog. Tests compare these lists with the texts that the core and projections can
produce.
"""

from collections.abc import Callable

from django.utils.functional import Promise, lazy
from django.utils.translation import gettext, gettext_lazy, gettext_noop, pgettext_lazy

from console.kube.messages import Message
from console.kube.status import Severity, Status
from console.ui.core.text import escape_invisible

STATUS_WORDS = frozenset(
    {
        gettext_noop("Accepted"),
        gettext_noop("Active"),
        gettext_noop("Allows eviction"),
        gettext_noop("Approved"),
        gettext_noop("At its maximum"),
        gettext_noop("Available"),
        gettext_noop("Binding"),
        gettext_noop("Blocks eviction"),
        gettext_noop("Bound"),
        gettext_noop("Broken reference"),
        gettext_noop("Cannot create pods"),
        gettext_noop("Cannot scale"),
        gettext_noop("Change failed"),
        gettext_noop("Completed"),
        gettext_noop("Config error"),
        gettext_noop("Cordoned"),
        gettext_noop("Crash loop"),
        gettext_noop("Creating"),
        gettext_noop("Degraded"),
        gettext_noop("Deletion blocked"),
        gettext_noop("Disabled"),
        gettext_noop("Established"),
        gettext_noop("Evicted"),
        gettext_noop("Failed"),
        gettext_noop("Full"),
        gettext_noop("Image pull failed"),
        gettext_noop("Init failed"),
        gettext_noop("Initializing"),
        gettext_noop("Installing"),
        gettext_noop("Issued"),
        gettext_noop("Out of memory"),
        gettext_noop("Last run failed"),
        gettext_noop("Locked"),
        gettext_noop("Lost"),
        gettext_noop("Low disk space"),
        gettext_noop("Low memory"),
        gettext_noop("Misscheduled pods"),
        gettext_noop("Name conflict"),
        gettext_noop("Nearly full"),
        gettext_noop("No endpoints"),
        gettext_noop("No matching nodes"),
        gettext_noop("No matching pods"),
        gettext_noop("No metrics"),
        gettext_noop("No network"),
        gettext_noop("No storage class"),
        gettext_noop("Normal"),
        gettext_noop("Not accepted"),
        gettext_noop("Not available"),
        gettext_noop("Not enforced"),
        gettext_noop("Not ready"),
        gettext_noop("Partially ready"),
        gettext_noop("Paused"),
        gettext_noop("Port failed"),
        gettext_noop("Ready"),
        gettext_noop("Refused"),
        gettext_noop("Released"),
        gettext_noop("Resize failed"),
        gettext_noop("Resizing"),
        gettext_noop("Retrying"),
        gettext_noop("Rolling out"),
        gettext_noop("Running"),
        gettext_noop("Scaled to zero"),
        gettext_noop("Scaling"),
        gettext_noop("Scheduled"),
        gettext_noop("Stuck rollout"),
        gettext_noop("Succeeded"),
        gettext_noop("Suspended"),
        gettext_noop("Terminating"),
        gettext_noop("Too many processes"),
        gettext_noop("Unknown"),
        gettext_noop("Unschedulable"),
        gettext_noop("Updating"),
        gettext_noop("Waiting"),
        gettext_noop("Waiting for an address"),
        gettext_noop("Waiting for approval"),
        gettext_noop("Warning"),
        gettext_noop("Within quota"),
    }
)

#: Templates of the core's messages.
SENTENCES = frozenset(
    {
        gettext_noop("%(n)s of %(wanted)s ready"),
        gettext_noop("%(n)s of %(wanted)s updated"),
        gettext_noop("Pods: %(n)s, desired: %(wanted)s"),
        gettext_noop("The controller has not processed the change yet"),
        gettext_noop("Old pods pending termination: %(n)s"),
        gettext_noop("Pods on nodes that should not run the DaemonSet: %(n)s"),
        gettext_noop("Failed pods: %(n)s"),
        gettext_noop("Active jobs: %(n)s"),
        gettext_noop("Cordoned"),
        gettext_noop("Cordoned. %(reason)s"),
        gettext_noop("Healthy pods: %(n)s, required: %(needed)s"),
        gettext_noop("The response from the Kubernetes API was incomplete"),
        gettext_noop("A watch event was larger than 16 MiB"),
        gettext_noop(
            "The watch was stopped because this resource type has not been viewed for a while"
        ),
        gettext_noop("The object changes too often. Try again later."),
        gettext_noop("The response from the Kubernetes API could not be parsed"),
        gettext_noop(
            "The proxy in the console's kubeconfig does not support this kind of connection"
        ),
        gettext_noop("No response from the Kubernetes API: %(why)s"),
        gettext_noop("The Kubernetes API is not responding"),
        gettext_noop("The Kubernetes API closed the connection"),
        gettext_noop("The Kubernetes API no longer has the earlier changes"),
        gettext_noop("The cluster no longer has this resource type"),
        gettext_noop("This resource type is not installed on this cluster"),
        gettext_noop("Internal error in the console. See the console's log"),
        gettext_noop("The object was replaced by another object with the same name."),
        gettext_noop("The parentheses in “%(text)s” do not match."),
        gettext_noop("The label selector has nothing between two commas."),
        gettext_noop("The value of %(key)s has changed in the meantime."),
        gettext_noop("This list is closed"),
        gettext_noop("%(host)s refused the connection"),
        gettext_noop("the connection was closed"),
        gettext_noop("the response is invalid"),
        gettext_noop("%(namespace)s: %(problem)s"),
        gettext_noop("The Kubernetes API did not issue a token to the console"),
        gettext_noop("The response from the Kubernetes API is not a Lease"),
        gettext_noop("The response from the Kubernetes API is not a leader election lock"),
        gettext_noop("The console's credentials have expired or were revoked"),
        gettext_noop("The console's kubeconfig could not be read"),
        gettext_noop("The response from the Kubernetes API is not an OpenAPI document"),
        gettext_noop("The response from the Kubernetes API is not a list of resource types"),
        gettext_noop("The response from the Kubernetes API is not a table"),
        gettext_noop("the server could not find the requested resource"),
        gettext_noop("The response from the Kubernetes API is nested too deeply"),
        gettext_noop("The response from the Kubernetes API is not an object"),
        gettext_noop("The response from the Kubernetes API is not a WebSocket"),
        gettext_noop("The response from the Kubernetes API is too long"),
        gettext_noop("The node of the pod supports none of the stream protocols %(offered)s."),
        gettext_noop(
            "kube-apiserver allowed the request, but the node of the pod refused it. Check the "
            "permissions of kube-apiserver's kubelet client certificate."
        ),
        gettext_noop(
            "No admission policy limits which permissions the service account quarterdeck-console can "
            "grant. Its credentials are as powerful as those of an administrator."
        ),
        gettext_noop(
            "Project administrators can assign their project to another workspace, and can change its "
            "share of the workspace quota and its network isolation."
        ),
        gettext_noop(
            "Users who can create pods or request tokens in the namespace quarterdeck-system can act as "
            "the console."
        ),
        gettext_noop(
            "Users who can change RoleBases can grant themselves permissions in every project."
        ),
        gettext_noop(
            "Kubernetes stores a token that doesn't expire in a Secret for each service account of the "
            "console. Users who can read all Secrets can act as the console."
        ),
        gettext_noop("Fields that the cluster doesn't know are ignored instead of rejected."),
        gettext_noop("The YAML editor has no completion and no validation."),
        gettext_noop("Debug containers are not available."),
        gettext_noop(
            "The cluster's signer determines how long certificates of kubeconfigs are valid, usually a "
            "year."
        ),
        gettext_noop("the request timed out"),
        gettext_noop("the certificate is not trusted"),
        gettext_noop("kube-apiserver returned %(code)s"),
        gettext_noop("kube-apiserver returned a redirect, which the console does not follow"),
        gettext_noop("an object name cannot be . or .., or contain / or %%"),
        gettext_noop("the object name is missing"),
        gettext_noop("“%(part)s” is not a valid field selector. Write “\\=”, “\\,”, and “\\\\”."),
        gettext_noop("“%(part)s” is not a valid field selector. Use “field=value”."),
        gettext_noop(
            "“%(part)s” is not a valid label selector: “%(key)s” is not a valid label name."
        ),
        gettext_noop("“%(prefix)s” in “%(part)s” is not a valid prefix of a label name."),
        gettext_noop("“%(value)s” in “%(part)s” is not a whole number."),
        gettext_noop(
            "“%(value)s” is not a valid label value. Use up to 63 letters, digits, “-”, “_”, and "
            "“.”."
        ),
    }
)

#: Default labels of the severities in a tally.
SEVERITY_WORDS: dict[Severity, str | Promise] = {
    Severity.ERROR: gettext_lazy("Failing"),
    Severity.WARN: gettext_lazy("Degraded"),
    Severity.UNKNOWN: gettext_lazy("Unknown"),
    Severity.PROGRESS: gettext_lazy("In progress"),
    Severity.ENDING: gettext_lazy("Terminating"),
    Severity.OK: pgettext_lazy("status", "OK"),
    Severity.PAUSED: gettext_lazy("Paused"),
    Severity.DONE: gettext_lazy("Completed"),
}


def translate(word: str) -> str | Promise:
    """Translate a status word lazily, in the language active at rendering."""
    return gettext_lazy(word) if word else ""


def reason_text(status: Status) -> str | Promise:
    """Return the reason of a status. Messages of the console are translated lazily, and Kubernetes
    messages are made safe to display.
    """
    return (
        _lazy_message(status.reason)
        if isinstance(status.reason, Message)
        else escape_invisible(status.reason)
    )


def translate_message(text: str) -> str:
    """Translate a message of the console into the active language. Other texts are returned
    unchanged.
    """
    if not isinstance(text, Message):
        return text
    said = {n: translate_message(v) if isinstance(v, str) else v for n, v in text.params.items()}
    return gettext(text.template) % said


_lazy_message: Callable[[str], str] = lazy(
    lambda sentence: escape_invisible(translate_message(sentence)), str
)
