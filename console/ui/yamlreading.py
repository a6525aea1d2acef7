"""YAML that somebody typed.

Promises: the cost is bounded by the length of the text, since nothing stands for something else; what is
read is what was seen, since no key is there twice. Whatever is wrong is a `yaml.YAMLError`.
"""

from typing import Any

import yaml
from yaml.constructor import ConstructorError

MAX_DEPTH = 100


class _Loader(yaml.CSafeLoader):
    """Refuses a key that is there twice, of which PyYAML takes the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise ConstructorError(None, None, "a key must be a text", key.start_mark)
            if key.value in seen:
                raise ConstructorError(None, None, "a key is there twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_yaml(text: str) -> Any:
    """One document of plain values. Raises `yaml.YAMLError`."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        problem = _problem(event, depth)
        if problem:
            raise ConstructorError(None, None, problem)
    try:
        # Safe: the loader is a SafeLoader that refuses more.
        return yaml.load(text, Loader=_Loader)  # noqa: S506
    except ValueError as error:
        # A number or a date that looks like one and is none.
        raise ConstructorError(None, None, str(error)) from error


def _problem(event: yaml.Event, depth: int) -> str:
    if isinstance(event, yaml.AliasEvent):
        # Some hundred characters of these can stand for billions of values.
        return "aliases are not read"
    if getattr(event, "tag", None) is not None:
        return "tags are not read"
    return "it is nested too deeply" if depth > MAX_DEPTH else ""
