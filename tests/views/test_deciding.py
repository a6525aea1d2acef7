"""Authorization while permissions can't be confirmed."""

import pytest

from console.kinds.pods import PodKind
from console.kube.gvr import PODS, Key
from console.ui.core.actions import Delete, Permission
from console.ui.core.permissions import Denied
from console.views.authorization import PermissionsUnconfirmed, check_action, check_permission
from tests.ui.support import FakeAccess

WEB = Key("shop", "web-1")


class Recovering(FakeAccess):
    """Permissions that are confirmed again after the first check."""

    def permissions_stale(self) -> bool:
        before, self.doubt = self.doubt, False
        return before


@pytest.mark.parametrize("access", [FakeAccess, Recovering])
def test_unconfirmed_permission_is_not_reported_as_missing(access: type[FakeAccess]) -> None:
    """Even if permissions are confirmed again while the response is computed."""
    with pytest.raises(PermissionsUnconfirmed):
        check_permission(Permission("delete"), access(delete_in=(), doubt=True), PODS, WEB)
    with pytest.raises(PermissionsUnconfirmed):
        check_action(PodKind(), Delete(), access(delete_in=(), doubt=True), WEB)
    with pytest.raises(Denied):
        check_permission(Permission("delete"), access(delete_in=()), PODS, WEB)
    check_permission(Permission("delete"), access(doubt=True), PODS, WEB)
