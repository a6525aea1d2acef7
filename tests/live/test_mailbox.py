from collections.abc import Callable

import pytest

from console.kube.gvr import EVENTS, PODS, Key
from console.live.counters import counters
from console.live.mailbox import Mail, Mailbox, Slot

A, B, C = Key("ns", "a"), Key("ns", "b"), Key("ns", "c")


class Bell:
    def __init__(self) -> None:
        self.rung = 0

    def __call__(self) -> None:
        self.rung += 1


def test_it_gives_what_came_since_the_last_time() -> None:
    mailbox = Mailbox(Bell())
    mailbox.mark([A])
    mailbox.mark([B, A])
    mail = mailbox.take()
    assert (mail.keys, mail.overflow, mail.state) == (frozenset({A, B}), False, False)
    assert not mailbox.take()


def test_it_rings_once_until_it_is_emptied() -> None:
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


def test_it_holds_so_many_keys_and_then_says_that_it_was_too_many() -> None:
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


def test_a_change_of_state_is_news() -> None:
    mailbox = Mailbox(Bell())
    mailbox.mark_state()
    mail = mailbox.take()
    assert (bool(mail), mail.state, mail.keys) == (True, True, frozenset())


def test_an_overflow_from_outside() -> None:
    mailbox = Mailbox(Bell())
    mailbox.mark([A])
    mailbox.overflow()
    mail = mailbox.take()
    assert (mail.keys, mail.overflow) == (frozenset(), True)


def test_of_other_types_it_says_which_have_news() -> None:
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
def test_whatever_is_told_of_another_type_is_news(tell: Callable[[Slot], None]) -> None:
    """A panel of its objects is drawn anew also when more of them changed than can be named."""
    bell = Bell()
    mailbox = Mailbox(bell)
    tell(mailbox.slot(PODS))
    assert (mailbox.take(), bell.rung) == (Mail(types=frozenset({PODS})), 1)
