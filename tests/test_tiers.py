"""Which tests a run takes, the quick ones or a shard, in which order, and which in one process."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tables import rows
from tests.support.tiers import (
    DURATIONS,
    Shard,
    Tier,
    in_order,
    record,
    recorded,
    shard_of,
    units_of,
)
from tests.support.work_units import work_unit

SECONDS = {"lstm": 9.0, "training": 30.0, "a.py": 4.0, "b.py": 5.0}
ROOT = Path(__file__).parent.parent

UNITS = ("a.py", "new.py", "lstm", "b.py", "training", "lstm")


def test_the_longest_unit_goes_first_and_what_is_not_recorded_last_in_its_order() -> None:
    assert in_order(UNITS, SECONDS) == ["training", "lstm", "b.py", "a.py", "new.py"]
    assert in_order(UNITS, {}) == ["a.py", "new.py", "lstm", "b.py", "training"]


def test_each_unit_is_in_one_shard_and_shards_are_about_as_long() -> None:
    parts = [units_of(Shard(number, 2), UNITS, SECONDS) for number in (1, 2)]
    assert parts == [{"training"}, {"lstm", "b.py", "a.py", "new.py"}]
    assert [units_of(Shard(n, 2), reversed(UNITS), SECONDS) for n in (1, 2)] == parts
    assert units_of(Shard(1, 1), UNITS, SECONDS) == set(UNITS)


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0", "-1/3", ""])
def test_a_shard_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="NUMBER/COUNT, as in 1/3; got"):
        shard_of(text)


def test_a_shard_is_a_number_of_a_count() -> None:
    assert shard_of("2/3") == Shard(2, 3)


def test_durations_are_kept_of_what_takes_a_while(tmp_path: Path) -> None:
    path = tmp_path / "durations.json"
    assert recorded("test", path) == {}
    record("test", {"b.py": 12.34, "a.py": 0.5, "c.py": 0.49}, path)
    record("whole", {"a.py": 7.0}, path)
    assert recorded("test", path) == {"a.py": 0.5, "b.py": 12.3}
    assert list(recorded("test", path)) == ["a.py", "b.py"]
    assert recorded("whole", path) == {"a.py": 7.0}


@pytest.mark.parametrize("tier", ["test", "whole"])
def test_every_tier_has_an_order(tier: Tier) -> None:
    assert len(recorded(tier)) > 100


@pytest.mark.slow
def test_durations_of_chosen_tests_are_not_kept() -> None:
    before = DURATIONS.read_bytes()
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--keep-durations"]
    here = ("tests/blocks/test_renderers.py", "-k", "term")
    subprocess.run([*command, *here], cwd=ROOT, capture_output=True, check=True)
    assert DURATIONS.read_bytes() == before


def test_what_needs_no_framework_imports_none(pytestconfig: pytest.Config) -> None:
    if not pytestconfig.getoption("--quick"):
        pytest.skip("other tests of this process may import frameworks")
    assert not {"mindspore", "torch", "jax"} & sys.modules.keys()


@pytest.mark.parametrize(
    ("test_id", "unit"),
    rows(__file__, "test_tests_that_share_a_scenario_or_a_topic_or_a_file_run_in_one_process"),
)
def test_tests_that_share_a_scenario_or_a_topic_or_a_file_run_in_one_process(
    test_id: str, unit: str
) -> None:
    assert work_unit(test_id) == unit


PLANTED = """
import time

from tests.support.tiers import QUICK_SECONDS, slowness

def test_that_takes_a_while():
    end = time.process_time() + 2 * QUICK_SECONDS * slowness()
    while time.process_time() < end:
        pass

def test_that_waits():
    time.sleep(0.4)

MADE = []

def test_that_makes_what_is_shared():
    if not MADE:
        MADE.append(test_that_takes_a_while())
"""


@pytest.mark.whole
def test_a_quick_test_that_always_takes_long_fails_and_another_does_not(
    pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    root = pytestconfig.rootpath
    path = root / "tests" / "test_planted_for_tiers.py"
    path.write_text(PLANTED, encoding="utf-8")
    try:
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--quick", str(path)]
        ran = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    finally:
        path.unlink()
    assert "1 failed, 2 passed" in ran.stdout
    assert "FAILED tests/test_planted_for_tiers.py::test_that_takes_a_while" in ran.stdout
    assert "a quick test may take 0.3" in ran.stdout
