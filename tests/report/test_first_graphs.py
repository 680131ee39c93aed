"""The two graphs that a report shows first: PyTorch's tape on the left, in whatever order they come."""

from explorer.report.scenario.graphs import SHOWN_ENGINES, shown_first
from tests.support.sample_report import graph

GRAPHS = [graph(engine) for engine in ("mindspore-graph", "torch-graph", "torch-tape")]


def test_the_contrast_that_is_shown_first_has_one_order() -> None:
    for graphs in (GRAPHS, GRAPHS[::-1]):
        assert tuple(shown.engine for shown in shown_first(graphs)) == SHOWN_ENGINES


def test_without_one_of_these_whichever_two_there_are_come_first() -> None:
    assert [shown.engine for shown in shown_first(GRAPHS[:2])] == ["mindspore-graph", "torch-graph"]
    assert shown_first(GRAPHS[:1]) == GRAPHS[:1]
