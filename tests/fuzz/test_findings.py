"""What becomes of a sighting: what is asked again of smaller nets and of points close by."""

import pytest

from explorer.fuzz.program import Program
from explorer.fuzz.search import NEIGHBOURS, NetRunner, _finding
from explorer.model.fuzz import FindingClass, Kind, Sighting
from tests.support.programs import program, step

TANH = program(step("t0", "tanh", "a"))
LONGER = program(step("t0", "tanh", "a"), step("t1", "sin", "t0"))

DIFFERS = Sighting("differs", ("mindspore-tape",), leaf="da")
AGREES = Sighting("agrees")


class Told(NetRunner):
    """A runner that sees what it is told to see at the net, and one thing after another close by."""

    def __init__(self, sighting: Sighting, *close_by: Sighting) -> None:
        self._sighting = sighting
        self._close_by = list(close_by)
        self.with_graphs: list[bool] = []

    def run(self, program: Program, graphs: bool = True) -> Sighting:
        self.with_graphs.append(graphs)
        if self._close_by and program.values != TANH.values:
            return self._close_by.pop()
        return self._sighting


@pytest.mark.parametrize(
    ("close_by", "found"),
    [
        ([AGREES] * NEIGHBOURS, "ill_conditioned"),
        ([DIFFERS, *[AGREES] * (NEIGHBOURS - 1)], "framework"),
        ([*[AGREES] * (NEIGHBOURS - 1), DIFFERS], "framework"),
        ([DIFFERS] * NEIGHBOURS, "framework"),
    ],
)
def test_what_one_point_close_by_shows_too_is_not_ill_conditioned(
    close_by: list[Sighting], found: FindingClass
) -> None:
    assert _finding(0, TANH, DIFFERS, Told(DIFFERS, *close_by)).found == found


def test_what_a_net_does_not_show_when_it_is_run_again_accuses_nobody() -> None:
    finding = _finding(3, LONGER, DIFFERS, Told(AGREES))
    assert finding.found == "unsteady"
    assert (finding.program, finding.sighting) == (LONGER, DIFFERS)


@pytest.mark.parametrize(
    ("kind", "needs_graphs"),
    [("differs", False), ("raises", False), ("values", True), ("graph", True), ("oracle", True)],
)
def test_smaller_nets_are_looked_at_with_graphs_where_only_those_show_it(
    kind: Kind, needs_graphs: bool
) -> None:
    sighting = Sighting(kind, ("torch-tape",))
    runner = Told(sighting)
    _finding(0, LONGER, sighting, runner)
    assert runner.with_graphs[0] is needs_graphs
