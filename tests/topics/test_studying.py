"""What a study looks at."""

from pathlib import Path

import pytest

from explorer.model.errors import UsageError
from explorer.topics import topic
from explorer.topics.question import Target
from explorer.topics.studying import target


def test_a_study_looks_at_its_own_scenario_unless_another_is_named() -> None:
    devices = topic("devices")
    assert Path(target(devices, None, "cpu").scenario).name == "dense_mse.py"
    named = target(devices, "polynomial", "cuda:0")
    assert (Path(named.scenario).name, named.device) == ("polynomial.py", "cuda:0")


def test_a_study_with_nets_of_its_own_refuses_a_scenario() -> None:
    with pytest.raises(UsageError, match="takes no scenario"):
        target(topic("data-parallel"), "dense_mse", "cpu")
    assert target(topic("data-parallel"), None, "cpu") == Target("", "cpu")
