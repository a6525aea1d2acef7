"""Which names people may give their projects."""

import pytest

from console.ui.decisions import Refused
from workspaces.services.projects import check_name


@pytest.mark.parametrize("name", ["shop", "my-kube-tools", "kubernetes", "a", "a" * 63])
def test_they_choose(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", "Shop", "-a", "a-", "a" * 64, "a.b", "a/b", "new", "kube-system", "kube-mine"),
        # The console would believe the identity providers that stand there.
        "kubesphere-system",
        *("kubesphere-mine", "quarterdeck-system", "quarterdeck-kubeconfigs"),
    ],
)
def test_what_the_system_needs_is_not_theirs(name: str) -> None:
    with pytest.raises(Refused):
        check_name(name)
