"""A net of a thousand nodes is captured right by all engines, and its large values stay where they are."""

import math
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest

from explorer.engines.capture.lint import lint
from explorer.exploration.explore import explore
from explorer.model.alignment import CONTRADICTIONS
from explorer.model.arrays import SMALL
from explorer.model.engines import WorkerKind
from explorer.model.graph import GradGraph, Output
from explorer.model.report import Report
from explorer.model.results import Captured
from explorer.numeric.summaries import MOST_IN_GRAPH
from explorer.scenario.reader import read
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.support.large_nets import written_net
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.whole, pytest.mark.mindspore, pytest.mark.torch]

Reply = TypeVar("Reply")

BYTES_OF_NODE = 2000
"""What a node's record takes at most beside the elements that it keeps whole."""


class ListeningWorkers(Workers):
    """Workers whose messages with graphs are weighed, in bytes."""

    def __init__(self) -> None:
        super().__init__(request_seconds=300)
        self.weighed: list[tuple[GradGraph, int]] = []

    def call(
        self, kind: WorkerKind, target: str, argument: msgspec.Struct, reply: type[Reply]
    ) -> Reply | Lost:
        answer = super().call(kind, target, argument, reply)
        if isinstance(answer, Captured):
            size = sum(len(msgspec.msgpack.encode(graph)) for graph in answer.graphs[-1:])
            self.weighed += [(graph, size) for graph in answer.graphs[-1:]]
        return answer


def elements(graph: GradGraph) -> list[int]:
    """The number of elements of each output of each node."""
    return [math.prod(output.shape) for node in graph.nodes for output in node.outputs]


def check_capture(report: Report) -> None:
    (case,) = report.cases
    assert case.verdict == "match"
    assert case.oracle_agrees
    assert {result.outcome for result in case.results.values()} == {"ok"}
    last = {graph.engine: graph for graph in report.graphs}
    assert set(last) == set(ENGINES)
    for graph in last.values():
        assert len(graph.nodes) > 400
        assert lint(graph) == []


def check_alignments(report: Report) -> None:
    assert len(report.alignments) == 6
    for alignment in report.alignments:
        assert alignment.divergence is None
        assert not {node.reason for node in alignment.unpaired} & CONTRADICTIONS
        if {alignment.left, alignment.right} == {"torch-tape", "torch-graph"}:
            assert alignment.unpaired == ()


def check_messages(weighed: list[tuple[GradGraph, int]]) -> None:
    assert {graph.engine for graph, _ in weighed} == set(ENGINES)
    for graph, size in weighed:
        sizes = elements(graph)
        outputs = [output for node in graph.nodes for output in node.outputs if _is_whole(output)]
        large = [output for output in outputs if _size(output) > SMALL]
        # What several nodes share is kept once, and sent with each.
        kept = {_elements(output): _size(output) for output in large}
        assert sum(kept.values()) <= MOST_IN_GRAPH < sum(sizes)
        sent = sum(count for count in sizes if count <= SMALL) + sum(map(_size, large))
        assert size < 4 * sent + BYTES_OF_NODE * len(sizes)


def _elements(output: Output) -> bytes:
    return output.values.whole.data if output.values and output.values.whole else b""


def _size(output: Output) -> int:
    return math.prod(output.shape)


def _is_whole(output: Output) -> bool:
    return output.values is not None and output.values.whole is not None


def test_a_net_of_a_thousand_nodes_is_right_and_most_large_values_stay_with_the_workers(
    tmp_path: Path,
) -> None:
    scenario = read(written_net(tmp_path, "residual", 1000, width=64, rows=64))
    workers = ListeningWorkers()
    with workers:
        report = explore(scenario, workers, selection="main")
    check_capture(report)
    check_alignments(report)
    check_messages(workers.weighed)
