"""Parts of a wizard's step that contain fields: groups, rows, variants and optional documents."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Protocol

from django.utils.translation import gettext_lazy

from console.ui.wizard.fields import NOT_OFFERED, Choice, RowKey, Text
from console.ui.wizard.paths import ABSENT, Blocked, Path, remove_at, write_at
from console.ui.wizard.state import FieldScope, FormState, Question

#: Maximum rows of a list on a page. Longer lists can only be edited as YAML.
MOST_ROWS = 100
#: Name of an input that marks an added row.
_ADDED = "added"


class BoundNode(Protocol):
    """A part on a page."""

    @property
    def template(self) -> str: ...

    @property
    def errors(self) -> int:
        """Number of fields with errors."""
        ...

    @property
    def children(self) -> Sequence[Any]: ...


class FormPart(Protocol):
    """A field, or a part that contains other parts."""

    def bind(self, scope: FieldScope) -> BoundNode: ...

    def apply(self, scope: FieldScope) -> None:
        """Write the changes of the submitted form."""
        ...

    def strip(self, scope: FieldScope) -> None:
        """Remove from the documents all that the part can show."""
        ...

    def drop_unused(self, scope: FieldScope) -> None:
        """Remove rows that were added and left unchanged."""
        ...


@dataclass(frozen=True, slots=True)
class BoundPart:
    """A part that contains other parts, on a page. `now` says what applies, in words. `answer` is
    the answer to its question.
    """

    part: Any
    template: str
    children: Sequence[Any]
    name: str = ""
    value: str = ""
    now: Text = ""
    open: bool = True
    options: Sequence[Choice] = ()
    is_yaml_only: bool = False
    error: Text = ""
    answer: Any = None

    @property
    def errors(self) -> int:
        return int(bool(self.error)) + sum(int(child.errors) for child in self.children)

    @property
    def id(self) -> str:
        return "w-" + self.name.rstrip(".").replace(".", "-")


@dataclass(frozen=True, slots=True)
class BoundRow:
    """An item of a list on a page. `title` and `facts` are its line while it is closed."""

    name: str
    title: str
    kind: Text
    facts: str
    children: Sequence[Any]
    is_first: bool
    is_last: bool
    open: bool
    is_fixed: bool = False
    template: str = "wizard/row.html"

    @property
    def errors(self) -> int:
        return sum(int(child.errors) for child in self.children)

    @property
    def id(self) -> str:
        return "w-" + self.name.rstrip(".").replace(".", "-")


@dataclass(frozen=True, kw_only=True)
class Group:
    """Parts below a heading.

    - `path`: start of the paths inside. `slot`: the document, if it isn't the one around it.
    - `is_advanced`: the group is one line that says what applies `now`, until it is opened.
    - `is_optional`: the mapping at `path` may be missing; then its required fields may be empty.
    - `pairs`: the fields share lines.
    """

    title: Text = ""
    hint: Text = ""
    parts: Sequence[FormPart] = ()
    path: Path = ()
    slot: str = ""
    is_advanced: bool = False
    is_optional: bool = False
    pairs: bool = False
    now: Callable[[FieldScope], Text] | None = None
    #: Where the group is displayed.
    shown_if: Callable[[FieldScope], bool] | None = None

    def within(self, scope: FieldScope) -> FieldScope:
        scope = scope.in_slot(self.slot) if self.slot else scope
        if not self.path:
            return scope
        inside = scope.within(self.path)
        return replace(inside, is_absent=True) if self.is_optional and not inside.has() else inside

    def _is_shown(self, scope: FieldScope) -> bool:
        return self.shown_if is None or self.shown_if(scope)

    def bind(self, scope: FieldScope) -> BoundPart:
        inside = self.within(scope)
        shown = self.parts if self._is_shown(inside) else ()
        children = [part.bind(inside) for part in shown]
        template = "wizard/extra.html" if self.is_advanced else "wizard/group.html"
        now = self.now(inside) if self.now is not None else ""
        return BoundPart(
            self, template, children, now=now, open=any(one.errors for one in children)
        )

    def apply(self, scope: FieldScope) -> None:
        for part in self.parts:
            part.apply(self.within(scope))

    def strip(self, scope: FieldScope) -> None:
        for part in self.parts:
            part.strip(self.within(scope))

    def drop_unused(self, scope: FieldScope) -> None:
        for part in self.parts:
            part.drop_unused(self.within(scope))


@dataclass(frozen=True, kw_only=True)
class Rows:
    """A lens on a list of mappings. Rows can be added, removed, moved and duplicated.

    - `new`: a new item, for the list's scope. Added rows without input are removed when the
      user leaves the step.
    - `of`: name of the row's grid in the style sheet, for rows of short values.
    - `is_item`: each row is a box that can be closed. `title`, `facts` and `kind` describe it.
    - `least`: number of rows that are always kept.
    - `keeps_new`: added rows are kept without input, because a new item has a meaning.
    - `is_fixed`: the fields of the rows can be edited, but not the list.
    """

    id: str
    parts: Sequence[FormPart]
    add: Text
    path: Path = ()
    title: Text = ""
    hint: Text = ""
    of: str = ""
    is_item: bool = False
    new: Callable[[FieldScope], Mapping[str, Any]] = lambda scope: {}
    name: Callable[[FieldScope], str] = lambda scope: ""
    kind: Callable[[FieldScope], Text] = lambda scope: ""
    facts: Callable[[FieldScope], str] = lambda scope: ""
    least: int = 0
    keeps_new: bool = False
    is_fixed: bool = False
    #: Returns the items after a row was copied, to make its names unique.
    copied: Callable[[dict[str, Any], Sequence[Any]], None] | None = None
    template: ClassVar[str] = "wizard/rows.html"

    @property
    def place(self) -> Path:
        return self.path or (self.id,)

    def items(self, scope: FieldScope) -> list[Any] | None:
        """Return the items, or None if the rows can't show the list."""
        found = scope.get(*self.place)
        if found is ABSENT:
            return []
        shown = isinstance(found, list) and len(found) <= MOST_ROWS
        return found if shown and all(isinstance(one, dict) for one in found) else None

    def row(self, scope: FieldScope, index: int) -> FieldScope:
        return scope.within((*self.place, index), f"{self.id}.{index}.", keeps=True)

    def bind(self, scope: FieldScope) -> BoundPart:
        items = self.items(scope)
        name = f"{scope.prefix}{self.id}."
        rows = [self._bound_row(scope, at, len(items)) for at in range(len(items))] if items else []
        return BoundPart(self, self.template, rows, name, is_yaml_only=items is None)

    def _bound_row(self, scope: FieldScope, index: int, count: int) -> BoundRow:
        row = self.row(scope, index)
        children = [part.bind(row) for part in self.parts]
        errors = any(one.errors for one in children)
        focused = scope.state.focus.startswith(row.prefix)
        return BoundRow(
            name=row.prefix,
            title=self.name(row),
            kind=self.kind(row),
            facts=self.facts(row),
            children=children,
            is_first=index == 0,
            is_last=index == count - 1,
            open=index == 0 or errors or focused or self.is_fixed,
            is_fixed=self.is_fixed,
        )

    def apply(self, scope: FieldScope) -> None:
        items = self.items(scope)
        if items is None:
            return
        for index in range(len(items)):
            for part in self.parts:
                part.apply(self.row(scope, index))
        name = f"{scope.prefix}{self.id}."
        if scope.state.act.startswith(name) and not self.is_fixed:
            # A value of another type on the way to the list leaves no place for rows.
            with suppress(Blocked):
                self._act(scope, name, items, scope.state.act.removeprefix(name))

    def _act(self, scope: FieldScope, name: str, items: list[Any], act: str) -> None:
        """Change the rows. Ignore an act for a row that no longer exists."""
        state, order = scope.state, list[int | None](range(len(items)))
        number, _dot, verb = act.rpartition(".")
        at = int(number) if number.isascii() and number.isdigit() and len(number) < 4 else -1
        if act == "add" and len(items) < MOST_ROWS:
            items = [*items, deepcopy(dict(self.new(scope)))]
            order.append(None)
            at = len(items) - 1
        elif not 0 <= at < len(items):
            return
        elif verb == "remove":
            items = [*items[:at], *items[at + 1 :]]
            del order[at]
            at = min(at, len(items) - 1)
        elif verb == "copy" and len(items) < MOST_ROWS:
            copy = deepcopy(items[at])
            if self.copied is not None:
                self.copied(copy, items)
            items = [*items[: at + 1], copy, *items[at + 1 :]]
            order.insert(at + 1, None)
            at += 1
        elif verb in ("up", "down"):
            other = at + (1 if verb == "down" else -1)
            if not 0 <= other < len(items):
                return
            items = [*items]
            items[at], items[other] = items[other], items[at]
            order[at], order[other] = order[other], order[at]
            at = other
        else:
            return
        self._write(scope, items)
        state.renumber(name, order)
        if act == "add" and not self.keeps_new:
            state.inputs[f"{name}{at}.{_ADDED}"] = ""
        state.focus = f"{name}{at}." if items else name

    def _write(self, scope: FieldScope, items: list[Any]) -> None:
        path = (*scope.base, *self.place)
        if items:
            write_at(scope.document, path, items)
        else:
            remove_at(scope.document, path, scope.floor)

    def drop_unused(self, scope: FieldScope) -> None:
        items, prefix = self.items(scope), f"{scope.prefix}{self.id}."
        if not items:
            return
        for at in range(len(items)):
            for part in self.parts:
                part.drop_unused(self.row(scope, at))
        inputs, unused = scope.state.inputs, dict(self.new(scope))
        order: list[int | None] = []
        for at, item in enumerate(items):
            start = f"{prefix}{at}."
            typed = [name for name in inputs if name.startswith(start)]
            if typed != [f"{start}{_ADDED}"] or item != unused:
                order.append(at)
        if self.least <= len(order) < len(items):
            self._write(scope, [items[at] for at in order if at is not None])
            scope.state.renumber(prefix, order)

    def strip(self, scope: FieldScope) -> None:
        for index in range(len(self.items(scope) or ())):
            for part in self.parts:
                part.strip(self.row(scope, index))


#: Slot of the list that stands for a mapping while its rows are shown or changed.
_VIEW = "~"


@dataclass(frozen=True, kw_only=True)
class MapRows(Rows):
    """A lens on a mapping, as rows with a key and its value. The first of `parts` is a
    `console.ui.wizard.fields.RowKey`; the paths of others start with "value".

    `empty` is the value of a row whose fields are empty.
    """

    empty: Any = ""

    @property
    def _apart(self) -> Sequence[str]:
        key = self.parts[0]
        return key.apart if isinstance(key, RowKey) else ()

    def _entries(self, scope: FieldScope) -> dict[str, Any] | None:
        found = scope.get(*self.place)
        if found is ABSENT:
            return {}
        if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
            return None
        entries = {key: value for key, value in found.items() if key not in self._apart}
        return entries if len(entries) <= MOST_ROWS else None

    def _item(self, key: str, value: Any) -> dict[str, Any]:
        is_empty = type(value) is type(self.empty) and value == self.empty
        return {**({"key": key} if key else {}), **({} if is_empty else {"value": value})}

    def _view(self, scope: FieldScope, entries: Mapping[str, Any]) -> FieldScope:
        """Return the scope of a document in which the mapping is a list of keys and values."""
        document: dict[str, Any] = {}
        items = [self._item(key, value) for key, value in entries.items()]
        write_at(document, self.place, items)
        documents = {**scope.state.documents, _VIEW: document}
        return FieldScope(replace(scope.state, documents=documents), _VIEW, (), scope.prefix)

    def _commit(self, scope: FieldScope, entries: Mapping[str, Any], view: FieldScope) -> None:
        """Write the changes of the view."""
        changed = {
            one.get("key", ""): one.get("value", self.empty) for one in view.mappings(*self.place)
        }
        scope.state.inputs, scope.state.focus = view.state.inputs, view.state.focus
        if [*changed.items()] == [*entries.items()]:
            return
        held = scope.get(*self.place)
        kept = {key: held[key] for key in self._apart if held is not ABSENT and key in held}
        path = (*scope.base, *self.place)
        if kept or changed:
            write_at(scope.document, path, {**kept, **changed})
        else:
            remove_at(scope.document, path, scope.floor)

    def bind(self, scope: FieldScope) -> BoundPart:
        entries = self._entries(scope)
        if entries is None:
            name = f"{scope.prefix}{self.id}."
            return BoundPart(self, self.template, (), name, is_yaml_only=True)
        return super().bind(self._view(scope, entries))

    def apply(self, scope: FieldScope) -> None:
        entries = self._entries(scope)
        if entries is not None:
            view = self._view(scope, deepcopy(entries))
            super().apply(view)
            self._commit(scope, entries, view)

    def _act(self, scope: FieldScope, name: str, items: list[Any], act: str) -> None:
        unnamed = next((at for at, one in enumerate(items) if "key" not in one), None)
        if act == "add" and unnamed is not None:
            scope.state.focus = f"{name}{unnamed}."
        else:
            super()._act(scope, name, items, act)

    def drop_unused(self, scope: FieldScope) -> None:
        entries = self._entries(scope)
        if entries:
            view = self._view(scope, deepcopy(entries))
            super().drop_unused(view)
            self._commit(scope, entries, view)

    def strip(self, scope: FieldScope) -> None:
        entries = self._entries(scope)
        if not entries:
            return
        view = self._view(scope, entries)
        super().strip(view)
        held = scope.get(*self.place)
        for key, item in zip(entries, view.mappings(*self.place), strict=True):
            if "key" not in item and "value" not in item:
                del held[key]
            elif "key" not in item:
                held[key] = item["value"]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A case of a `Variant`.

    - `keys`: fields of the mapping that only this case has; the first one marks it. A path stands
      for a nested field.
    - `when`: returns True if the mapping is of this case, for cases that a key doesn't mark. The
      first case that applies is the current one.
    - `fixed`: fields that always have these values in this case, and mark it, such as a type. The
      value `ABSENT` stands for a missing field.
    - `start`: further content when the case is chosen. `ABSENT` removes a value.
    - `needs`: like `start`, but existing values are kept.
    - `left`: cleans the mapping when another case is chosen.
    - `parts`: fields of the case, with paths from the mapping.
    """

    id: str
    label: Text
    keys: Sequence[str | Path] = ()
    hint: Text = ""
    when: Callable[[FieldScope], bool] | None = None
    fixed: Mapping[str, Any] | Callable[[FieldScope], Mapping[str, Any]] | None = None
    start: Mapping[str | Path, Any] | None = None
    needs: Mapping[str | Path, Any] | None = None
    left: Callable[[FieldScope], None] | None = None
    parts: Sequence[FormPart] = ()

    def constants(self, at: FieldScope) -> Mapping[str, Any]:
        return (self.fixed(at) if callable(self.fixed) else self.fixed) or {}

    def applies(self, at: FieldScope) -> bool:
        """Return True if the mapping is marked as this case."""
        constants = self.constants(at)
        if any(at.has(name) for name in constants):
            return all(at.get(name) == value for name, value in constants.items())
        return bool(self.keys) and at.has(*self.paths[0])

    @property
    def paths(self) -> list[Path]:
        return [_path(key) for key in self.keys]

    @property
    def removes(self) -> list[Path]:
        """Paths that are removed when the case is chosen."""
        return [_path(key) for key, value in (self.start or {}).items() if value is ABSENT]

    @property
    def is_mapping(self) -> bool:
        """False if the case is the absence of the mapping."""
        return bool(self.keys or self.start or self.needs or self.fixed is not None)


def _path(key: str | Path) -> Path:
    return (key,) if isinstance(key, str) else key


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A mapping with one of several cases, such as the source of a volume. What a case loses when
    another one is chosen stays in the draft, and returns with the case.

    - `path`: path of the mapping. A mapping at () also contains the fields `beside`.
    - `default`: the case that applies if the mapping has the fields of none. A case without `keys`
      and `fixed` is the absence of the mapping.
    - `otherwise`: the case of any other content. Without it, such content is left to YAML.
    - `common`: fields that all cases but the absence have.
    """

    id: str
    label: Text
    cases: Sequence[Case]
    path: Path = ()
    beside: Sequence[str] = ()
    default: str = ""
    otherwise: str = ""
    common: Sequence[FormPart] = ()
    hint: Text = ""
    #: Radio buttons with explanations instead of a select.
    picks: bool = False
    template: ClassVar[str] = "wizard/variant.html"

    def current(self, scope: FieldScope) -> Case | None:
        """Return the case of the value, or None if the variant can't show it."""
        inside = scope.get(*self.path) if self.path else scope.get()
        if inside is ABSENT:
            inside = {}
        if not isinstance(inside, dict):
            return None
        at = scope.within(self.path)
        named = [one for one in self.cases if one.when is not None]
        if named:
            return next((one for one in named if one.when is not None and one.when(at)), None)
        found = [one for one in self.cases if one.id != self.otherwise and one.applies(at)]
        if found:
            return found[0] if len(found) == 1 else None
        # Other fields belong to a case that the variant doesn't know.
        if inside.keys() - {*self.beside}:
            return next((one for one in self.cases if one.id == self.otherwise), None)
        return next(
            (one for one in self.cases if one.id == self.default or not one.is_mapping), None
        )

    def _inside(self, scope: FieldScope, case: Case) -> FieldScope:
        """Return the scope of a case's fields."""
        inside = scope.within(self.path, f"{self.id}.{case.id}.")
        if not case.keys or case.when is not None:
            return inside
        return replace(inside, floor=len(inside.base) + len(case.paths[0]))

    def bind(self, scope: FieldScope) -> BoundPart:
        """Return the fields of the current case. Choosing another case loads the form again."""
        name, case = f"{scope.prefix}{self.id}", self.current(scope)
        children: list[BoundNode] = []
        if case is not None:
            children += [part.bind(self._inside(scope, case)) for part in case.parts]
        if case is not None and case.is_mapping:
            common = scope.within(self.path, f"{self.id}.")
            children += [part.bind(common) for part in self.common]
        raw = scope.state.inputs.get(name)
        return BoundPart(
            self,
            self.template,
            children,
            name,
            raw if raw is not None else case.id if case is not None else "",
            options=[Choice(one.id, one.label, one.hint) for one in self.cases],
            is_yaml_only=case is None,
            error=NOT_OFFERED if raw is not None else "",
        )

    def apply(self, scope: FieldScope) -> None:
        state, case = scope.state, self.current(scope)
        if case is None or state.post is None:
            return
        name = f"{scope.prefix}{self.id}"
        chosen = state.post.get(name, case.id)
        state.inputs.pop(name, None)
        wanted = next((one for one in self.cases if one.id == chosen), None)
        if wanted is None:
            state.inputs[name] = chosen
        elif wanted is not case:
            try:
                self._choose(scope, case, wanted)
                case = wanted
            except Blocked:
                state.inputs[name] = chosen
        inside = self._inside(scope, case)
        for part in case.parts:
            part.apply(inside)
        if case.is_mapping:
            for part in self.common:
                part.apply(scope.within(self.path, f"{self.id}."))

    def _choose(self, scope: FieldScope, before: Case, case: Case) -> None:
        base, at = (*scope.base, *self.path), scope.within(self.path)
        start = {_path(key): value for key, value in (case.start or {}).items()}
        lost = [*before.paths, *case.removes]
        self._keep(scope, before, [(path, at.get(*path)) for path in lost])
        for path in (*lost, *((name,) for name in before.constants(at))):
            remove_at(scope.document, (*base, *path), len(base))
        if before.left is not None:
            before.left(at)
        if not case.is_mapping:
            if self.path and not any(at.has(name) for name in self.beside):
                remove_at(scope.document, base, scope.floor)
            return
        if case.start is None and case.when is None and case.keys:
            write_at(scope.document, (*base, *case.paths[0]), {})
        needs = {_path(key): value for key, value in (case.needs or {}).items()}
        missing = {path: value for path, value in needs.items() if not at.has(*path)}
        fixed: dict[Path, Any] = {(name,): value for name, value in case.constants(at).items()}
        found: dict[Path, Any] = {**fixed, **start, **missing, **self._kept(scope, case)}
        for path, value in found.items():
            if value is not ABSENT:
                write_at(scope.document, (*base, *path), deepcopy(value))

    def _kept_name(self, scope: FieldScope, case: Case) -> str:
        return f"{scope.prefix}{self.id}.~{case.id}"

    def _keep(self, scope: FieldScope, case: Case, lost: Sequence[tuple[Path, Any]]) -> None:
        """Keep the values that the current case loses."""
        held = [(path, value) for path, value in lost if value is not ABSENT]
        # A YAML text may contain values that JSON doesn't have, such as dates.
        with suppress(TypeError, ValueError):
            if held:
                scope.state.inputs[self._kept_name(scope, case)] = json.dumps(held)

    def _kept(self, scope: FieldScope, case: Case) -> dict[Path, Any]:
        """Return the values that the case had when another one was chosen."""
        text = scope.state.inputs.pop(self._kept_name(scope, case), "[]")
        # The text comes from the form, so only paths that a case can lose are accepted.
        paths = {path for one in self.cases for path in (*one.paths, *one.removes)}
        with suppress(TypeError, ValueError, RecursionError):
            held = {tuple(path): value for path, value in json.loads(text)}
            return {path: one for path, one in held.items() if path in paths - {*case.removes}}
        return {}

    def strip(self, scope: FieldScope) -> None:
        case = self.current(scope)
        if case is None:
            return
        for name in case.constants(scope.within(self.path)):
            remove_at(scope.document, (*scope.base, *self.path, name), scope.floor)
        for part in case.parts:
            part.strip(self._inside(scope, case))
        for part in self.common:
            part.strip(scope.within(self.path, f"{self.id}."))
        # The choice of the case shows the values that mark it.
        at = scope.within(self.path)
        for key, value in (case.start or {}).items():
            if isinstance(value, str) and at.get(*_path(key)) == value:
                remove_at(scope.document, (*at.base, *_path(key)), len(at.base))

    def drop_unused(self, scope: FieldScope) -> None:
        case = self.current(scope)
        if case is not None:
            for part in case.parts:
                part.drop_unused(self._inside(scope, case))


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A choice that fills in the fields of `target`, such as a workload whose labels they select.

    - `path`: path of the value that a choice sets.
    - `values`: returns the choices and their values.
    - `other`: label of the choice for all other values.
    - `note`: returns what the cluster says about the value.
    """

    id: str
    label: Text
    path: Path
    target: FormPart
    values: Callable[[FieldScope], Sequence[tuple[Choice, Any]]]
    other: Text = gettext_lazy("Other")
    note: Callable[[FieldScope], Text] | None = None
    template: ClassVar[str] = "wizard/preset.html"

    def _current(self, scope: FieldScope) -> str:
        held = scope.get(*self.path)
        return next((one.value for one, value in self.values(scope) if value == held), "")

    def bind(self, scope: FieldScope) -> BoundPart:
        name = f"{scope.prefix}{self.id}"
        raw = scope.state.inputs.get(name)
        offered = [one for one, _value in self.values(scope)]
        return BoundPart(
            self,
            self.template,
            [self.target.bind(scope)],
            name,
            self._current(scope),
            now=self.note(scope) if self.note is not None else "",
            options=[Choice("", self.other), *offered] if offered else (),
            error=NOT_OFFERED if raw is not None else "",
        )

    def apply(self, scope: FieldScope) -> None:
        state, name, before = scope.state, f"{scope.prefix}{self.id}", self._current(scope)
        self.target.apply(scope)
        given = state.post.get(name, before) if state.post is not None else before
        state.inputs.pop(name, None)
        if given in ("", before):
            return
        found = [value for one, value in self.values(scope) if one.value == given]
        if found:
            write_at(scope.document, (*scope.base, *self.path), deepcopy(found[0]))
        else:
            state.inputs[name] = given

    def strip(self, scope: FieldScope) -> None:
        self.target.strip(scope)

    def drop_unused(self, scope: FieldScope) -> None:
        self.target.drop_unused(scope)


@dataclass(frozen=True, kw_only=True)
class FillButton:
    """A button that fills in several fields. Parts that show these fields must come before it.

    - `fill`: writes the values. It must accept any content of the document.
    - `now`: says in words whether the values are set.
    """

    id: str
    label: Text
    fill: Callable[[FieldScope], None]
    now: Callable[[FieldScope], Text]
    template: ClassVar[str] = "wizard/fill_button.html"

    def bind(self, scope: FieldScope) -> BoundPart:
        return BoundPart(self, self.template, (), f"{scope.prefix}{self.id}", now=self.now(scope))

    def apply(self, scope: FieldScope) -> None:
        if scope.state.act == f"{scope.prefix}{self.id}.fill":
            self.fill(scope)

    def strip(self, scope: FieldScope) -> None:
        return

    def drop_unused(self, scope: FieldScope) -> None:
        return


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said. `severity` is "done" or "warn", `hint` a second sentence."""

    severity: str
    text: str
    hint: str = ""


@dataclass(frozen=True, kw_only=True)
class AskButton:
    """A button that asks a server about the values of fields, which must come before it."""

    id: str
    label: Text
    ask: Callable[[FieldScope], Awaitable[Answer]]
    template: ClassVar[str] = "wizard/ask_button.html"

    def bind(self, scope: FieldScope) -> BoundPart:
        name = f"{scope.prefix}{self.id}"
        return BoundPart(self, self.template, (), name, answer=scope.state.answers.get(name))

    def apply(self, scope: FieldScope) -> None:
        name = f"{scope.prefix}{self.id}"
        if scope.state.act == f"{name}.ask":
            asked = Question(name, "wizard/_answer.html", partial(self.ask, scope))
            scope.state.questions.append(asked)

    def strip(self, scope: FieldScope) -> None:
        return

    def drop_unused(self, scope: FieldScope) -> None:
        return


@dataclass(frozen=True, kw_only=True)
class OptionalDocument:
    """A checkbox that adds another document to the draft, with its fields.

    - `start`: returns the new document for the main document.
    - `dependents`: documents that are removed together with it, because they refer to it.

    Removed documents stay in the draft, and return when the checkbox is checked again.
    """

    slot: str
    label: Text
    start: Callable[[FormState], Mapping[str, Any]]
    parts: Sequence[FormPart]
    hint: Text = ""
    dependents: Sequence[str] = ()
    template: ClassVar[str] = "wizard/optional_document.html"

    def bind(self, scope: FieldScope) -> BoundPart:
        exists = self.slot in scope.state.documents
        children = [part.bind(scope.in_slot(self.slot)) for part in self.parts] if exists else []
        name = f"{scope.prefix}{self.slot}"
        return BoundPart(self, self.template, children, name, "on" if exists else "")

    def apply(self, scope: FieldScope) -> None:
        state, name = scope.state, f"{scope.prefix}{self.slot}"
        if state.post is None or name not in state.post:
            return
        wanted, exists = state.post.getlist(name)[-1] == "on", self.slot in state.documents
        if exists:
            for part in self.parts:
                part.apply(scope.in_slot(self.slot))
        if wanted == exists or self.slot in state.decided:
            return
        if wanted:
            held = self._kept(state, f"{name}.~")
            state.documents |= held or {self.slot: deepcopy(dict(self.start(state)))}
        else:
            slots = {self.slot, *self.dependents} & state.documents.keys()
            held = {slot: state.documents.pop(slot) for slot in slots}
            # A YAML text may contain values that JSON doesn't have, such as dates.
            with suppress(TypeError, ValueError):
                state.inputs[f"{name}.~"] = json.dumps(held)
        state.decided |= held.keys()

    def _kept(self, state: FormState, name: str) -> dict[str, dict[str, Any]]:
        """Return the documents that were removed with the checkbox."""
        with suppress(ValueError, RecursionError):
            held = json.loads(state.inputs.pop(name, "{}"))
            slots = {self.slot, *self.dependents} - state.documents.keys()
            if isinstance(held, dict) and isinstance(held.get(self.slot), dict):
                return {k: one for k, one in held.items() if k in slots and isinstance(one, dict)}
        return {}

    def strip(self, scope: FieldScope) -> None:
        if self.slot in scope.state.documents:
            for part in self.parts:
                part.strip(scope.in_slot(self.slot))

    def drop_unused(self, scope: FieldScope) -> None:
        if self.slot in scope.state.documents:
            for part in self.parts:
                part.drop_unused(scope.in_slot(self.slot))


def walk(node: Any) -> Iterator[Any]:
    """Yield a node and all nodes inside it."""
    yield node
    for child in node.children:
        yield from walk(child)
