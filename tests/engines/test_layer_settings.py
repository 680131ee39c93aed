"""Settings of layers are read as they were given, for every layer that can be made with a few of them."""

import pytest

from explorer.workers.workers import Workers
from tests.support.constructed_layers import Readings
from tests.support.worker_targets import Word


@pytest.mark.parametrize(
    ("framework", "least"),
    [
        pytest.param("torch", 90, marks=pytest.mark.torch),
        pytest.param("mindspore", 90, marks=[pytest.mark.mindspore, pytest.mark.whole]),
    ],
)
def test_every_setting_is_read_as_it_was_given(
    framework: str, least: int, workers: Workers
) -> None:
    target = "tests.support.constructed_layers:read"
    readings = workers.call(framework, target, Word(framework), Readings)
    assert isinstance(readings, Readings)
    assert len(readings.made) > least
    assert readings.wrong == ()
