"""Status words: English in the core, the reader's language where they are shown.

The core and its projections know no translations, so the words that they use are listed here for the
catalogue; a test compares the list with what projections can say.
"""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, gettext_noop, pgettext_lazy

from console.kube.status import Severity

STATUS_WORDS = frozenset(
    {
        gettext_noop("Completed"),
        gettext_noop("Config error"),
        gettext_noop("Crash loop"),
        gettext_noop("Creating"),
        gettext_noop("Evicted"),
        gettext_noop("Failed"),
        gettext_noop("Image pull failed"),
        gettext_noop("Init failed"),
        gettext_noop("Initializing"),
        gettext_noop("Killed for memory"),
        gettext_noop("Not ready"),
        gettext_noop("Running"),
        gettext_noop("Terminating"),
        gettext_noop("Unknown"),
        gettext_noop("Unschedulable"),
        gettext_noop("Waiting"),
    }
)

#: What the tally calls each severity, unless a kind has better words.
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
    """A status word in the language that is active when it is rendered."""
    return gettext_lazy(word) if word else ""
