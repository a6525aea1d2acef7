"""Names that users may choose for projects."""

import pytest

from console.ui.core.permissions import Refused
from workspaces.services.projects import check_name


@pytest.mark.parametrize("name", ["shop", "my-kube-tools", "kubernetes", "a", "a" * 63])
def test_valid_project_names(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", "Shop", "-a", "a-", "a" * 64, "a.b", "a/b", "new", "kube-system", "kube-mine"),
        # The console trusts the identity providers configured in these namespaces.
        "kubesphere-system",
        *("kubesphere-mine", "quarterdeck-system", "quarterdeck-kubeconfigs"),
    ],
)
def test_invalid_and_reserved_project_names_are_refused(name: str) -> None:
    with pytest.raises(Refused):
        check_name(name)
