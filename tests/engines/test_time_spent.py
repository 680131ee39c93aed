"""What counts as the time of work: the processor's, and a share of the clock's where it waits."""

import time

import pytest

from explorer.engines.time_spent import TimeSpent


class Clocks:
    """The clocks of a process, set by a test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.processor = self.wall = 100.0
        monkeypatch.setattr(time, "thread_time", lambda: self.processor)
        monkeypatch.setattr(time, "perf_counter", lambda: self.wall)

    def run(self, processor: float, wall: float) -> None:
        self.processor += processor
        self.wall += wall


@pytest.mark.parametrize(
    ("processor", "wall", "counted"),
    [(2.0, 2.0, 2.0), (2.0, 7.0, 2.0), (2.0, 8.0, 2.0), (0.0, 8.0, 2.0), (1.0, 8.0, 2.0)],
    ids=["alone", "beside others", "at a quarter", "waiting", "mostly waiting"],
)
def test_what_others_do_does_not_count(
    monkeypatch: pytest.MonkeyPatch, processor: float, wall: float, counted: float
) -> None:
    clocks = Clocks(monkeypatch)
    spent = TimeSpent()
    with spent.counted():
        clocks.run(processor, wall)
    # Between two pieces of work nothing counts.
    clocks.run(50.0, 50.0)
    with spent.counted():
        clocks.run(processor, wall)
    assert spent.seconds == 2 * counted


def test_work_that_fails_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = Clocks(monkeypatch)
    spent = TimeSpent()

    @spent.counted()
    def fail() -> None:
        clocks.run(3.0, 3.0)
        raise ValueError("no value")

    with pytest.raises(ValueError, match="no value"):
        fail()
    assert spent.seconds == 3.0
