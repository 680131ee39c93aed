"""A stored study of a device: whether that is here, workers say, and the store does not."""

from pathlib import Path

import pytest

from explorer.exploration.about import VERSIONS
from explorer.model.failures import Failure
from explorer.model.measurement import Measured
from explorer.store.keys import key_of
from explorer.store.store import Store
from explorer.topics import study_topic
from explorer.topics.measurements import key
from explorer.topics.studies import stored_study, target

pytestmark = pytest.mark.own_store

RAISED = Measured(outcome="raised", error=Failure("RuntimeError", "no"), date="2026-01-02")


@pytest.mark.parametrize(("device", "is_told"), [("cpu", True), ("cuda:0", False), ("auto", False)])
def test_what_is_stored_of_a_device_is_told_of_the_cpu_alone(
    device: str, is_told: bool, tmp_path: Path
) -> None:
    topic, store = study_topic("devices"), Store(tmp_path)
    on = target(topic, None, device)
    for measurement in topic.measurements(on):
        assert measurement.device == device
        store.put(key(measurement), RAISED)
    store.put(key_of(*VERSIONS), {"torch": "2.13.0"})
    record = stored_study(topic, on, store)
    assert (record is not None) is is_told
    if record is not None:
        assert record.device == device
    # What is stored of one device says nothing of another.
    other = "cuda:1" if device == "cpu" else "cpu"
    assert stored_study(topic, target(topic, None, other), store) is None
