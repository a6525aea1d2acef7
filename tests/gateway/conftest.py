from collections.abc import Iterator

import pytest

from tests.gateway.demo import Demo
from tests.support.demo import demonstrated


@pytest.fixture(scope="package")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    folder = tmp_path_factory.mktemp("gateway")
    with demonstrated(folder) as url:
        yield Demo(url, folder)
