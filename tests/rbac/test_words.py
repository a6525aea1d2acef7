"""Readable text of rules in mixed Chinese and Latin script."""

import pytest
from django.utils.translation import override

from rbac.rule_descriptions import describe_rule
from rbac.rules import Rule

READ = ("get", "list", "watch")


@pytest.mark.parametrize(
    ("verbs", "resources", "text"),
    [
        (READ, ("pods", "services"), "查看容器组、服务"),
        (READ, ("pods", "widgets"), "查看容器组、widgets"),
        (READ, ("widgets", "pods"), "查看 widgets、容器组"),
        (("frob",), ("pods",), "frob 容器组"),
        (("get",), ("pods",), "读取容器组"),
        (("*",), ("widgets",), "对 widgets 执行所有操作"),
    ],
)
def test_chinese_and_latin_text_are_separated_by_a_space(
    verbs: tuple[str, ...], resources: tuple[str, ...], text: str
) -> None:
    rule = Rule(verbs=verbs, api_groups=("",), resources=resources)
    with override("zh-hans"):
        assert describe_rule(rule) == text
