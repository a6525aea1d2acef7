from console.kube.gvr import Key
from console.live.mailbox import Mailbox

A, B, C = Key("ns", "a"), Key("ns", "b"), Key("ns", "c")


async def test_it_gives_what_came_since_the_last_time() -> None:
    mailbox = Mailbox()
    mailbox.mark([A])
    mailbox.mark([B, A])
    await mailbox.wait()
    mail = mailbox.take()
    assert (mail.keys, mail.overflow, mail.state) == (frozenset({A, B}), False, False)
    assert not mailbox.take()


async def test_it_holds_so_many_keys_and_then_says_that_it_was_too_many() -> None:
    mailbox = Mailbox(capacity=2)
    mailbox.mark([A, B])
    assert not mailbox.take().overflow
    mailbox.mark([A, B, C])
    mailbox.mark([A])
    mail = mailbox.take()
    assert (mail.keys, mail.overflow) == (frozenset(), True)
    mailbox.mark([A])
    assert mailbox.take().keys == {A}


async def test_a_change_of_state_is_news() -> None:
    mailbox = Mailbox()
    mailbox.mark_state()
    await mailbox.wait()
    mail = mailbox.take()
    assert (bool(mail), mail.state, mail.keys) == (True, True, frozenset())


async def test_an_overflow_from_outside() -> None:
    mailbox = Mailbox()
    mailbox.mark([A])
    mailbox.overflow()
    await mailbox.wait()
    mail = mailbox.take()
    assert (mail.keys, mail.overflow) == (frozenset(), True)
