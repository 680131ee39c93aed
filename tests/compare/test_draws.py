"""Which op is named where results depend on random numbers."""

import pytest

from explorer.compare.results.remarks import draws_random_numbers, random_draws
from explorer.model.findings import RandomDraw
from explorer.model.graph import GradGraph
from tests.support.handmade_graph import HandmadeGraph
from tests.support.tables import rows


@pytest.mark.parametrize(("op", "draws"), rows(__file__, "test_an_op_draws_by_its_name"))
def test_an_op_draws_by_its_name(op: str, draws: bool) -> None:
    assert draws_random_numbers(op) is draws


def drawing(engine: str, *ops: str) -> GradGraph:
    graph = HandmadeGraph()
    x = graph.add("input", kind="input", name="x", value=1.0)
    for op in ops:
        x = graph.add(op, [x], value=1.0)
    graph.add("aten.bernoulli.p", [x], value=1.0, phase="backward")
    return graph.record(engine=engine)


def facts(*graphs: GradGraph, results: tuple[str, ...] = ("dx",)) -> list[RandomDraw]:
    found = []
    for finding in random_draws(graphs, results):
        assert finding.is_remark
        assert isinstance(finding.fact, RandomDraw)
        found.append(finding.fact)
    return found


def test_the_first_op_that_draws_is_named_with_its_line_once_a_framework() -> None:
    tape = drawing("torch-tape", "mul", "aten.rand_like.default", "aten.bernoulli.p")
    joint = drawing("torch-graph", "aten.bernoulli.p")
    compiled = drawing("mindspore-graph", "Dropout")
    torch, mindspore = facts(tape, joint, compiled)
    assert (torch.engine, torch.place.label) == ("torch-tape", "aten.rand_like.default")
    assert torch.place.source == "net.py:12"
    assert torch.others == 1
    assert (mindspore.engine, mindspore.place.label, mindspore.others) == (
        "mindspore-graph",
        "Dropout",
        0,
    )


def test_where_no_result_depends_on_draws_nothing_is_said() -> None:
    assert facts(drawing("torch-tape", "aten.bernoulli.p"), results=()) == []
    # What backward alone draws is no number of the forward's.
    assert facts(drawing("torch-tape", "mul")) == []
