"""Labels of quota resources."""

import pytest
from django.utils.translation import override

from console.ui.core.kind_names import resource_label
from tests.ui.support import admin


@pytest.mark.parametrize(
    ("key", "english", "chinese"),
    [
        ("requests.cpu", "CPU request", "CPU 预留"),
        ("limits.memory", "Memory limit", "内存上限"),
        ("pods", "Pods", "容器组"),
        ("count/deployments.apps", "Deployments", "部署"),
        ("requests.nvidia.com/gpu", "requests.nvidia.com/gpu", "requests.nvidia.com/gpu"),
        ("", "", ""),
    ],
)
def test_resource_has_a_label_in_both_languages(key: str, english: str, chinese: str) -> None:
    with override("en"):
        assert resource_label(admin().cluster.kinds, key) == english
    with override("zh-hans"):
        assert resource_label(admin().cluster.kinds, key) == chinese
