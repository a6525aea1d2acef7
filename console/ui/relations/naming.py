"""One object as another names it."""

from dataclasses import dataclass

from console.kube.gvr import GVR, Key

Target = tuple[GVR, Key]


@dataclass(frozen=True, slots=True)
class Reference:
    """`how` is a word of `console.ui.relations.words.HOW`; `where`: the volume, container or the like.

    `optional`: the object that names it does without, if there is none.
    """

    gvr: GVR
    key: Key
    how: str
    where: str = ""
    optional: bool = False
