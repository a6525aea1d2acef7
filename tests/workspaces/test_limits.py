"""Default limits are changed in place. Other fields of the LimitRange remain."""

from decimal import Decimal

from workspaces.services.limits import LIMITS, REQUESTS, change_defaults


def test_fields_outside_the_form_are_kept() -> None:
    pod = {"type": "Pod", "max": {"cpu": "4"}}
    container = {
        "type": "Container",
        "min": {"cpu": "1m"},
        "default": {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "2Gi"},
        "defaultRequest": {"cpu": "100m"},
    }
    body = {"spec": {"limits": [pod, container]}}
    change_defaults(body, {REQUESTS: {}, LIMITS: {"cpu": Decimal(2)}})
    assert body["spec"]["limits"] == [
        pod,
        {
            "type": "Container",
            "min": {"cpu": "1m"},
            "default": {"ephemeral-storage": "2Gi", "cpu": "2"},
        },
    ]


def test_an_empty_container_limit_is_removed() -> None:
    body = {"spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}}]}}
    change_defaults(body, {REQUESTS: {}, LIMITS: {}})
    assert body["spec"]["limits"] == []
