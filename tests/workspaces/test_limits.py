"""Default limits are changed in place: what else a LimitRange says stays."""

from decimal import Decimal

from workspaces.services.limits import LIMITS, REQUESTS, change_defaults


def test_what_the_form_does_not_ask_for_stays() -> None:
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


def test_without_defaults_nothing_is_said_of_containers() -> None:
    body = {"spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}}]}}
    change_defaults(body, {REQUESTS: {}, LIMITS: {}})
    assert body["spec"]["limits"] == []
