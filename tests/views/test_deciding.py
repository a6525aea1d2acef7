"""Who may do something, where nobody can confirm rights for a while."""

import pytest

from console.kinds.pods import PodKind
from console.kube.gvr import PODS, Key
from console.ui.actions import Delete, Permission
from console.ui.decisions import Denied
from console.views.deciding import InDoubt, check_may, check_right
from tests.ui.support import FakeAccess

WEB = Key("shop", "web-1")


class Recovering(FakeAccess):
    """Confirmed again as soon as somebody has asked."""

    def in_doubt(self) -> bool:
        before, self.doubt = self.doubt, False
        return before


@pytest.mark.parametrize("access", [FakeAccess, Recovering])
def test_a_right_in_doubt_is_not_called_missing(access: type[FakeAccess]) -> None:
    """Nor if the doubt ends while the answer is worked out."""
    with pytest.raises(InDoubt):
        check_right(Permission("delete"), access(delete_in=(), doubt=True), PODS, WEB)
    with pytest.raises(InDoubt):
        check_may(PodKind(), Delete(), access(delete_in=(), doubt=True), WEB)
    with pytest.raises(Denied):
        check_right(Permission("delete"), access(delete_in=()), PODS, WEB)
    check_right(Permission("delete"), access(doubt=True), PODS, WEB)
