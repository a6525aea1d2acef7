"""What the pages of roles call things."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from rbac.builtin import Origin
from rbac.levels import Level

ORIGINS: dict[Origin, str | Promise] = {
    Origin.BUILT_IN: gettext_lazy("Built in"),
    Origin.KUBERNETES: gettext_lazy("Kubernetes' own"),
    Origin.PROJECTED: gettext_lazy("Made of another role"),
    Origin.TEMPLATE: gettext_lazy("Template"),
    Origin.OWN: gettext_lazy("Made here"),
}
KINDS: dict[Level, str | Promise] = {
    Level.GLOBAL: gettext_lazy("platform role"),
    Level.WORKSPACE: gettext_lazy("workspace role"),
    Level.CLUSTER: gettext_lazy("cluster role"),
    Level.PROJECT: gettext_lazy("project role"),
}
SUBJECTS: dict[str, str | Promise] = {
    "User": gettext_lazy("User"),
    "Group": gettext_lazy("Group"),
    "ServiceAccount": gettext_lazy("Service account"),
}
