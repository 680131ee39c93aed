"""What is asked again about a graph is found once, for the very graph that was given."""

from collections import Counter

import msgspec
import pytest

from explorer.drawing import shown
from explorer.drawing.folding import Folding, Homes
from explorer.drawing.shown import MOST_CACHED, cached_by_graph
from explorer.model.graph import GradGraph
from explorer.report.scenario.files import draw_ladder, report_files
from tests.support.deep_nets import deep_report


class Asked:
    """A function of a graph, and what it was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[GradGraph, int]] = []
        self.find = cached_by_graph(self._find)

    def _find(self, graph: GradGraph, depth: int) -> int:
        self.calls.append((graph, depth))
        return len(self.calls)


def graph_of(case: str = "c") -> GradGraph:
    return GradGraph(engine="e", case=case, stage="s", nodes=(), edges=())


def test_the_same_question_of_the_same_graph_has_the_same_answer_while_it_is_held() -> None:
    asked, graph = Asked(), graph_of()
    assert [asked.find(graph, depth) for depth in (1, 1, 2, 1)] == [1, 1, 2, 1]
    # A graph with equal nodes is another graph.
    again = msgspec.structs.replace(graph)
    assert again == graph
    assert asked.find(again, 1) == 3
    assert asked.calls[2][0] is again
    # No more graphs are held than a report has.
    asked, graphs = Asked(), [graph_of(str(number)) for number in range(MOST_CACHED + 1)]
    for held in graphs:
        asked.find(held, 1)
    assert asked.find(graphs[-1], 1) == MOST_CACHED + 1
    assert asked.find(graphs[0], 1) == MOST_CACHED + 2


@pytest.mark.slow
def test_the_files_of_a_report_fold_each_graph_once(monkeypatch: pytest.MonkeyPatch) -> None:
    report = deep_report(12)
    find_homes = shown._homes
    folded: Counter[tuple[int, Folding]] = Counter()

    def noted(graph: GradGraph, folding: Folding) -> tuple[Homes, set[str]]:
        folded[id(graph), folding] += 1
        return find_homes(graph, folding)

    monkeypatch.setattr(shown, "_homes", noted)
    for _, make in report_files(report, ("svg", "json", "html"), draw_ladder):
        make()
    assert any(folding.depth is not None for _, folding in folded)
    assert max(folded.values()) == 2  # to count what would be in sight, and to show it
