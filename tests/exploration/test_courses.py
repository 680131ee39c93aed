"""How an exploration goes on as if divergences were mended, on graphs made by hand."""

import msgspec
import numpy as np
import pytest

from explorer.compare.align.alignment import seamed
from explorer.exploration.mended import MOST_RUNS, Courses, MendedKey
from explorer.model.alignment import Alignment
from explorer.model.arrays import AnyArray
from explorer.model.graph import Edge, GradGraph, Node, Output
from explorer.model.mended import Mended, MendedRun
from explorer.numeric.summaries import summarise
from tests.support.explained import CAUSE
from tests.support.written_nets import two_nets

X = np.array([0.5, 1.5, -2.0, 3.25], np.float32)


def output(array: AnyArray) -> tuple[Output, ...]:
    return (Output(array.shape, "float32", summarise(array), 1e-7),)


def chain(engine: str, *values: AnyArray) -> GradGraph:
    """x, and ops in a row with these values, of which the last is the output."""
    nodes = [Node(id="n0", op="input", kind="input", phase="forward", name="x", outputs=output(X))]
    for number, value in enumerate(values, start=1):
        nodes.append(
            Node(id=f"n{number}", op="Tanh", kind="op", phase="forward", outputs=output(value))
        )
    last = len(values) + 1
    result = output(values[-1])
    nodes.append(
        Node(id=f"n{last}", op="output", kind="output", phase="forward", name="out", outputs=result)
    )
    edges = tuple(Edge(f"n{number}", f"n{number + 1}") for number in range(last))
    return GradGraph(engine=engine, case="", stage="", nodes=tuple(nodes), edges=edges)


HERE, THERE = (X * 2 + 1, X * 3 + 2, X * 5 + 3), (X * 7 + 4, X * 11 + 5, X * 13 + 6)
"""Each op of the two sides has a value of its own."""


def courses(left: GradGraph, right: GradGraph) -> tuple[Courses, Alignment]:
    found, aligned = Courses(), seamed(left, right)
    assert aligned.alignment.divergence is not None
    found.add(aligned, left, right, seamed)
    found.begin()
    return found, aligned.alignment


def answered(found: Courses, *runs: MendedRun | None) -> None:
    """Give each run that is wished for the next answer; no trial explains anything."""
    for run in runs:
        ((key, wish),) = found.wishes().items()
        assert key.engine == "torch-tape"
        tried = run and msgspec.structs.replace(run, tried=((),) * len(wish.trials))
        found.go_on({key: (tried, None)}.__getitem__)


def mended(found: Courses, alignment: Alignment) -> Mended:
    record = found.finished(alignment).mended
    assert record is not None
    return record


def test_mistakes_in_a_row_are_seen_one_behind_the_other() -> None:
    there = chain("mindspore-graph", *THERE)
    found, alignment = courses(chain("torch-tape", *HERE), there)
    seen_first = MendedRun(chain("torch-tape", THERE[0], *HERE[1:]))
    seen_next = MendedRun(chain("torch-tape", *THERE[:2], HERE[2]))
    answered(found, seen_first, seen_next, MendedRun(chain("torch-tape", *THERE)))
    assert not found.wishes()
    record = mended(found, alignment)
    assert [one.divergence.nodes for one in record.behind] == [("n2", "n2"), ("n3", "n3")]
    assert [(one.run, one.values) for one in record.behind] == [(1, 1), (2, 2)]
    assert (record.runs, record.values, record.differing, record.end) == (3, 3, (), "")


@pytest.mark.parametrize(("last", "is_harmless"), [(HERE[2], True), (X, False)])
def test_nothing_is_to_be_written_where_the_first_divergence_changes_no_result(
    last: AnyArray, is_harmless: bool
) -> None:
    found, alignment = courses(
        chain("torch-tape", *HERE), chain("mindspore-graph", *THERE[:2], THERE[2])
    )
    answered(found, MendedRun(chain("torch-tape", THERE[0], HERE[1], last)), None)
    finished = found.finished(msgspec.structs.replace(alignment, causes=(CAUSE,)))
    assert finished.mended is not None
    assert finished.mended.change_nothing == is_harmless
    assert finished.causes[0] is not None
    assert bool(finished.causes[0].mends) != is_harmless


def test_what_differs_though_every_value_is_put_in_is_named() -> None:
    left = chain("torch-tape", *HERE)
    found, alignment = courses(left, chain("mindspore-graph", *THERE))
    answered(found, MendedRun(left))
    assert mended(found, alignment).differing == ("out",)
    assert len(found.wishes()) == 0  # nothing new is to be put in


@pytest.mark.parametrize(
    ("run", "end"),
    [
        (None, "lost"),
        (MendedRun(None), "raised"),
        (MendedRun(chain("torch-tape", *HERE, HERE[2])), "other_graph"),
    ],
)
def test_a_run_that_fails_ends_the_course(run: MendedRun | None, end: str) -> None:
    found, alignment = courses(chain("torch-tape", *HERE), chain("mindspore-graph", *THERE))
    answered(found, run)
    assert not found.wishes()
    record = mended(found, alignment)
    assert (record.runs, record.end) == (0, end)


@pytest.mark.slow
def test_a_net_is_computed_again_so_often_at_most() -> None:
    random = np.random.default_rng(0)
    here, there = random.normal(size=(2, MOST_RUNS + 4, 4)).astype(np.float32)
    left = chain("torch-tape", *here)
    found, alignment = courses(left, chain("mindspore-graph", *there))
    # Once more than is allowed, to try what explains what was seen last.
    for number in range(1, MOST_RUNS + 2):
        answered(found, MendedRun(chain("torch-tape", *there[:number], *here[number:])))
    assert not found.wishes()
    record = mended(found, alignment)
    assert (record.runs, record.end) == (MOST_RUNS + 1, "rounds")


def test_two_engines_of_mindspore_cannot_be_computed_with_other_values() -> None:
    left, right = chain("mindspore-tape", *HERE), chain("mindspore-graph", *THERE)
    found, alignment = courses(left, right)
    assert not found.wishes()
    assert mended(found, alignment) == Mended(engine="", end="no_engine")


def test_the_engine_of_pytorch_is_the_one_that_is_computed_again() -> None:
    left, right = chain("mindspore-tape", *HERE), chain("torch-graph", *THERE)
    found, _ = courses(left, right)
    ((key, wish),) = found.wishes().items()
    assert msgspec.structs.replace(key, run=0) == MendedKey("torch-graph", "mindspore-tape", 0)
    assert [one.node for one in wish.put_in] == ["n1"]


def test_what_a_run_refutes_is_left_out_and_the_others_keep_their_causes() -> None:
    left, right = two_nets(
        """
        - first = Tanh @1: np.tanh(x)
        + first = Sigmoid @1: np.exp(x)
        between = MatMul @2: first @ first
        - second = Tanh @3: np.tanh(between)
        + second = Sin @3: np.sin(between)
        - aside = Tanh @4: np.tanh(x / 2)
        + aside = Sigmoid @4: np.exp(x / 3)
        result out = second
        result aside = aside
        """
    )
    left = msgspec.structs.replace(left, engine="torch-tape")
    right = msgspec.structs.replace(right, engine="mindspore-graph")
    nodes = (
        msgspec.structs.replace(node, outputs=other.outputs)
        for node, other in zip(left.nodes, right.nodes, strict=True)
    )
    found, alignment = courses(left, right)
    answered(found, MendedRun(msgspec.structs.replace(left, nodes=tuple(nodes))))
    first, _second, aside = alignment.divergences
    seen = found.finished(msgspec.structs.replace(alignment, causes=(None, None, CAUSE)))
    assert (seen.divergences, seen.causes) == ((first, aside), (None, CAUSE))
