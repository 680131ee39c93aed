"""Causes where what two ops read differs by little: the op is computed from the other side's inputs too."""

import numpy as np
import pytest

from explorer.compare.causes.candidates import Suspect, suspects_at
from explorer.compare.causes.choice import cause_of
from explorer.compare.graphs.view import GraphView
from explorer.model.arrays import AnyArray, unpack
from explorer.model.causes import FromThere, Rewire, SetArguments, Trial, Tried
from explorer.model.graph import GradGraph, Output
from explorer.numeric.summaries import summarise
from tests.support.divergence_records import other_value
from tests.support.handmade_graph import HandmadeGraph
from tests.support.narrowing import present

READ = np.array([1.0, 2.0, 4.0, 8.0], np.float32)
NEAR = READ + np.array([0.0, 4e-6, -4e-6, 8e-6], np.float32)
NOISE = 1e-7


def scaled(read: AnyArray, eps: float) -> AnyArray:
    made: AnyArray = (read * (1 + eps)).astype(np.float32)
    return made


def output(array: AnyArray) -> Output:
    return Output(array.shape, "float32", summarise(array), NOISE)


def graph(engine: str, read: AnyArray, made: AnyArray, eps: float) -> GradGraph:
    graph = HandmadeGraph()
    before = graph.add("add", value=read, noise=NOISE)
    graph.add("norm", [before], value=made, noise=NOISE, arguments={"eps": eps})
    return graph.record(engine=engine)


def graphs(read_there: AnyArray, eps_there: float) -> tuple[GradGraph, GradGraph]:
    """A net that scales by 1 + 1e-5, and one that scales what it reads by another number."""
    left = graph("torch-tape", READ, scaled(READ, 1e-5), 1e-5)
    right = graph("mindspore-tape", read_there, scaled(read_there, eps_there), eps_there)
    return left, right


def suspect_of(pair: tuple[GradGraph, GradGraph]) -> Suspect:
    found, *_ = suspects_at(other_value(), GraphView(pair[0]), GraphView(pair[1]))
    return found


def tried(suspect: Suspect) -> Tried:
    """What all trials give that change numbers or put in a value of the other side."""
    return Tried(tuple((output(_made(trial)),) for trial in suspect.trials))


def _made(trial: Trial) -> AnyArray:
    read: AnyArray = READ
    eps = 1e-5
    for edit in trial.edits:
        match edit:
            case Rewire(source=FromThere(value=value)) if value is not None:
                read = unpack(value)
            case SetArguments(arguments={"eps": float(eps)}):
                pass
    return scaled(read, eps)


def test_a_number_is_the_cause_that_gives_the_value_from_the_other_side_s_inputs() -> None:
    pair = graphs(NEAR, 1e-6)
    suspect = suspect_of(pair)
    cause = present(cause_of(suspect, tried(suspect), *pair))
    given = Rewire(slots=(0,), source=FromThere("add (net.py:12)"))
    assert cause.edits == (given, SetArguments(own={"eps": 1e-5}, arguments={"eps": 1e-6}))


def test_equal_inputs_are_not_put_in() -> None:
    pair = graphs(READ, 1e-6)
    suspect = suspect_of(pair)
    kinds = [set(map(type, trial.edits)) for trial in suspect.trials]
    assert not any(it >= {SetArguments, Rewire} for it in kinds)
    cause = present(cause_of(suspect, tried(suspect), *pair))
    assert cause.edits == (SetArguments(own={"eps": 1e-5}, arguments={"eps": 1e-6}),)


@pytest.mark.parametrize("far", [NEAR, READ + np.float32(0.1)], ids=["close", "far"])
def test_a_value_that_follows_from_the_inputs_alone_has_no_cause_here(far: AnyArray) -> None:
    pair = graphs(far, 1e-5)
    suspect = suspect_of(pair)
    assert cause_of(suspect, tried(suspect), *pair) is None
