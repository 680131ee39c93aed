"""How an engine goes on as if divergences were mended, on graphs made by hand."""

from itertools import zip_longest
from typing import Any

import msgspec
import numpy as np
import pytest

from explorer.compare.align.alignment import Seam, Seamed, seamed
from explorer.compare.causes.explanations import MOST_RUNS, Ask, Diverging, Sights, as_if_mended
from explorer.compare.causes.mending import Mending
from explorer.model.alignment import Alignment, Seen
from explorer.model.arrays import AnyArray
from explorer.model.causes import Cause
from explorer.model.graph import GradGraph
from explorer.model.mended import Mended, MendedRun
from tests.support.divergence_records import other_value
from tests.support.explained import CAUSE
from tests.support.handmade_graph import HandmadeGraph
from tests.support.narrowing import present
from tests.support.written_nets import two_nets

X = np.array([0.5, 1.5, -2.0, 3.25], np.float32)


def chain(engine: str, *values: AnyArray) -> GradGraph:
    """x, and ops in a row with these values, of which the last is the output."""
    made = HandmadeGraph()
    last = made.add("input", kind="input", name="x", value=X, noise=1e-7, line=0)
    for value in values:
        last = made.add("Tanh", [last], value=value, noise=1e-7, line=0)
    made.add("output", [last], kind="output", name="out", value=value, noise=1e-7, line=0)
    return made.record(engine=engine)


HERE, THERE = (X * 2 + 1, X * 3 + 2, X * 5 + 3), (X * 7 + 4, X * 11 + 5, X * 13 + 6)
"""Each op of the two sides has a value of its own."""


class Run:
    """A mended run of two graphs, which is asked step by step."""

    def __init__(self, left: GradGraph, right: GradGraph, *causes: Cause | None) -> None:
        aligned = seamed(left, right)
        assert aligned.alignment.divergence is not None
        every = zip_longest(aligned.alignment.divergences, causes)
        seen = tuple(Seen(*one) for one in every)
        self.alignment = msgspec.structs.replace(aligned.alignment, seen=seen)
        self._run = as_if_mended(self.alignment, Diverging(aligned, left, right, seamed))
        self.ask: Ask | None = None
        self.finished: Alignment | None = None
        self._send(None)

    def _send(self, reply: Any) -> None:
        try:
            self.ask = self._run.send(reply)
        except StopIteration as end:
            self.ask, self.finished = None, end.value

    def answer(self, *runs: MendedRun | None) -> "Run":
        """Give each run that is asked for the next answer; no trial explains anything."""
        for run in runs:
            ask = present(self.ask)
            assert ask.engine == "torch-tape"
            self._send((run and msgspec.structs.replace(run, tried=((),) * len(ask.trials)), None))
        return self

    @property
    def mended(self) -> Mended:
        return present(present(self.finished).mended)


def test_mistakes_in_a_row_are_seen_one_behind_the_other() -> None:
    there = chain("mindspore-graph", *THERE)
    found = Run(chain("torch-tape", *HERE), there)
    seen_first = MendedRun(chain("torch-tape", THERE[0], *HERE[1:]))
    seen_next = MendedRun(chain("torch-tape", *THERE[:2], HERE[2]))
    record = found.answer(seen_first, seen_next, MendedRun(chain("torch-tape", *THERE))).mended
    behind = present(found.finished).behind
    assert [one.divergence.nodes for one in behind] == [("n2", "n2"), ("n3", "n3")]
    assert [(one.run, one.values) for one in behind] == [(1, 1), (2, 2)]
    assert (record.runs, record.values, record.differing, record.end) == (3, 3, (), "")


@pytest.mark.parametrize(("last", "is_harmless"), [(HERE[2], True), (X, False)])
def test_nothing_is_to_be_written_where_the_first_divergence_changes_no_result(
    last: AnyArray, is_harmless: bool
) -> None:
    found = Run(chain("torch-tape", *HERE), chain("mindspore-graph", *THERE), CAUSE)
    found.answer(MendedRun(chain("torch-tape", THERE[0], HERE[1], last)), None)
    assert found.mended.change_nothing == is_harmless
    (seen,) = present(found.finished).plain
    assert bool(present(seen.cause).mends) != is_harmless


def test_what_differs_though_every_value_is_put_in_is_named() -> None:
    left = chain("torch-tape", *HERE)
    found = Run(left, chain("mindspore-graph", *THERE)).answer(MendedRun(left))
    assert present(found.ask).trials
    # The second time nothing new is put in, and the same was tried already.
    assert found.answer(MendedRun(left)).mended.differing == ("out",)


@pytest.mark.parametrize(
    ("run", "end"),
    [
        (None, "lost"),
        (MendedRun(None), "raised"),
        (MendedRun(chain("torch-tape", *HERE, HERE[2])), "other_graph"),
    ],
)
def test_a_run_that_fails_is_the_last_one(run: MendedRun | None, end: str) -> None:
    record = Run(chain("torch-tape", *HERE), chain("mindspore-graph", *THERE)).answer(run).mended
    assert (record.runs, record.end) == (0, end)


@pytest.mark.slow
def test_a_net_is_computed_again_so_often_at_most() -> None:
    random = np.random.default_rng(0)
    here, there = random.normal(size=(2, MOST_RUNS + 4, 4)).astype(np.float32)
    left = chain("torch-tape", *here)
    found = Run(left, chain("mindspore-graph", *there))
    # Once more than is allowed, to try what explains what was seen last.
    for number in range(1, MOST_RUNS + 2):
        found.answer(MendedRun(chain("torch-tape", *there[:number], *here[number:])))
    assert (found.mended.runs, found.mended.end) == (MOST_RUNS + 1, "rounds")


def test_two_engines_of_mindspore_cannot_be_computed_with_other_values() -> None:
    left, right = chain("mindspore-tape", *HERE), chain("mindspore-graph", *THERE)
    assert Run(left, right).mended == Mended(engine="", end="no_engine")


def test_the_engine_of_pytorch_is_the_one_that_is_computed_again() -> None:
    left, right = chain("mindspore-tape", *HERE), chain("torch-graph", *THERE)
    ask = present(Run(left, right).ask)
    assert (ask.engine, ask.other) == ("torch-graph", "mindspore-tape")
    assert [one.node for one in ask.put_in] == ["n1"]


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
    found = Run(left, right, None, None, CAUSE)
    found.answer(MendedRun(msgspec.structs.replace(left, nodes=tuple(nodes))))
    first, _second, aside = found.alignment.divergences
    seen = present(found.finished)
    assert [(it.divergence, it.cause) for it in seen.plain] == [(first, None), (aside, CAUSE)]


@pytest.mark.parametrize("node", ["n1", "n3"])
def test_what_is_seen_behind_a_known_divergence_does_not_explain_it(node: str) -> None:
    left, right = chain("torch-tape", *HERE), chain("jax-tape", *THERE)
    known = other_value("n1", "n1")
    plain = msgspec.structs.replace(seamed(left, right).alignment, seen=(Seen(known),))
    parts = frozenset({"n1", "n2", "n3"})
    seam = Seam({"left": parts, "right": parts}, {"left": (), "right": ()}, is_assumed=False)
    sights = Sights(plain, [seam], Mending(left, right, "left"))
    seen = msgspec.structs.replace(plain, seen=(Seen(other_value(node, node)),))
    sights.note(Seamed(seen, (seam,)), run=1)
    sights.look_into(plain, (left, right))
    assert bool(sights.trials("torch-tape")) == (node == "n1")
