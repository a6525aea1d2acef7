"""The queue for password checks: every sign-in gets a turn, and addresses and names take turns."""

import asyncio

import pytest

from accounts.signin import passwords
from accounts.signin.passwords import PasswordQueue, TooBusy


class Served:
    """Fake sign-ins. `names` are in the order of their turns."""

    def __init__(self, places: int = 1) -> None:
        self.line = PasswordQueue(places)
        self.names: list[str] = []
        self.go_on = asyncio.Event()

    async def come(self, address: str, name: str) -> None:
        async with self.line.turn(address, name):
            self.names.append(name)
            await self.go_on.wait()

    def all(self, *who: tuple[str, str]) -> list["asyncio.Task[None]"]:
        return [asyncio.create_task(self.come(*one)) for one in who]


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_five_hundred_concurrent_sign_ins_all_get_a_turn() -> None:
    served = Served(3)
    served.go_on.set()
    await asyncio.gather(*served.all(*(("a", f"user-{n}") for n in range(500))))
    assert sorted(served.names) == sorted(f"user-{n}" for n in range(500))


async def test_addresses_and_names_take_turns() -> None:
    served = Served()
    first = served.all(("a", "first"))
    await settle()
    crowd = served.all(*(("a", f"guess {n}") for n in range(3)), *(("a", "alice"),) * 3)
    late = served.all(("b", "bob"), ("c", "carl"))
    await settle()
    served.go_on.set()
    await asyncio.gather(*first, *crowd, *late)
    assert served.names[:4] == ["first", "guess 0", "bob", "carl"]
    assert served.names.index("alice") == 6
    assert served.names[-2:] == ["alice", "alice"]


async def test_waiting_times_out_and_no_slot_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    served = Served()
    holding = served.all(("a", "first"))
    await settle()
    monkeypatch.setattr(passwords, "PATIENCE", 0.01)
    with pytest.raises(TooBusy):
        await served.come("b", "bob")
    monkeypatch.setattr(passwords, "PATIENCE", 60)
    gone = served.all(("b", "bob"))
    await settle()
    gone[0].cancel()
    served.go_on.set()
    await asyncio.gather(*holding, *gone, return_exceptions=True)
    await served.come("c", "carl")
    assert served.names == ["first", "carl"]


async def test_a_cancelled_turn_releases_its_slot() -> None:
    served = Served()
    holding, waiting = served.all(("a", "first"), ("b", "bob"))
    await settle()
    served.go_on.set()
    # Both happen in one iteration of the event loop: bob gets his turn and is cancelled.
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(holding, waiting, return_exceptions=True)
    async with asyncio.timeout(5):
        await served.come("c", "carl")


async def test_a_full_queue_refuses_the_address_with_the_most_entries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(passwords, "MOST", 3)
    served = Served()
    first = served.all(("a", "first"))
    await settle()
    crowd = served.all(("a", "x"), ("a", "y"), ("a", "y"))
    await settle()
    late = served.all(("b", "bob"))
    await settle()
    served.go_on.set()
    found = await asyncio.gather(*crowd, return_exceptions=True)
    await asyncio.gather(*first, *late)
    assert [type(one) for one in found] == [type(None), type(None), TooBusy]
    assert "bob" in served.names
