"""The line before the passwords: everybody has their turn, and nobody is in it twice as often."""

import asyncio

import pytest

from accounts.signin import passwords
from accounts.signin.passwords import Line, TooBusy


class Served:
    """`names`: in the order in which they had their turn."""

    def __init__(self, places: int = 1) -> None:
        self.line = Line(places)
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


async def test_five_hundred_at_once_all_have_their_turn() -> None:
    served = Served(3)
    served.go_on.set()
    await asyncio.gather(*served.all(*(("a", f"user-{n}") for n in range(500))))
    assert sorted(served.names) == sorted(f"user-{n}" for n in range(500))


async def test_addresses_take_turns_and_so_do_names() -> None:
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


async def test_nobody_waits_for_ever_and_no_place_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
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


async def test_whoever_was_called_and_is_gone_gives_the_place_back() -> None:
    served = Served()
    holding, waiting = served.all(("a", "first"), ("b", "bob"))
    await settle()
    served.go_on.set()
    # Both in one step of the loop: bob has his turn, and goes.
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(holding, waiting, return_exceptions=True)
    async with asyncio.timeout(5):
        await served.come("c", "carl")


async def test_of_too_many_those_of_the_fullest_address_are_turned_away(
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
