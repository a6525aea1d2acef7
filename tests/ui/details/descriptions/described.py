"""Renders the panels of the overview of one object."""

import re
from html import unescape
from typing import Any

import yaml

from console.kube.gvr import GVR, Key
from console.ui.core.registry import kinds
from console.ui.core.subject import Subject
from console.ui.details.panels import Panel
from console.ui.details.panels.standard import tabs_of
from tests.support.informers import preloaded
from tests.ui.support import admin

Obj = dict[str, Any]


def panel_of(gvr: GVR, panel_id: str = "configuration", tab: int = 0) -> Panel:
    kind = kinds.by_type(gvr)
    assert kind is not None
    return next(panel for panel in tabs_of(kind)[tab].panels if panel.id == panel_id)


def objects(source: str) -> dict[str, Obj]:
    """Return the objects of a YAML text by name."""
    found = list(yaml.safe_load_all(source))
    for one in found:
        one["metadata"].setdefault("uid", "uid")
    return {one["metadata"]["name"]: one for one in found}


def html_of(gvr: GVR, obj: Obj, panel_id: str = "configuration", *others: GVR) -> str:
    """Render a panel of the object for an administrator, with empty caches of the other types."""
    informer, kind = preloaded(gvr, [obj]), kinds.by_type(gvr)
    meta = obj["metadata"]
    key = Key(meta.get("namespace", ""), meta["name"])
    entry = informer.store.get(key)
    assert kind is not None and entry is not None
    informers = {gvr: informer, **{one: preloaded(one) for one in others}}
    subject = Subject(kind, key, entry, admin(), informers, "host")
    return str(panel_of(gvr, panel_id).html(subject))


def text_of(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def described(gvr: GVR, obj: Obj, panel_id: str = "configuration", *others: GVR) -> str:
    """Return the text of a panel."""
    return text_of(html_of(gvr, obj, panel_id, *others))
