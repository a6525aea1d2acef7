"""The page of an autoscaler."""

from pathlib import Path

from console.kube.gvr import HORIZONTAL_POD_AUTOSCALERS
from tests.ui.details.descriptions.described import described, objects

FOUND = objects(Path(__file__).with_name("autoscaler.yaml").read_text())["web"]


def test_page_of_an_autoscaler_shows_metrics_with_current_and_target_values() -> None:
    text = described(HORIZONTAL_POD_AUTOSCALERS, FOUND)
    assert "cpu the pods 45% (90m) 80%" in text
    assert "memory container app of the pods — 1Gi" in text
    assert "requests (path=a) the pods — 1k" in text
    assert "rate Ingress/main — 2k" in text
    assert "queue outside the cluster — 30" in text


def test_page_of_an_autoscaler_shows_its_behavior() -> None:
    text = described(HORIZONTAL_POD_AUTOSCALERS, FOUND)
    assert (
        "Scaling up Stabilization window 0s Policies 100 % of the pods in 15s 4 pods in 1m" in text
    )
    assert "Selected policy Max" in text
    assert "Scaling down Stabilization window 5m Policies 1 pod in 1m" in text
