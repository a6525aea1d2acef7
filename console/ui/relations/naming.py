"""References between objects."""

from dataclasses import dataclass

from console.kube.gvr import GVR, Key

Target = tuple[GVR, Key]


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to an object.

    `how` is a key of `console.ui.relations.words.HOW`. `where` is the volume, container or other
    place in the referring object. `optional` is True if the referring object works without the
    target.
    """

    gvr: GVR
    key: Key
    how: str
    where: str = ""
    optional: bool = False
