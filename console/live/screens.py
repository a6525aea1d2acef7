"""All screens of one loop, and who finds which."""

from collections.abc import Hashable
from contextlib import ExitStack

from console.live.hub import get_hub
from console.live.pacer import get_pacer
from console.live.perloop import PerLoop
from console.live.screen import Screen, Viewer
from console.live.view import Known
from console.ui.access import Access
from console.ui.decisions import readable
from console.ui.kind import ResourceKind
from console.ui.places import ListPlace
from console.ui.reading import objects_of, source_of
from console.ui.rights import rights_key

_Name = tuple[ResourceKind, Hashable, str, str, Hashable]


class Screens:
    def __init__(self) -> None:
        self._screens: dict[_Name, Screen] = {}

    def __len__(self) -> int:
        return len(self._screens)

    def show(self, viewer: Viewer, place: ListPlace, lang: str, known: Known) -> Screen:
        """Puts `viewer`, whose browser has `known`, on the screen it shares. It is on that one alone.

        Raises `Denied`, `TooManyProjects` or `UnknownKind`, and then it is on none.
        """
        self.leave(viewer)
        kind, access, spec = place.kind, viewer.access, place.spec
        # Before the informer: nobody makes the console watch what they may not see.
        readable(kind, access, spec.namespaces)
        rights = rights_key(kind, access)
        name = (kind, source_of(kind, access), spec.url, lang, rights)
        screen = self._screens.get(name) or self._open(name, place, access)
        screen.join(viewer, known)
        return screen

    def _open(self, name: _Name, place: ListPlace, access: Access) -> Screen:
        kind, _source, _url, lang, rights = name
        with ExitStack() as stack:
            informer = stack.enter_context(objects_of(kind, access, place.spec.namespaces))
            screen = Screen(place, lang, rights, informer, get_hub(), get_pacer(), self.show)
            reading = stack.pop_all()
        screen.on_empty = lambda: self._drop(name, reading)
        self._screens[name] = screen
        return screen

    def leave(self, viewer: Viewer) -> None:
        if viewer.screen is not None:
            viewer.screen.leave(viewer)

    def decide_anew(self) -> None:
        """Rights changed, and nobody knows whose."""
        for screen in self._screens.values():
            screen.decide_anew()

    def _drop(self, name: _Name, reading: ExitStack) -> None:
        del self._screens[name]
        reading.close()


#: The running loop's screens.
get_screens = PerLoop(Screens)
