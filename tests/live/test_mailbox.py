from collections.abc import Callable

import pytest

from console.kube.gvr import EVENTS, PODS, Key
from console.live.counters import counters
from console.live.mailbox import ChangeReceiver, Mail, Mailbox

A, B, C = Key("ns", "a"), Key("ns", "b"), Key("ns", "c")


class Bell:
    def __init__(self) -> None:
        self.rung = 0

    def __call__(self) -> None:
        self.rung += 1


def test_take_returns_the_keys_since_the_last_call() -> None:
    mailbox = Mailbox(Bell())
    mailbox.mark([A])
    mailbox.mark([B, A])
    mail = mailbox.take()
    assert (mail.keys, mail.overflow, mail.state) == (frozenset({A, B}), False, False)
    assert not mailbox.take()


def test_notification_is_sent_once_until_the_mailbox_is_emptied() -> None:
    bell = Bell()
    mailbox = Mailbox(bell)
    mailbox.mark([A])
    mailbox.mark([B])
    mailbox.mark_state()
    mailbox.overflow()
    assert bell.rung == 1
    mailbox.take()
    assert bell.rung == 1
    mailbox.mark([A])
    assert bell.rung == 2


def test_too_many_keys_become_an_overflow() -> None:
    mailbox, before = Mailbox(Bell(), capacity=2), counters.overflows
    mailbox.mark([A, B])
    assert not mailbox.take().overflow
    mailbox.mark([A, B, C])
    mailbox.mark([A])
    mail = mailbox.take()
    assert (mail.keys, mail.overflow) == (frozenset(), True)
    assert counters.overflows == before + 1
    mailbox.mark([A])
    assert mailbox.take().keys == {A}


def test_state_change_is_delivered() -> None:
    mailbox = Mailbox(Bell())
    mailbox.mark_state()
    mail = mailbox.take()
    assert (bool(mail), mail.state, mail.keys) == (True, True, frozenset())


def test_overflow_can_be_set_externally() -> None:
    mailbox = Mailbox(Bell())
    mailbox.mark([A])
    mailbox.overflow()
    mail = mailbox.take()
    assert (mail.keys, mail.overflow) == (frozenset(), True)


def test_changes_of_other_types_are_delivered_by_type() -> None:
    bell = Bell()
    mailbox = Mailbox(bell)
    for slot in (mailbox.slot(EVENTS), mailbox.slot(PODS)):
        slot.mark([A])
        slot.mark_state()
        slot.overflow()
    mail = mailbox.take()
    assert mail.types == {EVENTS, PODS}
    assert (mail.keys, mail.overflow, mail.state, bell.rung) == (frozenset(), False, False, 1)
    assert not mailbox.take()


@pytest.mark.parametrize(
    "tell",
    [lambda slot: slot.mark([A]), lambda slot: slot.mark_state(), lambda slot: slot.overflow()],
    ids=["a-key", "freshness", "too-many-keys"],
)
def test_every_change_of_another_type_is_delivered_by_type(
    tell: Callable[[ChangeReceiver], None],
) -> None:
    """A panel of such objects is updated even if too many of them changed to list the keys."""
    bell = Bell()
    mailbox = Mailbox(bell)
    tell(mailbox.slot(PODS))
    assert (mailbox.take(), bell.rung) == (Mail(types=frozenset({PODS})), 1)
