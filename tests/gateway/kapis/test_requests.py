"""Requests of KubeSphere 3.4's console get the documented responses."""

import json
from collections import Counter

import pytest

from tests.gateway.demo import Demo
from tests.gateway.kapis.rows import READS
from tests.gateway.kapis.shapes import Shape

pytestmark = pytest.mark.programs


def test_the_rows_are_different_requests() -> None:
    paths = Counter(path for _section, path, _code, _shape in READS)
    assert len(READS) >= 120
    assert not [path for path, count in paths.items() if count > 1]


@pytest.mark.parametrize(
    ("section", "path", "code", "shape"), READS, ids=[f"{row[0]} {row[1][:80]}" for row in READS]
)
def test_a_request_gets_the_documented_response(
    demo: Demo, section: str, path: str, code: int, shape: Shape
) -> None:
    reply = demo.send("GET", path)
    assert reply.status == code, (section, reply.body[:500])
    assert reply.headers["content-type"] == "application/json"
    shape(json.loads(reply.body))
